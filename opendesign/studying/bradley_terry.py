"""Ratings of pages or models out of votes: Bradley and Terry (1952) on the Elo scale, fitted by Evalica.

1000 is the mean of all, 400 points are odds of 10 to 1, a tie is half a win for each. Everything also ties
once with an opponent of its own mean strength that nobody sees; without it whatever wins every vote has no
finite rating. Intervals are the middle 95 % over resampled raters, all votes of a rater together; those fits
start from Evalica's and go on by Newton's method to the same maximum, which takes a few steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opendesign.studying.figure import middle
from opendesign.studying.votes import Vote

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

POINTS = 400 / math.log(10)
RESAMPLES = 200
LEAST = 5  # raters
_STEPS = 50  # of Newton's method; a handful is usual


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """One page or model. ``low`` and ``high`` are None below five raters."""

    name: str
    rating: float
    low: float | None
    high: float | None
    votes: int
    won: float  # a tie is half


def bradley_terry(votes: Sequence[Vote], *, seed: int = 0, resamples: int = RESAMPLES) -> tuple[Rated, ...]:
    """Ratings, best first. Votes of different cases count together where pages are known by model."""
    import numpy as np

    names = sorted({page[1] for vote in votes for page in (vote.first, vote.second)}, key=_natural)
    if len(names) < 2:
        return ()
    number = {name: at for at, name in enumerate(names)}
    raters = {rater: at for at, rater in enumerate(dict.fromkeys(vote.rater for vote in votes))}
    xs = np.array([number[vote.first[1]] for vote in votes])
    ys = np.array([number[vote.second[1]] for vote in votes])
    values = np.array([vote.value for vote in votes])
    who = np.array([raters[vote.rater] for vote in votes])
    table = _Table(xs, ys, values, len(names))
    ratings = table.fit(np.ones(len(votes)))
    draws = None
    if len(raters) >= LEAST:
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(len(raters), np.full(len(raters), 1 / len(raters)), size=resamples)
        draws = np.vstack([table.refit(weights[who].astype(np.float64), ratings) for weights in drawn])
    counts = np.bincount(xs, minlength=len(names)) + np.bincount(ys, minlength=len(names))
    won = np.bincount(xs, values, len(names)) + np.bincount(ys, 1 - values, len(names))
    rows = []
    for at, name in enumerate(names):
        ends = middle(draws[:, at]) if draws is not None else None
        rows.append(
            Rated(
                name=name,
                rating=round(float(ratings[at]), 2),
                low=None if ends is None else round(ends[0], 2),
                high=None if ends is None else round(ends[1], 2),
                votes=int(counts[at]),
                won=float(won[at]),
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.rating, _natural(row.name))))


def _natural(name: str) -> tuple[int, str]:
    return (int(name) if name.isdecimal() and len(name) < 10 else 10**10, name)


class _Table:
    """Outcomes added up by pair, so that Evalica sees each pair and outcome once."""

    def __init__(self, xs: Floats, ys: Floats, values: Floats, n: int) -> None:
        import numpy as np
        import pandas
        from evalica import Winner

        self.n = n
        low, high = np.minimum(xs, ys), np.maximum(xs, ys)
        for_low = np.where(xs <= ys, values, 1 - values)
        code = (low.astype(np.int64) * n + high) * 3 + (2 * for_low).astype(np.int64)
        self.kinds, self.place = np.unique(code, return_inverse=True)
        pair, outcome = self.kinds // 3, self.kinds % 3
        winner = [Winner.Y, Winner.Draw, Winner.X]
        self.xs = [*(pair // n).tolist(), *range(n)]
        self.ys = [*(pair % n).tolist(), *[n] * n]  # the last is the opponent that nobody sees
        self.winners = [*(winner[o] for o in outcome.tolist()), *[Winner.Draw] * n]
        self.index: Any = pandas.Index(range(n + 1))

    def fit(self, weights: Floats) -> Floats:
        """(n,) ratings with each vote weighted."""
        import numpy as np
        from evalica import bradley_terry as fit

        summed = np.bincount(self.place, weights, len(self.kinds))
        there = [*(summed > 0).tolist(), *[True] * self.n]
        kept = [at for at, used in enumerate(there) if used]
        full = [*summed.tolist(), *[1.0] * self.n]
        # Its strengths are relative: the opponent that nobody sees is one of them.
        fitted = fit(
            [self.xs[i] for i in kept],
            [self.ys[i] for i in kept],
            [self.winners[i] for i in kept],
            index=self.index,
            weights=[full[i] for i in kept],
            tolerance=1e-8,
            limit=10_000,
        )
        strength = np.log(fitted.scores.loc[self.index].to_numpy()[: self.n])
        return _elo(strength)

    def refit(self, weights: Floats, start: Floats) -> Floats:
        """The same as ``fit``, from ratings that are near already."""
        import numpy as np

        n = self.n
        summed = np.bincount(self.place, weights, len(self.kinds))
        pair, share = self.kinds // 3, (self.kinds % 3) / 2
        met, won = np.zeros((n, n)), np.zeros(n)
        low, high = pair // n, pair % n
        np.add.at(met, (low, high), summed)
        met += met.T
        np.add.at(won, low, summed * share)
        np.add.at(won, high, summed * (1 - share))
        strength = (start - start.mean()) / POINTS
        for _ in range(_STEPS):
            p = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
            unseen = 1 / (1 + np.exp(-strength))
            slope = won - (met * p).sum(axis=1) + 0.5 - unseen
            curve = met * p * (1 - p)
            bend = np.diag(curve.sum(axis=1) + unseen * (1 - unseen)) - curve
            step = _solve(bend, slope)
            strength = strength + step * min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-12))
            if np.abs(step).max() < 1e-7:
                break
        return _elo(strength)


def _solve(a: Floats, b: Floats) -> Floats:
    """x of a·x = b for symmetric positive a, by conjugate gradients with a's diagonal.

    LAPACK's threads would wait for each other on a busy machine for longer than this takes.
    """
    import numpy as np

    scale = 1 / np.diag(a)
    x = np.zeros(len(b))
    rest = b.copy()
    way = scale * rest
    size = float(rest @ way)
    for _ in range(4 * len(b)):
        if size < 1e-20:
            break
        turned = np.einsum("ij,j->i", a, way)
        length = size / float(way @ turned)
        x += length * way
        rest = rest - length * turned
        near = scale * rest
        size, before = float(rest @ near), size
        way = near + size / before * way
    return x


def _elo(strength: Floats) -> Floats:
    ratings: Floats = 1000 + POINTS * (strength - strength.mean())
    return ratings
