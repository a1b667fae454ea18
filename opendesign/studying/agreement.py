"""``study agreement``: do judges agree with people, as far as people agree with each other?

Three figures, kept apart since they have different ceilings:

1. a judge against single votes, with people against people beside it, over the pairs two people voted on;
2. people against people: any two votes on the same pair of pages;
3. a judge against the majority, with each person against the majority of the others beside it, over pairs
   with three votes or more. A majority is steadier than a vote, so this is always the higher number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.canonical import plain
from opendesign.errors import UsageError
from opendesign.studying import chance
from opendesign.studying.bradley_terry import Rated, bradley_terry
from opendesign.studying.coincidence import Coincidence, Statistic, Wanted
from opendesign.studying.figure import Figure, figure, gap, middle
from opendesign.studying.votes import Page, Votes, known_only
from opendesign.types import CATEGORIES

if TYPE_CHECKING:
    import pandas

BINS = 4
MOST_VALUES = 60  # different ratings for which alpha is computed
MAJORITY = 3  # votes on a pair that make a majority
PEOPLE = "people"  # beside the judges' names
ALONE, NO_CROWD = "No two people voted on the same pair.", "No pair has three votes."
NONE = "It has scored none of these pages."


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """People among each other. Shares are from 0 to 1."""

    pairs: Figure  # figure 2, a tie against a choice is half
    pairs_untied: Figure
    against_majority: Figure  # one vote against the majority of the others
    against_majority_untied: Figure
    fleiss: Figure
    alpha_nominal: Figure
    alpha_ordinal: Figure
    alpha_interval: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A judge against people. The second of each two figures leaves out ties on either side."""

    votes: Figure  # figure 1
    votes_untied: Figure
    votes_shared: Figure  # figure 1 over the pairs that two people voted on, as figure 2 is
    votes_shared_untied: Figure
    majority: Figure  # figure 3
    majority_untied: Figure
    majority_of_others: Figure  # the same targets that each person is held against
    cohen: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Agreement over the votes whose two pages are this far apart."""

    least: float
    most: float
    agreement: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Votes of people, with judges beside them."""

    counts: Mapping[str, int]
    people: People
    judges: Mapping[str, Judged]
    by_category: Mapping[str, Mapping[str, Figure]]  # category → "people" or judge → figures 2 and 1
    people_by_gap: tuple[Bin, ...]  # figure 2, by the gap of the pages' Elo ratings
    judges_by_gap: Mapping[str, tuple[Bin, ...]]  # figure 1, by the gap of the judge's scores
    ratings: tuple[Rated, ...]  # Bradley–Terry on the Elo scale
    rated: Mapping[str, Figure]  # alpha of ratings, where people rated
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {"study": "agreement", **plain(self)}

    def to_pandas(self) -> pandas.DataFrame:
        """One row a figure: who, which, value, n, and low and high of each interval."""
        import pandas

        who = {"people": plain(self.people), **{j: plain(judged) for j, judged in self.judges.items()}}
        rows = []
        for name, figures in who.items():
            for which, one in figures.items():
                row = {"who": name, "figure": which, "value": one["value"], "n": one["n"]}
                for kind, (low, high) in one["ranges"].items():
                    row |= {f"low, {kind}": low, f"high, {kind}": high}
                rows.append(row)
        return pandas.DataFrame(rows)


def agree(
    votes: Votes,
    judges: Mapping[str, Mapping[Page, float]] | None = None,
    *,
    categories: Mapping[str, str] | None = None,
) -> Agreement:
    """``judges``: judge → page → score; ``categories``: case → category where the votes name none.

    Raises ``UsageError`` where no vote is on pages that are known.
    """
    judges = judges or {}
    if PEOPLE in judges:
        raise UsageError("A judge cannot be called 'people': rename its file or column.")
    votes = replace(votes, categories={**(categories or {}), **votes.categories})
    votes, strangers = _with_known_pages(votes, judges)
    table = Coincidence(votes.votes, has_cases=votes.has_cases)
    tables = {judge: table.judged(scores) for judge, scores in judges.items()}
    wanted = {(PEOPLE, name): one for name, one in _people(table).items()}
    for judge, beside in tables.items():
        wanted |= {(judge, name): one for name, one in _judged(beside).items()}
    found: dict[str, dict[str, Figure]] = {}
    for (who, name), one in table.figures(wanted).items():
        found.setdefault(who, {})[name] = one
    ratings = bradley_terry(votes.votes)
    elo = {row.name: row.rating for row in ratings}
    gaps = [abs(elo[vote.first[1]] - elo[vote.second[1]]) for vote in votes.votes]
    return Agreement(
        counts=_counts(votes, table, strangers),
        people=People(**found[PEOPLE]),
        judges={judge: Judged(**found[judge]) for judge in judges},
        by_category=_by_category(votes, judges),
        people_by_gap=_bins(table, gaps, people=True),
        judges_by_gap={
            judge: _bins(one, [abs(g) for g in one.gap], people=False) for judge, one in tables.items()
        },
        ratings=ratings,
        rated=_rated(votes),
        notes=tuple(_notes(votes, strangers, judges)),
    )


def _with_known_pages(votes: Votes, judges: Mapping[str, Mapping[Page, float]]) -> tuple[Votes, int]:
    if not votes.votes:
        raise UsageError(
            "There is no vote that counts: two pages of one case have to be compared by someone."
        )
    if not judges:
        return votes, 0
    kept, strangers = known_only(votes, (page for scores in judges.values() for page in scores))
    if not kept.votes:
        raise UsageError(
            f"None of the {strangers} votes is on pages that a judge has scored: pages and cases have to be "
            "named alike in both."
        )
    return kept, strangers


def _counts(votes: Votes, table: Coincidence, strangers: int) -> dict[str, int]:
    shared = sum(1 for members in votes.pairs.values() if len(members) > 1)
    return {
        "rows": votes.rows,
        "votes": len(votes.votes),
        "raters": votes.raters,
        "pages": len(votes.pages),
        "pairs": table.page_pairs,
        "pairs_with_two_votes": shared,
        "ties": sum(vote.value == 0.5 for vote in votes.votes),
        "both_bad": votes.both_bad,
        "repeats": votes.repeats,
        "repeats_consistent": votes.consistent,
        "unknown_pages": strangers,
    }


def _notes(votes: Votes, strangers: int, judges: Mapping[str, Mapping[Page, float]]) -> list[str]:
    notes = list(votes.notes)
    if votes.repeats:
        notes.append(
            f"{votes.repeats} votes repeat a pair within a session and are not counted again; "
            f"{votes.consistent} of them say the same as the first."
        )
    if strangers:
        notes.append(f"{strangers} votes are on pages that no judge has scored, and are left out.")
    if not votes.has_cases:
        notes.append("The votes name no cases: each pair of pages is resampled as a case of its own.")
    if not judges:
        notes.append("No judge was given: only people are compared with people.")
    return notes


def _people(table: Coincidence) -> dict[str, Wanted]:
    shared, crowd = table.n_votes(least=2), table.n_votes(least=MAJORITY)
    alone, few = ALONE, NO_CROWD
    others = (table.value, table.others)
    held = partial(table.against, *others, least=MAJORITY, by_pair=True)
    return {
        "pairs": (table.pairs(untied=False), shared, alone),
        "pairs_untied": (table.pairs(untied=True), shared, alone),
        "against_majority": (held(), crowd, few),
        "against_majority_untied": (held(untied=True), crowd, few),
        "fleiss": (table.fleiss(), shared, alone),
        "alpha_nominal": (table.alpha("nominal"), shared, alone),
        "alpha_ordinal": (table.alpha("ordinal"), shared, alone),
        "alpha_interval": (table.alpha("interval"), shared, alone),
    }


def _judged(table: Coincidence) -> dict[str, Wanted]:
    judged, shared = table.n_votes(judged=True), table.n_votes(least=2, judged=True)
    crowd = table.n_votes(least=MAJORITY, judged=True)
    none, alone, few = NONE, ALONE, NO_CROWD
    judge, value, whole, others = table.judge, table.value, table.majority, table.others

    def single(least: int, untied: bool) -> Any:
        return table.against(judge, value, least=least, untied=untied)

    def crowded(target: Any, untied: bool = False) -> Any:
        return table.against(judge, target, least=MAJORITY, by_pair=True, untied=untied)

    return {
        "votes": (single(1, False), judged, none),
        "votes_untied": (single(1, True), judged, none),
        "votes_shared": (single(2, False), shared, alone),
        "votes_shared_untied": (single(2, True), shared, alone),
        "majority": (crowded(whole), crowd, few),
        "majority_untied": (crowded(whole, True), crowd, few),
        "majority_of_others": (crowded(others), crowd, few),
        "cohen": (table.cohen(), judged, none),
    }


def _by_category(votes: Votes, judges: Mapping[str, Mapping[Page, float]]) -> dict[str, dict[str, Figure]]:
    """Figures 2 and 1 in each category, where the votes name categories."""
    found: dict[str, dict[str, Figure]] = {}
    present = set(votes.categories.values())
    for category in [c for c in CATEGORIES if c in present] + sorted(present - set(CATEGORIES)):
        part = [vote for vote in votes.votes if votes.categories.get(vote.first[0]) == category]
        if not part:
            continue
        people = Coincidence(part, has_cases=votes.has_cases)
        wanted: dict[str, Wanted] = {PEOPLE: (people.pairs(untied=False), people.n_votes(least=2), ALONE)}
        for judge, scores in judges.items():
            table = people.judged(scores)
            wanted[judge] = table.against(table.judge, table.value), table.n_votes(judged=True), NONE
        found[category] = people.figures(wanted)
    return found


def _bins(table: Coincidence, gaps: list[float], *, people: bool) -> tuple[Bin, ...]:
    """Agreement in equal shares of the votes, by how far apart their pages are."""
    import numpy as np

    far = np.asarray(gaps, dtype=np.float64)
    used = ~np.isnan(far) & ((table.met > 1) if people else True)
    if used.sum() < 2 * BINS:
        return ()
    edges = np.unique(np.quantile(far[used], np.linspace(0, 1, BINS + 1)))
    statistic = table.pairs(untied=False) if people else table.against(table.judge, table.value)
    wanted: dict[tuple[float, float], Wanted] = {}
    for low, high in pairwise(edges.tolist()):
        inside = used & (far >= low) & ((far < high) | (high == edges[-1]))
        wanted[low, high] = _within(table, statistic, inside), int(inside.sum()), "No vote."
    found = table.figures(wanted, kinds=("cases",))
    return tuple(Bin(least=low, most=high, agreement=one) for (low, high), one in found.items())


def _within(table: Coincidence, statistic: Statistic, inside: Any) -> Statistic:
    """The statistic over some of the votes."""
    kept = inside.astype(float)
    both = kept[table.i]
    return lambda w, wp: statistic(w * kept, wp * both)


def _rated(votes: Votes) -> dict[str, Figure]:
    """Krippendorff's alpha of the ratings themselves, resampled by page."""
    import numpy as np

    if not votes.ratings:
        return {}
    pages = list(dict.fromkeys(page for rated in votes.ratings.values() for page in rated))
    table = np.array([[rated.get(page, np.nan) for page in pages] for rated in votes.ratings.values()])
    values = np.unique(table[~np.isnan(table)])
    if len(values) > MOST_VALUES:
        why = f"More than {MOST_VALUES} different ratings: alpha is given for scales with steps."
        return {"alpha_ordinal": gap(len(pages), why), "alpha_interval": gap(len(pages), why)}
    single = np.stack([_spread(table[:, [at]], values) for at in range(len(pages))])
    rng = np.random.default_rng(len(pages))
    counts = rng.multinomial(len(pages), np.full(len(pages), 1 / len(pages)), size=500).astype(float)
    drawn = np.einsum("rp,pij->rij", counts, single)
    levels: dict[str, chance.Level] = {"alpha_ordinal": "ordinal", "alpha_interval": "interval"}
    return {
        name: figure(
            float(chance.alpha(single.sum(axis=0), values.tolist(), level)),
            len(pages),
            {"cases": middle(chance.alpha(drawn, values.tolist(), level)) if len(pages) >= 5 else None},
            "" if len(pages) >= 5 else "Fewer than five pages: no interval.",
        )
        for name, level in levels.items()
    }


def _spread(one: Any, values: Any) -> Any:
    """A page's coincidences over all values that anyone gave."""
    import numpy as np

    found = np.zeros((len(values), len(values)))
    table, own = chance.coincidences_of(one)
    at = np.searchsorted(values, own)
    found[np.ix_(at, at)] = table
    return found


def judges_of(
    votes: Votes, *, files: Sequence[Path] = (), runs: Sequence[str] = (), judges: Sequence[str] = ()
) -> tuple[dict[str, dict[Page, float]], dict[str, str]]:
    """Judge → page → score out of CSV files and stored runs, and case → category out of the runs."""
    from opendesign.studying.panel import page_scores, read_panel
    from opendesign.studying.votes import read_page_scores

    found: dict[str, dict[Page, float]] = {}
    categories: dict[str, str] = {}
    for file in files:
        for judge, scores in read_page_scores(file, has_cases=votes.has_cases).items():
            if judge in found:
                raise UsageError(f"Two files give scores of the judge '{judge}': name them apart.")
            found[judge] = scores
    if runs:
        if not votes.has_cases:
            raise UsageError("The votes name no cases: without a column 'case' no page of a run is known.")
        panel = read_panel(runs, judges=judges)
        categories = dict(zip(panel.cases, panel.categories, strict=True))
        found |= page_scores(panel)
    return found, categories
