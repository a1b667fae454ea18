"""A live page for a judge: loaded, settled, its own network, and never silent for ever."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Literal, TypeVar

from opendesign.errors import OpenDesignError, UsageError
from opendesign.rendering.capture import load_and_settle
from opendesign.rendering.page import Events, Opened, OpenPage, Vanished, open_page, script

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

    from opendesign.rendering.driver import Driver
    from opendesign.rendering.launch import Launched
    from opendesign.rendering.network import Gate, Request
    from opendesign.rendering.watchdog import Watchdog
    from opendesign.types import RenderSettings

__all__ = ["Automation", "PageHung", "Session", "errors_of", "live_page", "playwright_page"]

_T = TypeVar("_T")
Automation = Literal["playwright", "selenium"]

CALL_S = 10.0
LOOK_EVERY_S = 2.0
SILENT_S = 8.0
#: A session is in use for as long as its judge needs; a browser is not ended under it before this.
LONGEST_S = 3_600.0


class PageHung(OpenDesignError):
    """The page does not answer any more: its script loops, or its process has died."""


class Session:
    """A live page. Animations run, the clock starts where the picture's does and flows, random is seeded.

    Dialogs are answered (confirm and prompt are accepted), popups closed, downloads refused; ``events``
    holds them. When the page falls silent it is closed, so that no call waits for ever: a call
    through ``call`` raises ``PageHung`` then, and so does leaving the session by any error of the driver.
    """

    def __init__(self, opened: Opened, errors: tuple[type[Exception], ...]) -> None:
        self._opened, self._errors = opened, errors
        self.hung = False

    @property
    def page(self) -> Page:
        """The page as Playwright has it. Raises ``UsageError`` under another driver."""
        return self._by_playwright.page

    @property
    def cdp(self) -> CDPSession:
        """A session of the page's own debugging protocol. Raises ``UsageError`` as ``page`` does."""
        return self._by_playwright.cdp

    @property
    def _by_playwright(self) -> OpenPage:
        if not isinstance(self._opened, OpenPage):
            raise UsageError("This session is not driven by Playwright: operate its page through `driver`.")
        return self._opened

    @functools.cached_property
    def driver(self) -> Driver:
        """The page as judges operate it."""
        return self._opened.driver()

    @property
    def settings(self) -> RenderSettings:
        return self._opened.settings

    @property
    def events(self) -> Events:
        """Dialogs, script errors, popups and downloads since the page was opened."""
        return self._opened.events

    @property
    def requests(self) -> tuple[Request, ...]:
        """What the page has asked of the network so far."""
        return self._opened.gate.requests

    @property
    def crashed(self) -> bool:
        """Whether the page's process has died or its context was closed."""
        return self._opened.crashed.is_set()

    async def answers(self) -> bool:
        """Whether the page still answers; False marks the session as hung."""
        answered = await self._opened.answers(SILENT_S)
        self.hung = self.hung or self.crashed or not answered
        return not self.hung

    async def call(self, awaitable: Awaitable[_T], seconds: float = CALL_S) -> _T:
        """The value of one call of the driver. Raises ``PageHung`` when it takes longer or the page died."""
        try:
            return await asyncio.wait_for(awaitable, seconds)
        except TimeoutError as error:
            self.hung = True
            raise PageHung(f"The page did not answer within {seconds:g} s.") from error
        except self._errors as error:
            # The driver's own timeout: an element that cannot be clicked, or a page that no longer answers?
            if self.hung or self.crashed or (_is_timeout(error) and not await self.answers()):
                self.hung = True
                raise PageHung("The page stopped answering and was ended.") from error
            raise

    async def settle(self, seconds: float | None = None) -> None:
        """Wait until the page is quiet, at most ``seconds`` (default: ``settings.settle_s``)."""
        bound = self.settings.settle_s if seconds is None else seconds
        argument = {
            "event": "load",
            "load": bound * 1000,
            "settle": bound * 1000,
            "scroll": False,
            "freeze": False,
            "maxHeight": 0,
        }
        for _ in range(3):
            try:
                await self.call(self._opened.look(script("capture.js"), argument), 2 * bound + CALL_S)
                return
            except Vanished:
                continue  # it has loaded itself again


@contextlib.asynccontextmanager
async def live_page(
    opening: AbstractAsyncContextManager[Opened], errors: tuple[type[Exception], ...]
) -> AsyncIterator[Session]:
    """The page, loaded and settled as for its picture. Raises ``PageHung`` when it does not get there.

    ``errors`` are those of the automation library that holds the page.
    """
    session: Session | None = None
    try:
        async with opening as opened:
            session = Session(opened, errors)
            guard = asyncio.create_task(_keep_watch(session, opened))
            try:
                await session.call(_arrive(opened), opened.settings.deadline_s)
                yield session
            except errors as error:
                if _is_timeout(error):
                    await session.answers()
                raise
            finally:
                guard.cancel()
                await asyncio.gather(guard, return_exceptions=True)
    except errors as error:
        if session is None or session.hung or session.crashed:
            raise PageHung("The page stopped answering and was ended.") from error
        raise
    except Vanished as error:
        raise PageHung("The page loads itself again without end.") from error


@contextlib.asynccontextmanager
async def playwright_page(
    launched: Launched, watchdog: Watchdog, gate: Gate, settings: RenderSettings
) -> AsyncIterator[OpenPage]:
    """A page in a context of its own of a browser that others use, too."""
    with watchdog.guard(launched.tree, LONGEST_S):
        async with open_page(launched, gate, settings, live=True) as opened:
            yield opened


def errors_of(driver: str) -> tuple[type[Exception], ...]:
    """What an automation library raises. Raises ``UsageError`` where there is no such driver, or not here."""
    if driver == "playwright":
        from playwright.async_api import Error

        return (Error,)
    if driver == "selenium":
        from opendesign.rendering.selenium_session import check_installed

        return check_installed()
    raise UsageError(f"There is no driver '{driver}': a live page is driven by 'playwright' or 'selenium'.")


def _is_timeout(error: Exception) -> bool:
    return type(error).__name__ in ("TimeoutError", "TimeoutException")


async def _arrive(opened: Opened) -> None:
    await load_and_settle(opened, freeze=False)
    await opened.forget_history()


async def _keep_watch(session: Session, opened: Opened) -> None:
    """Close the page when it falls silent: every call that waits for it then ends with an error."""
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        if not await session.answers():
            await opened.end()
            return
