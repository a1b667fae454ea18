"""From a loaded page to its picture and facts: bring it to rest, stop its scripts, take one picture."""

from __future__ import annotations

import asyncio
import base64
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opendesign.rendering.page import Opened, OpenPage, Vanished, script
from opendesign.rendering.picture import examine

if TYPE_CHECKING:
    from opendesign.rendering.facts import Facts
    from opendesign.rendering.network import Gate

__all__ = ["Shot", "capture", "load_and_settle", "settle", "take_picture"]

_RELOADS = 3  # how often a page may load itself again while it is looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """What was captured, in CSS pixels: ``width``, ``height`` of the picture, ``true_height`` of the page."""

    picture: bytes
    thumbnail: bytes | None
    facts: Facts | None
    width: int
    height: int
    true_height: int

    @property
    def truncated(self) -> bool:
        return self.true_height > self.height


async def capture(opened: OpenPage, workers: Executor, *, bare: bool = False) -> Shot:
    """Load the page, bring it to rest and take its picture; ``bare``: load it and take its picture.

    ``workers`` do the work on the picture, which would hold up every other page.

    Raises ``Vanished`` when the page cannot be kept from leaving.
    """
    settings = opened.settings
    freeze = settings.freeze and not bare
    notes = await load_and_settle(opened, freeze=freeze, bare=bare)
    if not bare:
        # From here on the page stands still: what the facts say is what the picture shows.
        await opened.cdp.send("Emulation.setScriptExecutionDisabled", {"value": True})
    true_height = int(await opened.look(script("rest.js"), {"freeze": freeze}))
    height = max(1, min(true_height, settings.max_height))
    if height < true_height:
        notes.append(f"height: {true_height} px, the picture was cut at {height} px")
    picture = await take_picture(opened, height)
    small, measured = None, None
    if not bare:
        measured = await _facts(opened, notes)
        loop = asyncio.get_running_loop()
        small, measured = await loop.run_in_executor(workers, examine, picture, measured, settings)
    return Shot(
        picture=picture,
        thumbnail=small,
        facts=measured,
        width=settings.width,
        height=height,
        true_height=true_height,
    )


async def settle(opened: Opened, *, freeze: bool, bare: bool = False) -> list[str]:
    """Wait, within bounds, until the loaded page is quiet. Returns notes on waits that ran out."""
    settings = opened.settings
    argument = {
        "event": settings.wait_until,
        "load": settings.load_s * 1000,
        "settle": 0 if bare else settings.settle_s * 1000,
        "scroll": settings.scroll and not bare,
        "freeze": freeze,
        "maxHeight": settings.max_height,
    }
    gate = opened.gate
    notes = []
    if settings.idle_s and not await _idle(gate, settings.idle_s, quiet_s=0.5):
        notes = [f"network: not idle after {settings.idle_s:g} s"]
    notes += await _look(opened, argument)
    if not bare and gate.busy:
        # Something is still being fetched, and the page may change when it comes.
        if not await _idle(gate, settings.settle_s, quiet_s=0.1):
            return [*notes, f"network: still fetching after {settings.settle_s:g} s"]
        notes += await _look(opened, argument | {"scroll": False})
    return list(dict.fromkeys(notes))


async def _look(opened: Opened, argument: dict[str, Any]) -> list[str]:
    notes: list[str] = []
    for _ in range(_RELOADS):
        try:
            return [*notes, *await opened.look(script("capture.js"), argument)]
        except Vanished:
            notes = ["navigation: the page loaded itself again"]
    raise Vanished


async def take_picture(opened: OpenPage, height: int) -> bytes:
    """PNG of the page from its top, ``height`` CSS pixels tall, the viewport left as it is."""
    settings = opened.settings
    clip = {"x": 0, "y": 0, "width": settings.width, "height": height, "scale": settings.scale}
    answer = await opened.cdp.send(
        "Page.captureScreenshot",
        {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": True, "clip": clip},
    )
    return base64.b64decode(answer["data"])


async def load_and_settle(opened: Opened, *, freeze: bool, bare: bool = False) -> list[str]:
    """Open the document and bring it to rest; keep it from leaving where it would. Returns notes."""
    await opened.load()
    try:
        notes = await settle(opened, freeze=freeze, bare=bare)
        if (await opened.where()).split("?")[0].split("#")[0] == opened.gate.url:
            return notes
    except Vanished:
        pass
    # It went where the proxy cannot keep it from going (about:blank, blob:), or loads itself for ever.
    await opened.load(stay=True)
    return [
        *await settle(opened, freeze=freeze, bare=bare),
        "navigation: the page tried to leave and was kept",
    ]


async def _idle(gate: Gate, seconds: float, *, quiet_s: float) -> bool:
    """Wait until nothing has been asked for during ``quiet_s``; False when that took over ``seconds``."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    asked, since = gate.asked, loop.time()
    while loop.time() < end:
        await asyncio.sleep(0.03)
        if gate.busy or gate.asked != asked:
            asked, since = gate.asked, loop.time()
        elif loop.time() - since >= quiet_s:
            return True
    return False


async def _facts(opened: OpenPage, notes: list[str]) -> Facts:
    from opendesign.rendering import facts

    events = opened.events
    return await facts.collect(
        opened.cdp,
        opened.frame,
        dialogs=events.dialogs,
        script_errors=events.script_errors,
        requests=[
            facts.Request(
                url=one.url,
                kind=one.kind,
                outcome=one.outcome,
                reason=one.reason,
                digest=one.digest or "",
                bytes=one.bytes,
            )
            for one in opened.gate.requests
        ],
        popups=events.popups,
        downloads=events.downloads,
        notes=notes,
    )
