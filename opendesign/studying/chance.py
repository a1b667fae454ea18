"""Agreement beyond chance, out of coincidences: who said what of the same thing.

All take weighted counts, so that a resample costs one call; leading axes are resamples.

- Cohen (1960), "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20.
- Fleiss (1971), "Measuring nominal scale agreement among many raters", Psychol. Bull. 76; for a changing
  number of raters the agreement within each thing is averaged over things, as there.
- Krippendorff's alpha as in Krippendorff (2011), "Computing Krippendorff's alpha-reliability", for any number
  of raters a thing and any level of measurement.
- Intraclass correlation, Shrout & Fleiss (1979), "Intraclass correlations: uses in assessing rater
  reliability", Psychol. Bull. 86: ICC(2,1) for agreement in value between judges drawn from many, ICC(3,1)
  for agreement in order and distance between just these, ICC(1,1) for repeats of one judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

Level = Literal["nominal", "ordinal", "interval"]


def cohen(table: Floats) -> Floats:
    """Kappa of (…, k, k) counts: rows what one said, columns the other. NaN where all is one word."""
    import numpy as np

    share = table / table.sum(axis=(-2, -1), keepdims=True)
    seen = np.trace(share, axis1=-2, axis2=-1)
    chance = (share.sum(axis=-1) * share.sum(axis=-2)).sum(axis=-1)
    return _beyond(seen, chance)


def fleiss(seen: Floats, marginals: Floats) -> Floats:
    """Kappa out of the mean share of rater pairs that agree (…) and the counts of each word (…, k)."""
    share = marginals / marginals.sum(axis=-1, keepdims=True)
    return _beyond(seen, (share * share).sum(axis=-1))


def _beyond(seen: Floats, chance: Floats) -> Floats:
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(chance < 1 - 1e-12, (seen - chance) / (1 - chance), np.nan)
    return found


def alpha(coincidences: Floats, values: Sequence[float], level: Level) -> Floats:
    """Alpha of (…, k, k) coincidences, symmetric: each thing adds 1/(raters − 1) a pair of its raters.

    ``values``: what the k words stand for, in order. NaN where all is one word.
    """
    import numpy as np

    counts = coincidences.sum(axis=-1)
    n = counts.sum(axis=-1)
    apart = _distance(counts, np.asarray(values, dtype=np.float64), level)
    observed = (coincidences * apart).sum(axis=(-2, -1)) / n
    expected = (counts[..., :, None] * counts[..., None, :] * apart).sum(axis=(-2, -1)) / (n * (n - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(expected > 0, 1 - observed / expected, np.nan)
    return found


def _distance(counts: Floats, values: Floats, level: Level) -> Floats:
    """Squared difference of words: (…, k, k)."""
    import numpy as np

    k = len(values)
    if level == "nominal":
        return 1.0 - np.eye(k)
    if level == "interval":
        apart: Floats = (values[:, None] - values[None, :]) ** 2
        return apart
    middle = np.cumsum(counts, axis=-1) - counts / 2  # what lies below a word, and half of its own
    ordinal: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
    return ordinal


def coincidences_of(ratings: Floats) -> tuple[Floats, list[float]]:
    """Coincidences and sorted values out of (raters, things) with NaN for missing."""
    import numpy as np

    values = np.unique(ratings[~np.isnan(ratings)])
    found = np.zeros((len(values), len(values)))
    for thing in ratings.T:
        said = np.searchsorted(values, thing[~np.isnan(thing)])
        if len(said) > 1:
            counts = np.bincount(said, minlength=len(values)).astype(np.float64)
            found += (np.outer(counts, counts) - np.diag(counts)) / (len(said) - 1)
    return found, [float(value) for value in values]


def icc_sums(table: Floats) -> Floats:
    """What the ICCs need of each thing, additive over things: (things, judges) → (things, 3 + judges).

    Columns: 1, sum of squares, square of the sum, and each judge's value.
    """
    import numpy as np

    one = np.ones(len(table))
    squares, sums = (table**2).sum(axis=1), table.sum(axis=1) ** 2
    return np.column_stack([one, squares, sums, table])


def icc(sums: Floats, kind: Literal["1,1", "2,1", "3,1"]) -> Floats:
    """ICC out of summed ``icc_sums`` (…, 3 + judges); values are best centred before. NaN without spread."""
    import numpy as np

    n, squares, row_squares, columns = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
    k = columns.shape[-1]
    total = columns.sum(axis=-1)
    correction = total**2 / (n * k)
    rows = row_squares / k - correction
    judges = (columns**2).sum(axis=-1) / n - correction
    everything = squares - correction
    with np.errstate(invalid="ignore", divide="ignore"):
        between = rows / (n - 1)
        if kind == "1,1":
            within = (everything - rows) / (n * (k - 1))
            below = between + (k - 1) * within
            found = (between - within) / below
        else:
            error = (everything - rows - judges) / ((n - 1) * (k - 1))
            extra = k * (judges / (k - 1) - error) / n if kind == "2,1" else 0.0
            below = between + (k - 1) * error + extra
            found = (between - error) / below
        kept: Floats = np.where((n > 1) & (everything > 1e-12), found, np.nan)
    return kept
