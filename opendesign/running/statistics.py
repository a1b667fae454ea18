"""Intervals of 95 %: BCa for means, Wilson for rates, order statistics for medians.

The unit is the case: its samples are averaged first and always move together. Cases are resampled within
category; categories with fewer than ``SMALL`` cases are resampled together, since a resample of two or
three says nothing about their spread.

- BCa: Efron (1987), "Better bootstrap confidence intervals", J. Am. Stat. Assoc. 82. The percentiles are
  widened for small samples as in Hesterberg (2015), "What teachers should know about the bootstrap", 3.3.
- Wilson: Wilson (1927), J. Am. Stat. Assoc. 22; with several samples a case, n is divided by the design
  effect as in Rao & Scott (1992), Biometrics 48.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opendesign.canonical import digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

SMALL = 10
LEAST = 5  # cases: resamples of fewer cannot reach 95 %, whatever the scores
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over cases with its 95 % interval. ``low`` and ``high`` are None below five cases."""

    mean: float
    low: float | None
    high: float | None
    n: int


class Resampling:
    """One set of resamples of the cases, shared by every score, so that scores can be compared.

    ``strata`` is the category of each case, in order. The draws depend on ``seed`` alone.
    """

    def __init__(self, strata: Sequence[str], *, resamples: int = 10_000, seed: str = "opendesign") -> None:
        import numpy as np

        self.strata = _pooled(strata)
        self.n = len(strata)
        rng = np.random.default_rng(int(digest(seed)[:16], 16))
        counts = np.zeros((resamples, self.n), dtype=np.float32)
        for stratum in range(int(self.strata.max()) + 1 if self.n else 0):
            members = np.flatnonzero(self.strata == stratum)
            size = len(members)
            draws = rng.integers(size, size=(resamples, size), dtype=np.int32)
            draws += (np.arange(resamples, dtype=np.int32) * size)[:, None]
            counts[:, members] = np.bincount(draws.ravel(), minlength=resamples * size).reshape(
                resamples, size
            )
        self._counts = counts

    def means(self, values: Floats) -> Floats:
        """Mean over cases in each resample: (cases, scores) with NaN for missing → (resamples, scores)."""
        import numpy as np

        there = ~np.isnan(values)
        totals = self._counts @ np.where(there, values, 0.0).astype(np.float32)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = (totals / (self._counts @ there.astype(np.float32))).astype(np.float64)
        return means

    def estimates(self, values: Floats) -> list[Estimate | None]:
        """BCa estimate of each column of ``values`` (cases, scores); None for a column with nothing in it."""
        import numpy as np

        values = np.asarray(values, dtype=np.float64).reshape(self.n, -1)
        # Centred first: single precision then costs nothing where scores are large and close together.
        there = ~np.isnan(values)
        count = there.sum(axis=0)
        centre = np.where(count > 0, np.where(there, values, 0.0).sum(axis=0) / np.maximum(count, 1), 0.0)
        resampled = self.means(values - centre)
        return [
            self._bca(values[:, column], resampled[:, column] + centre[column]) if count[column] else None
            for column in range(values.shape[1])
        ]

    def _bca(self, values: Floats, resampled: Floats) -> Estimate:
        import numpy as np
        from scipy.special import ndtr, ndtri, stdtrit

        there = ~np.isnan(values)
        x, strata = values[there], self.strata[there]
        n, mean = len(x), float(x.mean())
        if n < LEAST:
            return Estimate(mean=mean, low=None, high=None, n=n)
        spread = x - (np.bincount(strata, x) / np.maximum(np.bincount(strata), 1))[strata]
        squares = float((spread**2).sum())
        if squares < 1e-18 * max(1.0, mean**2):
            return Estimate(mean=mean, low=mean, high=mean, n=n)
        resampled = np.sort(resampled[~np.isnan(resampled)])
        below = (np.searchsorted(resampled, mean, "left") + np.searchsorted(resampled, mean, "right")) / 2
        share = min(max(below / len(resampled), 0.5 / len(resampled)), 1 - 0.5 / len(resampled))
        bias = float(ndtri(share))
        acceleration = float((spread**3).sum()) / (6 * squares**1.5)
        z = math.sqrt(n / (n - 1)) * float(stdtrit(n - 1, (1 + LEVEL) / 2))
        ends = [float(ndtr(bias + (bias + s) / (1 - acceleration * (bias + s)))) for s in (-z, z)]
        low, high = np.clip(np.quantile(resampled, ends), x.min(), x.max())  # rounding may step outside
        return Estimate(mean=mean, low=float(low), high=float(high), n=n)


def _pooled(strata: Sequence[str]) -> Floats:
    """Stratum number of each case; strata with fewer than ``SMALL`` cases become one."""
    import numpy as np

    sizes = {name: strata.count(name) if isinstance(strata, (list, tuple)) else 0 for name in set(strata)}
    names = ["" if sizes[name] < SMALL else name for name in strata]
    _, numbers = np.unique(np.asarray(names, dtype=object).astype(str), return_inverse=True)
    return np.asarray(numbers, dtype=np.int64)


def rate(outcomes: Sequence[Sequence[float]]) -> Estimate | None:
    """Wilson interval of a rate: one list of 0s and 1s a case, empty where the case is unscored."""
    cases = [list(samples) for samples in outcomes if samples]
    m = len(cases)
    if not m:
        return None
    means = [sum(samples) / len(samples) for samples in cases]
    p = sum(means) / m
    n = float(m)
    if any(len(samples) > 1 for samples in cases) and 0 < p < 1 and m > 1:
        variance = sum((mean - p) ** 2 for mean in means) / (m - 1) / m
        most = float(sum(len(samples) for samples in cases))
        n = min(max(p * (1 - p) / variance, m), most) if variance > 0 else most
    z = 1.959963984540054
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Estimate(mean=p, low=max(0.0, middle - half), high=min(1.0, middle + half), n=m)


def median(values: Sequence[float]) -> Estimate | None:
    """Median of one value a case; ``mean`` of the estimate is the median.

    The interval runs between two order statistics and holds for any distribution: David & Nagaraja (2003),
    "Order Statistics", 7.1. None below six cases, where no two of them reach 95 %.
    """
    import numpy as np
    from scipy.special import bdtr

    ordered, n = sorted(values), len(values)
    if not n:
        return None
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    outside = int((bdtr(np.arange(n), n, 0.5) <= (1 - LEVEL) / 2).sum())  # values left out at either end
    if not outside:
        return Estimate(mean=middle, low=None, high=None, n=n)
    return Estimate(mean=middle, low=ordered[outside - 1], high=ordered[n - outside], n=n)


def matrix(columns: Mapping[str, Mapping[str, float]], cases: Sequence[str]) -> Floats:
    """(cases, columns) array out of column → case → value, NaN where a case has none."""
    import numpy as np

    table = np.full((len(cases), len(columns)), np.nan)
    rows = {case: row for row, case in enumerate(cases)}
    for at, values in enumerate(columns.values()):
        for case, value in values.items():
            if case in rows:
                table[rows[case], at] = value
    return table
