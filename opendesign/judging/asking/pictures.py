"""A page's picture, made ready for a model: by the card's rule, within the provider's limits.

Two rules. ``whole``: the picture as it is. ``tiles``: the picture as one overview and, where the overview is
too small to read, cuts at full size beside it. A provider scales large pictures down without a word; the
overview is scaled here to what the model looks at, so that the scale recorded is the scale seen.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from opendesign.errors import UsageError, failed
from opendesign.judging.asking.abilities import asked_name
from opendesign.judging.asking.limits import Limits, limits_of

if TYPE_CHECKING:
    from PIL.Image import Image

    from opendesign.answering.models import Model
    from opendesign.types import Artifact, Card

__all__ = ["PictureRule", "Prepared", "pictures_of", "plan_of", "prepare"]

Box = tuple[int, int, int, int]  # x, y, width, height
Kind = Literal["whole", "overview", "tile"]
_STEP = 0.8  # by which a picture that has too many bytes is made smaller, again and again


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureRule:
    """``[settings.pictures]`` of a card. Pixels are those of the page's picture."""

    rule: Literal["tiles", "whole"] = "tiles"
    format: Literal["jpeg", "png"] = "jpeg"
    quality: int = 85  # of a JPEG, 1 to 95
    overview_long: int = 1568  # longest side of the overview
    legible: float = 0.75  # scale of the overview from which there are no tiles
    tiles: int = 6  # at most
    tile_width: int = 1280
    tile_height: int = 768
    overlap: int = 64  # pixels that neighbours share

    @classmethod
    def of(cls, card: Card) -> PictureRule:
        """The card's rule. Raises ``UsageError`` in one sentence for a value that makes no sense."""
        values = card.settings.get("pictures")
        where = f"{card.path / 'judge.toml'}: [settings.pictures]"
        if not isinstance(values, Mapping):
            raise UsageError(f'{where} is missing: write rule = "tiles" or rule = "whole" there.')
        return cls.from_settings(values, where)

    @classmethod
    def from_settings(cls, values: Mapping[str, Any], where: str = "The rule for pictures") -> PictureRule:
        known = cls.__dataclass_fields__
        for name, value in values.items():
            if name not in known:
                raise UsageError(f"{where} has no setting '{name}': the settings are {', '.join(known)}.")
            wanted = type(known[name].default)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (number if wanted is float else type(value) is wanted):
                raise UsageError(f"{where} {name} must be like {known[name].default!r}, not {value!r}.")
        made = cls(**values)
        bounds = {
            "rule": made.rule in ("tiles", "whole"),
            "format": made.format in ("jpeg", "png"),
            "quality": 1 <= made.quality <= 95,
            "overview_long": made.overview_long >= 64,
            "legible": 0 < made.legible <= 1,
            "tiles": 0 <= made.tiles <= 100,
            "tile_width": made.tile_width >= 64,
            "tile_height": made.tile_height >= 64,
            "overlap": 0 <= made.overlap < min(made.tile_width, made.tile_height),
        }
        for name, sound in bounds.items():
            if not sound:
                raise UsageError(f"{where} {name} cannot be {values[name]!r}: see the card's README.")
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A picture ready to be sent.

    ``width`` and ``height`` are its own pixels; ``region`` is what it shows, x, y, width and height in CSS
    pixels of the page. ``scale`` is picture pixels a CSS pixel as sent; ``seen`` as the model looks at it, as
    far as the provider says.
    """

    kind: Kind
    data: bytes
    media: str  # image/jpeg or image/png
    width: int
    height: int
    scale: float
    seen: float
    region: Box

    def told(self) -> dict[str, Any]:
        """What a verdict's evidence says of it."""
        return {
            "kind": self.kind,
            "media": self.media,
            "bytes": len(self.data),
            "width": self.width,
            "height": self.height,
            "scale": round(self.scale, 4),
            "seen": round(self.seen, 4),
            "region": list(self.region),
        }


async def pictures_of(artifact: Artifact, card: Card, model: Model) -> list[Prepared]:
    """The artifact's picture by the card's rule, for that model; the work is done beside the event loop.

    Raises ``Failed`` (instrument) where there is no picture: a missing picture is never judged.
    """
    rule, picture = PictureRule.of(card), artifact.picture
    if picture is None:
        raise failed("deadline_under_load", "The page has no picture to judge: render it again.")

    def work() -> list[Prepared]:
        return prepare(picture.read_bytes(), rule, provider=asked_name(model), css_width=artifact.width)

    return await asyncio.get_running_loop().run_in_executor(_workers(), work)


def prepare(png: bytes, rule: PictureRule, *, provider: str, css_width: int | None = None) -> list[Prepared]:
    """The pictures that stand for a page, the overview first. CPU-bound.

    ``provider`` is a model's LiteLLM name; ``css_width`` the page's width where a CSS pixel is not a pixel of
    the picture. Raises ``Failed`` for bytes that are no picture.
    """
    from PIL import Image

    limits = limits_of(provider)
    try:
        image: Image.Image = Image.open(BytesIO(png))
        density = image.width / css_width if css_width else 1.0
        maker = _Maker(image, rule, limits, density)
        if rule.rule == "whole":
            return [maker.whole(png)]
        cuts = plan_of(image.size, rule, limits, density)
        return [maker.made(kind, box, scale, len(cuts)) for kind, box, scale in cuts]
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise failed(
            "browser_crash", f"The page's picture cannot be read ({error}): render it again."
        ) from error


class _Maker:
    """Cuts, scales and encodes one page's picture."""

    def __init__(self, image: Image, rule: PictureRule, limits: Limits, density: float) -> None:
        self._image, self._rule, self._limits, self._density = image, rule, limits, density

    def whole(self, png: bytes) -> Prepared:
        """The picture as it is: its own bytes, but for another format asked for or a provider's limit."""
        size = self._image.size
        everything = (0, 0, *size)
        fits = max(size) <= self._limits.longest_of(1) and len(png) <= self._limits.bytes_of(1)
        if self._rule.format == "png" and self._image.format == "PNG" and fits:
            return self._prepared("whole", png, "image/png", size, everything)
        return self.made("whole", everything, 1.0, count=1)

    def made(self, kind: Kind, box: Box, scale: float, count: int) -> Prepared:
        """That box of the picture at that scale, or smaller where the provider takes no more."""
        x, y, width, height = box
        cut = (
            self._image
            if (width, height) == self._image.size
            else self._image.crop((x, y, x + width, y + height))
        )
        cut = cut if cut.mode == "RGB" else cut.convert("RGB")
        scale = min(scale, self._limits.longest_of(count) / max(width, height))
        most, png = self._limits.bytes_of(count), self._rule.format == "png"
        while True:
            size = (max(1, round(width * scale)), max(1, round(height * scale)))
            data = self._encoded(_scaled(cut, size), png)
            if len(data) <= most or max(size) == 1:
                return self._prepared(kind, data, "image/png" if png else "image/jpeg", size, box)
            # A PNG that is too large is sent as a JPEG before it is made smaller.
            png, scale = False, scale if png else scale * _STEP

    def _encoded(self, image: Image, png: bool) -> bytes:
        out = BytesIO()
        if png:
            image.save(out, "PNG", compress_level=6)
        else:
            # Full colour resolution: coloured text is what a page is made of.
            image.save(out, "JPEG", quality=self._rule.quality, subsampling=0)
        return out.getvalue()

    def _prepared(
        self,
        kind: Kind,
        data: bytes,
        media: str,
        size: tuple[int, int],
        box: Box,
    ) -> Prepared:
        scale = self._density * size[0] / box[2] if box[2] >= box[3] else self._density * size[1] / box[3]
        x, y, width, height = (round(value / self._density) for value in box)
        return Prepared(
            kind=kind,
            data=data,
            media=media,
            width=size[0],
            height=size[1],
            scale=scale,
            seen=scale * self._limits.seen_scale(*size),
            region=(x, y, width, height),
        )


def plan_of(
    size: tuple[int, int], rule: PictureRule, limits: Limits, density: float = 1.0
) -> list[tuple[Kind, Box, float]]:
    """What is sent of a picture of that size: the kind, the part, and its scale before the hard limits."""
    width, height = size
    everything = (0, 0, width, height)
    if rule.rule == "whole":
        return [("whole", everything, 1.0)]
    scale = min(1.0, rule.overview_long / max(size), limits.seen_scale(width, height))
    boxes: list[Box] = []
    if scale * density < rule.legible:
        boxes = evenly(tile_boxes(size, rule), rule.tiles)
    return [("overview", everything, scale), *(("tile", box, 1.0) for box in boxes)]


def tile_boxes(size: tuple[int, int], rule: PictureRule) -> list[Box]:
    """Cuts that cover a picture, row by row; the last of a row and of a column end at the picture's edge."""
    columns = _spans(size[0], rule.tile_width, rule.overlap)
    rows = _spans(size[1], rule.tile_height, rule.overlap)
    return [(x, y, width, height) for y, height in rows for x, width in columns]


def _spans(length: int, tile: int, overlap: int) -> list[tuple[int, int]]:
    """Start and length of the pieces of a line; each overlaps the one before by ``overlap`` or more."""
    if length <= tile:
        return [(0, length)]
    starts = [*range(0, length - tile, tile - overlap), length - tile]
    return [(start, tile) for start in starts]


def evenly(boxes: list[Box], most: int) -> list[Box]:
    """At most so many of them, the first and the last among them, the others at equal steps between."""
    if len(boxes) <= most:
        return boxes
    if most <= 1:
        return boxes[:most]
    return [boxes[round(i * (len(boxes) - 1) / (most - 1))] for i in range(most)]


def _scaled(image: Image, size: tuple[int, int]) -> Image:
    from PIL import Image as Pillow

    if image.size == size:
        return image
    return image.resize(size, Pillow.Resampling.BICUBIC, reducing_gap=2.0)


@cache
def _workers() -> ThreadPoolExecutor:
    """Few: a tall page's picture takes some 100 MB while it is worked on."""
    return ThreadPoolExecutor(min(4, os.cpu_count() or 1), thread_name_prefix="pictures")
