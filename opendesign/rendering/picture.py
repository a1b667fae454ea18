"""What is made of a page's picture: a thumbnail, and what it adds to the facts. CPU-bound."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

    from opendesign.rendering.facts import Facts
    from opendesign.types import RenderSettings

__all__ = ["examine", "thumbnail"]

THUMBNAIL_WIDTH = 480
THUMBNAIL_BYTES = 15_000


def examine(png: bytes, facts: Facts, settings: RenderSettings) -> tuple[bytes, Facts]:
    """The thumbnail (WebP of the first screen, at most ``THUMBNAIL_BYTES``) and ``facts`` with its part.

    One call for both, so that the picture is decoded once.
    """
    from PIL import Image

    from opendesign.rendering.facts_picture import with_picture

    with Image.open(io.BytesIO(png)) as opened:
        opened.load()
        image: Image.Image = opened if opened.mode == "RGB" else opened.convert("RGB")
    small = thumbnail(image, round(settings.height * settings.scale))
    if settings.scale != 1:  # the facts are in CSS pixels
        size = (round(image.width / settings.scale), round(image.height / settings.scale))
        image = image.resize(size, Image.Resampling.BOX)
    return small, with_picture(facts, image)


def thumbnail(image: Image, screen: int) -> bytes:
    """WebP of the picture's first ``screen`` rows, at most ``THUMBNAIL_BYTES``."""
    from PIL.Image import Resampling

    rows = min(image.height, screen)
    size = (THUMBNAIL_WIDTH, max(1, round(rows * THUMBNAIL_WIDTH / image.width)))
    # Halved by means first, then by the filter: a third of the time, and hardly softer.
    small = image.resize(size, Resampling.BICUBIC, box=(0, 0, image.width, rows), reducing_gap=1.0)
    for quality in (75, 50, 25, 5, 0):
        data = _webp(small, quality)
        if len(data) <= THUMBNAIL_BYTES:
            return data
    return _webp(small.resize((THUMBNAIL_WIDTH // 2, max(1, size[1] // 2))), 20)


def _webp(image: Image, quality: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=quality, method=2)
    return buffer.getvalue()
