"""``study power``: how many cases separate two models that differ by d?

Out of the paired differences of stored runs: n = ((z₀.₉₇₅ + z_power) · s / d)² for the standard deviation s
of the difference of two models on one case (Cohen 1988, "Statistical power analysis for the behavioral
sciences", paired comparison, normal approximation). The middle pair's own differences, moved to a mean of d,
are then drawn n at a time and compared as ``runs compare`` would in the large: an interval of mean ± t · s/√n
that leaves out zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from opendesign.canonical import plain
from opendesign.errors import UsageError
from opendesign.running.statistics import LEVEL
from opendesign.studying.figure import Figure, figure, gap, middle
from opendesign.studying.scores import CaseScores
from opendesign.types import CATEGORIES

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

    Floats = NDArray[Any]

DIFFERENCES = (1.0, 2.0, 3.0, 5.0, 10.0)
POWER = 0.8
LEAST_CASES = 10
RESAMPLES = 1_000
SIMULATED = 2_000
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Cases needed to separate models that differ by ``d``, at the middle spread and at the extremes."""

    d: float
    cases: int
    cases_least: int  # for the pair of models with the least spread
    cases_most: int
    simulated_power: Figure  # at ``cases`` cases; with its own Monte Carlo interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One category (or ``overall``)."""

    category: str
    cases: int
    pairs: int  # of models
    spread: Figure  # standard deviation of a paired difference, the middle pair
    least: float | None
    most: float | None
    smallest: float | None  # difference that the cases at hand separate with this power
    needs: tuple[Need, ...]
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What the benchmark can tell apart."""

    score: str
    models: tuple[str, ...]
    power: float
    spreads: tuple[Spread, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {"study": "power", **plain(self)}

    def to_pandas(self) -> pandas.DataFrame:
        """One row a category and difference."""
        import pandas

        return pandas.DataFrame(
            {
                "category": spread.category,
                "spread": spread.spread.value,
                "d": need.d,
                "cases": need.cases,
                "simulated_power": need.simulated_power.value,
            }
            for spread in self.spreads
            for need in spread.needs
        )


def power_study(
    table: CaseScores, *, differences: Sequence[float] = DIFFERENCES, power: float = POWER
) -> Power:
    """Raises ``UsageError`` for fewer than two models, or for a power or difference without sense."""
    if len(table.models) < 2:
        raise UsageError("Power is about the difference of two models: name two runs or more.")
    if not 0.5 <= power < 1:
        raise UsageError(f"The power is {power}: it lies between 0.5 and 1.")
    if not differences or not all(math.isfinite(d) and d > 0 for d in differences):
        raise UsageError("The differences have to be numbers above 0.")
    present = set(table.categories)
    order = [c for c in CATEGORIES if c in present] + sorted(present - {*CATEGORIES, "overall"})
    return Power(
        score=table.name,
        models=table.models,
        power=power,
        spreads=tuple(_spread(c, table.of(c), differences, power) for c in (None, *order)),
        notes=table.marks,
    )


def _spread(category: str | None, part: CaseScores, differences: Sequence[float], power: float) -> Spread:
    import numpy as np

    named = category or "overall"
    pairs = list(combinations(range(len(part.models)), 2))
    apart = [part.values[:, i] - part.values[:, j] for i, j in pairs]
    kept = [d[~np.isnan(d)] for d in apart]
    kept = [d for d in kept if len(d) >= LEAST_CASES]
    if not kept:
        why = f"Fewer than {LEAST_CASES} cases that two models have a score for."
        n = len(part.cases)
        return Spread(
            category=named, cases=n, pairs=0, spread=gap(n, why), least=None, most=None, smallest=None,
            needs=(), why=why,
        )  # fmt: skip
    spreads = np.array([float(d.std(ddof=1)) for d in kept])
    middle_one = int(np.argsort(spreads)[len(spreads) // 2])
    s = float(spreads[middle_one])
    if s < 1e-12:
        why = "The models' scores differ by the same on every case: one case separates any difference."
        return Spread(
            category=named, cases=len(kept[middle_one]), pairs=len(kept), spread=figure(s, len(kept)),
            least=float(spreads.min()), most=float(spreads.max()), smallest=0.0, needs=(), why=why,
        )  # fmt: skip
    sample = kept[middle_one]
    rng = np.random.default_rng(len(sample))
    drawn = sample[rng.integers(len(sample), size=(RESAMPLES, len(sample)))].std(axis=1, ddof=1)
    return Spread(
        category=named,
        cases=len(sample),
        pairs=len(kept),
        spread=figure(s, len(sample), {"cases": middle(drawn)}),
        least=float(spreads.min()),
        most=float(spreads.max()),
        smallest=_factor(power) * s / math.sqrt(len(sample)),
        needs=tuple(_need(d, sample, spreads, s, power) for d in differences),
    )


def _factor(power: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + LEVEL) / 2) + ndtri(power))


def cases_needed(d: float, spread: float, power: float = POWER) -> int:
    """n for a difference ``d`` and a standard deviation ``spread`` of paired differences; 2 at least."""
    return max(2, math.ceil((_factor(power) * spread / d) ** 2))


def _need(d: float, sample: Floats, spreads: Floats, s: float, power: float) -> Need:
    n = cases_needed(d, s, power)
    return Need(
        d=d,
        cases=n,
        cases_least=cases_needed(d, float(spreads.min()), power),
        cases_most=cases_needed(d, float(spreads.max()), power),
        simulated_power=_simulate(d, sample, n),
    )


def _simulate(d: float, sample: Floats, n: int) -> Figure:
    """Share of draws of ``n`` cases whose interval leaves out zero on the right side."""
    import numpy as np
    from scipy.special import stdtrit

    from opendesign.running.statistics import rate

    trials = min(SIMULATED, _CELLS // n)
    if trials < 200:
        return gap(0, f"{n} cases: too many to simulate; the normal approximation is close at such numbers.")
    rng = np.random.default_rng(n)
    moved = sample - sample.mean() + d
    drawn = moved[rng.integers(len(moved), size=(trials, n))]
    error = drawn.std(axis=1, ddof=1) / math.sqrt(n)
    found = drawn.mean(axis=1) > float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    estimate = rate([[float(hit)] for hit in found])
    assert estimate is not None
    ends = None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
    return figure(estimate.mean, trials, {"simulation": ends})


def power_table(sources: Sequence[str], score: str | None = None) -> CaseScores:
    """A score by case out of stored runs, or out of a CSV: model, case, score."""
    from opendesign.studying.boards import load_board

    table = load_board(sources, score=score).cases
    if table is None:
        raise UsageError("Power needs a score for each case: runs, or a CSV with a column 'case'.")
    return table
