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

_SAMPLE = 400_000  # pixels looked at for the picture's numbers
_EDGE = 20  # difference of luminance, 0–255, between neighbours that makes an edge
_CELL = 40  # pixels
_BLANK = 0.00005  # share of pixels on an edge below which nothing is on the picture
_GRID = (6, 16)  # rows and columns of sample points in a text box
_NEAR_INK = 40  # a sample this close to the text's colour is taken for text
_DIFFERENT = 40  # a background this far from the one the styles say is something else's


def with_picture(facts: Facts, image: Image) -> Facts:
    """``facts`` and what the page's full picture (RGB, one pixel a CSS pixel) tells. CPU-bound."""
    import numpy as np

    # Through bytes: what numpy reads from an image by itself costs twice as much.
    pixels: Pixels = np.frombuffer(image.tobytes(), np.uint8).reshape(image.height, image.width, 3)
    return replace(
        facts,
        picture=measure(pixels, image.convert("L")),
        texts=_behind_texts(facts.texts, pixels),
        canvases=tuple(_seen(canvas, facts, pixels) for canvas in facts.canvases),
    )


def measure(pixels: Pixels, luma: Image) -> Picture:
    """Numbers of a picture; ``luma`` is the same picture in grey (mode L)."""
    import numpy as np

    height, width = pixels.shape[:2]
    step = max(1, round((height * width / _SAMPLE) ** 0.5))
    some = np.ascontiguousarray(pixels[::step, ::step].reshape(-1, 3).T).astype(np.int16)
    red, green, blue = some
    total = red.size
    bins = ((red & 0xF0) << 4 | green & 0xF0 | blue >> 4).astype(np.intp)
    counts = np.bincount(bins, minlength=4096)
    top = [i for i in np.argsort(-counts, kind="stable")[:6] if counts[i] >= total * 0.005]
    sums = [np.bincount(bins, weights=channel, minlength=4096)[top] for channel in some]
    dominant = tuple(
        (Colour(*(round(float(s[n] / counts[i])) for s in sums)), round(float(counts[i] / total), 4))
        for n, i in enumerate(top)
    )
    shades = np.array(luma.histogram()).reshape(32, 8).sum(axis=1) / (height * width)
    shades = shades[shades > 0]
    edges = _edges(np.frombuffer(luma.tobytes(), np.uint8).reshape(height, width))
    on_edge = np.count_nonzero(edges) / edges.size
    return Picture(
        width=width,
        height=height,
        colours=int((counts >= total * 0.0005).sum()),
        dominant=dominant,
        flat=round(float(counts.max() / total), 4),
        entropy=round(float(-(shades * np.log2(shades)).sum()), 4) + 0.0,
        edges=round(on_edge, 4),
        cells=_cells(edges),
        colourfulness=round(_colourfulness(red, green, blue), 2),
        blank=on_edge < _BLANK,
    )


def _colourfulness(red: Channel, green: Channel, blue: Channel) -> float:
    """The spread of the two opponent axes plus 0.3 of their mean; 0 is grey, over 80 very colourful. Hasler
    and Süsstrunk, "Measuring colourfulness in natural images", 2003. Sums are of integers: equal everywhere."""
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


def _behind_texts(texts: Sequence[TextBox], pixels: Pixels) -> tuple[TextBox, ...]:
    """The texts with their background as the picture shows it, where the styles do not know it or are wrong.

    The background is the median of the sample points that are not of the text's own colour; where nearly all
    of them are, the text is as good as invisible and the median of all is taken.
    """
    import numpy as np

    height, width = pixels.shape[:2]
    at = [
        i for i, t in enumerate(texts) if t.hidden is None and not t.covered and _within(t.box, width, height)
    ]
    if not at:
        return tuple(texts)
    boxes = np.array([texts[i].box for i in at])
    rows = boxes[:, 1, None] + boxes[:, 3, None] * (np.arange(_GRID[0]) + 0.5) / _GRID[0]
    columns = boxes[:, 0, None] + boxes[:, 2, None] * (np.arange(_GRID[1]) + 0.5) / _GRID[1]
    y = np.clip(rows, 0, height - 1).astype(int)[:, :, None]
    x = np.clip(columns, 0, width - 1).astype(int)[:, None, :]
    samples = pixels[y, x].reshape(len(at), -1, 3).astype(np.float32)
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


def _apart(one: Colour, other: Colour) -> float:
    return max(abs(a - b) for a, b in zip(one[:3], other[:3], strict=True))


def _seen(canvas: Canvas, facts: Facts, pixels: Pixels) -> Canvas:
    """The canvas with what the picture shows where it could not be read back (a WebGL canvas reads as empty
    once it has been painted). What lies over it, texts and controls, is left out of the count."""
    import numpy as np

    if canvas.blank is False:
        return canvas
    left, top = max(0, int(canvas.box.x)), max(0, int(canvas.box.y))
    region = pixels[top : int(canvas.box.bottom), left : int(canvas.box.right)]
    if region.size < 3 * 64:
        return canvas
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
