"""What people said about pairs of pages: read, oriented by page, and counted once a rater and pair.

A vote names a rater (or session), two pages of one case and a choice: left, right, tie, or both bad, which
counts as a tie and is reported apart. Which side a page was on means nothing afterwards: ``value`` is 1 where
the page whose name sorts first won, 0 where the other did, 0.5 for a tie. Where a rater saw a pair more than
once, the first vote counts; how often the later ones agree with it is the rater's own consistency.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opendesign.errors import UsageError
from opendesign.studying.tables import column, first_column, number, numbered, read_csv

Page = tuple[str, str]  # case and page (a model, where pages are known by model)
_CHOICES = {
    "left": 1.0,
    "right": 0.0,
    "tie": 0.5,
    "draw": 0.5,
    "both_bad": 0.5,
    "both bad": 0.5,
}
MOST_VOTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Vote:
    """One rater on one pair; ``first`` sorts before ``second``."""

    rater: str
    first: Page
    second: Page
    value: float

    @property
    def pair(self) -> tuple[Page, Page]:
        return self.first, self.second


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """Votes that count, one a rater and pair, and what was read on the way to them."""

    votes: tuple[Vote, ...]
    rows: int
    raters: int
    repeats: int  # votes on a pair that the rater had voted on before
    consistent: int  # of them, with the same outcome as the first
    both_bad: int
    has_cases: bool
    categories: Mapping[str, str] = field(default_factory=dict)  # case → category
    ratings: Mapping[str, Mapping[Page, float]] = field(default_factory=dict)  # rater → page → rating
    notes: tuple[str, ...] = ()

    @property
    def pairs(self) -> dict[tuple[Page, Page], list[Vote]]:
        """Pair → its votes."""
        found: dict[tuple[Page, Page], list[Vote]] = {}
        for vote in self.votes:
            found.setdefault(vote.pair, []).append(vote)
        return found

    @property
    def pages(self) -> list[Page]:
        return sorted({page for vote in self.votes for page in vote.pair}, key=_order)


def read_votes(path: Path) -> Votes:
    """A CSV of votes: rater (or session), left, right and choice; case and category where there are any.

    A CSV with a ``rating`` column (rater, page, rating) is read as ratings: two pages of a case that a rater
    has rated are a vote for the higher one. Raises ``UsageError`` for what is neither.
    """
    header, rows = read_csv(path)
    if "rating" in header:
        return _from_ratings(path, header, rows)
    rater = column(header, ("rater", "session", "voter", "judge"), path)
    left = column(header, ("left", "left_page", "left_model"), path)
    right = column(header, ("right", "right_page", "right_model"), path)
    choice = column(header, ("choice", "vote", "winner"), path)
    case, category = first_column(header, ("case",)), first_column(header, ("category",))
    found, categories, bad = [], {}, 0
    for at, row in numbered(rows):
        said = row[choice].lower()
        if said not in _CHOICES:
            raise UsageError(
                f"Row {at} of {path} says '{row[choice][:40]}' under {choice}: left, right, tie or both_bad."
            )
        of = row[case] if case else ""
        if not row[left] or not row[right] or not row[rater]:
            raise UsageError(f"Row {at} of {path} is incomplete: a vote needs a rater and two pages.")
        if row[left] == row[right]:
            raise UsageError(f"Row {at} of {path} sets '{row[left][:40]}' against itself.")
        bad += said in ("both_bad", "both bad")
        if category:
            categories[of] = row[category]
        found.append(_oriented(row[rater], (of, row[left]), (of, row[right]), _CHOICES[said]))
    return once(found, both_bad=bad, has_cases=case is not None, categories=categories)


def once(
    votes: Iterable[Vote],
    *,
    both_bad: int = 0,
    has_cases: bool = True,
    categories: Mapping[str, str] | None = None,
    ratings: Mapping[str, Mapping[Page, float]] | None = None,
    notes: Sequence[str] = (),
) -> Votes:
    """The first vote of each rater on each pair."""
    kept: dict[tuple[str, Page, Page], Vote] = {}
    rows = repeats = consistent = 0
    for vote in votes:
        rows += 1
        first = kept.setdefault((vote.rater, vote.first, vote.second), vote)
        if first is not vote:
            repeats += 1
            consistent += first.value == vote.value
    return Votes(
        votes=tuple(kept.values()),
        rows=rows,
        raters=len({vote.rater for vote in kept.values()}),
        repeats=repeats,
        consistent=consistent,
        both_bad=both_bad,
        has_cases=has_cases,
        categories=dict(categories or {}),
        ratings=dict(ratings or {}),
        notes=tuple(notes),
    )


def known_only(votes: Votes, pages: Iterable[Page]) -> tuple[Votes, int]:
    """The votes between known pages, and how many others there were."""
    from dataclasses import replace

    known = set(pages)
    kept = tuple(vote for vote in votes.votes if vote.first in known and vote.second in known)
    raters = len({vote.rater for vote in kept})
    return replace(votes, votes=kept, raters=raters), len(votes.votes) - len(kept)


def read_page_scores(path: Path, *, has_cases: bool) -> dict[str, dict[Page, float]]:
    """Judge → page → score out of a CSV: page (or model), score; judge and case where there are any."""
    header, rows = read_csv(path)
    page = column(header, ("page", "model"), path)
    score = column(header, ("score", "total", "rating"), path)
    judge, case = first_column(header, ("judge",)), first_column(header, ("case",))
    if has_cases and case is None:
        raise UsageError(f"{path} has no column 'case', but the votes name cases.")
    found: dict[str, dict[Page, float]] = {}
    for at, row in numbered(rows):
        key = (row[case] if case and has_cases else "", row[page])
        scores = found.setdefault(row[judge] if judge else path.stem, {})
        if key in scores:
            raise UsageError(f"Row {at} of {path} scores the page '{row[page][:60]}' a second time.")
        value = number(row, score, at, path)
        if value is not None:
            scores[key] = value
    return found


def _oriented(rater: str, left: Page, right: Page, value: float) -> Vote:
    if _order(left) <= _order(right):
        return Vote(rater, left, right, value)
    return Vote(rater, right, left, 1.0 - value)


def _order(page: Page) -> tuple[str, int, str]:
    """Numbers by size, then words."""
    case, name = page
    return (case, int(name) if name.isdecimal() and len(name) < 10 else 10**10, name)


def _from_ratings(path: Path, header: Sequence[str], rows: Sequence[Mapping[str, str]]) -> Votes:
    rater = column(header, ("rater", "session"), path)
    page = column(header, ("page", "model"), path)
    case, category = first_column(header, ("case",)), first_column(header, ("category",))
    ratings: dict[str, dict[Page, float]] = {}
    categories = {}
    for at, row in numbered(rows):
        value = number(row, "rating", at, path)
        of = row[case] if case else ""
        if category:
            categories[of] = row[category]
        if value is None:
            continue
        if (of, row[page]) in ratings.setdefault(row[rater], {}):
            raise UsageError(
                f"Row {at} of {path}: '{row[rater][:40]}' rates the page '{row[page][:60]}' again."
            )
        ratings[row[rater]][of, row[page]] = value
    total = 0
    for rated in ratings.values():
        counts = Counter(page[0] for page in rated)
        total += sum(n * (n - 1) // 2 for n in counts.values())
    if total > MOST_VOTES:
        raise UsageError(f"{path} makes {total} pairs: a column 'case' says which pages answer one request.")
    votes = [
        _oriented(who, a, b, 1.0 if rated[a] > rated[b] else 0.5 if rated[a] == rated[b] else 0.0)
        for who, rated in ratings.items()
        for at, a in enumerate(rated)
        for b in list(rated)[at + 1 :]
        if a[0] == b[0]
    ]
    note = "Ratings: two pages of a case that one person rated are a vote for the higher one."
    return once(votes, has_cases=case is not None, categories=categories, ratings=ratings, notes=[note])
