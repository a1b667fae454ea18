"""All hostile pages and twenty good ones in one pool: each ends as it must, the good ones do not notice."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest

from opendesign.rendering import Renderer, Rendering
from opendesign.rendering.browser import browsers
from opendesign.rendering.network import PageNetwork
from opendesign.types import RenderSettings
from tests.hostile.good import GOOD
from tests.hostile.pages import PAGES, Hostile
from tests.unit.network_support import answer, canary, network, outside, redirect

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not any(True for _ in browsers()), reason="there is no browser here"),
]

#: Short in processor time, patient in wall time: the machine may be busy with other things.
SETTINGS = RenderSettings(
    deadline_s=150, cpu_s=12, memory_mb=1_200, settle_s=5.0, load_s=4, hosts=("cdn.test", "down.test")
)


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, visits: list[object]) -> None:
        self._visits = visits

    def datagram_received(self, data: bytes, address: object) -> None:
        self._visits.append(address)


async def _never(path: str, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(600)


@contextlib.asynccontextmanager
async def _world() -> AsyncIterator[tuple[PageNetwork, int, list[object]]]:
    """A page network into a scripted outside, and a canary with whoever came to it."""
    async with canary() as (port, visits), outside(inside_test="127.0.0.1") as world:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(visits), local_addr=("127.0.0.1", port)
        )
        world.pages["/inside.js"] = redirect(f"http://127.0.0.1:{port}/secret")
        world.pages["/fine.css"] = answer(b"h1 { color: green }", Content_Type="text/css")
        world.scripts["/slow.woff2"] = world.scripts["/slow.png"] = _never
        try:
            yield network(world, hosts=SETTINGS.hosts), port, visits
        finally:
            transport.close()


def record(rendering: Rendering) -> tuple[Any, ...]:
    """All of a rendering that is equal between equal runs, short enough for a failed test to show."""
    digests = [
        hashlib.sha256(part or b"").hexdigest()[:12] for part in (rendering.picture, rendering.thumbnail)
    ]
    size = (rendering.width, rendering.height, rendering.true_height, rendering.truncated)
    facts = rendering.facts.to_json() if rendering.facts else ""
    return (rendering.failure, *size, dict(rendering.requests), *digests, facts)


def _browsers() -> set[int]:
    """Process ids of all browsers that descend from this process."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "--remote-debugging-pipe" in process.cmdline() or "--type=renderer" in process.cmdline():
                found.add(process.pid)
    return found


async def _together(pages: tuple[Hostile, ...], good: tuple[str, ...]) -> None:
    before = _browsers()
    async with _world() as (net, port, visits), Renderer(SETTINGS, network=net) as renderer:
        alone = [record(await renderer.render(document)) for document in good]
        jobs: list[tuple[Hostile | int, str]] = [(i, document) for i, document in enumerate(good)]
        jobs += [(page, page.document.replace("PORT", str(port))) for page in pages]
        random.Random(7).shuffle(jobs)
        rendered = await asyncio.gather(*(renderer.render(document) for _, document in jobs))
        assert len(_browsers() - before) > 0
    problems = []
    for (job, _), rendering in zip(jobs, rendered, strict=True):
        if isinstance(job, int):
            parts = zip(alone[job], record(rendering), strict=True)
            differ = [f"{before!r:.3000} → {after!r:.3000}" for before, after in parts if before != after]
            if differ:
                problems.append(f"good page {job} is not what it is alone: {rendering.varies} {differ}")
        else:
            problems += _problems(job, rendering, port)
    assert not problems, "\n".join(problems)
    assert visits == [], "a canary was reached"
    assert _browsers() <= before, "a browser is left"


def _problems(page: Hostile, rendering: Rendering, port: int) -> list[str]:
    reason = rendering.failure.reason if rendering.failure else None
    if reason != page.reason:
        return [f"{page.name}: {rendering.failure}, not {page.reason} ({rendering.varies})"]
    with _port(port):
        if not page.check(rendering):
            facts = rendering.facts
            told = facts and (facts.text[:200], facts.notes, facts.dialogs[:2], facts.requests, facts.popups)
            return [f"{page.name}: the check failed on {told}, {rendering.width}×{rendering.true_height}"]
    return []


@contextlib.contextmanager
def _port(port: int) -> Any:
    """Checks name the canary's address by ``PORT``."""
    from tests.hostile import pages

    before, pages.PORT = pages.PORT, str(port)
    try:
        yield
    finally:
        pages.PORT = before


async def test_the_quick_ones_with_good_pages() -> None:
    await _together(tuple(page for page in PAGES if not page.heavy), GOOD[:6])


@pytest.mark.long
async def test_all_of_them_with_twenty_good_pages() -> None:
    await _together(PAGES, GOOD)


def test_there_are_enough_and_they_are_named() -> None:
    assert len(PAGES) >= 30
    assert len({page.name for page in PAGES}) == len(PAGES)
