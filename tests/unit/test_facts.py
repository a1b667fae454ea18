"""Facts: storing them, and measuring a page through a real browser."""
# ruff: noqa: E501 (lines of pages)

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
from dataclasses import replace
from typing import Any

import pytest

from opendesign.canonical import to_json
from opendesign.errors import StoreError
from opendesign.rendering.facts import Box, Colour, Facts, Request, collect
from opendesign.rendering.picture import examine
from opendesign.types import RenderSettings

SHELL = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("google-chrome")
browser = pytest.mark.skipif(SHELL is None, reason="no Chromium here")

HEAD = "<!doctype html><html lang=en><head><meta charset=utf-8><title>Tea</title><style>body{margin:0;font:16px Arial}"
PAGES: dict[str, str] = {
    "plain": f"""{HEAD}.card{{background:#224;color:#fff;padding:20px}}.half{{opacity:.5}}</style></head><body>
        <nav><a href="#a">Menu</a></nav><main><h1 id=a>Green tea</h1><div class=card><p class=half>Picked by hand</p></div>
        <label>Name <input value=Ada></label><input placeholder=Only><button disabled>Buy</button></main></body></html>""",
    "hostile": f"""{HEAD}</style></head><body><p>Still measured</p><form name=body><input name=getAttribute>
        <input name=parentNode><img name=documentElement alt=""><img name=querySelectorAll alt=""></form><script>
        for (const k of ["map","push","filter","join"]) Array.prototype[k] = () => {{ throw 1 }};
        JSON.stringify = () => "forged"; window.getComputedStyle = null; Object.prototype.toJSON = () => 1;
        Element.prototype.getBoundingClientRect = () => ({{ left: 7, top: 7, right: 8, bottom: 8 }});
        Document.prototype.elementFromPoint = () => null; performance.now = () => 1e12;</script></body></html>""",
    "nested": f"""{HEAD}</style></head><body><div id=host></div><iframe srcdoc="<button>Framed</button>"></iframe><script>
        host.attachShadow({{mode:'open'}}).innerHTML = '<button>Shaded</button><slot></slot>'; host.append('Slotted');
        </script></body></html>""",
    "covered": f"""{HEAD}</style></head><body><div style="height:3000px;position:relative">
        <button style="position:absolute;top:2500px;left:50px">Under</button>
        <div style="position:absolute;top:2490px;left:0;width:300px;height:80px;background:#fff"></div>
        <button style="position:absolute;top:2700px;left:50px">Free</button></div></body></html>""",
    "ground": f"""{HEAD}div{{padding:40px;font-size:30px}}</style></head><body>
        <div style="background:linear-gradient(90deg,#102040,#203060);color:#fff">On a gradient</div>
        <div style="position:relative;color:#fff"><i style="position:absolute;inset:0;background:#403;z-index:-1"></i>Behind me</div>
        <div style="color:#fefefe">White on white</div></body></html>""",
    "clipped": f"""{HEAD}</style></head><body><p style="height:14px;overflow:hidden;width:200px;line-height:30px">Cut in the middle of it</p>
        <p style="width:90px;overflow:hidden;white-space:nowrap;text-overflow:ellipsis">Shortened with dots</p>
        <p style="position:absolute;left:-9999px">Far away from here</p><p style="opacity:0">Not to be seen at all</p>
        <div style="width:100px;overflow:auto"><p style="margin-left:400px;width:200px">Reached by scrolling</p></div>
        <p style="position:absolute;clip:rect(0,0,0,0)">For readers of screens</p><p style="display:none">Switched off</p></body></html>""",
    "overlap": f"""{HEAD}</style></head><body><p style="margin:0">One line of text here</p>
        <p style="margin:-14px 0 0">Another line of text</p><p>Far from both of them</p></body></html>""",
    "wide": f"""{HEAD}</style></head><body><div id=wide style="width:1500px;background:#eee">Wide</div></body></html>""",
    "canvas": f"""{HEAD}</style></head><body><canvas id=a width=300 height=200></canvas><canvas id=b width=300 height=200></canvas>
        <canvas id=c width=300 height=200></canvas><script>
        const c = b.getContext('2d'); c.fillRect(40, 40, 90, 90);
        const g = document.getElementById('c').getContext('webgl'); if (g) {{ g.enable(g.SCISSOR_TEST); g.scissor(40, 40, 99, 99);
        g.clearColor(1, 0, 0, 1); g.clear(g.COLOR_BUFFER_BIT); }}</script></body></html>""",
    "pictures": f"""{HEAD}</style></head><body><img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
        width=50 height=50 alt=Dot><img src="data:image/png;base64,xxxx" width=80 height=80></body></html>""",
    "empty": "<!doctype html><html><body></body></html>",
    "big": HEAD + "</style></head><body>" + "<p>Word <b>bold</b></p>" * 12_000,
    "links": f"""{HEAD}</style></head><body><h2 id=here>Here</h2><a href="#here">Good</a><a href="#gone">Bad</a></body></html>""",
}


@pytest.fixture(scope="module")
def measured() -> dict[str, Facts]:
    """Facts of every page above, collected one after another in one browser."""
    if SHELL is None:
        pytest.skip("no Chromium here")
    return asyncio.run(_measure_all())


async def _measure_all() -> dict[str, Facts]:
    from playwright.async_api import async_playwright

    flags = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    found: dict[str, Facts] = {}
    async with async_playwright() as driver:
        chromium = await driver.chromium.launch(executable_path=SHELL, args=flags)
        for name, html in PAGES.items():
            context = await chromium.new_context(viewport={"width": 1280, "height": 960})
            page = await context.new_page()
            await page.set_content(html)
            await page.evaluate(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            picture = await page.screenshot(full_page=name != "big")
            cdp = await context.new_cdp_session(page)
            frame = (await cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            first = await collect(cdp, frame, dialogs=(), script_errors=("x" * 999,))
            found[name] = examine(picture, first, RenderSettings())[1]
            again = examine(
                picture, await collect(cdp, frame, dialogs=(), script_errors=("x" * 999,)), RenderSettings()
            )[1]
            if found[name].complete and again.complete:
                assert again.to_json() == found[name].to_json(), f"{name}: measured twice, other facts"
            assert await page.evaluate("scrollY") == 0
            await context.close()
        await chromium.close()
    return found


def texts(facts: Facts) -> dict[str, Any]:
    return {text.text: text for text in facts.texts}


def controls(facts: Facts) -> dict[str, Any]:
    return {control.name: control for control in facts.interactive}


@pytest.mark.browser
@browser
class TestCollect:
    def test_stored_and_read_again(self, measured: dict[str, Facts]) -> None:
        for name, facts in measured.items():
            assert facts.collected
            assert facts.complete or name == "big"  # a busy machine may not finish that one in time
            line = facts.to_json()
            assert line == to_json(facts), "the fast spelling is not the canonical one"
            assert Facts.from_json(line) == facts

    def test_a_page_as_it_is(self, measured: dict[str, Facts]) -> None:
        facts = measured["plain"]
        assert (facts.title, facts.lang, facts.quirks, facts.overflow) == ("Tea", "en", False, 0)
        assert [(h.level, h.text) for h in facts.headings] == [(1, "Green tea")]
        assert {mark.role for mark in facts.landmarks} == {"navigation", "main"}
        text = texts(facts)["Picked by hand"]
        assert text.colour == Colour(255, 255, 255, 0.5)
        assert text.background == Colour(34, 34, 68)
        assert (text.behind, text.size, text.hidden) == ("colour", 16, None)
        assert facts.text.splitlines()[:3] == ["Menu", "Green tea", "Picked by hand"]
        assert all(isinstance(block.box, Box) for block in facts.blocks)

    def test_controls(self, measured: dict[str, Facts]) -> None:
        found = controls(measured["plain"])
        assert found["Name"].value == "Ada"
        assert found["Name"].labelled
        assert not found["Only"].labelled
        assert found["Buy"].disabled
        assert found["Buy"].role == "button"
        assert found["Menu"].href == "#a"

    def test_a_hostile_page_changes_nothing(self, measured: dict[str, Facts]) -> None:
        facts = measured["hostile"]
        assert "Still measured" in facts.text
        assert texts(facts)["Still measured"].box.width > 50
        assert len(facts.interactive) == 2
        assert facts.interactive[0].covered is False

    def test_shadow_roots_and_frames(self, measured: dict[str, Facts]) -> None:
        found = controls(measured["nested"])
        assert " >> " in found["Shaded"].selector
        assert len(found["Framed"].frames) == 1
        assert found["Framed"].covered is False
        assert found["Shaded"].covered is False
        assert "Slotted" in texts(measured["nested"])

    def test_covered_far_down_the_page(self, measured: dict[str, Facts]) -> None:
        found = controls(measured["covered"])
        assert found["Under"].covered is True
        assert found["Under"].covered_by == "div"
        assert found["Free"].covered is False
        assert texts(measured["covered"])["Under"].covered

    def test_what_is_behind_a_text(self, measured: dict[str, Facts]) -> None:
        found = texts(measured["ground"])
        assert found["On a gradient"].behind == "gradient"
        assert max(found["On a gradient"].background[:3]) < 110
        assert found["Behind me"].behind == "other"
        assert found["Behind me"].background == Colour(68, 0, 51)
        assert found["White on white"].hidden == "same_colour"

    def test_cut_and_hidden_texts(self, measured: dict[str, Facts]) -> None:
        facts = measured["clipped"]
        found = texts(facts)
        assert found["Cut in the middle of it"].cut == "clipped"
        assert found["Shortened with dots"].cut == "ellipsis"
        assert found["Far away from here"].hidden == "offscreen"
        assert found["Not to be seen at all"].hidden == "transparent"
        assert found["Reached by scrolling"].hidden == "scrolled"
        assert found["For readers of screens"].hidden == "clipped"
        assert "Switched off" not in found
        assert "Switched off" in facts.hidden_text
        assert "Switched off" not in facts.text

    def test_overlap(self, measured: dict[str, Facts]) -> None:
        facts = measured["overlap"]
        pairs = [(facts.texts[o.first].text, facts.texts[o.second].text) for o in facts.overlaps]
        assert pairs == [("One line of text here", "Another line of text")]
        assert measured["plain"].overlaps == ()

    def test_overflow(self, measured: dict[str, Facts]) -> None:
        facts = measured["wide"]
        assert facts.overflow == 220
        assert facts.overflowing[0].label == "div#wide"

    def test_canvases(self, measured: dict[str, Facts]) -> None:
        untouched, flat, webgl = measured["canvas"].canvases
        assert untouched.blank is True
        assert (flat.blank, flat.webgl) == (False, False)
        assert (webgl.blank, webgl.webgl) == (False, True)

    def test_pictures(self, measured: dict[str, Facts]) -> None:
        good, bad = measured["pictures"].images
        assert (good.broken, good.alt, good.natural_width) == (False, "Dot", 1)
        assert (bad.broken, bad.alt) == (True, None)

    def test_a_blank_page(self, measured: dict[str, Facts]) -> None:
        picture = measured["empty"].picture
        assert picture is not None
        assert picture.blank
        assert picture.cells == 0
        plain = measured["plain"].picture
        assert plain is not None
        assert not plain.blank
        assert plain.cells > 10

    def test_a_huge_page_is_bounded(self, measured: dict[str, Facts]) -> None:
        facts = measured["big"]
        assert len(facts.texts) == 800
        assert len(facts.text) <= 20_000
        assert facts.elements > 24_000
        assert any("nodes" in note for note in facts.notes)
        assert len(facts.to_json()) < 800_000

    def test_links_that_lead_nowhere(self, measured: dict[str, Facts]) -> None:
        found = controls(measured["links"])
        assert found["Bad"].dangling
        assert not found["Good"].dangling

    def test_what_is_handed_in_is_kept_and_bounded(self, measured: dict[str, Facts]) -> None:
        assert measured["plain"].script_errors == ("x" * 200,)


class _Session:
    """A CDP session that answers from a script."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self.reply = reply

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return {"executionContextId": 1} if method == "Page.createIsolatedWorld" else self.reply


async def test_a_page_that_cannot_be_measured_is_said_to_be() -> None:
    session: Any = _Session({"result": {"type": "undefined"}, "exceptionDetails": {"text": "terminated"}})
    facts = await collect(session, "F", notes=("kept",), requests=[_request("https://a/b.png", "refused")])
    assert not facts.collected
    assert not facts.complete
    assert facts.notes == ("kept", "facts: the page could not be measured")
    assert facts.requests[0].outcome == "refused"
    assert Facts.from_json(facts.to_json()) == facts


async def test_a_served_placeholder_is_marked() -> None:
    image = {
        "box": [0, 0, 10, 10], "source": "https://a/b.png", "natural_width": 1, "natural_height": 1, "broken": False,
        "pending": False, "alt": "", "placeholder": False, "decorative": True,
    }  # fmt: skip
    session: Any = _Session({"result": {"value": json.dumps({"images": [image], "complete": True})}})
    facts = await collect(session, "F", requests=[_request("https://a/b.png", "placeholder")])
    assert facts.images[0].placeholder


def _request(url: str, outcome: str) -> Request:
    return Request(url=url, kind="image", outcome=outcome)


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", '{"schema": 1}', '{"schema": 2}', '{"schema": 1, "texts": 3}']
)
def test_other_json_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(StoreError, match="render"):
        Facts.from_json(text)


async def test_numbers_of_a_picture() -> None:
    import numpy as np
    from PIL import Image

    pixels = np.full((960, 1280, 3), 255, dtype=np.uint8)
    session: Any = _Session({"result": {"value": json.dumps({"complete": True})}})
    facts = await collect(session, "F")

    def picture(array: Any) -> Any:
        file = io.BytesIO()
        Image.fromarray(array).save(file, "png")
        return examine(file.getvalue(), facts, RenderSettings())[1].picture

    white = picture(pixels)
    assert white.blank
    assert white.flat == 1
    assert white.entropy == 0
    assert white.colourfulness == 0
    pixels[100:140, 100:180] = (200, 0, 0)
    boxed = picture(pixels)
    assert not boxed.blank
    assert boxed.cells > 0
    assert boxed.colourfulness > 0
    assert boxed.dominant[0][0] == Colour(255, 255, 255)
    pixels[:] = np.arange(1280)[None, :, None] // 8
    assert picture(pixels).blank, "a soft gradient alone is nothing"
    assert replace(facts, picture=boxed) != facts
