"""Rank correlation, row by row, so that resamples cost one call.

- Spearman's rho: Pearson's correlation of midranks.
- Kendall's tau-b: (concordant − discordant) / √((pairs − tied in x)(pairs − tied in y)), Kendall (1945),
  "The treatment of ties in ranking problems", Biometrika 33.
- Footrule consistency: 1 − Σ|rank x − rank y| / ⌊n²/2⌋, the footrule of Diaconis & Graham (1977),
  "Spearman's footrule as a measure of disarray", J. R. Stat. Soc. B 39, over its maximum. ArtifactsBench
  (arXiv 2507.04952) calls this normalized Footrule; its published 94.4 % and 69.4 % are 1 − 4/72 and
  1 − 22/72, which this formula gives for twelve models.

p-values are two-sided and come from permutations of one side, ties and all: every one of them below
``ENUMERATED`` models, else ``PERMUTATIONS`` seeded draws.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, permutations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

    Correlate = Callable[[Floats, Floats], Floats]

ENUMERATED = 10  # models; 9! orders are still looked at one by one
PERMUTATIONS = 20_000
_CELLS = 4_000_000  # numbers held at a time
_NEAR = 1e-9


def spearman(x: Floats, y: Floats) -> Floats:
    """Rho of each row: (…, n) and (…, n) → (…); NaN where one side has no spread."""
    from scipy.stats import rankdata

    return pearson(rankdata(x, axis=-1), rankdata(y, axis=-1))


def pearson(x: Floats, y: Floats) -> Floats:
    """Correlation of each row, NaN where one side has no spread."""
    import numpy as np

    a = x - x.mean(axis=-1, keepdims=True)
    b = y - y.mean(axis=-1, keepdims=True)
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    flat = spread <= 1e-12 * np.maximum(1.0, np.abs(x).max(axis=-1) * np.abs(y).max(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(flat, np.nan, np.clip((a * b).sum(axis=-1) / spread, -1, 1))
    return found


def kendall(x: Floats, y: Floats) -> Floats:
    """Tau-b of each row: (…, n) and (…, n) → (…); NaN where one side has no spread."""
    import numpy as np

    a, b = _places(x), _places(y)
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    agreed, left, right = np.zeros((3, *shape))
    for i in range(a.shape[-1] - 1):  # pairs of i and all after it
        s = np.sign(a[..., i + 1 :] - a[..., i, None])
        t = np.sign(b[..., i + 1 :] - b[..., i, None])
        agreed += (s * t).sum(axis=-1)
        left += np.count_nonzero(s, axis=-1)
        right += np.count_nonzero(t, axis=-1)
    spread = np.sqrt(left * right)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(spread > 0, agreed / spread, np.nan)
    return found


def _places(values: Floats) -> Floats:
    """The order of each row in small whole numbers, which are quick to compare."""
    import numpy as np
    from scipy.stats import rankdata

    dense: Floats = rankdata(values, axis=-1, method="dense").astype(np.int16)
    return dense


def footrule(x: Floats, y: Floats) -> Floats:
    """Consistency of each row, from 0 to 1; 1 where the midranks are the same, NaN where a side has none."""
    import numpy as np
    from scipy.stats import rankdata

    n = np.asarray(x).shape[-1]
    apart = np.abs(rankdata(x, axis=-1) - rankdata(y, axis=-1)).sum(axis=-1)
    flat = (np.ptp(x, axis=-1) == 0) | (np.ptp(y, axis=-1) == 0)
    found: Floats = np.where(flat, np.nan, 1 - apart / max(1, n * n // 2))
    return found


def p_value(x: Floats, y: Floats, correlate: Correlate, *, seed: int = 0) -> tuple[float, str]:
    """Two-sided p of ``correlate(x, y)`` if ``y`` had nothing to do with ``x``, and how it was found.

    NaN where there is no correlation to begin with.
    """
    import numpy as np

    n = len(x)
    seen = abs(float(correlate(np.asarray(x), np.asarray(y))))
    if np.isnan(seen):
        return float("nan"), "none"
    exact = n < ENUMERATED
    orders = _all_orders(n) if exact else _some_orders(n, seed)
    extreme = 0
    step = max(1, _CELLS // n)
    for start in range(0, len(orders), step):
        shuffled = np.asarray(y)[orders[start : start + step]]
        extreme += int((np.abs(correlate(np.asarray(x), shuffled)) >= seen - _NEAR).sum())
    if exact:
        return extreme / len(orders), f"exact, {len(orders)} orders"
    return (1 + extreme) / (1 + len(orders)), f"{len(orders)} permutations"


def _all_orders(n: int) -> Floats:
    import numpy as np

    flat = chain.from_iterable(permutations(range(n)))
    return np.fromiter(flat, dtype=np.int8).reshape(-1, n)


def _some_orders(n: int, seed: int) -> Floats:
    import numpy as np

    return np.random.default_rng(seed).permuted(np.tile(np.arange(n), (PERMUTATIONS, 1)), axis=1)


def discordant(x: Floats, y: Floats) -> list[tuple[int, int]]:
    """Index pairs (i, j) that x orders i above j and y the other way round."""
    found = []
    for i in range(len(x)):
        for j in range(len(x)):
            if x[i] > x[j] and y[i] < y[j]:
                found.append((i, j))
    return found


def ties(x: Floats) -> int:
    """Pairs with equal values."""
    return sum(1 for i in range(len(x)) for j in range(i) if x[i] == x[j])
