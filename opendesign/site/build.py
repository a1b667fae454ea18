"""Building the site: runs are read, grouped, ranked and compared, then every page is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opendesign.canonical import digest, hash_of, plain
from opendesign.content import leaderboard
from opendesign.errors import StoreError
from opendesign.site import board, pages
from opendesign.site.charts import Charts
from opendesign.site.pairs import page_of, pairs_of
from opendesign.site.ranking import ALL, Group, groups_of
from opendesign.site.reading import Entry, read_entry, slug_of
from opendesign.site.reported import read_reported, read_site
from opendesign.site.studies import read_studies
from opendesign.site.writing import Kept, Output

__all__ = ["Built", "build_site"]

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a build did. ``written`` counts files that are new or different."""

    folder: Path
    runs: int
    groups: int
    pages: int
    pictures: int
    written: int

    def to_dict(self) -> dict[str, Any]:
        return dict(plain(self))


def build_site(
    out: Path, *, results: Path | None, runs: Iterable[Path] = (), note: Note = lambda _: None
) -> Built:
    """Write the site of all runs under ``results`` and of the ``runs`` named into ``out``.

    What did not change since the last build into ``out`` is left as it is. A run that cannot be read is told
    to ``note`` and left out. Raises ``UsageError`` where ``out`` holds something else.
    """
    folder = leaderboard()
    site = read_site(folder)
    studies = read_studies(results / "studies" if results else None, note)
    with Output(out, folder / "templates") as output:
        groups = groups_of(_entries(results, runs, note, output.kept))
        _Builder(output, folder, site, groups, studies).build()
        return Built(
            folder=out,
            runs=sum(len(group.entries) for group in groups),
            groups=len(groups),
            pages=sum(name.endswith(".html") for name in output.made),
            pictures=sum(name.startswith("pictures/") for name in output.made),
            written=output.written,
        )


def _entries(results: Path | None, runs: Iterable[Path], note: Note, kept: Kept) -> list[Entry]:
    named = [*runs]
    published = sorted(path.parent for path in results.glob("*/run.json")) if results else []
    found: dict[str, Entry] = {}
    for folder in [*named, *published]:  # a run that was named is shown as it is now
        name = folder.resolve().name
        if name in found:
            continue
        try:
            found[name] = read_entry(folder, kept)
        except StoreError as error:
            if folder in named:
                raise
            note(f"{error} It is left out.")
    return list(found.values())


class _Builder:
    """Everything of one build."""

    def __init__(
        self, output: Output, folder: Path, site: Mapping[str, Any], groups: list[Group], studies: list[Any]
    ) -> None:
        self.output, self.folder, self.groups = output, folder, groups
        self.charts = Charts(folder / "charts", output.kept)
        self.shown: set[str] = set()  # pictures that the site has
        self.case_pages = _case_pages(groups)
        self.studies = studies
        self.site = site
        self.ranked = [group for group in groups if not group.smoke]
        self.smoke = [group for group in groups if group.smoke]
        self.common = {
            "site": site,
            "titles": {**board.CATEGORY_TITLES, ALL: "All"}
            | {d: d.capitalize() for d in ("easy", "medium", "hard")},
            "picture": self._picture_name,
            "case_page": lambda group, case: self.case_pages[group.same["benchmark"]["hash"], case],
            "page_of": page_of,
            "title_of": board.title_of,
        }
        self.templates = hash_of(
            [digest(path.read_bytes()) for path in sorted((folder / "templates").glob("*"))] + [site["title"]]
        )

    def build(self) -> None:
        self._statics()
        self._pictures()
        self._boards()
        for group in self.groups:
            for entry in group.entries:
                self._model(group, entry)
            self._compare(group)
        self._cases()
        self._page(
            "compare/index.html",
            "compare-index.html",
            tables=[self._matrix(g) for g in self.groups if len(g.entries) > 1],
        )
        self._page("studies.html", "studies.html", studies=[self._study(study) for study in self.studies])
        self._page("method.html", "method.html", groups=self.groups, facts_of=board.facts_of)

    def _page(self, name: str, template: str, **values: Any) -> None:
        self.output.page(name, template, **self.common, **values)

    def _statics(self) -> None:
        for path in sorted((self.folder / "static").iterdir()):
            self.output.file(f"static/{path.name}", path.read_bytes())
        self.output.file(".nojekyll", b"")

    def _pictures(self) -> None:
        for group in self.groups:
            for entry in group.entries:
                for name in entry.pictures:
                    self._picture(entry, name)

    def _picture(self, entry: Entry, name: str) -> None:
        if name in self.shown:
            return
        blobs = entry.folder.parent / "blobs" / name[:2] / name
        source = entry.folder / "pictures" / name
        if self.output.copy(f"pictures/{name[:2]}/{name}", source if source.is_file() else blobs):
            self.shown.add(name)

    def _picture_name(self, name: str | None) -> str | None:
        """Path of a picture inside the site; None where it was not published."""
        return f"pictures/{name[:2]}/{name}" if name in self.shown and name else None

    def _boards(self) -> None:
        """The first ranked group with all that stands apart from it; a page of its own for every other."""
        first = self.ranked[0] if self.ranked else None
        names = {g.id: "index.html" if g is first else f"board-{g.id}.html" for g in self.ranked}
        switch = [(g, names[g.id], board.why_apart(g, self.ranked)) for g in self.ranked]
        reported = [read_reported(self.folder, table) for table in self.site["reported"]]
        apart = {
            "smoke": [board.table_of(group) for group in self.smoke],
            "reported": [table for table in reported if table],
        }
        if first is None:
            self._page("index.html", "board.html", table=None, charts=[], switch=[], **apart)
        for group in self.ranked:
            self._page(
                names[group.id],
                "board.html",
                table=board.table_of(group),
                charts=board.charts_of(group, self.charts),
                switch=switch,
                **(apart if group is first else {"smoke": [], "reported": []}),
            )

    def _model(self, group: Group, entry: Entry) -> None:
        files = f"models/{entry.slug}.json", f"models/{entry.slug}.csv"
        key = hash_of([entry.digest, files, pages.FILES])
        if not (key in self.output.stamps and all(map(self.output.stays, files))):
            self.output.file(files[0], pages.model_json(entry))
            self.output.file(files[1], pages.model_csv(entry))
        self.output.stamp(key)
        self._page(f"models/{entry.slug}.html", "model.html", **pages.model_values(group, entry, self.charts))

    def _compare(self, group: Group) -> None:
        """Pages of pairs whose runs and templates are the same as before are left as they are."""
        for pair in pairs_of(group, self.output.kept):
            key = hash_of([pair.key, self.templates, group.id])
            if not (key in self.output.stamps and self.output.stays(pair.page)):
                self._page(pair.page, "compare.html", **pages.compare_values(group, pair))
            self.output.stamp(key)

    def _matrix(self, group: Group) -> dict[str, Any]:
        order = [standing.entry for standing in group.standings[ALL]]
        return {"group": group, "order": order}

    def _cases(self) -> None:
        listed = []
        cards = {entry.slug: self._cards(group, entry) for group in self.groups for entry in group.entries}
        for (benchmark, case), name in self.case_pages.items():
            groups = [
                g for g in self.groups if g.same["benchmark"]["hash"] == benchmark and case in g.first.cases
            ]
            values = pages.case_values(groups[0].first.cases[case], groups, cards)
            self._page(name, "case.html", **values)
            listed.append((groups[0], values["case"], name))
        self._page("cases/index.html", "cases.html", listed=listed)

    def _cards(self, group: Group, entry: Entry) -> dict[str, str]:
        """Case → HTML of what this run made of it; kept, since most runs are the same in the next build."""
        there = sorted(entry.pictures & self.shown)
        headline = group.headline or ""
        file = f"cards-{hash_of([entry.digest, entry.slug, headline, self.templates, there])}.json"
        cards = self.output.kept.document(file)
        if cards is None:
            cards = {
                case: self.output.fill(
                    "card.html", root="../", **self.common, **pages.card_values(entry, case, headline)
                )
                for case in entry.cases
            }
            self.output.kept.keep(file, json.dumps(cards))
        return cards

    def _study(self, study: Any) -> dict[str, Any]:
        return {
            **study,
            "chart": self.charts.svg("dots", study["dots"], **study["axes"]) if study["dots"] else "",
        }


def _case_pages(groups: Sequence[Group]) -> dict[tuple[str, str], str]:
    """(benchmark's hash, case) → its page. A second benchmark's cases get its hash in front."""
    found: dict[tuple[str, str], str] = {}
    first = groups[0].same["benchmark"]["hash"] if groups else ""
    for group in groups:
        benchmark = group.same["benchmark"]["hash"]
        for case in group.first.cases:
            name = slug_of(case) if benchmark == first else f"{slug_of(benchmark)[:14]}-{slug_of(case)}"
            found.setdefault((benchmark, case), f"cases/{name}.html")
    return found
