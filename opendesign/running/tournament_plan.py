"""A tournament before it is played: which stored runs, which of their pages, which matches in which order."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import opendesign
from opendesign.canonical import hash_of, plain
from opendesign.errors import UsageError
from opendesign.judging.pairwise import EXPECTED, judge
from opendesign.running.execute import major
from opendesign.running.journey import Seat
from opendesign.running.plan import stored_plan
from opendesign.running.store import Store
from opendesign.running.tournament_schedule import Fixture, fixtures, how_many
from opendesign.running.tournament_store import TournamentStore
from opendesign.types import Answer, Artifact, Card, Case, Failure

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["Entry", "Page", "TournamentPlan", "plan_tournament"]

Page = Artifact | Failure  # a page, or why there is none


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A stored run that takes part. ``pages`` has every sample of every case."""

    run: str  # name of its folder
    model: str
    identity: str
    benchmark: Mapping[str, Any]
    protocol: Mapping[str, Any]
    cases: tuple[Case, ...]
    samples: int
    pages: Mapping[tuple[str, int], Page]
    browsers: tuple[str, ...]  # kind and major version
    fonts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TournamentPlan:
    """What ``play`` will do. ``notes`` are sentences a person should read first."""

    folder: Path
    entries: tuple[Entry, ...]
    seat: Seat
    fixtures: tuple[Fixture, ...]
    seed: int
    notes: tuple[str, ...] = ()

    @cached_property
    def cases(self) -> dict[str, Case]:
        """Id → case."""
        return {case.id: case for case in self.entries[0].cases}

    @cached_property
    def _runs(self) -> dict[str, Entry]:
        return {entry.run: entry for entry in self.entries}

    def pages(self, fixture: Fixture) -> tuple[Page, Page]:
        """The two pages of a match, in the order of its pair."""
        first, second = (self._runs[run].pages[fixture.case, fixture.sample] for run in fixture.pair)
        return first, second

    def input(self, fixture: Fixture) -> str:
        """Hash of what decides a match beside the judge: the case and both pages."""
        case = self.cases[fixture.case]
        pages = [_told(page) for page in self.pages(fixture)]
        return hash_of([case.category, case.prompt, plain(case.requirements), pages])

    def identity(self) -> dict[str, Any]:
        """What makes two tournaments the same one. Its length is not in it: it can be made longer."""
        return {
            "runs": {entry.run: entry.identity for entry in self.entries},
            "judge": self.seat.config,
            "seed": self.seed,
        }

    def manifest(self) -> dict[str, Any]:
        """``tournament.json``: enough to read the tournament without its runs."""
        card, one = self.seat.card, self.entries[0]
        return {
            "identity": hash_of(self.identity()),
            "benchmark": dict(one.benchmark),
            "protocol": dict(one.protocol),
            "judge": {
                "name": card.name,
                "version": card.version,
                "hash": card.hash,
                "config": self.seat.config,
                "model": self.seat.model.name if self.seat.model else None,
                "asked": self.seat.asked,
            },
            "runs": {entry.run: entry.model for entry in self.entries},
            "cases": {case.id: case.category for case in one.cases},
            "seed": self.seed,
            "made": {"opendesign": opendesign.__version__},
            "varies": {"started": time.time(), "python": platform.python_version(), "host": platform.node()},
        }

    def estimate(self) -> dict[str, Any]:
        """Calls, tokens, pictures and USD that are left to ask for, walkovers and stored matches left out.

        ``usd`` is None where the model's price is not known.
        """
        store = TournamentStore(self.folder)
        total: dict[str, Any] = {"matches": len(self.fixtures), "stored": 0, "walkovers": 0}
        for fixture in self.fixtures:
            match = store.match(fixture, self.seat.config, self.input(fixture))
            if match is not None and match.failure is None:
                total["stored"] += 1
            elif any(isinstance(page, Failure) for page in self.pages(fixture)):
                total["walkovers"] += 1
            else:
                for name, amount in EXPECTED(self.seat.card, self.cases[fixture.case]).items():
                    total[name] = total.get(name, 0) + amount
        price = getattr(self.seat.model, "price", None)
        tokens = total.get("prompt_tokens", 0), total.get("completion_tokens", 0)
        return {**total, "usd": price(*tokens) if price else None}

    def spent_usd(self) -> float:
        """What earlier sittings have spent: carry it over into the budget."""
        return TournamentStore(self.folder).spent_usd()


def plan_tournament(
    runs: Sequence[Path],
    card: Card,
    model: Model,
    *,
    matches: int | None = None,
    seed: int = 0,
    folder: Path | None = None,
) -> TournamentPlan:
    """A tournament over stored runs, all on the same cases; at most ``matches`` of those there can be.

    Nothing is sent and nothing is written. A budget in USD is the model's own; it ends the play early.
    ``folder``: by default ``tournament-<hash>`` beside the first run. Raises ``UsageError`` for runs that
    are not comparable or not finished.
    """
    if len(runs) < 2:
        raise UsageError("A tournament needs two runs or more: name another one.")
    entries = sorted((_entry(run) for run in runs), key=lambda entry: entry.run)
    _check_comparable(entries)
    names = [entry.run for entry in entries]
    samples = min(entry.samples for entry in entries)
    cases = [case.id for case in entries[0].cases]
    most = how_many(len(names), len(cases) * samples)
    if matches is not None and matches < 1:
        raise UsageError(f"--matches is {matches}: ask for at least one match.")
    plan = TournamentPlan(
        folder=folder or Path(),
        entries=tuple(entries),
        seat=Seat(card=card, engine=judge, model=model),
        fixtures=tuple(islice(fixtures(names, cases, samples, seed=seed), matches)),
        seed=seed,
        notes=tuple(_notes(matches, most, len(names))),
    )
    name = f"tournament-{hash_of(plan.identity())[:8]}"
    return plan if folder is not None else replace(plan, folder=Path(runs[0]).parent / name)


def _notes(matches: int | None, most: int, runs: int) -> Iterable[str]:
    pairs = how_many(runs, 1)
    if matches is not None and matches > most:
        yield f"There are {most} matches to play, fewer than the {matches} asked for."
    if min(matches or most, most) < pairs:
        yield f"With fewer matches than the {pairs} pairs of runs, some runs never meet."


def _entry(folder: Path) -> Entry:
    """A run with its pages, and nothing of its answers' texts."""
    store = Store(folder)
    manifest = store.manifest()
    cases, samples, protocol = stored_plan(store)
    keys = [(case.id, sample) for case in cases for sample in range(samples)]
    pages = {key: page for key in keys if (page := _page(store, key)) is not None}
    if len(pages) < len(keys):
        raise UsageError(
            f"{folder} lacks {len(keys) - len(pages)} of its {len(keys)} pages: finish it with "
            f"`opendesign run --run {folder}` and the options it was started with."
        )
    made = [record["made"] for record in store.records("artifacts.jsonl").values()]
    return Entry(
        run=folder.name,
        model=manifest["model"]["name"],
        identity=str(manifest.get("identity", "")),
        benchmark={name: manifest["benchmark"][name] for name in ("name", "version", "hash")},
        protocol={"name": protocol.name, "version": protocol.version, "hash": protocol.hash},
        cases=cases,
        samples=samples,
        pages=pages,
        browsers=tuple(sorted({major(one["browser"]) for one in made if "browser" in one})),
        fonts=tuple(sorted({one["fonts"] for one in made if "fonts" in one})),
    )


def _page(store: Store, key: tuple[str, int]) -> Page | None:
    """What a run has of one sample; None where it did not get so far."""
    record = store.records("answers.jsonl").get(key)
    if record is None:
        return None
    if (failure := store.decode(record, Answer).failure) is not None:
        return failure
    record = store.records("artifacts.jsonl").get(key)
    if record is None:
        return None
    artifact = store.decode(record, Artifact)
    return artifact.failure or artifact


def _check_comparable(entries: Sequence[Entry]) -> None:
    """Raise ``UsageError`` where runs are not on equal terms."""
    names = [entry.run for entry in entries]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UsageError(
            f"The run {min(twice)} is named twice: every run of a tournament needs its own name."
        )
    first = entries[0]
    for other in entries[1:]:
        differs = [
            f"{what} ({' '.join(a)} and {' '.join(b)})"
            for what, a, b in (
                ("benchmark", _named(first.benchmark), _named(other.benchmark)),
                ("protocol", _named(first.protocol), _named(other.protocol)),
                ("browser", first.browsers, other.browsers),
                ("font set", first.fonts, other.fonts),
            )
            if a and b and a != b
        ]
        if {case.id for case in first.cases} != {case.id for case in other.cases}:
            differs.append(f"cases ({len(first.cases)} and {len(other.cases)} of them, not the same ones)")
        if differs:
            raise UsageError(
                f"{first.run} and {other.run} are not comparable: they differ in {'; '.join(differs)}."
            )


def _named(part: Mapping[str, Any]) -> tuple[str, str]:
    return str(part["name"]), str(part["hash"])


def _told(page: Page) -> Any:
    if isinstance(page, Failure):
        return plain(page)
    return [page.document and page.document.digest, page.picture and page.picture.digest]
