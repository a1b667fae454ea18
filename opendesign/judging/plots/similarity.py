"""How alike two pictures of plots are: by their edges, so that colours do not matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

    Floats = NDArray[Any]

__all__ = ["Likeness", "likeness"]

Box = tuple[float, float, float, float]
_SIZE = (256, 192)  # pixels at which the pictures are compared
_REACH = 3  # pixels within which an edge is found again
_BLUR = 0.7  # pixels
_CONTRAST = 0.5  # gradient from which an edge counts in full; faint ones count less
_DIRECTIONS = 4
_UPRIGHT, _LEVEL = 0, 2  # directions of the edges of vertical and of horizontal lines
_FRAME = 3  # pixels at the border of axes that are the frame's and the ticks'
_LITTLE = 0.01  # of all edges: so few inside the axes are nothing to look for
_INK = 24  # of 255: a channel's distance from the background that is no background


@dataclass(frozen=True, slots=True)
class Likeness:
    """0 (nothing alike) to 1 (the same): of the pictures whole, and of what is drawn inside the axes."""

    whole: float
    inside: float

    @property
    def lower(self) -> float:
        return min(self.whole, self.inside)


@dataclass(frozen=True, slots=True)
class _View:
    """Grey from 0 to 1, (height, width) of ``_SIZE``, of a part of a picture."""

    grey: Floats
    part: Box  # left, top, right, bottom, as shares


def likeness(truth: bytes, picture: bytes, boxes: Sequence[Box] = ()) -> Likeness:
    """Of two pictures as PNG; deterministic, CPU-bound. ``boxes``: axes of the truth, as ``AxesFacts.box``.

    The pictures are brought to one size, in grey. An edge of one is found again where the other has an edge
    of about the same direction nearby; the likeness is the F-measure of both ways. They are compared whole,
    and with their margins cut off, and the better one counts: a tighter layout is no other plot.

    Frame, ticks and texts make much of a plot that shows no data. So what lies in the boxes is compared
    again, without a strip at their border and without lines that run right across, as a grid's do; where the
    truth has nothing there, ``inside`` is as ``whole``. Raises ``ValueError`` for what is no picture.
    """
    found = []
    for a, b in zip(_views(truth), _views(picture), strict=True):
        wanted, drawn = _edges(a.grey), _edges(b.grey)
        places = list(_places(boxes, a.part))
        marks = _marks(wanted, places)
        whole = _found(wanted, drawn)
        empty = marks.sum() <= _LITTLE * wanted.sum()
        found.append((whole, whole if empty else _found(marks, _marks(drawn, places))))
    return Likeness(*map(max, zip(*found, strict=True)))


def _views(png: bytes) -> tuple[_View, _View]:
    """The picture whole, and without its margins."""
    import numpy as np
    from PIL import Image

    whole = _opened(png)
    pixels = np.asarray(whole)
    marks = np.abs(pixels.astype(np.int16) - _background(pixels)).max(axis=-1) > _INK
    rows, columns = np.flatnonzero(marks.any(axis=1)), np.flatnonzero(marks.any(axis=0))

    def view(left: int, top: int, right: int, bottom: int) -> _View:
        small = whole.crop((left, top, right, bottom)).resize(_SIZE, Image.Resampling.BOX)
        grey = np.asarray(small, dtype=np.float64) @ np.array([0.299, 0.587, 0.114]) / 255
        width, height = whole.size
        return _View(grey, (left / width, top / height, right / width, bottom / height))

    every = view(0, 0, *whole.size)
    if not len(rows):
        return every, every
    return every, view(int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)


def _opened(png: bytes) -> Image:
    from PIL import Image

    try:
        with Image.open(BytesIO(png)) as opened:
            return opened.convert("RGB")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError("one has too many pixels") from error
    except (OSError, SyntaxError, ValueError) as error:
        raise ValueError("one is no picture, or damaged") from error


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


def _places(boxes: Sequence[Box], part: Box) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of a view that lie in each box, its border left out."""
    (width, height), (left, top, right, bottom) = _SIZE, part

    def between(start: float, end: float, pixels: int) -> slice:
        return slice(max(0, round(start * pixels) + _FRAME), max(0, round(end * pixels) - _FRAME))

    for x, y, wide, high in boxes:  # y: from the bottom up
        start, end = ((one - left) / (right - left) for one in (x, x + wide))
        upper, lower = ((one - top) / (bottom - top) for one in (1 - y - high, 1 - y))
        yield between(upper, lower, height), between(start, end, width)


def _marks(edges: Floats, places: Sequence[tuple[slice, slice]]) -> Floats:
    """The edges in those places, without what more than half of a row or a column of them shares."""
    import numpy as np

    marks = np.zeros_like(edges)
    for place in places:
        inside = edges[:, *place].copy()
        if inside.size:
            for direction, axis in ((_UPRIGHT, 0), (_LEVEL, 1)):
                line = np.median(inside[direction], axis=axis, keepdims=True)
                inside[direction] = np.maximum(0.0, inside[direction] - line)
            marks[:, *place] = np.maximum(marks[:, *place], inside)
    return marks


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
