"""Whether two series draw the same values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from opendesign.plotting.facts import SeriesFacts

    Floats = NDArray[Any]

__all__ = ["Closeness", "Marks", "marks_alike", "marks_of", "pooled"]

Values = Sequence[float | str | None]
_CHANNELS = ("x", "y", "z", "base")
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.0+)?)?Z?")
_QUANTILES = 33  # at which series of different lengths are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness:
    """Distances as shares of the reference's range: up to ``same`` equal, from ``other`` on another value."""

    same: float
    other: float

    def of(self, distance: Floats) -> Floats:
        """1 to 0, distance by distance; what is not a number is another value."""
        import numpy as np

        share = (self.other - distance) / (self.other - self.same)
        return np.clip(np.nan_to_num(share, nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """One or several series of a kind: their values by channel, of ``n`` before any were left out."""

    kind: str
    horizontal: bool
    shape: tuple[int, int] | None
    n: int
    values: dict[str, Values]


def marks_of(series: SeriesFacts) -> Marks:
    values: dict[str, Values] = {
        name: [_plain(value) for value in getattr(series, name)]
        for name in _CHANNELS
        if getattr(series, name)
    }
    return Marks(
        kind=series.kind, horizontal=series.horizontal, shape=series.shape, n=series.n, values=values
    )


def _plain(value: float | str | None) -> float | str | None:
    """A date as plotly reads it: with or without midnight, with a T or a blank, it is the same."""
    if isinstance(value, str) and (found := _MOMENT.fullmatch(value)):
        return found[1] if found[2] is None or not found[2].strip("0:.") else f"{found[1]}T{found[2]}"
    return value


def pooled(marks: Sequence[Marks]) -> list[Marks]:
    """All marks of a kind as one; images stay apart."""
    groups: dict[tuple[object, ...], list[Marks]] = {}
    for number, one in enumerate(marks):
        apart = number if one.shape else None
        groups.setdefault((one.kind, one.horizontal, tuple(one.values), apart), []).append(one)
    return [
        Marks(
            kind=members[0].kind,
            horizontal=members[0].horizontal,
            shape=members[0].shape,
            n=sum(one.n for one in members),
            values={
                name: [value for one in members for value in one.values[name]] for name in members[0].values
            },
        )
        for members in groups.values()
    ]


def marks_alike(reference: Marks, drawn: Marks, close: Closeness) -> float:
    """0 to 1: share of the reference's points that are drawn too; 0 for another kind of mark.

    Equally many points are compared one by one, as they stand or sorted, whichever says more. Where there are
    more or fewer, or some were left out and so may be others, the spread of their values counts, weighed down
    by how many more or fewer there are.
    """
    if (reference.kind, reference.horizontal, reference.shape) != (drawn.kind, drawn.horizontal, drawn.shape):
        return 0.0
    if set(reference.values) != set(drawn.values):
        return 0.0
    if not reference.values:
        return 1.0
    pairs = [(values, drawn.values[name]) for name, values in reference.values.items()]
    if reference.n == drawn.n and all(len(a) == len(b) for a, b in pairs):
        found = _one_by_one(pairs, close)
        lengths = {len(a) for a, _ in pairs}
        if found < 1 and reference.shape is None and len(lengths) == 1:
            wanted, others = _sorted([a for a, _ in pairs]), _sorted([b for _, b in pairs])
            found = max(found, _one_by_one(list(zip(wanted, others, strict=True)), close))
        if found == 1 or reference.shape is not None or reference.n <= len(pairs[0][0]):
            return found
    else:
        found = 0.0
    fewer, more = sorted((max(reference.n, 1), max(drawn.n, 1)))
    return max(found, min(_spread(a, b, close) for a, b in pairs) * fewer / more)


def _one_by_one(pairs: Sequence[tuple[Values, Values]], close: Closeness) -> float:
    """Mean over points of the product over channels; channels of other lengths than the rest stand alone."""
    import numpy as np

    products: dict[int, Floats] = {}
    for wanted, drawn in pairs:
        a, b = _numbers(wanted), _numbers(drawn)
        with np.errstate(all="ignore"):
            credit = close.of(np.abs(a - b) / _range(a))
        same = np.array([x == y for x, y in zip(wanted, drawn, strict=True)])
        credit = np.where(same, 1.0, credit)
        products[len(wanted)] = products.get(len(wanted), np.ones(len(wanted))) * credit
    return min(float(credit.mean()) for credit in products.values())


def _spread(wanted: Values, drawn: Values, close: Closeness) -> float:
    """How alike two sets of values are: by their quantiles, or by the texts they share."""
    import numpy as np

    texts = [{value for value in values if isinstance(value, str)} for values in (wanted, drawn)]
    if texts[0] or texts[1]:
        return len(texts[0] & texts[1]) / len(texts[0] | texts[1])
    a, b = ([value for value in _numbers(values) if np.isfinite(value)] for values in (wanted, drawn))
    if not a or not b:
        return float(not a and not b)
    at = np.linspace(0, 1, _QUANTILES)
    with np.errstate(all="ignore"):
        return float(close.of(np.abs(np.quantile(a, at) - np.quantile(b, at)) / _range(np.array(a))).mean())


def _numbers(values: Values) -> Floats:
    import numpy as np

    return np.array([value if isinstance(value, (int, float)) else np.nan for value in values], dtype=float)


def _range(values: Floats) -> float:
    """Of the finite values; of values that are all the same their size."""
    import numpy as np

    finite = values[np.isfinite(values)]
    if not len(finite):
        return 1.0
    return float(np.ptp(finite)) or float(np.abs(finite).max()) or 1.0


def _sorted(channels: Sequence[Values]) -> list[Values]:
    """The same points by x, then y …: numbers first, then texts, then what is neither."""

    def order(point: tuple[float | str | None, ...]) -> list[tuple[int, float, str]]:
        return [
            (2, 0.0, "") if value is None else (1, 0.0, value) if isinstance(value, str) else (0, value, "")
            for value in point
        ]

    return list(zip(*sorted(zip(*channels, strict=True), key=order), strict=True))
