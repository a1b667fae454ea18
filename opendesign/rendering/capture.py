"""From a loaded page to its picture and facts: bring it to rest, stop its scripts, take one picture."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opendesign.rendering.page import OpenPage, Vanished, script

if TYPE_CHECKING:
    from opendesign.rendering.facts import Facts
    from opendesign.rendering.network import Gate
    from opendesign.types import RenderSettings

__all__ = ["Shot", "capture", "settle", "take_picture"]

_RELOADS = 3  # how often a page may load itself again while it is looked at
THUMBNAIL_WIDTH = 480
THUMBNAIL_BYTES = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """What was captured. ``width`` and ``height`` are the picture's, ``true_height`` the page's, CSS pixels."""

    picture: bytes
    thumbnail: bytes
    facts: Facts | None
    width: int
    height: int
    true_height: int

    @property
    def truncated(self) -> bool:
        return self.true_height > self.height


async def capture(opened: OpenPage, *, facts: bool = True) -> Shot:
    """Load the page, bring it to rest and take its picture.

    Raises ``Vanished`` when the page cannot be kept from leaving.
    """
    settings = opened.settings
    notes = await _load_and_settle(opened, settings.freeze)
    # From here on the page stands still: what the facts say is what the picture shows.
    await opened.cdp.send("Emulation.setScriptExecutionDisabled", {"value": True})
    rest = await opened.look(script("rest.js"), {"freeze": settings.freeze})
    true_height = int(rest["height"])
    height = max(1, min(true_height, settings.max_height))
    if height < true_height:
        notes.append(f"height: {true_height} px, the picture was cut at {height} px")
    picture = await take_picture(opened, height)
    thumbnail = asyncio.create_task(asyncio.to_thread(_thumbnail, picture, settings))
    try:
        measured = await _facts(opened, notes, picture) if facts else None
    finally:
        small = await thumbnail
    return Shot(
        picture=picture,
        thumbnail=small,
        facts=measured,
        width=settings.width,
        height=height,
        true_height=true_height,
    )


async def settle(opened: OpenPage, *, freeze: bool) -> list[str]:
    """Wait, within bounds, until the loaded page is quiet. Returns notes on waits that ran out."""
    settings = opened.settings
    argument = {
        "event": settings.wait_until,
        "load": settings.load_s * 1000,
        "settle": settings.settle_s * 1000,
        "scroll": settings.scroll,
        "freeze": freeze,
        "maxHeight": settings.max_height,
    }
    notes = await _idle(opened.gate, settings.idle_s) if settings.idle_s else []
    for _ in range(_RELOADS):
        try:
            return [*notes, *await opened.look(script("capture.js"), argument)]
        except Vanished:
            notes = ["navigation: the page loaded itself again"]
    raise Vanished


async def take_picture(opened: OpenPage, height: int) -> bytes:
    """PNG of the page from its top, ``height`` CSS pixels tall, the viewport left as it is."""
    answer = await opened.cdp.send(
        "Page.captureScreenshot",
        {
            "format": "png",
            "optimizeForSpeed": True,
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": opened.settings.width, "height": height, "scale": 1},
        },
    )
    return base64.b64decode(answer["data"])


async def _load_and_settle(opened: OpenPage, freeze: bool) -> list[str]:
    await opened.load()
    try:
        notes = await settle(opened, freeze=freeze)
        if opened.page.url.split("?")[0].split("#")[0] == opened.gate.url:
            return notes
    except Vanished:
        pass
    # It went where the proxy cannot keep it from going (about:blank, blob:), or loads itself for ever.
    await opened.load(stay=True)
    return [*await settle(opened, freeze=freeze), "navigation: the page tried to leave and was kept"]


async def _idle(gate: Gate, seconds: float) -> list[str]:
    """Wait until nothing has been asked for during half a second, at most ``seconds``."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    asked, since = gate.asked, loop.time()
    while loop.time() < end:
        await asyncio.sleep(0.05)
        if gate.busy or gate.asked != asked:
            asked, since = gate.asked, loop.time()
        elif loop.time() - since >= 0.5:
            return []
    return [f"network: not idle after {seconds:g} s"]


async def _facts(opened: OpenPage, notes: list[str], picture: bytes) -> Facts:
    from opendesign.rendering import facts

    events = opened.events
    return await facts.collect(
        opened.page,
        opened.cdp,
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
        picture=picture,
    )


def _thumbnail(picture: bytes, settings: RenderSettings) -> bytes:
    """WebP of the first screen, at most ``THUMBNAIL_BYTES``."""
    import io

    from PIL import Image

    with Image.open(io.BytesIO(picture)) as whole:
        screen = whole.crop((0, 0, whole.width, min(whole.height, round(settings.height * settings.scale))))
    size = (THUMBNAIL_WIDTH, max(1, round(screen.height * THUMBNAIL_WIDTH / screen.width)))
    small = screen.convert("RGB").resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
    data = b""
    for quality in (75, 50, 25, 5, 0):
        buffer = io.BytesIO()
        small.save(buffer, "WEBP", quality=quality, method=2)
        data = buffer.getvalue()
        if len(data) <= THUMBNAIL_BYTES:
            return data
    small = small.resize((THUMBNAIL_WIDTH // 2, max(1, size[1] // 2)))
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=20, method=2)
    return buffer.getvalue()
