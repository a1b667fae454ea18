"""``ballot tally``: votes of people against the key of their ballot, checked, counted and rated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opendesign.balloting.key import Key
from opendesign.balloting.votes_file import CHOICES, Cast, Dropped, Sheet, duplicate, read_sheet
from opendesign.balloting.votes_table import rated, table_of
from opendesign.canonical import plain
from opendesign.errors import UsageError
from opendesign.studying.bradley_terry import Rated

__all__ = ["Limits", "Met", "Rater", "Tally", "tally"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a vote and a rater have to keep to."""

    fastest_s: float = 2.0  # a vote that took less is not counted
    most_hasty: float = 0.5  # share of such votes beyond which none of the rater's count
    most_failed: float = 1 / 3  # share of the answered attention checks that may be failed

    def __post_init__(self) -> None:
        if not 0 <= self.fastest_s < 3600:
            raise UsageError(f"--fastest is {self.fastest_s:g}: give seconds from 0 to an hour.")
        for option, share in (("--most-hasty", self.most_hasty), ("--most-failed", self.most_failed)):
            if not 0 <= share <= 1:
                raise UsageError(f"{option} is {share:g}: give a share from 0 to 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rater:
    """One person. ``dropped`` is the reason why none of their votes count, or ""."""

    rater: str
    answered: int  # questions
    counted: int  # votes, one a pair
    too_fast: int
    checks: int  # answered
    failed: int
    repeats: int  # pairs voted on twice
    consistent: int  # of them, with the same outcome
    dropped: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """Two models against each other."""

    first: str
    second: str
    first_won: int
    second_won: int
    tie: int
    both_bad: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """All that the votes say. Counts are of votes that count: one a rater and pair, checks left out."""

    ballot: str
    benchmark: Mapping[str, str]
    limits: Limits
    files: int
    counts: Mapping[str, int]  # votes by choice, with both_bad apart from tie
    repeats: int
    consistent: int
    left_share: (
        float | None
    )  # of the votes for one side, those for the left; near a half where sides are fair
    raters: tuple[Rater, ...]
    pairs: tuple[Met, ...]
    ratings: tuple[Rated, ...]  # Bradley–Terry on the Elo scale
    dropped: tuple[Dropped, ...]
    table: str  # CSV, as ``study agreement`` reads it; repeats among its rows

    @property
    def votes(self) -> int:
        return sum(self.counts.values())

    @property
    def lost(self) -> dict[str, int]:
        """Reason → how many votes, or files for those that were not read."""
        found = Counter[str]()
        for one in self.dropped:
            found[one.reason] += max(1, one.votes)
        return dict(found)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document; a study's, so that the site shows it.

        A file is named only where its rater is not known, and comments are in the table alone: people put
        their names into both.
        """
        document = plain(self)
        del document["table"]
        for one in document["dropped"]:
            one["file"] = "" if one["rater"] else one["file"]
        return {"study": "ballot", "votes": self.votes, **document, "lost": self.lost}


def tally(key: Key, files: Sequence[Path], limits: Limits | None = None) -> Tally:
    """Count the votes in ``files``. What is wrong with a file is dropped with its reason, never an error.

    Raises ``UsageError`` for a file that is not there.
    """
    limits = limits or Limits()
    sheets = [read_sheet(path, key) for path in files]
    dropped = [lost for sheet in sheets for lost in sheet.dropped]
    raters, kept = [], []
    for rater, votes, again in _by_rater(sheets, key):
        dropped += again
        row, counted, lost = _judged(rater, votes, limits, has_checks=key.count("check") > 0)
        raters.append(row)
        dropped += lost
        kept += counted
    once = list(_once(kept).values())
    table = table_of(kept, key)
    sided = Counter(vote.choice for vote in once)
    decided = sided["left"] + sided["right"]
    return Tally(
        ballot=key.ballot,
        benchmark=key.benchmark,
        limits=limits,
        files=len(files),
        counts={choice: sided[choice] for choice in CHOICES},
        repeats=sum(row.repeats for row in raters),
        consistent=sum(row.consistent for row in raters),
        left_share=round(sided["left"] / decided, 4) if decided else None,
        raters=tuple(raters),
        pairs=_met(once, key),
        ratings=rated(table) if kept else (),
        dropped=tuple(dropped),
        table=table,
    )


def _by_rater(sheets: Sequence[Sheet], key: Key) -> Iterable[tuple[str, list[Cast], list[Dropped]]]:
    """Each rater with one vote a question, in the ballot's order, and the votes that repeat one.

    Of several files of a rater the longest goes first: it was saved last.
    """
    place = {question.id: at for at, question in enumerate(key.questions)}
    for rater in dict.fromkeys(sheet.rater for sheet in sheets if sheet.rater):
        own = sorted((s for s in sheets if s.rater == rater), key=lambda sheet: -len(sheet.votes))
        votes: dict[str, Cast] = {}
        again = []
        for vote in (vote for sheet in own for vote in sheet.votes):
            if votes.setdefault(vote.question.id, vote) is not vote:
                again.append(duplicate(vote))
        yield rater, sorted(votes.values(), key=lambda vote: place[vote.question.id]), again


def _judged(
    rater: str, votes: Sequence[Cast], limits: Limits, *, has_checks: bool
) -> tuple[Rater, list[Cast], list[Dropped]]:
    """The rater, the votes that count (repeats among them) and those that do not."""
    checks = [vote for vote in votes if vote.question.kind == "check"]
    failed = sum(vote.winner != vote.question.good for vote in checks)
    fast = [vote for vote in votes if vote.seconds < limits.fastest_s]
    real = [vote for vote in votes if vote.question.kind != "check"]
    kept = [vote for vote in real if vote.seconds >= limits.fastest_s]
    dropped = [
        Dropped(
            reason="too_fast",
            file=vote.file,
            rater=rater,
            question=vote.question.id,
            detail=f"{vote.seconds:g} s",
        )
        for vote in real
        if vote.seconds < limits.fastest_s
    ]
    reason, detail = "", ""
    if has_checks and not checks:
        reason, detail = "unchecked", f"{len(votes)} questions were answered."
    elif failed > limits.most_failed * len(checks) + 1e-9:
        reason, detail = "failed_checks", f"{failed} of {len(checks)} were failed."
    elif len(fast) > limits.most_hasty * len(votes) + 1e-9:
        reason, detail = "hasty", f"{len(fast)} of {len(votes)} votes took under {limits.fastest_s:g} s."
    if reason:
        file = votes[0].file if votes else ""
        kept = []
        dropped = [Dropped(reason=reason, file=file, rater=rater, votes=len(real), detail=detail)]
    first = _once(kept)
    later = [vote for vote in kept if first[_pair(vote)] is not vote]
    row = Rater(
        rater=rater,
        answered=len(votes),
        counted=len(first),
        too_fast=len(fast),
        checks=len(checks),
        failed=failed,
        repeats=len(later),
        consistent=sum(first[_pair(vote)].winner == vote.winner for vote in later),
        dropped=reason,
    )
    return row, kept, dropped


def _pair(vote: Cast) -> tuple[str, str, str]:
    first, second = sorted((vote.left, vote.right))
    return vote.rater, first, second


def _once(votes: Iterable[Cast]) -> dict[tuple[str, str, str], Cast]:
    """The first vote of each rater on each pair of pages."""
    found: dict[tuple[str, str, str], Cast] = {}
    for vote in votes:
        found.setdefault(_pair(vote), vote)
    return found


def _met(votes: Iterable[Cast], key: Key) -> tuple[Met, ...]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for vote in votes:
        first, second = sorted(key.pages[page].model for page in (vote.left, vote.right))
        winner = key.pages[vote.winner].model if vote.winner else None
        outcome = vote.choice if winner is None else "first_won" if winner == first else "second_won"
        counts.setdefault((first, second), Counter())[outcome] += 1
    return tuple(
        Met(
            first=first,
            second=second,
            first_won=found["first_won"],
            second_won=found["second_won"],
            tie=found["tie"],
            both_bad=found["both_bad"],
        )
        for (first, second), found in sorted(counts.items())
    )
