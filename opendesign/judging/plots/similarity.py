"""How alike two pictures of plots are: by their edges, so that colours do not matter."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

__all__ = ["likeness"]

_SIZE = (256, 192)  # pixels at which the pictures are compared
_REACH = 3  # pixels within which an edge is found again
_BLUR = 0.7  # pixels
_CONTRAST = 0.5  # gradient from which an edge counts in full; faint ones count less
_DIRECTIONS = 4
_INK = 24  # of 255: a channel's distance from the background that is no background


def likeness(one: bytes, other: bytes) -> float:
    """0 (nothing alike) to 1 (the same), of two pictures as PNG; symmetric, deterministic, CPU-bound.

    The pictures are brought to one size, in grey. An edge of one is found again where the other has an edge
    of about the same direction nearby; the likeness is the F-measure of both ways. They are compared whole,
    and with their margins cut off, and the better one counts: a tighter layout is no other plot. Raises
    ``OSError`` or ``ValueError`` for what is no picture.
    """
    pairs = zip(_views(one), _views(other), strict=True)
    return max(_found(_edges(a), _edges(b)) for a, b in pairs)


def _views(png: bytes) -> tuple[Floats, Floats]:
    """The picture whole and without its margins, (height, width) of ``_SIZE``, grey from 0 to 1."""
    import numpy as np
    from PIL import Image

    with Image.open(BytesIO(png)) as opened:
        whole = opened.convert("RGB")
    pixels = np.asarray(whole)
    marks = np.abs(pixels.astype(np.int16) - _background(pixels)).max(axis=-1) > _INK
    rows, columns = np.flatnonzero(marks.any(axis=1)), np.flatnonzero(marks.any(axis=0))
    trimmed = whole
    if len(rows):
        trimmed = whole.crop((int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1))

    def grey(image: Image.Image) -> Floats:
        small = np.asarray(image.resize(_SIZE, Image.Resampling.BOX), dtype=np.float64)
        brightness: Floats = small @ np.array([0.299, 0.587, 0.114]) / 255
        return brightness

    return grey(whole), grey(trimmed)


def _background(pixels: Floats) -> Floats:
    """The most frequent colour, to eight levels a channel exactly."""
    import numpy as np

    codes = (pixels >> 3).astype(np.int32) @ np.array([1024, 32, 1])
    code = int(np.bincount(codes.ravel()).argmax())
    return np.array([code // 1024, code // 32 % 32, code % 32]) * 8 + 4


def _edges(grey: Floats) -> Floats:
    """Strength of the edges from 0 to 1, shared among directions: (directions, height, width)."""
    import numpy as np
    from scipy.ndimage import gaussian_filter, sobel

    smooth = gaussian_filter(grey, _BLUR, mode="nearest")
    across, down = sobel(smooth, axis=1), sobel(smooth, axis=0)
    strength = np.minimum(np.hypot(across, down) / _CONTRAST, 1.0)
    angle, step = np.arctan2(down, across) % np.pi, np.pi / _DIRECTIONS
    apart = [np.abs((angle - number * step + np.pi / 2) % np.pi - np.pi / 2) for number in range(_DIRECTIONS)]
    shared: Floats = strength * np.stack([np.maximum(0.0, 1 - one / step) for one in apart])
    return shared


def _found(a: Floats, b: Floats) -> float:
    """F-measure of the edges of ``a`` found in ``b`` and the reverse; without any edges both are alike."""
    import numpy as np
    from scipy.ndimage import maximum_filter

    if not a.any() or not b.any():
        return 1.0 if not a.any() and not b.any() else 0.0
    reach = (1, 2 * _REACH + 1, 2 * _REACH + 1)
    there = float(np.minimum(a, maximum_filter(b, reach)).sum() / a.sum())
    back = float(np.minimum(b, maximum_filter(a, reach)).sum() / b.sum())
    return 2 * there * back / (there + back) if there + back else 0.0
