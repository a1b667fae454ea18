"""One page in a context of its own: everything it may try is taken away or recorded before it runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from opendesign.rendering.facts import Dialog
from opendesign.rendering.playwright_driver import PlaywrightDriver

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page
    from playwright.async_api import Dialog as BrowserDialog

    from opendesign.rendering.driver import Driver
    from opendesign.rendering.launch import Launched
    from opendesign.rendering.network import Gate
    from opendesign.types import RenderSettings

__all__ = [
    "REPORT",
    "STAY",
    "Events",
    "OpenPage",
    "Opened",
    "Vanished",
    "init_script",
    "note_report",
    "open_page",
    "script",
]

#: What a page's clock shows when it starts, 15 January 2026, 10:09:36 UTC, and where its random begins.
CLOCK_MS = 1_768_471_776_000
SEED = 20_260_115
REPORT = "__opendesign_report__"
_KEPT = 50  # dialogs, errors, popups kept for one page
CLOSE_S = 5.0
_GONE = ("context", "navigated", "No frame", "Promise was collected")  # in the driver's words


class Vanished(Exception):
    """The document that was being looked at is gone: the page went somewhere else or loaded itself again."""


@dataclass(slots=True)
class Events:
    """What happened on a page, in its order; the first ``_KEPT`` of each kind."""

    dialogs: list[Dialog] = field(default_factory=list)
    script_errors: list[str] = field(default_factory=list)
    popups: int = 0
    downloads: int = 0

    def dialog(self, kind: str, message: str) -> None:
        if len(self.dialogs) < _KEPT:
            self.dialogs.append(Dialog(kind=kind, message=message[:500]))

    def script_error(self, message: str) -> None:
        if len(self.script_errors) < _KEPT:
            self.script_errors.append(message)


class Opened(Protocol):
    """A page that is open, whichever automation library holds it. ``crashed``: its renderer has died."""

    gate: Gate
    settings: RenderSettings
    crashed: asyncio.Event

    @property
    def events(self) -> Events:
        """What happened on it so far."""

    async def load(self, *, stay: bool = False) -> None:
        """Open the document; returns once it has been received. ``stay`` stops every navigation it starts."""

    async def forget_history(self) -> None:
        """Leave nothing behind the page that it could go back to."""

    async def look(self, source: str, argument: Mapping[str, Any]) -> Any:
        """The value of a script (a function of ``argument``) in a world the page cannot reach.

        Raises ``Vanished`` when the document goes away meanwhile.
        """

    async def where(self) -> str:
        """The address of the document that is there now."""

    async def answers(self, patience_s: float) -> bool:
        """Whether the page's main thread does anything for us within ``patience_s``."""

    async def end(self) -> None:
        """Close it, whatever it is doing: every call that waits for it ends with an error."""

    def driver(self) -> Driver:
        """The page as judges operate it."""


@dataclass(slots=True)
class OpenPage:
    """A page that is open under Playwright; implements ``Opened``."""

    context: BrowserContext
    page: Page
    cdp: CDPSession
    gate: Gate
    settings: RenderSettings
    events: Events
    crashed: asyncio.Event
    frame: str = ""

    async def load(self, *, stay: bool = False) -> None:
        if stay:
            await self.page.add_init_script(STAY)
        answer = await self.cdp.send("Page.navigate", {"url": self.gate.url})
        self.frame = answer["frameId"]
        await self.forget_history()

    async def forget_history(self) -> None:
        from playwright.async_api import Error

        with contextlib.suppress(Error):  # too early, the browser may say no
            await self.cdp.send("Page.resetNavigationHistory")

    async def look(self, source: str, argument: Mapping[str, Any]) -> Any:
        from playwright.async_api import Error

        try:
            world = await self.cdp.send(
                "Page.createIsolatedWorld", {"frameId": self.frame, "worldName": "opendesign"}
            )
            reply = await self.cdp.send(
                "Runtime.evaluate",
                {
                    "expression": f"({source})({json.dumps(argument)})",
                    "contextId": world["executionContextId"],
                    "awaitPromise": True,
                    "returnByValue": True,
                },
            )
        except Error as error:
            if any(sign in str(error) for sign in _GONE):
                raise Vanished from error
            raise
        if "exceptionDetails" in reply:
            detail = reply["exceptionDetails"]
            said = detail.get("exception", {}).get("description") or detail.get("text", "")
            raise Vanished(said)
        return reply["result"].get("value")

    async def where(self) -> str:
        return self.page.url

    async def end(self) -> None:
        await self.context.close()

    def driver(self) -> PlaywrightDriver:
        return PlaywrightDriver(self.page, self.cdp)

    async def answers(self, patience_s: float) -> bool:
        from playwright.async_api import Error

        try:
            # Not wait_for, which before Python 3.12 may swallow the cancelling of whoever asks.
            async with asyncio.timeout(patience_s):
                await self.cdp.send("Runtime.evaluate", {"expression": "1"})
        except TimeoutError:
            return False
        except Error:
            return True  # gone or going: somebody else hears of that
        return True


@contextlib.asynccontextmanager
async def open_page(
    launched: Launched, gate: Gate, settings: RenderSettings, *, live: bool
) -> AsyncIterator[OpenPage]:
    """An empty page, ready to ``load``. A live page's clock runs, and its confirm dialogs are accepted.

    When it does not close in time, its whole browser is ended: the page is then holding up the driver.
    """
    from playwright.async_api import Error

    context = await launched.browser.new_context(
        proxy={"server": gate.proxy, "bypass": "<-loopback>"},
        ignore_https_errors=True,
        viewport={"width": settings.width, "height": settings.height},
        device_scale_factor=settings.scale,
        accept_downloads=False,
        service_workers="block",
        locale="en-US",
        timezone_id="UTC",
    )
    try:
        page = await context.new_page()
        cdp = await context.new_cdp_session(page)
        opened = OpenPage(context, page, cdp, gate, settings, Events(), asyncio.Event())
        _listen(opened, live)
        # Sent together: they are answered in order.
        await asyncio.gather(
            cdp.send("Runtime.addBinding", {"name": REPORT}),
            cdp.send("Runtime.enable"),
            context.add_init_script(init_script(frozen=settings.freeze and not live, accept=live)),
        )
        yield opened
    finally:
        try:
            await asyncio.wait_for(context.close(), CLOSE_S)
        except TimeoutError:
            await asyncio.to_thread(launched.tree.kill)
        except Error:
            pass  # its browser is gone


def init_script(*, frozen: bool, accept: bool) -> str:
    """What runs first in every frame. ``frozen``: the clock stands. ``accept``: every question gets a yes."""
    values = {"report": REPORT, "frozen": frozen, "start": CLOCK_MS, "seed": SEED, "accept": accept}
    return f"({script('init.js')})({json.dumps(values)})"


@cache
def script(name: str) -> str:
    """Text of one of our scripts."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


# The Navigation API lets a document refuse to be left, about:blank and blob: addresses included, which no
# proxy sees.
STAY = """
if (globalThis.navigation && window === top) {
  const stay = Event.prototype.preventDefault;
  navigation.addEventListener("navigate", (event) => {
    if (event.cancelable && !event.hashChange && !event.destination.sameDocument) stay.call(event);
  });
  for (const name of ["back", "forward", "go"]) History.prototype[name] = () => {};
}
"""


def note_report(events: Events, payload: str) -> None:
    """Keep what a page's own script was about to do, as ``init.js`` tells it. What cannot be read is none."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        told = json.loads(payload)
        if told["kind"] == "popup":
            events.popups += 1
        elif told["kind"] == "script_error":
            events.script_error(str(told["message"])[:500].removeprefix("Uncaught "))
        else:
            events.dialog(str(told["kind"]), str(told["message"]))


def _listen(opened: OpenPage, live: bool) -> None:
    events, page = opened.events, opened.page
    background: set[asyncio.Task[None]] = set()  # a task that nothing holds may be collected

    def reported(event: dict[str, Any]) -> None:
        if event.get("name") == REPORT:
            note_report(events, event["payload"])

    def start(coroutine: Any) -> None:
        task = asyncio.ensure_future(_quietly(coroutine))
        background.add(task)
        task.add_done_callback(background.discard)

    def asked(dialog: BrowserDialog) -> None:
        # Only what the page's own script cannot reach gets here: a beforeunload.
        events.dialog(dialog.type, dialog.message)
        start(dialog.accept() if live or dialog.type == "beforeunload" else dialog.dismiss())

    def another(other: Page) -> None:
        if other is not page:
            events.popups += 1
            start(other.close())

    def downloaded(_: object) -> None:
        events.downloads += 1

    opened.cdp.on("Runtime.bindingCalled", reported)
    opened.context.on("dialog", asked)
    opened.context.on("page", another)
    page.on("download", downloaded)
    page.on("pageerror", lambda error: events.script_error(f"{error.name}: {error.message}"))
    page.on("crash", lambda _: opened.crashed.set())
    page.on("close", lambda _: opened.crashed.set())


async def _quietly(coroutine: Any) -> None:
    from playwright.async_api import Error

    with contextlib.suppress(Error):
        await coroutine
