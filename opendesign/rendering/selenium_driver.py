"""A live page under Selenium's hand: WebDriver's keyboard; the debugging protocol for scripts and the mouse.

WebDriver's own pointer names no button while it moves, so that the browser begins no drag; nor does it leave
the window or stand between two pixels.

Selenium's calls block, so they are made one after the other in a thread of the driver's own. One that nobody
waits for any more still has to end before the next: where it does not, the page is silent.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from opendesign.rendering.driver import ScriptFailed, World

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

__all__ = ["SeleniumDriver"]

T = TypeVar("T")
_APART = "opendesign-apart"
#: A promise is waited for in turns of half a second, so that others are heard in between. It is kept for a
#: while: it may be fulfilled between two turns.
_BEGIN = "delete (globalThis.__waits ??= {})[%d]; __waits[%d] = (async () => (%s))(); "
_TURN = """Promise.race([
  __waits[%d].then((value) => ({ done: true, value })),
  new Promise((done) => setTimeout(done, 500, { done: false })),
])"""
_KEPT = 20
_LOADED = """new Promise((done) => {
  if (document.readyState === "complete") done();
  else addEventListener("load", () => done(), { once: true });
})"""
_MOST_HEARD = 1000
_READ_BOOK = "globalThis.__book ? __book.splice(0) : []"
#: In chromedriver's words: the document has gone; its process has died; the browser, or chromedriver, has.
_LEFT = (
    "Cannot find context",
    "context was destroyed",
    "no such execution context",
    "Promise was collected",
    "navigated or closed",
    "No frame",
)
_CRASHED = ("tab crashed", "no such window", "web view not found")
_LOST = ("not connected to DevTools", "not reachable", "disconnected", "invalid session id")
#: Keys by the names of ``KeyboardEvent.key``, as WebDriver codes them.
_KEYS = {
    "Space": " ",
    "\n": "\ue006",
    "\t": "\ue004",
    "Backspace": "\ue003",
    "Tab": "\ue004",
    "Enter": "\ue006",
    "Shift": "\ue008",
    "Control": "\ue009",
    "Alt": "\ue00a",
    "Escape": "\ue00c",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Insert": "\ue016",
    "Delete": "\ue017",
    "Meta": "\ue03d",
    "ControlOrMeta": "\ue009",
} | {f"F{number}": chr(0xE030 + number) for number in range(1, 13)}


class SeleniumDriver:
    """Implements ``Driver``. ``crashed`` is set when the page's process is gone, ``lost`` when the browser or
    chromedriver is; ``ended`` says that it was us who ended them, because of the page.
    """

    name = "selenium"

    def __init__(self, remote: WebDriver, url: str, width: int, height: int) -> None:
        self.url, self.width, self.height = url, width, height
        self.heard: list[Any] = []  # what the documents' books held, see ``hear``
        self.crashed = asyncio.Event()
        self.lost = self.ended = False
        self._remote = remote
        self._thread = ThreadPoolExecutor(1, "opendesign-selenium")
        self._count = 0  # of expressions that were waited for
        self._world: int | None = None  # the isolated world of the document that is there now
        self._at = (0.0, 0.0)  # the pointer, and whether its button is held
        self._held = False

    @property
    def connected(self) -> bool:
        return self.ended or not self.lost

    async def load(self, timeout_s: float) -> None:
        from selenium.common.exceptions import TimeoutException, WebDriverException

        with contextlib.suppress(WebDriverException, ScriptFailed):  # the book goes with its document
            await self.hear()
        try:
            async with asyncio.timeout(timeout_s):
                await self.navigate()
                while True:
                    try:
                        await self.evaluate(_LOADED, "apart")
                        return
                    except WebDriverException as error:
                        if not _says(error, _LEFT):
                            raise
        except TimeoutError:
            raise TimeoutException(f"The load event had not come after {timeout_s:g} s.") from None

    async def navigate(self) -> None:
        """Open the document; returns once it has been received."""
        from selenium.common.exceptions import WebDriverException

        self._world = None
        answer = await self.cdp("Page.navigate", url=self.url)
        if answer.get("errorText"):
            raise WebDriverException(f"{answer['errorText']} at {self.url}")

    async def add_script(self, source: str, world: World) -> None:
        named = {"worldName": _APART} if world == "apart" else {}
        await self.cdp("Page.addScriptToEvaluateOnNewDocument", source=source, **named)

    async def evaluate(self, expression: str, world: World) -> Any:
        asked: dict[str, Any] = {"awaitPromise": True, "returnByValue": True}
        if world == "page":  # whose timers are the page's: it is waited for in one go
            asked |= {"expression": f"(async () => ({expression}))()"}
            return _result(await self.cdp("Runtime.evaluate", **asked)).get("value")
        asked["contextId"] = await self._apart()
        self._count += 1
        number = self._count
        begin, turn = _BEGIN % (number - _KEPT, number, expression), _TURN % number
        while True:
            found = _result(await self.cdp("Runtime.evaluate", expression=begin + turn, **asked))["value"]
            if found["done"]:
                return found.get("value")
            begin = ""

    async def hear(self) -> None:
        """Fetch what has been written into the book of the isolated world: a call that waits for nothing."""
        asked = {"contextId": await self._apart(), "returnByValue": True, "expression": _READ_BOOK}
        found = _result(await self.cdp("Runtime.evaluate", **asked)).get("value")
        self.heard = (self.heard + (found if isinstance(found, list) else []))[:_MOST_HEARD]

    async def move(self, x: float, y: float, steps: int = 1) -> None:
        x0, y0 = self._at
        for step in range(1, steps + 1):
            self._at = (x0 + (x - x0) * step / steps, y0 + (y - y0) * step / steps)
            await self._mouse("mouseMoved", button="left" if self._held else "none", buttons=int(self._held))

    async def down(self) -> None:
        await self._press(1)

    async def up(self) -> None:
        await self._release(1)

    async def click(self, x: float, y: float, count: int = 1) -> None:
        await self.move(x, y)
        for number in range(1, count + 1):
            await self._press(number)
            await self._release(number)

    async def wheel(self, dx: float, dy: float) -> None:
        await self._mouse("mouseWheel", deltaX=dx, deltaY=dy)

    async def key_down(self, key: str) -> None:
        await self._keys([("keyDown", key)])

    async def key_up(self, key: str) -> None:
        await self._keys([("keyUp", key)])

    async def press(self, key: str) -> None:
        *held, last = key.split("+") if len(key) > 1 else [key]
        last = last.lower() if held and len(last) == 1 else last
        around = [("keyDown", one) for one in held], [("keyUp", one) for one in reversed(held)]
        await self._keys([*around[0], ("keyDown", last), ("keyUp", last), *around[1]])

    async def type(self, text: str) -> None:
        for typed, part in groupby(text, str.isascii):
            if typed:
                await self._keys([(kind, key) for key in part for kind in ("keyDown", "keyUp")])
                continue
            for character in part:  # no key has it
                await self.insert(character)

    async def insert(self, text: str) -> None:
        await self.cdp("Input.insertText", text=text)

    async def back(self) -> None:
        await self.cdp("Runtime.evaluate", expression="history.length > 1 && history.back()")

    async def picture(self, quality: int | None = None) -> bytes:
        form = {"format": "png"} if quality is None else {"format": "jpeg", "quality": quality}
        return base64.b64decode((await self.cdp("Page.captureScreenshot", **form))["data"])

    async def cdp(self, command: str, **asked: Any) -> dict[str, Any]:
        """One command of the debugging protocol."""
        asked = {"cmd": command, "params": asked}
        found: dict[str, Any] = await self._do(
            lambda: self._remote.execute("executeCdpCommand", asked)["value"]
        )
        return found

    def gone(self, error: Exception) -> bool:
        """Whether the error says that the document has gone."""
        return _says(error, _LEFT)

    def shut(self) -> None:
        """Wait for the thread, whose call ends when chromedriver has. Blocks."""
        if not isinstance(self._remote.command_executor, str):
            self._remote.command_executor.close()  # type: ignore[no-untyped-call]
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def quit(self) -> None:
        """End the browser in an orderly way."""
        await self._do(self._remote.quit)

    async def _do(self, call: Callable[[], T]) -> T:
        from selenium.common.exceptions import WebDriverException
        from urllib3.exceptions import HTTPError

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except HTTPError:
            self.lost = True
            self.crashed.set()
            raise
        except WebDriverException as error:
            self.lost = self.lost or _says(error, _LOST)
            if self.lost or _says(error, _CRASHED):
                self.crashed.set()
            if _says(error, _LEFT):
                self._world = None
            raise

    async def _apart(self) -> int:
        """The isolated world of the document that is there; the browser gives the same one each time."""
        if self._world is None:
            frame = (await self.cdp("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            made = await self.cdp("Page.createIsolatedWorld", frameId=frame, worldName=_APART)
            self._world = made["executionContextId"]
        return self._world

    async def _press(self, number: int) -> None:
        """``number``: of the click in a row of clicks."""
        self._held = True
        await self._mouse("mousePressed", button="left", buttons=1, clickCount=number)

    async def _release(self, number: int) -> None:
        self._held = False
        await self._mouse("mouseReleased", button="left", buttons=0, clickCount=number)

    async def _mouse(self, kind: str, **more: Any) -> None:
        x, y = self._at
        await self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    async def _keys(self, ticks: Iterable[tuple[str, str]]) -> None:
        from selenium.webdriver.remote.command import Command

        actions = [{"type": kind, "value": _code(key)} for kind, key in ticks]
        keyboard = {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}
        await self._do(lambda: self._remote.execute(Command.W3C_ACTIONS, keyboard))


def _code(key: str) -> str:
    code = _KEYS.get(key, key)
    if len(code) != 1:
        from selenium.common.exceptions import WebDriverException

        raise WebDriverException(f"Unknown key: '{key}'")
    return code


def _result(reply: dict[str, Any]) -> dict[str, Any]:
    if "exceptionDetails" in reply:
        detail = reply["exceptionDetails"]
        raise ScriptFailed(detail.get("exception", {}).get("description") or detail.get("text", ""))
    found: dict[str, Any] = reply["result"]
    return found


def _says(error: Exception, signs: Iterable[str]) -> bool:
    return any(sign in str(error) for sign in signs)
