"""One number of a study: its value, how far it may be off, or one sentence why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opendesign.running.statistics import LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

Range = tuple[float, float]
EQUAL = "All values are equal or tied: there is nothing to compare."
MOST_UNDEFINED = 0.05  # share of resamples without a value from which an interval says too little


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its ranges: what was resampled → (low, high).

    "models", "cases", "raters" and "cases and raters" are 95 % intervals; "one left out" is the least and
    the most that the number becomes without one model, and no interval. ``why`` says why there is no value,
    or why there is no interval.
    """

    value: float | None
    n: int
    ranges: Mapping[str, Range] = field(default_factory=dict)
    why: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        ranges = "; ".join(f"{low:.2f} to {high:.2f}, {name}" for name, (low, high) in self.ranges.items())
        return f"{self.value:.2f}" + (f" ({ranges})" if ranges else "")


def gap(n: int, why: str) -> Figure:
    """A figure that cannot be given."""
    return Figure(value=None, n=n, why=why)


def figure(value: float, n: int, ranges: Mapping[str, Range | None] | None = None, why: str = "") -> Figure:
    """A figure out of a number and ranges that may be missing; ``why`` says why there is no interval.

    NaN is the value of every figure here where nothing differs: equal scores, one word only, ties alone.
    """
    import math

    if math.isnan(value):
        return gap(n, EQUAL)
    kept = {name: ends for name, ends in (ranges or {}).items() if ends is not None}
    return Figure(value=float(value), n=n, ranges=kept, why=why)


def middle(draws: Floats) -> Range | None:
    """The middle 95 % of resampled values; None where more than one in twenty has none."""
    import numpy as np

    there = np.asarray(draws, dtype=np.float64)
    there = there[~np.isnan(there)]
    if not len(draws) or len(there) < (1 - MOST_UNDEFINED) * len(draws):
        return None
    low, high = np.quantile(there, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def centred(draws: Floats, value: float, *, least: float = -1.0) -> Range | None:
    """The interval of a rank correlation (``least`` to 1) out of draws over cases.

    Resampling cases adds noise to the models' means, which lowers every rank correlation, as the sample's own
    noise has lowered ``value`` already; so the draws are moved until their median is the value.
    """
    import numpy as np

    ends = middle(draws)
    if ends is None or np.isnan(value):
        return None
    by = value - float(np.nanmedian(draws))
    return min(value, max(least, ends[0] + by)), max(value, min(1.0, ends[1] + by))


def left_out(compute: Callable[[list[int]], float], n: int) -> Range | None:
    """Least and most of ``compute`` over the index lists with one of ``n`` left out."""
    import math

    values = [compute([i for i in range(n) if i != out]) for out in range(n)]
    known = [value for value in values if not math.isnan(value)]
    return (min(known), max(known)) if known else None


def ranked(scores: Mapping[str, float]) -> dict[str, int]:
    """Name → rank, 1 for the highest score; equal scores share the better rank. Best first."""
    order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    values: Sequence[float] = [score for _, score in order]
    return {name: values.index(score) + 1 for name, score in order}


def leaders(ranking: Mapping[str, int]) -> str:
    """Who leads a ranking: one name, or several that share the first rank."""
    return " = ".join(name for name, rank in ranking.items() if rank == 1)
