"""Pictures for a ballot: small enough to be carried inside it, and spoilt ones for its checks."""

from __future__ import annotations

import base64
import io
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opendesign.errors import StoreError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["BYTES", "HEIGHT", "WIDTH", "Picture", "fitted", "has_contents", "opened", "spoilt"]

WIDTH, HEIGHT = 960, 8_000  # pixels; what is wider is scaled down, what is then taller is cut
BYTES = 200_000  # of one picture
_QUALITIES = (80, 65, 50, 35)
_SMALLER = 0.8  # a picture that is too large at the last quality is made smaller by this, again and again
_BLOCKS, _DOTS = 6, 10  # a spoilt picture: blocks across, and dots across a block
_PLAIN = 6.0  # standard deviation of grey levels below which a picture shows next to nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A WebP in base64, its size in pixels, and whether the page goes on below it."""

    base64: str
    width: int
    height: int
    cut: bool


def opened(data: bytes, what: str) -> Image:
    """The picture at its size in the ballot but for the height. ``StoreError`` for bytes that are none."""
    from PIL import Image as Pillow

    try:
        with Pillow.open(io.BytesIO(data)) as file:
            image = file.convert("RGB")
    except (OSError, SyntaxError, ValueError, Pillow.DecompressionBombError) as error:
        raise StoreError(f"The picture of {what} cannot be read ({error}): render the page again.") from None
    return image if image.width <= WIDTH else _scaled(image, WIDTH / image.width)


def fitted(image: Image) -> Picture:
    """Cut to ``HEIGHT`` and written with at most ``BYTES``."""
    cut = image.height > HEIGHT
    if cut:
        image = image.crop((0, 0, image.width, HEIGHT))
    shown = image
    while True:
        for quality in _QUALITIES:
            out = io.BytesIO()
            shown.save(out, "WEBP", quality=quality, method=3)
            if out.tell() <= BYTES:
                text = base64.b64encode(out.getvalue()).decode("ascii")
                return Picture(base64=text, width=image.width, height=image.height, cut=cut)
        shown = _scaled(shown, _SMALLER)


def has_contents(image: Image) -> bool:
    """Whether there is enough to be seen that spoiling it shows."""
    from PIL import ImageStat

    return float(ImageStat.Stat(image.convert("L").resize((96, 96))).stddev[0]) >= _PLAIN


def spoilt(image: Image, rng: random.Random) -> Image:
    """The same page as nobody could want it: coarse dots, in blocks that have changed places."""
    from PIL import Image as Pillow

    block = max(1, image.width // _BLOCKS)
    rows = max(2, min(image.height, HEIGHT) // block)
    coarse = image.resize((_BLOCKS * _DOTS, rows * _DOTS), Pillow.Resampling.BOX)
    places = [(x * _DOTS, y * _DOTS) for y in range(rows) for x in range(_BLOCKS)]
    mixed = places[:]
    rng.shuffle(mixed)
    made = Pillow.new("RGB", coarse.size)
    for (x, y), place in zip(places, mixed, strict=True):
        made.paste(coarse.crop((x, y, x + _DOTS, y + _DOTS)), place)
    return made.resize((image.width, min(image.height, HEIGHT)), Pillow.Resampling.NEAREST)


def _scaled(image: Image, scale: float) -> Image:
    from PIL import Image as Pillow

    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Pillow.Resampling.BICUBIC, reducing_gap=2.0)
