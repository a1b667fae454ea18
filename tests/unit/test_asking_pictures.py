"""Pictures for a model: what is sent of a page, at which scale, and never more than the provider takes."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from opendesign.errors import Failed, UsageError
from opendesign.judging.asking import PictureRule, Prepared, prepare
from opendesign.judging.asking import limits as limits_module
from opendesign.judging.asking.limits import Limits, limits_of
from opendesign.judging.asking.pictures import plan_of
from tests.unit.static_support import STATIC, png

TILES = PictureRule.of(STATIC)
WHOLE = PictureRule(rule="whole", format="png")
SIZES = st.tuples(st.integers(1, 4_000), st.integers(1, 20_000))
MODELS = ("anthropic/claude-x", "openai/gpt-5", "gemini/gemini-x", "hosted_vllm/qwen")


def opened(picture: Prepared) -> Image.Image:
    return Image.open(BytesIO(picture.data))


def test_a_model_is_found_by_its_name_wherever_it_is_sold() -> None:
    claude = limits_of("anthropic/claude-opus-x")
    for name in ("openrouter/anthropic/claude-x", "vertex_ai/claude-x", "bedrock/anthropic.claude-x"):
        assert limits_of(name) is claude
    assert limits_of("azure/my-deployment") is limits_of("openai/gpt-x")
    assert limits_of("hosted_vllm/qwen").names == ()
    assert claude.longest_of(20) == 8_000
    assert claude.longest_of(21) == 2_000


def test_one_screen_is_one_picture() -> None:
    (one,) = prepare(png(), TILES, provider="hosted_vllm/qwen")
    assert (one.kind, one.scale, one.seen, one.region) == ("overview", 1, 1, (0, 0, 1280, 960))
    assert one.media == "image/jpeg"
    assert opened(one).size == (one.width, one.height) == (1280, 960)


@pytest.mark.parametrize("model", MODELS)
def test_a_tall_page_is_an_overview_and_what_cannot_be_read_in_it(model: str) -> None:
    overview, *tiles = prepare(png(1280, 3_000), TILES, provider=model)
    assert overview.region == (0, 0, 1280, 3_000)
    assert max(overview.width, overview.height) <= 1_568
    assert overview.scale == pytest.approx(overview.height / 3_000)
    assert overview.seen == pytest.approx(overview.scale, rel=0.01)  # it is not scaled down once more
    tops = [tile.region[1] for tile in tiles]
    assert tops == [0, 704, 1408, 2112, 2232]
    for tile in tiles:
        assert (tile.scale, tile.seen) == (1, 1)
        assert opened(tile).size == (1280, 768)


def test_a_cut_shows_what_its_region_says() -> None:
    image = Image.new("RGB", (1280, 4_000), "white")
    image.paste((200, 30, 30), (0, 2_112, 1280, 2_880))
    out = BytesIO()
    image.save(out, "PNG")
    _, *tiles = prepare(out.getvalue(), TILES, provider="openai/x")
    (red,) = (tile for tile in tiles if tile.region == (0, 2_112, 1280, 768))
    colours = opened(red).convert("RGB").resize((1, 1)).getpixel((0, 0))
    assert colours == pytest.approx((200, 30, 30), abs=6)


@settings(deadline=None)  # the machine may be busy with other things
@given(SIZES, st.integers(0, 12), st.sampled_from(MODELS))
def test_cuts_cover_the_page_or_are_spread_over_it(size: tuple[int, int], most: int, model: str) -> None:
    rule = replace(TILES, tiles=most)
    (kind, box, scale), *tiles = plan_of(size, rule, limits_of(model))
    assert (kind, box) == ("overview", (0, 0, *size))
    assert 0 < scale <= 1
    assert len(tiles) <= most
    assert bool(tiles) is (scale < rule.legible and most > 0)
    boxes = [box for _, box, _ in tiles]
    assert len(set(boxes)) == len(boxes)
    for x, y, width, height in boxes:
        assert 0 <= x <= x + width <= size[0]
        assert 0 <= y <= y + height <= size[1]
    if boxes and most > 1:
        assert boxes[0][:2] == (0, 0)
        last = boxes[-1]
        assert (last[0] + last[2], last[1] + last[3]) == size
    every = [box for _, box, _ in plan_of(size, replace(TILES, tiles=100_000), limits_of(model))[1:]]
    if every:
        assert _uncovered(size[1], {(y, y + h) for _, y, _, h in every}) == 0
        assert _uncovered(size[0], {(x, x + w) for x, _, w, _ in every}) == 0


def _uncovered(length: int, spans: set[tuple[int, int]]) -> int:
    at = gaps = 0
    for start, end in sorted(spans):
        gaps += max(0, start - at)
        at = max(at, end)
    return gaps + length - at


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rule", [TILES, WHOLE, replace(WHOLE, format="jpeg"), replace(TILES, tiles=40)])
def test_no_picture_is_more_than_the_provider_takes(model: str, rule: PictureRule) -> None:
    limits = limits_of(model)
    made = prepare(png(1280, 16_000), rule, provider=model)
    for one in made:
        assert opened(one).size == (one.width, one.height)
        assert max(one.width, one.height) <= limits.longest_of(len(made))
        assert len(one.data) <= limits.bytes_of(len(made))
    assert sum(len(one.data) for one in made) <= limits.request_bytes


def test_too_many_bytes_make_a_smaller_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    tight = Limits(names=(), source="", longest=8_000, bytes=30_000, request_bytes=40_000)
    monkeypatch.setattr(limits_module, "_rows", lambda: (tight,))
    (one,) = prepare(png(), WHOLE, provider="x/y")
    assert one.media == "image/jpeg"
    assert len(one.data) <= 30_000
    assert 0.05 < one.scale < 1
    assert one.scale == pytest.approx(one.width / 1280)
    assert one.region == (0, 0, 1280, 960)


def test_whole_is_sent_as_it_is() -> None:
    picture = png(1280, 2_000)
    (one,) = prepare(picture, WHOLE, provider="openai/x")
    assert one.data == picture
    assert (one.scale, one.seen) == (1, 0.6)  # the provider looks at 768 pixels of the width
    assert one.told()["seen"] == 0.6
    (tall,) = prepare(png(1280, 16_000), WHOLE, provider="openai/x")
    assert (tall.width, tall.height, tall.scale) == (640, 8_000, 0.5)


def test_a_picture_with_more_pixels_than_the_page_has() -> None:
    """Regions are CSS pixels of the page, whatever the scale of its picture."""
    overview, *tiles = prepare(png(2560, 4_000), TILES, provider="hosted_vllm/x", css_width=1280)
    assert overview.region == (0, 0, 1280, 2_000)
    assert overview.scale == pytest.approx(overview.height / 2_000)
    assert not tiles  # read at 0.78 of the page's own size
    _, *tiles = prepare(png(2560, 6_000), TILES, provider="hosted_vllm/x", css_width=1280)
    assert tiles[0].region == (0, 0, 640, 384)
    assert tiles[0].scale == 2


@pytest.mark.parametrize("mode", ["RGBA", "P", "L", "I;16"])
def test_any_png_is_taken(mode: str) -> None:
    out = BytesIO()
    Image.new(mode, (300, 200)).save(out, "PNG")
    (one,) = prepare(out.getvalue(), TILES, provider="x/y")
    assert opened(one).size == (300, 200)


@pytest.mark.parametrize("data", [b"", b"no picture", png()[:5_000]])
def test_what_is_no_picture_is_the_instruments_failure(data: bytes) -> None:
    with pytest.raises(Failed, match="cannot be read") as error:
        prepare(data, TILES, provider="x/y")
    assert error.value.failure.status == "instrument_failure"


def test_a_bomb_is_no_surprise() -> None:
    """A page's picture is ours and bounded; a header that claims more is refused, not decoded."""
    head = b"IHDR" + struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    data = b"\x89PNG\r\n\x1a\n" + chunk + png()[33:]
    with pytest.raises(Failed, match="bomb"):
        prepare(data, TILES, provider="x/y")


def test_the_rule_of_a_card_that_has_none() -> None:
    with pytest.raises(UsageError, match=r"settings\.pictures"):
        PictureRule.of(replace(STATIC, settings={}))
