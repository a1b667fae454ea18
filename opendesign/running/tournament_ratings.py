"""Bradley–Terry ratings out of matches, with intervals and with what they do not tell apart.

Ratings are on the Elo scale: 1000 + 400/ln 10 · (ln s − mean ln s) for the strengths s of Bradley and Terry
(1952), "Rank analysis of incomplete block designs", Biometrika 39, fitted by Evalica; a tie is half a win for
each. So the mean of all models is 1000, and 400 points are odds of 10 to 1.

Every run also has one tie that was not played, spread over all the others. Without it a run that wins
everything has no finite rating. Ratings are finite where all runs are one group, each having taken points
from another, all round (Ford 1957, "Solution of a ranking problem from binary comparisons", Am. Math. Mon.
64). Where they are not, the matches give the order of the groups and not how far they are apart: the interval
of the top group has no upper end, that of the bottom group no lower one, and the ends that there are lie
where z² = 3.84 matches more, lost or won, would put the run, a case counting as one match. That is where
Wilson's interval of "all of them" ends.

Else intervals are the middle 95 % over resamples of the cases within their category, all matches of a case
together and one draw for all runs. Two runs are separated where the interval of their difference in those
same draws leaves out zero. Below ``LEAST`` cases there is neither: six matches won in a row are the first
that chance gives in less than one of twenty tournaments (2 · 0.5⁶ = 0.03).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from opendesign.judging.pairwise.match import Outcome
from opendesign.running.statistics import LEVEL, Resampling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

__all__ = ["ANCHOR", "LEAST", "Played", "Standing", "standings"]

ANCHOR = 1000.0  # mean rating of all models of a tournament
POINTS = 400 / math.log(10)  # a unit of log strength
LEAST = 6  # cases
RESAMPLES = 2_000
_ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
_TOLERANCE, _LIMIT = 1e-6, 10_000  # of the fit
_SAME = 0.1  # points that are no difference: the fit is not exact
_Z2 = 1.959963984540054**2

_OUTCOMES: tuple[Outcome, ...] = ("first", "second", "tie")


@dataclass(frozen=True, slots=True)
class Played:
    """A match that has an outcome."""

    case: str
    pair: tuple[str, str]
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One run in the table. ``best`` and ``worst`` are the ranks that the matches leave open to it."""

    run: str
    model: str
    rating: float
    low: float | None  # None: no end, or fewer than LEAST cases
    high: float | None
    rank: int
    best: int
    worst: int
    wins: int
    ties: int
    losses: int
    cases: int
    not_separated: tuple[str, ...]  # runs

    @property
    def n(self) -> int:
        """Matches that count."""
        return self.wins + self.ties + self.losses


def standings(
    played: Sequence[Played],
    models: Mapping[str, str],
    categories: Mapping[str, str],
    *,
    seed: str = "tournament",
    resamples: int = RESAMPLES,
) -> tuple[Standing, ...]:
    """The table, best first. ``models``: run → model; ``categories``: case → category.

    A run without a match that counts is left out.
    """
    there = {run for one in played for run in one.pair}
    runs = [run for run in models if run in there]
    if len(runs) < 2:
        return ()
    table = _Table(played, runs)
    draws = Resampling([categories[case] for case in table.cases], resamples=resamples, seed=seed)
    totals = draws.means(table.counts.reshape(len(table.cases), -1)) * len(table.cases)
    resampled = _elo(_points(totals.reshape(resamples, -1, 3), table.pairs))
    ratings = _fitted(table)
    intervals = _intervals(table, resampled)
    above = _above(table, resampled)
    order = sorted(range(len(runs)), key=lambda i: (-ratings[i], runs[i]))
    rows = []
    for rank, i in enumerate(order, start=1):
        wins, ties, losses = table.score(i)
        row = Standing(
            run=runs[i],
            model=models[runs[i]],
            rating=round(float(ratings[i]), 2),
            low=intervals[i][0],
            high=intervals[i][1],
            rank=rank,
            best=1 + int(above[:, i].sum()),
            worst=len(runs) - int(above[i].sum()),
            wins=wins,
            ties=ties,
            losses=losses,
            cases=table.met[i],
            not_separated=tuple(runs[j] for j in order if j != i and not above[i, j] and not above[j, i]),
        )
        rows.append(row)
    return tuple(rows)


class _Table:
    """Who met whom and how it ended: ``counts`` is (cases, pairs, first won · second won · tie)."""

    def __init__(self, played: Sequence[Played], runs: Sequence[str]) -> None:
        import numpy as np

        number = {run: i for i, run in enumerate(runs)}
        self.pairs = list(combinations(range(len(runs)), 2))
        place = {pair: at for at, pair in enumerate(self.pairs)}
        self.cases = list(dict.fromkeys(one.case for one in played))
        rows = {case: at for at, case in enumerate(self.cases)}
        self.counts = np.zeros((len(self.cases), len(self.pairs), 3))
        seen: list[set[str]] = [set() for _ in runs]
        for one in played:
            i, j = number[one.pair[0]], number[one.pair[1]]
            outcome = _OUTCOMES.index(one.outcome)
            if i > j:
                i, j, outcome = j, i, (1, 0, 2)[outcome]
            self.counts[rows[one.case], place[i, j], outcome] += 1
            seen[i].add(one.case)
            seen[j].add(one.case)
        self.met = [len(cases) for cases in seen]
        self.points = _points(self.counts.sum(axis=0), self.pairs)

    def score(self, i: int) -> tuple[int, int, int]:
        """Wins, ties and losses of a run."""
        total, wins, ties, losses = self.counts.sum(axis=0), 0, 0, 0
        for pair, (won, lost, tied) in zip(self.pairs, total, strict=True):
            if i in pair:
                mine, theirs = (won, lost) if pair[0] == i else (lost, won)
                wins, ties, losses = wins + int(mine), ties + int(tied), losses + int(theirs)
        return wins, ties, losses


def _points(counts: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """What row has won of column: (…, pairs, 3) counts → (…, runs, runs)."""
    import numpy as np

    runs = max(j for _, j in pairs) + 1
    points = np.zeros((*counts.shape[:-2], runs, runs))
    for at, (i, j) in enumerate(pairs):
        won, lost, tied = (counts[..., at, outcome] for outcome in range(3))
        points[..., i, j], points[..., j, i] = won + tied / 2, lost + tied / 2
    return points


def _not_played(runs: int) -> float:
    """What every run has of every other by the tie that was not played."""
    return 0.5 / (runs - 1)


def _fitted(table: _Table) -> Floats:
    """Rating of each run, by Evalica."""
    import numpy as np
    import pandas
    from evalica import Winner, bradley_terry

    runs = len(table.points)
    pairs = [(i, j) for i in range(runs) for j in range(runs) if i != j]
    fitted = bradley_terry(
        [i for i, _ in pairs],
        [j for _, j in pairs],
        [Winner.X] * len(pairs),
        index=pandas.Index(range(runs)),
        weights=[float(table.points[i, j]) + _not_played(runs) for i, j in pairs],
        tolerance=_TOLERANCE,
        limit=_LIMIT,
    )
    return _scaled(np.log(fitted.scores.loc[list(range(runs))].to_numpy()))


def _elo(points: Floats) -> Floats:
    """Ratings of many tables at once: (tables, runs, runs) points → (tables, runs).

    The same iteration as Evalica's (Newman 2023, "Efficient computation of rankings from pairwise
    comparisons", JMLR 24), which fits one table at a time.
    """
    import numpy as np

    runs = points.shape[-1]
    points = points + _not_played(runs) * (1 - np.eye(runs))
    strength = np.ones(points.shape[:-1])
    for _ in range(_LIMIT):
        before = strength.copy()
        for i in range(runs):
            sums = strength[:, i, None] + strength
            won = (points[:, i, :] * strength / sums).sum(axis=1)
            strength[:, i] = won / (points[:, :, i] / sums).sum(axis=1)
        strength /= np.exp(np.log(strength).mean(axis=1, keepdims=True))
        if np.abs(np.log(strength / before)).max() < _TOLERANCE:
            break
    return _scaled(np.log(strength))


def _scaled(logs: Floats) -> Floats:
    ratings: Floats = ANCHOR + POINTS * (logs - logs.mean(axis=-1, keepdims=True))
    return ratings


def _intervals(table: _Table, resampled: Floats) -> list[tuple[float | None, float | None]]:
    """The 95 % interval of each run; None for an end that the matches leave open."""
    import numpy as np

    quantiles = np.quantile(resampled, _ENDS, axis=0).T.tolist()
    beyond = _beyond(table)
    found: list[tuple[float | None, float | None]] = []
    for i, (low, high) in enumerate(quantiles):
        took, gave = beyond[i] if beyond else (True, True)
        ends = (low, high)
        if beyond:
            ends = min(low, _with_more(table, i, won=False)), max(high, _with_more(table, i, won=True))
        there = table.met[i] >= LEAST
        found.append(
            (round(ends[0], 2) if took and there else None, round(ends[1], 2) if gave and there else None)
        )
    return found


def _beyond(table: _Table) -> list[tuple[bool, bool]] | None:
    """Whether the group of each run took points from runs outside it, and gave any; None for one group."""
    from scipy.sparse.csgraph import connected_components

    count, group = connected_components(table.points, directed=True, connection="strong")
    if count == 1:
        return None
    taken = table.points > 0
    inside = [group == own for own in group]
    return [(bool(taken[own][:, ~own].any()), bool(taken[~own][:, own].any())) for own in inside]


def _with_more(table: _Table, i: int, *, won: bool) -> float:
    """The rating of a run with z² matches more, won or lost, spread over the others."""
    wins, ties, losses = table.score(i)
    more = _Z2 * (wins + ties + losses) / table.met[i] / (len(table.points) - 1)
    points = table.points.copy()
    others = [j for j in range(len(points)) if j != i]
    if won:
        points[i, others] += more
    else:
        points[others, i] += more
    return float(_elo(points[None])[0, i])


def _above(table: _Table, resampled: Floats) -> Floats:
    """Whether row is separated from column and better."""
    import numpy as np
    from scipy.sparse.csgraph import connected_components

    runs = resampled.shape[1]
    _, group = connected_components(table.points, directed=False)
    above = np.zeros((runs, runs), dtype=bool)
    for i, j in combinations(range(runs), 2):
        if min(table.met[i], table.met[j]) >= LEAST and group[i] == group[j]:
            low, high = np.quantile(resampled[:, i] - resampled[:, j], _ENDS)
            above[i, j], above[j, i] = low > _SAME, high < -_SAME
    return above
