"""What the picture waits for: a splash screen that goes away, scroll handlers back at the top."""

from __future__ import annotations

import pytest

from opendesign.rendering import Renderer
from opendesign.types import RenderSettings

pytestmark = pytest.mark.browser

WORDS = "<h1>The page</h1>" + "<p>Ten words of text that say nothing at all here.</p>" * 40
LAYER = '<div id="layer" style="position:fixed;inset:0;background:#fff;z-index:9">Loading…</div>'


def page(body: str) -> str:
    return f'<!doctype html><html lang="en"><title>A</title><body style="margin:0">{body}</body></html>'


async def test_a_splash_screen_is_waited_for_and_one_that_stays_is_pictured() -> None:
    leaves = "<script>setTimeout(() => document.getElementById('layer').remove(), 1500)</script>"
    async with Renderer(RenderSettings(settle_s=8.0)) as renderer:
        plain = await renderer.render(page(WORDS))
        gone = await renderer.render(page(LAYER + WORDS + leaves))
        stays = await renderer.render(page(LAYER + WORDS))
    assert gone.picture == plain.picture
    assert stays.picture != plain.picture
    assert stays.failure is None
    assert stays.facts is not None
    assert any(note.startswith("settle") for note in stays.facts.notes)


async def test_scroll_handlers_have_run_when_the_page_is_back_at_its_top() -> None:
    bar = '<div id="bar" style="position:sticky;top:0;height:40px;background:#eee">Bar</div>'
    handler = (
        "<script>addEventListener('scroll', () => requestAnimationFrame(() => {"
        "document.getElementById('bar').style.background = scrollY > 100 ? '#000' : '#eee' }))</script>"
    )
    async with Renderer(RenderSettings()) as renderer:
        plain = await renderer.render(page(bar + WORDS * 3))
        scrolled = await renderer.render(page(bar + WORDS * 3 + handler))
    assert scrolled.picture == plain.picture
