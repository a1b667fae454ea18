"""The picture's part of the facts against its definition, written out plainly over the whole picture."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from opendesign.rendering.facts import Box, Colour, Facts, Picture, TextBox, _facts
from opendesign.rendering.facts_picture import with_picture
from opendesign.rendering.picture import THUMBNAIL_BYTES, examine
from opendesign.types import RenderSettings

RANDOM = np.random.default_rng(20260115)
EMPTY = _facts(
    {}, dialogs=(), script_errors=(), requests=(), popups=0, downloads=0, notes=()
)  # a page that could not be measured
TEXT = TextBox(
    text="x", length=1, box=Box(0, 0, 1, 1), lines=1, tag="p", parent=-1, colour=Colour(0, 255, 0),
    background=None, behind="unknown", size=16, weight=400, family="serif", line_height=20, align="left",
    underline=False, link=False, hidden=None, cut=None, covered=False, under_fixed=False, aria_hidden=False,
)  # fmt: skip


def noise(height: int, width: int) -> Any:
    return RANDOM.integers(0, 256, (height, width, 3), dtype=np.uint8)


def boxes(height: int, width: int) -> Any:
    pixels = np.full((height, width, 3), 255, np.uint8)
    for _ in range(40):
        y, x = RANDOM.integers(0, height), RANDOM.integers(0, width)
        pixels[y : y + 70, x : x + 90] = RANDOM.integers(0, 256, 3)
    return pixels


def slope(height: int, width: int) -> Any:
    down, across = np.arange(height)[:, None] * 255 // height, np.arange(width)[None] * 255 // width
    return np.stack([down + 0 * across, across + 0 * down, (down + across) // 2], axis=2).astype(np.uint8)


#: Among them heights at, just under and just over the bands in which a picture is read.
PICTURES = {
    "noise": noise(960, 1280),
    "boxes": boxes(2_500, 1_280),
    "slope": slope(1_441, 700),
    "two bands and a row": noise(961, 333),
    "a row less": boxes(959, 640),
    "one pixel": noise(1, 1),
    "narrow": noise(3_000, 7),
    "flat": np.full((500, 500, 3), (17, 130, 201), np.uint8),
}


def plainly(pixels: Any, grey: Any) -> Picture:
    """What the numbers are."""
    height, width = grey.shape
    step = max(1, round((height * width / 400_000) ** 0.5))
    some = pixels[::step, ::step].reshape(-1, 3).astype(np.int64)
    bins = (some >> 4) @ np.array([256, 16, 1])
    counts = np.bincount(bins, minlength=4096)
    top = [i for i in np.argsort(-counts, kind="stable")[:6] if counts[i] >= len(some) * 0.005]
    shades = np.bincount(grey.ravel() >> 3, minlength=32) / grey.size
    shades = shades[shades > 0]
    wide = grey.astype(int)
    edges = np.zeros(grey.shape, bool)
    edges[:, :-1] = np.abs(np.diff(wide, axis=1)) > 20
    edges[:-1] |= np.abs(np.diff(wide, axis=0)) > 20
    whole = edges[: height // 40 * 40, : width // 40 * 40].reshape(height // 40, 40, width // 40, 40)
    red, green, blue = some.T
    axes = red - green, (red + green) / 2 - blue
    spread = np.hypot(*(axis.std() for axis in axes)) + 0.3 * np.hypot(*(axis.mean() for axis in axes))
    return Picture(
        width=width,
        height=height,
        colours=int((counts >= len(some) * 0.0005).sum()),
        dominant=tuple(
            (
                Colour(*(round(c) for c in some[bins == i].mean(axis=0))),
                round(float(counts[i] / len(some)), 4),
            )
            for i in top
        ),
        flat=round(float(counts.max() / len(some)), 4),
        entropy=round(float(-(shades * np.log2(shades)).sum()), 4) + 0.0,
        edges=round(float(edges.mean()), 4),
        cells=int((whole.sum(axis=(1, 3)) >= 4).sum()),
        colourfulness=round(float(spread), 2),
        blank=bool(edges.mean() < 0.00005),
    )


@pytest.mark.parametrize("name", PICTURES)
def test_numbers_are_those_of_the_definition(name: str) -> None:
    image = Image.fromarray(PICTURES[name])
    found = with_picture(EMPTY, image).picture
    assert found == plainly(PICTURES[name], np.asarray(image.convert("L")))


def test_a_text_on_a_seam_sees_both_sides() -> None:
    pixels = np.zeros((1_500, 200, 3), np.uint8)
    pixels[:470] = (200, 0, 0)
    pixels[470:] = (0, 0, 200)
    over = tuple(replace(TEXT, box=Box(0, y, 200, 60)) for y in (400, 460, 1_400))
    found = with_picture(replace(EMPTY, texts=over), Image.fromarray(pixels)).texts
    assert [one.background[:3] for one in found if one.background] == [(200, 0, 0), (0, 0, 200), (0, 0, 200)]


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_one_call_gives_the_thumbnail_and_the_facts(mode: str, scale: float) -> None:
    image = Image.fromarray(noise(1_200, 800)).convert(mode)
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    settings = RenderSettings(scale=scale, height=300)
    thumbnail, found = examine(file.getvalue(), EMPTY, settings)
    small = Image.open(io.BytesIO(thumbnail))
    assert len(thumbnail) <= THUMBNAIL_BYTES
    assert small.width / small.height == pytest.approx(800 / (300 * scale), rel=0.02)
    assert isinstance(found, Facts)
    assert found.picture
    assert (found.picture.width, found.picture.height) == (800 / scale, 1_200 / scale)
