"""Selenium's session is what Playwright's is: the same hand, the same network, the same end."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from opendesign.errors import UsageError
from opendesign.rendering import PageHung, Renderer
from opendesign.rendering.driver import Driver, ScriptFailed
from opendesign.types import RenderSettings
from tests.unit.network_support import canary, network, outside
from tests.unit.selenium_support import no_selenium
from tests.unit.test_network_browser import PAGE as TRIES
from tests.unit.test_network_browser import Datagrams, furnish

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(no_selenium()), reason=no_selenium()),
]
#: Patient in wall time: the machine may be busy with other things.
SETTINGS = RenderSettings(network="offline", deadline_s=120, settle_s=2.0)

PAGE = """<!doctype html><html lang="en"><body style="margin:0">
<button id="ask" onclick="log(confirm('sure?'), prompt('who?', 'me'))">ask</button>
<input id="field" oninput="log(value)"><a id="load" download href="data:text/plain,x">load</a>
<div id="pad" tabindex="0" style="width:300px;height:200px"></div>
<p id="note" draggable="true" style="width:80px;height:30px">note</p>
<div id="zone" style="width:90px;height:60px"></div><pre id="log"></pre><script>
const log = (...said) => { document.getElementById("log").textContent += said.join(" ") + "|"; };
for (const kind of ["mousemove", "mousedown", "mouseup", "dblclick", "wheel"])
  pad.addEventListener(kind, (e) => log(kind, e.clientX, e.clientY, e.buttons, e.deltaY ?? ""));
for (const kind of ["keydown", "keyup"])
  pad.addEventListener(kind, (e) => log(kind, e.key, e.code, e.ctrlKey));
note.ondragstart = () => log("carried"); zone.ondragover = (e) => e.preventDefault();
zone.ondrop = () => log("dropped");
log(Math.random(), innerWidth, innerHeight, devicePixelRatio, navigator.language, document.hasFocus());
log(Intl.DateTimeFormat().resolvedOptions().timeZone, new Date().toISOString().slice(0, 15));
log(typeof __opendesign_report__, matchMedia("(hover: hover)").matches, navigator.userAgent, location.href);
navigator.serviceWorker.register("/sw.js").then(() => log("served"), () => {});
setTimeout(() => { throw new Error("wrong"); });
</script></body></html>"""


def family(pid: int = 0) -> list[psutil.Process]:
    """The processes below one of ours."""
    return psutil.Process(pid or os.getpid()).children(recursive=True)


def drivers_and_browsers() -> list[psutil.Process]:
    """What a Selenium session starts, of this process."""
    found = []
    for process in family():
        with_driver = [process, *process.parents()]
        ended = process.status() == psutil.STATUS_ZOMBIE
        found += [process] if not ended and any("chromedriver" in p.name() for p in with_driver) else []
    return found


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = family()  # of tests before this one: multiprocessing keeps a helper
    yield
    assert [process for process in family() if process not in before] == []


async def middle(driver: Driver, name: str) -> tuple[float, float]:
    box = f"document.getElementById('{name}').getBoundingClientRect()"
    x, y = await driver.evaluate(f"[{box}.x + {box}.width / 2, {box}.y + {box}.height / 2]", "apart")
    return x, y


async def by_hand(driver: Driver) -> str:
    """Every kind of input, and what the page says it heard."""
    await driver.click(*await middle(driver, "ask"))
    await driver.click(*await middle(driver, "field"))
    await driver.type("Ab سلمى 7")
    await driver.press("ControlOrMeta+A")
    await driver.insert("插入")
    x, y = await middle(driver, "pad")
    await driver.click(x, y)
    for key in ("ArrowLeft", "Space", "Enter", "a", "F2", "Escape"):
        await driver.key_down(key)
        await driver.key_up(key)
    await driver.wheel(0, 240)
    await driver.down()
    await driver.move(x + 30.5, y + 20, 3)
    await driver.move(x + 2000, y)
    await driver.up()
    await driver.click(x, y, 2)
    await driver.move(*await middle(driver, "note"))
    await driver.down()
    x, y = await middle(driver, "zone")
    await driver.move(x, y, 4)
    await driver.move(x + 2, y + 2)
    await driver.up()
    await driver.click(*await middle(driver, "load"))
    return str(await driver.evaluate("document.getElementById('log').textContent", "apart"))


async def test_both_drivers_do_the_same_to_the_same_page() -> None:
    heard: dict[str, str] = {}
    told: dict[str, Any] = {}
    async with Renderer(SETTINGS, pages_at_once=1) as renderer:
        for name in ("playwright", "selenium"):
            async with renderer.session(PAGE, driver=name, width=1000, height=700) as session:
                driver = session.driver
                assert isinstance(driver, Driver)
                assert (driver.name, driver.width, driver.height) == (name, 1000, 700)
                heard[name] = await by_hand(driver)
                with pytest.raises(ScriptFailed, match="TypeError"):
                    await driver.evaluate("null.x", "apart")
                assert (await driver.picture()).startswith(b"\x89PNG")
                assert (await driver.picture(50)).startswith(b"\xff\xd8")
                await driver.add_script("globalThis.mine = 5", "apart")
                await driver.load(60)
                # Selenium's driver waits in turns of 500 ms: during one, between two, in the third.
                for wait in (100, 502, 1200):
                    waited = f"new Promise(f => setTimeout(f, {wait}, mine + {wait}))"
                    assert await driver.evaluate(waited, "apart") == 5 + wait
                assert await driver.evaluate("typeof mine", "page") == "undefined"
                assert await session.answers()
                events = session.events
                told[name] = [(one.kind, one.message) for one in events.dialogs], events.script_errors
                assert events.downloads == 1
    assert heard["selenium"] == heard["playwright"]
    for sign in ("true me|", "سلمى", "插入", "dblclick", "carried|dropped|", "wheel"):
        assert sign in heard["selenium"]
    assert told["selenium"] == told["playwright"]
    assert told["selenium"][0] == [("confirm", "sure?"), ("prompt", "who?")]


async def test_nothing_of_the_machine_or_its_network_is_reached() -> None:
    async with canary() as (port, visits), outside(inside_test="10.1.2.3") as world:
        furnish(world, port)
        datagrams, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: Datagrams(visits), local_addr=("127.0.0.1", port)
        )
        net = network(world, hosts=("cdn.test", "inside.test"))
        document = TRIES.replace("PORT", str(port))
        async with (
            Renderer(SETTINGS, network=net, pages_at_once=1) as renderer,
            renderer.session(document, driver="selenium") as session,
        ):
            fetched = await session.call(session.driver.evaluate("window.done", "page"), 60)
            for _ in range(200):
                if any(one.reason == "navigation" for one in session.requests):
                    break
                await asyncio.sleep(0.1)
            requests = session.requests
        datagrams.close()
    assert visits == []
    assert {name for _, _, name in world.connected} == {"cdn.test", None}
    assert [one for one in fetched if one is not None] == ["data"]
    outcomes = {(one.url.replace(str(port), "PORT"), one.outcome, one.reason) for one in requests}
    assert outcomes >= {
        ("http://127.0.0.1:PORT/away", "refused", "navigation"),
        ("http://127.0.0.1:PORT/f", "refused", "loopback"),
        ("http://[::1]:PORT/f", "refused", "loopback"),
        ("http://page.localhost:PORT/f", "refused", "loopback"),
        ("http://inside.test/f", "refused", "private_address"),
        ("https://evil.test/b.css", "refused", "not_allowed"),
        ("ws://127.0.0.1:PORT/s", "refused", "websocket"),
        ("ws://evil.test/s", "refused", "websocket"),
    }


async def fall_silent(renderer: Renderer) -> None:
    """A click that never returns: given up by whoever made it, and ended by the session."""
    page = "<button style='width:90px;height:90px' onclick='while (1);'>x</button>"
    async with renderer.session(page, driver="selenium") as session:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.driver.click(9, 9), 0.5)
        try:
            await session.call(session.driver.evaluate("1", "apart"), 60)
        finally:
            assert session.hung
            assert session.driver.connected, "the page's fault, not the browser's"


async def test_a_session_ends_with_its_browser_whatever_the_page_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-a-test")
    async with Renderer(SETTINGS, pages_at_once=1) as renderer:
        async with renderer.session("<h1>calm</h1>", driver="selenium"):
            mine = drivers_and_browsers()
            assert {"chromedriver"} < {process.name() for process in mine}
            if renderer.sandboxed and os.geteuid() == 0:
                assert "--no-sandbox" not in str([process.cmdline() for process in mine])
                assert {process.username() for process in mine} - {"root"} == {renderer.browser_user}
            secrets = [process for process in mine if "sk-secret" in str(process.environ())]
            assert secrets == []
        assert drivers_and_browsers() == []
        with pytest.raises(PageHung):
            await fall_silent(renderer)
        assert drivers_and_browsers() == []
        assert (await renderer.render("<h1>fine</h1>")).failure is None


_KILLED = """
import asyncio
from opendesign.rendering import Renderer
from opendesign.types import RenderSettings
async def main():
    page = "<script>setTimeout(() => { while (1); }, 3000)</script>"
    async with Renderer(RenderSettings(network="offline"), pages_at_once=1) as renderer:
        async with renderer.session(page, driver="selenium"):
            print("open", flush=True)
            await asyncio.sleep(60)
asyncio.run(main())
"""


def test_nothing_is_left_after_a_kill(tmp_path: Path) -> None:
    script = tmp_path / "session.py"
    script.write_text(_KILLED)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as running:
        assert running.stdout
        assert running.stdout.readline() == b"open\n"
        started = family(running.pid)
        assert "chromedriver" in {process.name() for process in started}
        running.send_signal(signal.SIGKILL)
        running.wait()
        _, alive = psutil.wait_procs(started, timeout=30)
    assert alive == []


async def test_what_is_missing_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Renderer(SETTINGS, pages_at_once=1) as renderer:
        unknown: Any = "firefox"
        with pytest.raises(UsageError, match="'playwright' or 'selenium'"):
            async with renderer.session("<p>", driver=unknown):
                pass
        async with renderer.session("<p>", driver="selenium") as session:
            with pytest.raises(UsageError, match="through `driver`"):
                _ = session.page
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(UsageError, match="apt-get install chromium-driver"):
            async with renderer.session("<p>", driver="selenium"):
                pass
        monkeypatch.setitem(sys.modules, "selenium.common.exceptions", None)
        with pytest.raises(UsageError, match=r"pip install 'opendesign\[selenium\]'"):
            async with renderer.session("<p>", driver="selenium"):
                pass
