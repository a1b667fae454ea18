"""A live page under Playwright's hand: its mouse and keyboard, and the debugging protocol for scripts."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from opendesign.rendering.driver import ScriptFailed, World

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

__all__ = ["PlaywrightDriver"]

_APART = "opendesign-apart"


class PlaywrightDriver:
    """Implements ``Driver``. ``cdp`` is a session of the page's own debugging protocol."""

    name = "playwright"

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        self._page, self._cdp = page, cdp
        self._frame, self._enabled = "", False
        self._world: int | None = None  # the isolated world of the document that is there now

    @property
    def width(self) -> int:
        return self._size["width"]

    @property
    def height(self) -> int:
        return self._size["height"]

    @property
    def url(self) -> str:
        return self._page.url.partition("#")[0]

    @property
    def connected(self) -> bool:
        browser = self._page.context.browser
        return browser is None or browser.is_connected()

    async def load(self, timeout_s: float) -> None:
        self._world = None
        await self._page.goto(self.url, wait_until="load", timeout=timeout_s * 1000)

    async def add_script(self, source: str, world: World) -> None:
        if not self._enabled:  # without it the browser keeps the script and never runs it
            await self._cdp.send("Page.enable")
            self._enabled = True
        named = {"worldName": _APART} if world == "apart" else {}
        await self._cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, **named})

    async def evaluate(self, expression: str, world: World) -> Any:
        where = {"contextId": await self._apart()} if world == "apart" else {}
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True, **where}
        reply = await self._cdp.send("Runtime.evaluate", asked)
        if "exceptionDetails" in reply:
            detail = reply["exceptionDetails"]
            raise ScriptFailed(detail.get("exception", {}).get("description") or detail.get("text", ""))
        return reply["result"].get("value")

    async def move(self, x: float, y: float, steps: int = 1) -> None:
        await self._page.mouse.move(x, y, steps=steps)

    async def down(self) -> None:
        await self._page.mouse.down()

    async def up(self) -> None:
        await self._page.mouse.up()

    async def click(self, x: float, y: float, count: int = 1) -> None:
        await self._page.mouse.click(x, y, click_count=count)

    async def wheel(self, dx: float, dy: float) -> None:
        await self._page.mouse.wheel(dx, dy)

    async def key_down(self, key: str) -> None:
        await self._page.keyboard.down(key)

    async def key_up(self, key: str) -> None:
        await self._page.keyboard.up(key)

    async def press(self, key: str) -> None:
        await self._page.keyboard.press(key)

    async def type(self, text: str) -> None:
        await self._page.keyboard.type(text)

    async def insert(self, text: str) -> None:
        await self._page.keyboard.insert_text(text)

    async def back(self) -> None:
        await self._page.evaluate("history.length > 1 && history.back()")

    async def picture(self, quality: int | None = None) -> bytes:
        form = {"format": "png"} if quality is None else {"format": "jpeg", "quality": quality}
        reply = await self._cdp.send("Page.captureScreenshot", form)
        return base64.b64decode(reply["data"])

    @property
    def _size(self) -> dict[str, int]:
        size = self._page.viewport_size
        return {"width": size["width"], "height": size["height"]} if size else {"width": 1280, "height": 960}

    async def _apart(self) -> int:
        """The isolated world of the document that is there; the browser gives the same one each time."""
        if self._world is None:
            if not self._frame:
                tree = await self._cdp.send("Page.getFrameTree")
                self._frame = tree["frameTree"]["frame"]["id"]
            asked = {"frameId": self._frame, "worldName": _APART}
            self._world = (await self._cdp.send("Page.createIsolatedWorld", asked))["executionContextId"]
        return self._world
