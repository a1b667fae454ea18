"""Votes as arrays, and every agreement figure of them as one function of how much each vote weighs.

So an interval is that function over drawn weights: cases, raters, or both at once (each vote weighs the
product, as in Owen 2007, "The pigeonhole bootstrap", Ann. Appl. Stat. 1). Majorities are those of the votes
as they are; only their weight is drawn.

Two outcomes agree by 1 − |difference| of 1 (first page), 0.5 (tie) and 0: a tie against a choice is half;
``_untied`` figures leave out whatever has a tie on either side. Which page of a pair is called the first
means nothing, so every kappa and alpha counts each pair in both orders.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

from opendesign.studying import chance
from opendesign.studying.figure import Figure, Range, figure, gap, middle
from opendesign.studying.votes import Page, Vote

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

RESAMPLES = 500
LEAST = 5  # cases or raters below which resampling them says nothing
WORDS = (0.0, 0.5, 1.0)
Statistic = Callable[["Floats", "Floats"], float]  # weights of votes, weights of vote pairs → value
Wanted = tuple[Statistic, int, str]  # with n, and why there is none where that is 0
Name = TypeVar("Name", bound=Hashable)


class Coincidence:
    """Votes, the pairs of votes on one pair of pages, and (once ``judged``) what a judge says of each."""

    def __init__(self, votes: Sequence[Vote], *, has_cases: bool) -> None:
        import numpy as np

        self.votes = votes

        places: dict[tuple[Page, Page], list[int]] = {}
        for at, vote in enumerate(votes):
            places.setdefault(vote.pair, []).append(at)
        units: dict[object, int] = {}
        raters: dict[str, int] = {}
        self.value = np.array([vote.value for vote in votes], dtype=np.float64)
        self.rater = np.array([raters.setdefault(vote.rater, len(raters)) for vote in votes], dtype=np.int64)
        self.unit = np.array(
            [units.setdefault(vote.first[0] if has_cases else vote.pair, len(units)) for vote in votes],
            dtype=np.int64,
        )
        self.units, self.raters, self.page_pairs = len(units), len(raters), len(places)
        self.met = np.zeros(len(votes))  # votes on the same pair, this one among them
        self.majority, self.others = np.full((2, len(votes)), np.nan)
        left: list[int] = []
        right: list[int] = []
        for members in places.values():
            m = len(members)
            self.met[members] = m
            total = self.value[members].sum() - m / 2
            self.majority[members] = 0.5 + np.sign(total) / 2
            self.others[members] = 0.5 + np.sign(total - (self.value[members] - 0.5)) / 2
            for a, b in combinations(members, 2):
                left.append(a)
                right.append(b)
        self.i, self.j = np.array(left, dtype=np.int64), np.array(right, dtype=np.int64)
        self.gap, self.judge = np.full((2, len(votes)), np.nan)

    def judged(self, scores: Mapping[Page, float]) -> Coincidence:
        """The same votes with a judge beside them; its word is NaN where it has not scored both pages."""
        import numpy as np

        other = copy(self)
        other.gap = np.array([_apart(vote, scores) for vote in self.votes], dtype=np.float64)
        other.judge = 0.5 + np.sign(other.gap) / 2
        return other

    # Statistics: each a function of weights

    def pairs(self, *, untied: bool) -> Statistic:
        """People against people: any two votes on a pair, each vote counting the same."""
        a, b = self.value[self.i], self.value[self.j]
        used = (a != 0.5) & (b != 0.5) if untied else a == a
        base = used / (self.met[self.i] - 1)
        share = base * (1 - abs(a - b))
        return lambda _, w: _ratio(_sum(w, share), _sum(w, base))

    def against(
        self, said: Floats, target: Floats, *, least: int = 1, untied: bool = False, by_pair: bool = False
    ) -> Statistic:
        """``said`` against ``target``, vote by vote, over pairs with at least ``least`` votes.

        ``by_pair``: every pair of pages counts the same, else every vote.
        """
        import numpy as np

        used = (self.met >= least) & ~np.isnan(said) & ~np.isnan(target)
        if untied:
            used &= (said != 0.5) & (target != 0.5)
        base = used / (self.met if by_pair else 1.0)
        share = base * np.where(used, 1 - np.abs(said - target), 0.0)
        return lambda w, _: _ratio(_sum(w, share), _sum(w, base))

    def cohen(self) -> Statistic:
        """The judge and single votes as two raters."""
        import numpy as np

        used = ~np.isnan(self.judge)
        code = _word(np.where(used, self.judge, 0.0)) * 3 + _word(self.value)

        def compute(w: Floats, _: Floats) -> float:
            table = np.bincount(code, w * used, 9).reshape(3, 3)
            return float(chance.cohen(table + table[::-1, ::-1])) if table.any() else float("nan")

        return compute

    def fleiss(self) -> Statistic:
        """People among each other; every pair of pages with two votes or more counts the same."""
        import numpy as np

        m = self.met[self.i]
        base = 2 / (m * (m - 1))
        same = self.value[self.i] == self.value[self.j]
        shared = self.met > 1
        word = _word(self.value)

        def compute(w: Floats, wp: Floats) -> float:
            counts = np.bincount(word, w * shared, 3)
            seen = _ratio(_sum(wp, base * same), _sum(wp, base))
            return float(chance.fleiss(np.asarray(seen), counts + counts[::-1])) if counts.any() else seen

        return compute

    def alpha(self, level: chance.Level) -> Statistic:
        """Krippendorff's alpha of people among each other."""
        import numpy as np

        code = _word(self.value[self.i]) * 3 + _word(self.value[self.j])
        base = 1 / (self.met[self.i] - 1)

        def compute(_: Floats, wp: Floats) -> float:
            table = np.bincount(code, wp * base, 9).reshape(3, 3)
            table = table + table.T
            table = table + table[::-1, ::-1]
            return float(chance.alpha(table, WORDS, level)) if table.any() else float("nan")

        return compute

    def n_votes(self, *, least: int = 1, judged: bool = False) -> int:
        import numpy as np

        return int(((self.met >= least) & (~np.isnan(self.judge) if judged else True)).sum())

    # Figures

    def figures(
        self,
        wanted: Mapping[Name, Wanted],
        *,
        kinds: Sequence[str] = ("cases", "raters", "cases and raters"),
    ) -> dict[Name, Figure]:
        """Name → figure of what is wanted of these votes; all share their draws, judges among them."""
        import numpy as np

        there = {name: (s, n) for name, (s, n, _) in wanted.items() if n}
        ones = np.ones(len(self.value)), np.ones(len(self.i))
        ranges: dict[Name, dict[str, Range | None]] = {name: {} for name in there}
        for kind in kinds:
            if not there or not self._enough(kind):
                continue
            draws = [[s(w, wp) for s, _ in there.values()] for w, wp in self._draws(kind)]
            for name, values in zip(there, np.array(draws).T, strict=True):
                ranges[name][kind] = middle(values)
        few = "" if self._enough("cases and raters") else _few(self.units, self.raters)
        return {
            name: figure(there[name][0](*ones), n, ranges[name], few) if name in there else gap(0, why)
            for name, (_, n, why) in wanted.items()
        }

    def _enough(self, kind: str) -> bool:
        return ("cases" not in kind or self.units >= LEAST) and ("raters" not in kind or self.raters >= LEAST)

    def _draws(self, kind: str) -> list[tuple[Floats, Floats]]:
        import numpy as np

        rng = np.random.default_rng([self.units, self.raters])
        return [self._weights(partial(_counts, rng), kind) for _ in range(RESAMPLES)]

    def _weights(self, draw: Callable[[int], Floats], kind: str) -> tuple[Floats, Floats]:
        import numpy as np

        votes, pairs = np.ones(len(self.value)), np.ones(len(self.i))
        if "cases" in kind:
            cases = draw(self.units)[self.unit]
            votes, pairs = votes * cases, pairs * cases[self.i]
        if "raters" in kind:
            raters = draw(self.raters)[self.rater]
            votes, pairs = votes * raters, pairs * raters[self.i] * raters[self.j]
        return votes, pairs


def _counts(rng: Any, n: int) -> Floats:
    import numpy as np

    counts: Floats = np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)
    return counts


def _few(cases: int, raters: int) -> str:
    return f"Fewer than {LEAST} cases or raters ({cases} and {raters}) are not resampled."


def _sum(weights: Floats, values: Floats) -> float:
    """Weighted sum, without the threads that would wait for each other over so little."""
    import numpy as np

    return float(np.einsum("i,i->", weights, values))


def _ratio(top: float, below: float) -> float:
    return float(top / below) if below > 0 else float("nan")


def _word(values: Floats) -> Floats:
    import numpy as np

    words: Floats = np.rint(2 * values).astype(np.int64)
    return words


def _apart(vote: Vote, scores: Mapping[Page, float]) -> float:
    if vote.first not in scores or vote.second not in scores:
        return float("nan")
    return scores[vote.first] - scores[vote.second]
