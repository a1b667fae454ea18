"""Pixels → the picture that is stored. All is checked: they come from a stranger."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["MOST_BYTES", "MOST_SENT", "MOST_SIDE", "Picture", "cropped", "from_pixels"]

# What a task may send. Kept by what runs in it, so that honest code is told, and checked by who watches it.
MOST_SENT = 50  # figures while the program runs, and as many at its end
MOST_SIDE = 65_535  # pixels of a figure of matplotlib, across or down
MOST_BYTES = 20_000_000  # of a figure of plotly, as JSON


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in RGB on white. ``plain``: it has a single colour."""

    image: Image
    plain: bool

    def png(self) -> bytes:
        buffer = io.BytesIO()
        self.image.save(buffer, "PNG")
        return buffer.getvalue()

    def thumbnail(self) -> bytes:
        from opendesign.rendering.picture import thumbnail

        return thumbnail(self.image, 2 * self.image.width)  # of what is taller, the upper part


def from_pixels(pixels: bytes | bytearray, width: int, height: int) -> Picture:
    """``pixels``: red, green, blue and alpha of each, row by row; ``width`` × ``height`` of them."""
    from PIL import Image

    image = Image.frombuffer("RGBA", (width, height), pixels)
    low, _ = image.getchannel("A").getextrema()
    if low == 255:
        return _picture(image.convert("RGB"))
    paper = Image.new("RGB", image.size, "white")
    paper.paste(image, mask=image.getchannel("A"))
    return _picture(paper)


def cropped(png: bytes, width: int, height: int, scale: float) -> Picture:
    """The upper left part of a page's picture, ``width`` × ``height`` CSS pixels of ``scale`` pixels each."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as opened:
        part = opened.convert("RGB").crop((0, 0, round(width * scale), round(height * scale)))
    return _picture(part if scale == 1 else part.resize((width, height), Image.Resampling.LANCZOS))


def _picture(image: Image) -> Picture:
    return Picture(image, image.getcolors(1) is not None)
