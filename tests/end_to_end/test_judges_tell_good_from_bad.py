"""Judges that need no model prefer what is good: a page that others made to a damaged copy of it, and the
builtin template to the plain and the broken page."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import opendesign
from opendesign.answering.controls import CONTROLS, document
from opendesign.cases.benchmark import load_benchmark, select
from opendesign.running.store import Store
from opendesign.types import Case
from tests.wild import packages, pages
from tests.wild.damage import DAMAGES

pytestmark = pytest.mark.browser

HEADLINE = {"computed": "total", "probe": "rate"}
SHARE = 0.95
LEFT_OUT = 0.1  # at most so many of the pairs have nothing to tell apart
LEAST_PROBED = 0.3  # of the pages whose controls work, the share of the controls that the probe tries


@dataclass(frozen=True, slots=True)
class Pair:
    """A page and its damaged copy, with what the judge that should see it gave them."""

    page: str
    kind: str
    good: float = 0.0
    bad: float = 0.0
    shows: bool = True  # whether the damage took anything away that can be seen or operated

    @property
    def told(self) -> bool:
        return self.good > self.bad


@pytest.fixture(scope="module")
def wild() -> Sequence[pages.Wild]:
    packages.fetch()
    return pages.WILD


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own to work in, with the benchmark and judges of this checkout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENDESIGN_CACHE", str(tmp_path / "cache"))
    return tmp_path


def judged(
    folder: Path, judges: Iterable[str], *, benchmark: str | None = None
) -> dict[str, Mapping[str, float]]:
    """Scores of every page in the folder, by the name of its file. What a busy machine left unscored is tried
    again, as a person would; what stays unscored fails the test."""
    wanted = tuple(judges)
    for _ in range(3):
        summary = opendesign.score(
            folder, judges=wanted, benchmark=benchmark, folder=f"runs/{folder.name}", concurrency=4
        )
        if all(summary.coverage[judge] == 1 for judge in wanted):
            return {row["case"]: row for row in summary.rows}
    raise AssertionError(f"{folder.name}: {dict(summary.failures)}, coverage {dict(summary.coverage)}")


def applicable(wild: Sequence[pages.Wild], each: int | None = None) -> list[tuple[str, str, str]]:
    """(page, kind, damaged copy) for every kind of damage that a page can have.

    With ``each`` so many of every kind, drawn with a fixed seed, each of another page.
    """
    found: list[tuple[str, str, str]] = []
    for kind, damage in DAMAGES.items():
        numbered = [(n, page) for n, page in enumerate(wild) if kind != "controls" or page.works]
        if each is not None:
            random.Random(f"wild {kind}").shuffle(numbered)
        wanted = len(numbered) if each is None else each
        for number, page in numbered:
            if not wanted or (each is not None and any(page.name == used for used, _, _ in found)):
                continue
            damaged = damage.change(pages.document(page.name), number)
            if damaged is not None:
                found.append((page.name, kind, damaged))
                wanted -= 1
    return found


def pairs(chosen: Sequence[tuple[str, str, str]], folder: Path) -> list[Pair]:
    """Judge both pages of each pair by the judge that should see the damage."""
    made = []
    for judge, headline in HEADLINE.items():
        own = [one for one in chosen if DAMAGES[one[1]].judge == judge]
        if not own:
            continue
        place = folder / judge
        place.mkdir()
        for page, kind, damaged in own:
            (place / f"{page}.html").write_text(pages.document(page), encoding="utf-8")
            (place / f"{page}__{kind}.html").write_text(damaged, encoding="utf-8")
        scores = judged(place, [judge])
        pictures = pictures_of(Path("runs") / place.name)
        for page, kind, _ in own:
            copy = f"{page}__{kind}"
            good, bad = (_score(scores[name], judge, headline) for name in (page, copy))
            shows = good > 0 if judge == "probe" else pictures[page] != pictures[copy]
            made.append(Pair(page, kind, good, bad, shows))
    return made


def pictures_of(run: Path) -> Mapping[str, str]:
    """Case → name of its picture, the same where two pages look alike to the pixel."""
    records = Store(run).records("artifacts.jsonl")
    return {case: record["value"]["picture"] for (case, _), record in records.items()}


def _score(row: Mapping[str, float], judge: str, measure: str) -> float:
    """A page on which there is nothing to operate has no rate: it earns nothing."""
    value = row.get(f"{judge}.{measure}")
    return 0.0 if value is None or value != value else value


def table(found: Sequence[Pair]) -> str:
    lines = [f"{'page':36} {'damage':10} {'good':>8} {'damaged':>8}"]
    lines += [
        f"{p.page:36} {p.kind:10} {p.good:8.2f} {p.bad:8.2f}  "
        f"{'nothing to tell' if not p.shows else '' if p.told else '← not told apart'}"
        for p in sorted(found, key=lambda p: (p.kind, p.page))
    ]
    return "\n".join(lines)


def test_twenty_pages_and_their_damaged_copies(wild: Sequence[pages.Wild], elsewhere: Path) -> None:
    chosen = applicable(wild, each=5)
    assert len(chosen) == 20
    assert len({page for page, _, _ in chosen}) == 20
    found = pairs(chosen, elsewhere)
    sys.stdout.write(table(found))
    assert sum(pair.told for pair in found) >= 19, table(found)


@pytest.mark.long
def test_every_page_and_every_damage_it_can_have(wild: Sequence[pages.Wild], elsewhere: Path) -> None:
    """Left out are pairs that look alike to the pixel (the broken picture was hidden), and pages on which
    nothing works to begin with as the probe sees it (forms that nobody listens to, menus that only hover)."""
    made = pairs(applicable(wild), elsewhere)
    found = [pair for pair in made if pair.shows]
    sys.stdout.write(table(made))
    assert len(found) >= max(80, (1 - LEFT_OUT) * len(made)), table(made)
    assert sum(pair.told for pair in found) >= SHARE * len(found), table(made)


@pytest.mark.long
def test_a_folder_of_pages_found_in_the_wild_is_scored(wild: Sequence[pages.Wild], elsewhere: Path) -> None:
    folder = elsewhere / "site"
    assert len(pages.write(folder)) >= 24
    scores = judged(folder, ["execution", "computed", "probe"])
    assert len(scores) == len(wild)
    works = [scores[page.name]["probe.rate"] for page in wild if page.works]
    assert sum(works) / len(works) >= LEAST_PROBED
    assert all(row["computed.total"] > 50 for row in scores.values())


def test_the_template_beats_plain_and_broken_on_ten_cases(elsewhere: Path) -> None:
    sixty = select(load_benchmark("opendesign"), limit=60)
    _template_wins(random.Random("ten of sixty").sample(sixty, 10), elsewhere)


@pytest.mark.long
def test_the_template_beats_plain_and_broken_on_sixty_cases(elsewhere: Path) -> None:
    sixty = select(load_benchmark("opendesign"), limit=60)
    assert {case.id[-3:] for case in sixty} == {f"{n:03}" for n in range(1, 13)}
    _template_wins(sixty, elsewhere)


def _template_wins(cases: Sequence[Case], folder: Path) -> None:
    scores = {}
    for control in CONTROLS:
        (folder / control).mkdir()
        for case in cases:
            (folder / control / f"{case.id}.html").write_text(document(control, case), encoding="utf-8")
        scores[control] = judged(folder / control, HEADLINE, benchmark="opendesign")
    for judge, worse in (("computed", "broken"), ("probe", "plain"), ("probe", "broken")):
        ours, theirs = (
            [_score(scores[control][case.id], judge, HEADLINE[judge]) for case in cases]
            for control in ("template", worse)
        )
        lost = [
            f"{case.id}: template {good:.2f}, {worse} {bad:.2f}"
            for case, good, bad in zip(cases, ours, theirs, strict=True)
            if good <= bad
        ]
        told = f"{judge}: template > {worse} in {len(cases) - len(lost)} of {len(cases)}"
        sys.stdout.write("\n  ".join([told, *lost]) + "\n")
        assert len(lost) <= (1 - SHARE) * len(cases), f"{judge}, template and {worse}: {lost}"
