"""The picture's part of the facts: its own numbers, what lies behind each text, which canvas is blank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from opendesign.rendering.facts import Box, Canvas, Colour, Facts, Picture, TextBox

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    Pixels = NDArray[np.uint8]  # height × width × 3
    Channel = NDArray[np.int16]  # one colour channel of the pixels looked at
    Grey = NDArray[np.uint8]  # height × width
    Mask = NDArray[np.bool_]
    Points = NDArray[np.int_]  # texts × sample points

_SAMPLE = 400_000  # pixels looked at for the picture's numbers
_EDGE = 20  # difference of luminance, 0–255, between neighbours that makes an edge
_CELL = 40  # pixels
_BAND = 12 * _CELL  # rows that are looked at together
_BLANK = 0.00005  # share of pixels on an edge below which nothing is on the picture
_GRID = (6, 16)  # rows and columns of sample points in a text box
_NEAR_INK = 40  # a sample this close to the text's colour is taken for text
_SAME_COLOUR = 4  # channels; text this close to its background cannot be seen
_DIFFERENT = 40  # a background this far from the one the styles say is something else's


def with_picture(facts: Facts, image: Image) -> Facts:
    """``facts`` and what the page's full picture (RGB, one pixel a CSS pixel) tells. CPU-bound.

    The picture is read once, in bands that stay in the processor's cache: a tall page's as one array would
    cost more to put into memory than to measure.
    """
    import numpy as np

    at, x, y = _sample_points(facts.texts, image.size)
    samples = np.zeros((*y.shape, 3), np.uint8)
    tally = _Tally(image.size)
    for top in range(0, image.height, _BAND):
        # One row more than the band has: the next one's, for the edges between them.
        band = image.crop((0, top, image.width, min(top + _BAND + 1, image.height)))
        pixels = _array(band, 3)
        tally.add(top, pixels, band.convert("L"))
        within = (y >= top) & (y < top + _BAND)
        samples[within] = pixels[y[within] - top, x[within]]
    return replace(
        facts,
        picture=tally.picture(),
        texts=tuple(_unseen(text) for text in _behind_texts(facts.texts, at, samples)),
        canvases=tuple(_seen(canvas, facts, image) for canvas in facts.canvases),
    )


def _array(image: Image, channels: int) -> Pixels:
    import numpy as np

    # Through bytes: what numpy reads from an image by itself costs twice as much.
    return np.frombuffer(image.tobytes(), np.uint8).reshape(image.height, image.width, channels)


class _Tally:
    """Numbers of a picture, counted band by band. All sums are of integers: equal on every machine."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._width, self._height = size
        self._step = max(1, round((self._width * self._height / _SAMPLE) ** 0.5))
        self._some: list[tuple[Channel, ...]] = []  # red, green, blue of every so-manieth row and column
        self._shades = [0] * 256
        self._on_edge = self._cells = 0

    def add(self, top: int, pixels: Pixels, luma: Image) -> None:
        """The rows from ``top`` on, and the one below them where there is one."""
        import numpy as np

        step, rows = self._step, min(_BAND, self._height - top)
        some = pixels[-top % step : rows : step, ::step]
        self._some.append(tuple(some[..., channel].astype(np.int16).ravel() for channel in range(3)))
        grey = _array(luma, 1)[..., 0]
        own = luma if len(grey) == rows else luma.crop((0, 0, self._width, rows))
        self._shades = [a + b for a, b in zip(self._shades, own.histogram(), strict=True)]
        edges = _edges(grey)[:rows]
        self._on_edge += int(np.count_nonzero(edges))
        self._cells += _cells(edges)

    def picture(self) -> Picture:
        import numpy as np

        red, green, blue = (np.concatenate(parts) for parts in zip(*self._some, strict=True))
        total = red.size
        bins = (red & 0xF0) << 4 | green & 0xF0 | blue >> 4
        counts = np.bincount(bins, minlength=4096)
        top = [int(i) for i in np.argsort(-counts, kind="stable")[:6] if counts[i] >= total * 0.005]
        means = _means(top, bins, (red & 15) << 8 | (green & 15) << 4 | blue & 15)
        shades = np.array(self._shades).reshape(32, 8).sum(axis=1) / (self._width * self._height)
        shades = shades[shades > 0]
        on_edge = self._on_edge / (self._width * self._height)
        return Picture(
            width=self._width,
            height=self._height,
            colours=int((counts >= total * 0.0005).sum()),
            dominant=tuple(
                (mean, round(float(counts[i] / total), 4)) for i, mean in zip(top, means, strict=True)
            ),
            flat=round(float(counts.max() / total), 4),
            entropy=round(float(-(shades * np.log2(shades)).sum()), 4) + 0.0,
            edges=round(on_edge, 4),
            cells=self._cells,
            colourfulness=round(_colourfulness(red, green, blue), 2),
            blank=on_edge < _BLANK,
        )


def _means(top: Sequence[int], bins: Channel, low: Channel) -> list[Colour]:
    """Mean colour of each bin of ``top``. A bin is the high bits of each channel, ``low`` the low ones."""
    import numpy as np

    place = np.full(4096, len(top))
    place[list(top)] = range(len(top))
    counts = np.bincount(place[bins] << 12 | low, minlength=(len(top) + 1) << 12).reshape(-1, 16, 16, 16)
    found = []
    for i, cube in zip(top, counts, strict=False):
        sums = (cube.sum(axis=others) @ np.arange(16) for others in ((1, 2), (0, 2), (0, 1)))
        number = int(cube.sum())
        high = (i >> 8, i >> 4 & 15, i & 15)
        found.append(
            Colour(*(round((16 * h * number + int(s)) / number) for h, s in zip(high, sums, strict=True)))
        )
    return found


def _colourfulness(red: Channel, green: Channel, blue: Channel) -> float:
    """The spread of the two opponent axes plus 0.3 of their mean; 0 is grey, over 80 very colourful. Hasler
    and Süsstrunk, "Measuring colourfulness in natural images", 2003."""
    import numpy as np

    means, variances = [], []
    for axis, scale in ((red - green, 1), (red + green - 2 * blue, 2)):
        wide = axis.astype(np.int32)
        mean, square = int(wide.sum()) / wide.size, int((wide * wide).sum()) / wide.size
        means.append(mean / scale)
        variances.append((square - mean * mean) / scale**2)
    return math.sqrt(max(0.0, sum(variances))) + 0.3 * math.hypot(*means)


def _edges(grey: Grey) -> Mask:
    """The pixels that differ clearly in luma from their right or lower neighbour."""
    import numpy as np

    edges = np.zeros(grey.shape, dtype=bool)
    edges[:, :-1] = _differ(grey[:, :-1], grey[:, 1:])
    edges[:-1] |= _differ(grey[:-1], grey[1:])
    return edges


def _differ(one: Grey, other: Grey) -> Mask:
    import numpy as np

    apart = np.maximum(one, other)
    apart -= np.minimum(one, other)
    return apart > _EDGE


def _cells(edges: Mask) -> int:
    """How many squares have at least four pixels on an edge; a strip at the right or lower end is left out
    where it is narrower than a square."""
    import numpy as np

    rows, columns = edges.shape[0] // _CELL, edges.shape[1] // _CELL
    squares = edges[: rows * _CELL, : columns * _CELL].view(np.uint8).reshape(rows, _CELL, columns, _CELL)
    down = np.add.reduce(squares, axis=1, dtype=np.uint8)  # at most _CELL each
    return int((down.sum(axis=2) >= 4).sum())


def _sample_points(texts: Sequence[TextBox], size: tuple[int, int]) -> tuple[list[int], Points, Points]:
    """Which texts can be looked at in a picture, and where: x and y of the points of each."""
    import numpy as np

    width, height = size
    at = [
        i for i, t in enumerate(texts) if t.hidden is None and not t.covered and _within(t.box, width, height)
    ]
    boxes = np.array([texts[i].box for i in at]).reshape(-1, 4)
    rows = boxes[:, 1, None] + boxes[:, 3, None] * (np.arange(_GRID[0]) + 0.5) / _GRID[0]
    columns = boxes[:, 0, None] + boxes[:, 2, None] * (np.arange(_GRID[1]) + 0.5) / _GRID[1]
    y = np.clip(rows, 0, height - 1).astype(int)
    x = np.clip(columns, 0, width - 1).astype(int)
    return at, np.tile(x, _GRID[0]), np.repeat(y, _GRID[1], axis=1)


def _behind_texts(texts: Sequence[TextBox], at: Sequence[int], points: Pixels) -> tuple[TextBox, ...]:
    """The texts with their background as the picture shows it, where the styles do not know it or are wrong.

    ``points``: colours of the sample points of each text in ``at``. The background is the median of those
    that are not of the text's own colour; where nearly all of them are, the text is as good as invisible and
    the median of all is taken.
    """
    import numpy as np

    if not at:
        return tuple(texts)
    samples = points.astype(np.float32)
    ink = np.array([texts[i].colour[:3] for i in at], dtype=np.float32)[:, None, :]
    is_ink = np.abs(samples - ink).max(axis=2) < _NEAR_INK
    is_ink[is_ink.mean(axis=1) > 0.85] = False
    masked = np.ma.masked_array(samples, np.repeat(is_ink[:, :, None], 3, axis=2))
    measured = np.asarray(np.ma.median(masked, axis=1).filled(0))  # type: ignore[no-untyped-call]
    result = list(texts)
    for i, seen in zip(at, measured.tolist(), strict=True):
        result[i] = _behind(texts[i], Colour(*(round(channel) for channel in seen)))
    return tuple(result)


def _within(box: Box, width: int, height: int) -> bool:
    return box.right > 0 and box.bottom > 0 and box.x < width and box.bottom <= height + 1


def _behind(text: TextBox, seen: Colour) -> TextBox:
    if text.background is None:
        text = replace(text, background=seen)
    elif _apart(text.background, seen) > _DIFFERENT:
        text = replace(text, background=seen, behind="other")
    return text


def _unseen(text: TextBox) -> TextBox:
    """Marks a text that has its background's colour."""
    if text.hidden is None and text.background is not None:
        apart = max(abs(a - b) for a, b in zip(text.colour[:3], text.background[:3], strict=True))
        if apart * text.colour.alpha <= _SAME_COLOUR:
            return replace(text, hidden="same_colour")
    return text


def _apart(one: Colour, other: Colour) -> float:
    return max(abs(a - b) for a, b in zip(one[:3], other[:3], strict=True))


def _seen(canvas: Canvas, facts: Facts, image: Image) -> Canvas:
    """The canvas with what the picture shows where it could not be read back (a WebGL canvas reads as empty
    once it has been painted). What lies over it, texts and controls, is left out of the count."""
    import numpy as np

    if canvas.blank is False:
        return canvas
    left, top = max(0, int(canvas.box.x)), max(0, int(canvas.box.y))
    right, bottom = min(image.width, int(canvas.box.right)), min(image.height, int(canvas.box.bottom))
    if (right - left) * (bottom - top) < 64 or right <= left:
        return canvas
    region = _array(image.crop((left, top, right, bottom)), 3)
    free = np.ones(region.shape[:2], dtype=bool)
    over: list[Box] = [t.box for t in facts.texts] + [i.box for i in facts.interactive]
    over += [b.box for b in facts.blocks if b.painted and b.box.area < 0.9 * canvas.box.area]
    for box in over:
        rows = slice(max(0, int(box.y) - top - 4), max(0, int(box.bottom) - top + 4))
        free[rows, max(0, int(box.x) - left - 4) : max(0, int(box.right) - left + 4)] = False
    visible: Any = region[free].astype(np.int16)
    if len(visible) < 64:
        return canvas
    middle = np.median(visible, axis=0)
    drawn = float((np.abs(visible - middle).max(axis=1) > 12).mean()) > 0.002
    if not drawn:
        return replace(canvas, blank=True)
    return replace(canvas, blank=False, webgl=True if canvas.blank else canvas.webgl)
