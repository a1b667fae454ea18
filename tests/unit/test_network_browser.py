"""A real Chromium behind a gate: what the page tries arrives there, and nowhere else."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest

from opendesign.rendering.network import PageNetwork, Request
from tests.unit.network_support import Outside, answer, canary, network, outside

SHELL = shutil.which("chromium-headless-shell") or shutil.which("chromium")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(SHELL is None, reason="there is no Chromium here")]

ARGUMENTS = [
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
]
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Tries</title>
<link rel="stylesheet" href="https://cdn.test/a.css"><link rel="stylesheet" href="https://evil.test/b.css">
<link rel="preconnect" href="https://evil.test"><link rel="dns-prefetch" href="https://prefetch.test">
<script src="https://cdn.test/a.js"></script><script src="http://cdn.test/b.js"></script>
<script type="module" src="https://cdn.test/moved.js"></script>
<img id="grey" src="https://photos.test/320/200"><img src="http://127.0.0.1:PORT/img.png">
<iframe src="http://127.0.0.1:PORT/frame"></iframe><iframe src="file:///etc/passwd"></iframe>
<script>
window.done = Promise.allSettled([
  ...["http://127.0.0.1:PORT/f", "http://localhost:PORT/f", "http://[::1]:PORT/f", "http://0x7f.1:PORT/f",
      "http://inside.test/f", "https://cdn.test/in", "file:///etc/hostname", "http://page.localhost:PORT/f",
      "https://cdn.test/data"].map(url => fetch(url).then(r => r.ok ? r.text() : Promise.reject(r.status))),
  ...["ws://127.0.0.1:PORT/s", "wss://localhost:PORT/s", "ws://evil.test/s"].map(
    url => new Promise((_, no) => { new WebSocket(url).onclose = no; })),
  navigator.serviceWorker.register("/sw.js"),
]).then(all => all.map(one => one.value ?? null));
navigator.sendBeacon("http://127.0.0.1:PORT/beacon", "x");
const peer = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:PORT"}]});
peer.createDataChannel("x"); peer.createOffer().then(offer => peer.setLocalDescription(offer));
window.addEventListener("load", () => setTimeout(() => { location = "http://127.0.0.1:PORT/away"; }, 100));
</script></html>"""


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Any]:
    from playwright.async_api import async_playwright

    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=SHELL, args=[*ARGUMENTS, *sandbox])
        try:
            yield browser
        finally:
            await browser.close()


class Datagrams(asyncio.DatagramProtocol):
    """Notes whoever sends a packet."""

    def __init__(self, visits: list[object]) -> None:
        self._visits = visits

    def datagram_received(self, data: bytes, address: object) -> None:
        self._visits.append(address)


async def visit(browser: Any, net: PageNetwork, document: str) -> tuple[dict[str, Any], tuple[Request, ...]]:
    gate = await net.gate(document.encode())
    proxy = {"server": gate.proxy, "bypass": "<-loopback>"}
    context = await browser.new_context(proxy=proxy, ignore_https_errors=True)
    try:
        page = await context.new_page()
        await page.goto(gate.url)
        fetched = await page.evaluate("window.done")
        for _ in range(200):
            if any(one.reason == "navigation" for one in gate.requests):
                break
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.2)
        facts = await page.evaluate(
            "({secure: isSecureContext, a: window.a, b: window.b, moved: window.moved,"
            " width: grey.naturalWidth, colour: getComputedStyle(document.documentElement).color})"
        )
        return {"url": page.url, "fetched": fetched, **facts}, gate.requests
    finally:
        await context.close()
        await gate.close()


def furnish(world: Outside, port: int) -> None:
    script = {"Content_Type": "text/javascript"}
    world.pages |= {
        "/a.css": answer(b"html { color: rgb(1, 2, 3) }", Content_Type="text/css"),
        "/a.js": answer(b"window.a = 1", **script),
        "/b.js": answer(b"window.b = 1", **script),
        "/moved.js": answer(b"", status="302 Found", Location="/lib/main.js"),
        "/lib/main.js": answer(b'import "./part.js"', **script),
        "/lib/part.js": answer(b"window.moved = 1", **script),
        "/data": answer(b"data"),
        "/in": answer(b"", status="302 Found", Location=f"http://127.0.0.1:{port}/redirected"),
    }


async def test_nothing_leaves_but_what_is_allowed() -> None:
    async with canary() as (port, visits), outside(inside_test="127.0.0.1") as world:
        furnish(world, port)
        datagrams, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: Datagrams(visits), local_addr=("127.0.0.1", port)
        )
        document = PAGE.replace("PORT", str(port))
        async with network(world, hosts=("cdn.test", "inside.test")) as net, chromium() as browser:
            first = await visit(browser, net, document)
            again = await visit(browser, net, document)
        datagrams.close()
    assert visits == []
    assert {name for _, _, name in world.connected} == {"cdn.test", None}
    assert set(world.paths) == {
        "/a.css",
        "/a.js",
        "/b.js",
        "/moved.js",
        "/lib/main.js",
        "/lib/part.js",
        "/data",
        "/in",
    }
    facts, requests = first
    assert facts["url"] == "http://page.localhost/"
    assert facts["secure"] is True
    assert (facts["a"], facts["b"], facts["moved"], facts["width"]) == (1, 1, 1, 320)
    assert facts["colour"] == "rgb(1, 2, 3)"
    assert [one for one in facts["fetched"] if one is not None] == ["data"]
    outcomes = {(one.url.replace(str(port), "PORT"), one.outcome, one.reason) for one in requests}
    assert outcomes >= {
        ("http://127.0.0.1:PORT/away", "refused", "navigation"),
        ("http://127.0.0.1:PORT/beacon", "refused", "loopback"),
        ("http://127.0.0.1:PORT/frame", "refused", "loopback"),
        ("http://127.0.0.1:PORT/img.png", "refused", "loopback"),
        ("http://127.0.0.1:PORT/redirected", "refused", "loopback"),
        ("http://[::1]:PORT/f", "refused", "loopback"),
        ("http://inside.test/f", "refused", "private_address"),
        ("http://localhost:PORT/f", "refused", "loopback"),
        ("http://page.localhost:PORT/f", "refused", "loopback"),
        ("https://evil.test/b.css", "refused", "not_allowed"),
        ("https://photos.test/320/200", "placeholder", "not_allowed"),
        ("ws://127.0.0.1:PORT/s", "refused", "websocket"),
        ("ws://evil.test/s", "refused", "websocket"),
        ("wss://localhost:PORT/s", "refused", "websocket"),
    }
    assert again == first
