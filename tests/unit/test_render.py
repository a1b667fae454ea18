"""A page becomes a picture and facts, the same ones every time, and nothing of it is left behind."""

import asyncio
import contextlib
import dataclasses
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from PIL import Image

from opendesign.errors import UsageError
from opendesign.rendering import PageHung, Renderer
from opendesign.rendering.browser import browsers
from opendesign.types import RenderSettings
from tests.unit.network_support import answer, network, outside

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not any(True for _ in browsers()), reason="there is no browser here"),
]
#: Patient in wall time: the machine may be busy with other things.
SETTINGS = RenderSettings(network="offline", deadline_s=120, settle_s=2.0)

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page</title><style>
body{margin:0}header{position:sticky;top:0;height:50px;background:rgb(200,0,0)}
.full{height:100vh;background:rgb(0,0,200)}@keyframes grow{to{width:600px}}
.bar{height:100px;width:0;background:rgb(0,150,0);animation:grow 30s linear forwards}
.turn{height:40px;animation:turn 1s infinite}@keyframes turn{50%{background:red}}</style></head><body>
<header></header><div class="full"></div><div class="bar"></div><div class="turn"></div>
<input autofocus value="caret"><p id="p"></p><div style="height:1500px"></div><footer>the end</footer>
<script>p.textContent = Math.random() + " " + new Date().toISOString()</script></body></html>"""


@contextlib.asynccontextmanager
async def rendering(**settings: object) -> AsyncIterator[Renderer]:
    async with Renderer(dataclasses.replace(SETTINGS, **settings), pages_at_once=2) as renderer:
        yield renderer


def pixel(picture: bytes, x: int, y: int) -> tuple[int, ...]:
    value = Image.open(io.BytesIO(picture)).convert("RGB").getpixel((x, y))
    assert isinstance(value, tuple)
    return tuple(int(channel) for channel in value)


def browsers_under(pid: int) -> list[psutil.Process]:
    """The browser's processes and the driver's below a process."""
    return psutil.Process(pid).children(recursive=True)


async def test_one_picture_of_the_whole_page_with_the_viewport_as_it_was() -> None:
    async with rendering() as renderer:
        made = await renderer.render(PAGE)
        again = await renderer.render(PAGE)
    assert made.failure is None
    assert made.picture
    assert made.facts
    image = Image.open(io.BytesIO(made.picture))
    assert image.size == (made.width, made.height) == (1280, made.facts.height)
    assert made.height == made.true_height > 2600
    assert pixel(made.picture, 5, 5) == (200, 0, 0)
    assert pixel(made.picture, 5, 960 + 49) == (0, 0, 200), "100vh is the viewport's height"
    assert pixel(made.picture, 590, 960 + 60) == (0, 150, 0), "an animation that ends is at its end"
    assert pixel(made.picture, 5, 2000) != (200, 0, 0), "a sticky header is there once"
    assert "2026-01-15T10:09:" in made.facts.text
    assert made.picture == again.picture
    assert made.thumbnail == again.thumbnail
    assert made.facts == again.facts
    assert renderer.engine.split()[0] in ("chromium-headless-shell", "chromium", "google-chrome")
    assert made.thumbnail
    assert len(made.thumbnail) <= 15_000
    assert Image.open(io.BytesIO(made.thumbnail)).format == "WEBP"


async def test_a_thumbnail_of_noise_is_small_as_well() -> None:
    noise = """<canvas width=1280 height=960></canvas><script>
    const c = document.querySelector("canvas").getContext("2d"), i = c.createImageData(1280, 960);
    for (let k = 0; k < i.data.length; k++) i.data[k] = k % 4 == 3 ? 255 : Math.random() * 256;
    c.putImageData(i, 0, 0)</script>"""
    async with rendering() as renderer:
        made = await renderer.render(noise)
    assert made.thumbnail
    assert len(made.thumbnail) <= 15_000


async def test_a_bare_picture_waits_for_nothing() -> None:
    async with rendering() as renderer:
        restless = "<h1>x</h1><script>setInterval(() => document.body.append('x'))</script>"
        made = await renderer.render(restless, bare=True)
    assert made.failure is None
    assert made.picture
    assert (made.facts, made.thumbnail) == (None, None)


async def test_a_tall_page_is_cut_and_says_so() -> None:
    async with rendering(max_height=2_000) as renderer:
        made = await renderer.render("<div style='height:9000px'>x</div>")
    assert (made.height, made.truncated) == (2_000, True)
    assert made.true_height >= 9_000
    assert made.facts
    assert any("was cut at 2000 px" in note for note in made.facts.notes)


async def test_the_scale_is_in_the_picture_alone() -> None:
    async with rendering(scale=2.0) as renderer:
        made = await renderer.render("<h1>x</h1>")
    assert made.picture
    assert (made.width, made.height) == (1280, 960)
    assert Image.open(io.BytesIO(made.picture)).size == (2560, 1920)


async def test_time_flows_where_a_page_measures_it() -> None:
    counter = """<p id=p>0</p><script>const start = Date.now(); const go = () => {
    const t = Math.min(1, (Date.now() - start) / 600); p.textContent = Math.round(100 * t) + " %";
    if (t < 1) requestAnimationFrame(go) }; go()</script>"""
    async with rendering() as renderer:
        made = await renderer.render(counter)
    assert made.facts
    assert "100 %" in made.facts.text


async def test_what_is_still_being_fetched_is_waited_for() -> None:
    page = """<p id=p>-</p><script>fetch('https://cdn.test/data').then(r => r.text())
    .then(text => p.textContent = text)</script>"""

    async def late(path: str, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(1.0)
        writer.write(answer(b"it came", Content_Type="text/plain"))
        await writer.drain()

    async with outside() as world:
        world.scripts["/data"] = late
        settings = dataclasses.replace(SETTINGS, settle_s=20.0)
        async with Renderer(settings, pages_at_once=1, network=network(world)) as renderer:
            made = await renderer.render(page)
    assert made.facts
    assert "it came" in made.facts.text
    assert made.requests == {"served": 1}
    assert list(made.resources) == ["https://cdn.test/data"]


async def test_a_browser_that_starts_no_more_is_no_fault_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    async with rendering() as renderer:
        for host in list(renderer._pool._hosts):
            host.launched.tree.kill()

        async def refuse() -> None:
            raise UsageError("The browser cannot be started.")

        monkeypatch.setattr(renderer._pool._launcher, "launch", refuse)
        for _ in range(100):
            if not any(host.launched.browser.is_connected() for host in renderer._pool._hosts):
                break
            await asyncio.sleep(0.05)
        made = await renderer.render("<h1>x</h1>")
    assert made.failure
    assert made.failure.reason == "browser_crash"


async def test_the_browser_is_replaced_while_pages_are_drawn() -> None:
    async with Renderer(SETTINGS, pages_at_once=2, pages_per_browser=3) as renderer:
        made = await asyncio.gather(*(renderer.render(f"<h1>{i}</h1>") for i in range(9)))
        launched = renderer._pool._launcher._count
        alive = len(renderer._pool._hosts)
    assert [one.failure for one in made] == [None] * 9
    assert [one.facts.text.strip() for one in made if one.facts] == [str(i) for i in range(9)]
    assert launched >= 3
    assert alive <= 2


async def test_a_browser_that_dies_takes_no_page_with_it() -> None:
    async with rendering() as renderer:
        waits = "<h1>here</h1><script>setInterval(() => document.body.append('x'), 20)</script>"
        pages = [asyncio.create_task(renderer.render(waits)) for _ in range(2)]
        await asyncio.sleep(1.0)
        for host in list(renderer._pool._hosts):
            host.launched.tree.kill()
        made = await asyncio.gather(*pages)
        after = await renderer.render("<h1>after</h1>")
    assert [one.failure for one in (*made, after)] == [None] * 3
    assert any(one.varies["attempts"] == 2 for one in made)


async def test_a_session_is_live_and_tells_of_dialogs() -> None:
    page = """<button id=a onclick="b.textContent = confirm('sure?') + ' ' + prompt('who?', 'me')">go</button>
    <p id=b></p><button id=c onclick="while (true);">stop</button>"""
    async with rendering() as renderer:
        async with renderer.session(page) as session:
            await session.call(session.page.click("#a"))
            await session.settle()
            assert await session.call(session.page.text_content("#b")) == "true me"
            assert [(d.kind, d.message) for d in session.events.dialogs] == [
                ("confirm", "sure?"),
                ("prompt", "who?"),
            ]
            with pytest.raises(PageHung):
                await session.call(session.page.click("#c", timeout=2_000), 20)
        with pytest.raises(PageHung):
            await _click_into_a_loop(renderer, page)
        assert (await renderer.render("<h1>fine</h1>")).failure is None


async def _click_into_a_loop(renderer: Renderer, page: str) -> None:
    """By the driver alone: the session makes sense of its error on the way out."""
    async with renderer.session(page) as session:
        await session.page.click("#c", timeout=2_000)


async def test_the_watchdog_knows_which_process_is_what() -> None:
    async with rendering() as renderer, renderer.session("<h1>x</h1>"):
        tree = next(iter(renderer._pool._hosts)).launched.tree
        tree.sample()
        kinds = {seen.now.pid: seen.kind for seen in tree._seen.values()}
        under = {p.pid for p in browsers_under(tree.pid)}
        assert kinds[tree.pid] == "browser"
        assert {"renderer", "zygote"} <= set(kinds.values())
        assert len(under & set(kinds)) >= 3, "the same processes as psutil finds"
        assert tree.peak_mb > 5
        assert tree.shared_mb < tree.rss_mb


async def test_a_session_goes_nowhere_when_it_goes_back() -> None:
    async with (
        rendering() as renderer,
        renderer.session("<button onclick='history.back()'>b</button>") as session,
    ):
        await session.call(session.page.click("button"))
        await session.settle()
        assert await session.call(session.page.text_content("button")) == "b"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root has to leave root")
async def test_as_root_the_browser_is_another_user_in_a_sandbox() -> None:
    async with rendering() as renderer:
        if not renderer.sandboxed:
            pytest.skip(renderer.sandbox_problem)
        mine = [p for p in browsers_under(os.getpid()) if "--type=renderer" in p.cmdline()]
        users = {p.username() for p in mine}
        assert "root" not in users
        secrets = [p.environ() for p in mine]
    assert all("OPENDESIGN_TEST_KEY" not in environment for environment in secrets)


async def test_the_browser_is_handed_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-a-test")
    async with rendering():
        found = [p for p in browsers_under(os.getpid()) if "--remote-debugging-pipe" in p.cmdline()]
        assert found
        for process in found:
            assert "sk-secret-of-a-test" not in str(process.environ())


_KILLED = """
import asyncio
from opendesign.rendering import Renderer
from opendesign.types import RenderSettings
async def main():
    async with Renderer(RenderSettings(network="offline"), pages_at_once=2) as renderer:
        print("started", flush=True)
        await asyncio.gather(*(renderer.render("<script>while (true);</script>") for _ in range(2)))
asyncio.run(main())
"""


def test_nothing_is_left_after_a_kill(tmp_path: Path) -> None:
    script = tmp_path / "render.py"
    script.write_text(_KILLED)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as running:
        assert running.stdout
        assert running.stdout.readline() == b"started\n"
        time.sleep(2)
        family = browsers_under(running.pid)
        assert any("--type=renderer" in p.cmdline() for p in family)
        running.send_signal(signal.SIGKILL)
        running.wait()
        _, alive = psutil.wait_procs(family, timeout=5)
    assert alive == []
