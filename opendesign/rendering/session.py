"""A live page for a judge: loaded, settled, its own network, and never silent for ever."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from typing import TYPE_CHECKING, TypeVar

from opendesign.errors import OpenDesignError
from opendesign.rendering.capture import load_and_settle
from opendesign.rendering.page import Events, OpenPage, Vanished, open_page, script

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

    from opendesign.rendering.launch import Launched
    from opendesign.rendering.network import Gate, Request
    from opendesign.rendering.watchdog import Watchdog
    from opendesign.types import RenderSettings

__all__ = ["PageHung", "Session", "live_page"]

_T = TypeVar("_T")

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
    holds them. When the page falls silent its context is closed, so that no call waits for ever: a call
    through ``call`` raises ``PageHung`` then, and so does leaving the session by any error of the driver.
    """

    def __init__(self, opened: OpenPage) -> None:
        self._opened = opened
        self.hung = False

    @property
    def page(self) -> Page:
        return self._opened.page

    @property
    def cdp(self) -> CDPSession:
        """A session of the page's own debugging protocol."""
        return self._opened.cdp

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
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as DriverTimeout

        try:
            return await asyncio.wait_for(awaitable, seconds)
        except DriverTimeout:
            # An element that cannot be clicked, or a page that no longer answers?
            if await self.answers():
                raise
            raise PageHung("The page stopped answering.") from None
        except TimeoutError as error:
            self.hung = True
            raise PageHung(f"The page did not answer within {seconds:g} s.") from error
        except Error as error:
            if self.hung or self.crashed:
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
    launched: Launched, watchdog: Watchdog, gate: Gate, settings: RenderSettings
) -> AsyncIterator[Session]:
    """The page, loaded and settled as for its picture. Raises ``PageHung`` when it does not get there."""
    from playwright.async_api import Error
    from playwright.async_api import TimeoutError as DriverTimeout

    session: Session | None = None
    try:
        with watchdog.guard(launched.tree, LONGEST_S):
            async with open_page(launched, gate, settings, live=True) as opened:
                session = Session(opened)
                guard = asyncio.create_task(_keep_watch(session, opened))
                try:
                    await session.call(_arrive(opened), settings.deadline_s)
                    yield session
                except DriverTimeout:
                    await session.answers()
                    raise
                finally:
                    guard.cancel()
                    await asyncio.gather(guard, return_exceptions=True)
    except Error as error:
        if session is None or session.hung or session.crashed:
            raise PageHung("The page stopped answering and was ended.") from error
        raise
    except Vanished as error:
        raise PageHung("The page loads itself again without end.") from error


async def _arrive(opened: OpenPage) -> None:
    await load_and_settle(opened, freeze=False)
    await opened.forget_history()


async def _keep_watch(session: Session, opened: OpenPage) -> None:
    """Close the page when it falls silent: every call that waits for it then ends with an error."""
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        if not await session.answers():
            await opened.context.close()
            return
