"""A tournament in numbers: the table, how steady the judge was, what it cost. All from the stored matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opendesign.canonical import plain
from opendesign.judging.pairwise import Match
from opendesign.running.statistics import Estimate, rate
from opendesign.running.tournament_ratings import ANCHOR, LEAST, Played, Standing, standings
from opendesign.running.tournament_schedule import Fixture
from opendesign.running.tournament_store import TournamentStore
from opendesign.types import CATEGORIES

if TYPE_CHECKING:
    import pandas

__all__ = ["Tournament", "summarize_tournament"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tournament:
    """What ``opendesign judge RUN RUN --judges pairwise`` prints. Shares are from 0 to 1, over cases."""

    folder: str
    benchmark: Mapping[str, Any]  # name, version, hash
    protocol: Mapping[str, Any]
    judge: Mapping[str, Any]  # name, version, hash, model, how it is asked
    models_returned: tuple[str, ...]  # ids and fingerprints that the judge's model answered with
    runs: Mapping[str, str]  # run -> model
    seed: int
    anchor: float  # mean rating
    planned: int  # matches
    scored: int
    walkovers: int  # of those scored, decided without a call
    failures: Mapping[str, int]  # reason -> matches it left unscored
    standings: tuple[Standing, ...]
    by_category: Mapping[str, tuple[Standing, ...]]
    consistency: Estimate | None  # share of matches in which both orders say the same
    first_shown: (
        Estimate | None
    )  # of looks that name a page, share that names the one shown first: 0.5 is fair
    taller: Estimate | None  # of asked matches won, share won by the taller page
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None

    @property
    def coverage(self) -> float:
        """Share of the planned matches that count."""
        return self.scored / self.planned if self.planned else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of the command line."""
        document: dict[str, Any] = plain(self)
        return {**document, "coverage": self.coverage}

    def to_pandas(self) -> pandas.DataFrame:
        """One row a run, over all categories (``all``) and for each."""
        import pandas

        groups = {"all": self.standings, **self.by_category}
        return pandas.DataFrame(
            {"category": group, **plain(row)} for group, rows in groups.items() for row in rows
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Column names and cells, best run first. A model with several runs is told apart by run."""
        twice = len(set(self.runs.values())) < len(self.runs)
        columns = ["rank", "run" if twice else "model", "rating", "95 % interval", "won", "tied", "lost", "n"]
        return columns, [_cells(row, row.run if twice else row.model) for row in self.standings]

    def __str__(self) -> str:
        columns, rows = self.table()
        widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (columns, *rows)
        ]
        return "\n".join([*lines, *self.sentences()])

    def sentences(self) -> list[str]:
        """What a reader has to know beside the table."""
        said = [
            f"{self.scored} of {self.planned} matches count ({self.walkovers} without a call); the mean "
            f"rating is {self.anchor:g}, and 400 points are odds of 10 to 1."
        ]
        if self.failures:
            said.append(
                f"Unscored: {', '.join(f'{reason} {count}' for reason, count in self.failures.items())}."
            )
        if self.consistency is not None:
            said.append(
                f"Both orders agree in {self.consistency.mean:.0%} of the matches asked for; the others are "
                "ties."
            )
        together = {row.run: row.not_separated for row in self.standings if row.not_separated}
        if together:
            said.append(f"{len(together)} of {len(self.standings)} runs are not separated from another one.")
        if any((row.low is None) != (row.high is None) for row in self.standings):
            said.append("Where an interval has no end, no match says how much higher or lower the run is.")
        if any(row.cases < LEAST for row in self.standings):
            said.append(f"No interval below {LEAST} cases: so few say too little about the rest.")
        return said


def _cells(row: Standing, name: str) -> list[str]:
    ends = ["–" if end is None else f"{end:.0f}" for end in (row.low, row.high)]
    rank = str(row.rank) if row.best == row.worst else f"{row.rank} ({row.best}–{row.worst})"
    counts = [str(count) for count in (row.wins, row.ties, row.losses, row.n)]
    return [rank, name, f"{row.rating:.0f}", " to ".join(ends), *counts]


def summarize_tournament(store: TournamentStore, *, planned: int | None = None) -> Tournament:
    """The tournament out of all its stored matches; ``planned``: matches asked for, else those stored."""
    manifest = store.manifest()
    runs, categories = manifest["runs"], manifest["cases"]
    matches = {fixture: store.decoded(record) for fixture, record in store.matches().items()}
    scored = {fixture: match for fixture, match in matches.items() if match.outcome is not None}
    played = [
        Played(fixture.case, fixture.pair, match.outcome)
        for fixture, match in scored.items()
        if match.outcome is not None
    ]
    seed = f"{manifest['identity']}"
    groups = {c: [one for one in played if categories[one.case] == c] for c in CATEGORIES}
    spent = store.spent()
    failures = Counter(match.failure.reason for match in matches.values() if match.failure is not None)
    return Tournament(
        folder=str(store.folder),
        benchmark=manifest["benchmark"],
        protocol=manifest["protocol"],
        judge=manifest["judge"],
        models_returned=tuple(
            sorted({name for match in matches.values() for name in match.evidence.get("model_returned", ())})
        ),
        runs=runs,
        seed=manifest["seed"],
        anchor=ANCHOR,
        planned=max(planned or 0, len(matches)),
        scored=len(scored),
        walkovers=sum(not match.looks for match in scored.values()),
        failures=dict(sorted(failures.items())),
        standings=standings(played, runs, categories, seed=seed),
        by_category={c: standings(some, runs, categories, seed=seed) for c, some in groups.items() if some},
        consistency=_share(scored, _consistent),
        first_shown=_share(scored, _first_shown),
        taller=_share(scored, _taller),
        calls=spent.calls,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        cost_usd=spent.cost_usd,
    )


def _share(matches: Mapping[Fixture, Match], asked: Callable[[Match], Sequence[bool]]) -> Estimate | None:
    """Wilson interval of a share, all matches of a case together."""
    cases: dict[str, list[float]] = {}
    for fixture, match in matches.items():
        cases.setdefault(fixture.case, []).extend(map(float, asked(match)))
    return rate(list(cases.values()))


def _consistent(match: Match) -> list[bool]:
    return [] if match.consistent is None else [match.consistent]


def _first_shown(match: Match) -> list[bool]:
    return [look.better == look.shown_first for look in match.looks if look.better != "tie"]


def _taller(match: Match) -> list[bool]:
    first, second = match.evidence.get("heights", (0, 0))
    if match.outcome == "tie" or first == second or not match.looks:
        return []
    return [(match.outcome == "first") == (first > second)]
