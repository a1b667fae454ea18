"""The picture that the agent sees: the window with numbered boxes, as a JPEG of bounded size. CPU-bound.

The boxes are drawn onto the picture and never into the page, which could see them and would change by them.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from opendesign.judging.interactive.marks import Mark

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Picture", "drawn"]

_COLOURS = ("#c2185b", "#1565c0", "#2e7d32", "#6a1b9a", "#b34700", "#00695c")
_LETTER_PX = 13
_STEP = 15  # quality taken off where a picture is too large
_LOWEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An encoded picture with its name among the verdict's attachments."""

    name: str
    data: bytes
    media: str = "image/jpeg"


def drawn(
    shot: bytes, marks: Sequence[Mark], *, name: str, window: int, width: int, quality: int, most: int
) -> Picture:
    """The shot (JPEG or PNG, ``window`` CSS pixels wide) with a box for each mark in the window.

    At most ``width`` pixels wide. ``quality`` is lowered, and below 20 the size, until it has at most
    ``most`` bytes.
    """
    from PIL import Image

    with Image.open(io.BytesIO(shot)) as opened:
        image: Image.Image = opened.convert("RGB")
    if image.width > width:
        size = (width, max(1, round(image.height * width / image.width)))
        image = image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    _draw(image, [mark for mark in marks if mark.place == "here"], image.width / window)
    return Picture(name=name, data=_encoded(image, quality, most))


def _draw(image: Image, marks: Sequence[Mark], scale: float) -> None:
    from PIL import ImageDraw

    pen, letter = ImageDraw.Draw(image), max(_LETTER_PX, image.width // 80)
    font = _font(letter)
    boxes = {mark.number: _box(mark, scale, image.size) for mark in marks}
    taken: list[_Box] = []
    for mark in sorted(marks, key=lambda mark: -mark.box[2] * mark.box[3]):  # small ones on top
        box = boxes.pop(mark.number)
        if box[2] <= box[0] or box[3] <= box[1]:
            continue
        colour = _COLOURS[mark.number % len(_COLOURS)]
        pen.rectangle(box, outline=colour, width=2)
        text = str(mark.number)
        size = pen.textlength(text, font=font) + 4, letter + 3.0
        plate = _plate(box, size, image.size, [*boxes.values(), *taken])
        taken += [plate, box] if box[3] - box[1] < 3 * size[1] else [plate]
        pen.rectangle(plate, fill=colour)
        pen.text((plate[0] + 2, plate[1]), text, fill="white", font=font)


_Box = tuple[float, float, float, float]  # left, top, right, bottom


def _box(mark: Mark, scale: float, size: tuple[int, int]) -> _Box:
    """Where the mark is in the picture, cut at its edges."""
    left, up, wide, high = (part * scale for part in mark.box)
    return max(0.0, left), max(0.0, up), min(size[0] - 1.0, left + wide), min(size[1] - 1.0, up + high)


def _plate(box: _Box, size: tuple[float, float], window: tuple[int, int], others: Sequence[_Box]) -> _Box:
    """Where the number goes: above its box or left of it, where that hides no other one; else into it."""
    (left, up, right, _), (wide, high) = box, size
    for x, y in ((left, up - high), (left - wide, up), (right + 1, up), (left, up), (right - wide, up)):
        plate = (x, y, x + wide, y + high)
        inside = x >= 0 and y >= 0 and plate[2] <= window[0] and plate[3] <= window[1]
        if inside and not any(_meet(plate, other) for other in others):
            return plate
    x = min(left, window[0] - wide)
    return x, up, x + wide, up + high


def _meet(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@cache
def _font(letter: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(letter)


def _encoded(image: Image, quality: int, most: int) -> bytes:
    while True:
        for lowered in range(quality, _LOWEST - 1, -_STEP):
            buffer = io.BytesIO()
            image.save(buffer, "JPEG", quality=lowered)
            if buffer.tell() <= most:
                return buffer.getvalue()
        if image.width <= 64:
            return buffer.getvalue()
        image = image.reduce(2)
