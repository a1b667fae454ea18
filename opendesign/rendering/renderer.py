"""Document → picture and facts. Owns the browsers, the page network and the watchdog."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from opendesign.errors import UsageError, failed
from opendesign.rendering.attempt import Attempt, End, attempt
from opendesign.rendering.browser import BrowserFound, find_browser
from opendesign.rendering.fonts import font_set
from opendesign.rendering.pool import PAGES_PER_BROWSER, Pool, default_pages_at_once
from opendesign.rendering.session import Automation, Session, errors_of, live_page, playwright_page
from opendesign.types import Failure, RenderSettings

if TYPE_CHECKING:
    from opendesign.rendering.facts import Facts
    from opendesign.rendering.launch import Launched, Launcher
    from opendesign.rendering.network import Gate, PageNetwork, Request
    from opendesign.rendering.page import Opened
    from opendesign.rendering.watchdog import Watchdog

__all__ = ["Renderer", "Rendering"]

#: Threads that look at pictures. Few: each holds a whole page's pixels while it works.
WORKERS = 2
#: An allowed host gave no answer: the page is not what its author made, through no fault of theirs.
_UNREACHED = ("unreachable", "timeout", "bad_certificate", "broken_answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """What a document became. ``picture`` is a PNG of the full page, ``thumbnail`` WebP of its first screen.

    ``width`` and ``height`` are the picture's, in CSS pixels; ``true_height`` is the page's, more than
    ``height`` where ``truncated``. ``requests`` counts what the page asked for by outcome; ``resources`` is
    URL → SHA-256 of what it was given.
    """

    failure: Failure | None = None
    picture: bytes | None = None
    thumbnail: bytes | None = None
    facts: Facts | None = None
    width: int = 0
    height: int = 0
    true_height: int = 0
    truncated: bool = False
    requests: Mapping[str, int] = field(default_factory=dict)
    resources: Mapping[str, str] = field(default_factory=dict)
    varies: Mapping[str, Any] = field(default_factory=dict)


class Renderer:
    """Renders documents, many at once. An async context manager; one for a run.

    ``browser`` is a path (default: the best one found), ``pages_at_once`` how many pages are drawn together,
    ``sessions_at_once`` how many live pages there are at most beside them, ``cache`` the folder of the
    network's cache. Entering raises ``UsageError`` when there is no browser or it cannot be started.
    """

    def __init__(
        self,
        settings: RenderSettings,
        *,
        browser: str | Path | None = None,
        pages_at_once: int | None = None,
        sessions_at_once: int | None = None,
        cache: Path | None = None,
        pages_per_browser: int = PAGES_PER_BROWSER,
        network: PageNetwork | None = None,
    ) -> None:
        self.settings = settings
        self.pages_at_once = pages_at_once or default_pages_at_once()
        self.sessions_at_once = sessions_at_once or self.pages_at_once
        self.engine = ""  # "chromium-headless-shell 150.0.7871.100"
        self.fonts = ""  # the set of fonts, see ``fonts.font_set``
        self.sandboxed = False
        self.sandbox_problem = ""  # why there is no sandbox, for a person
        self.browser_user = ""
        self._browser = browser
        self._cache = cache
        self._given_network = network
        self._pages_per_browser = pages_per_browser
        self._stack = AsyncExitStack()
        self._launcher: Launcher
        self._pool: Pool
        self._network: PageNetwork
        self._watchdog: Watchdog
        self._workers: ThreadPoolExecutor  # for the pictures of pages
        self._pages = asyncio.Semaphore(self.pages_at_once)
        self._sessions = asyncio.Semaphore(self.sessions_at_once)

    async def __aenter__(self) -> Self:
        from playwright.async_api import async_playwright

        from opendesign.rendering.launch import Launcher
        from opendesign.rendering.network import PageNetwork
        from opendesign.rendering.watchdog import Watchdog

        found = find_browser(self._browser)
        self.fonts = await asyncio.to_thread(font_set)
        async with AsyncExitStack() as stack:
            network = self._given_network or PageNetwork(
                policy=self.settings.network, hosts=self.settings.hosts, cache=self._cache
            )
            self._network = await stack.enter_async_context(network)
            self._workers = stack.enter_context(ThreadPoolExecutor(WORKERS, "opendesign-picture"))
            self._watchdog = Watchdog(self.settings.memory_mb)
            self._watchdog.start()
            stack.callback(self._watchdog.stop)
            self._launcher = launcher = Launcher(await stack.enter_async_context(async_playwright()), found)
            stack.callback(launcher.close)
            self._pool = Pool(launcher, self._watchdog, pages_per_browser=self._pages_per_browser)
            stack.push_async_callback(self._pool.close)
            await self._introduce(found, launcher)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def _introduce(self, found: BrowserFound, launcher: Launcher) -> None:
        """Start the first browser, to know what draws the pages."""
        async with self._pool.shared() as launched:
            self.engine = f"{found.kind} {launched.browser.version}"
            self.sandboxed, self.browser_user = launched.sandboxed, launched.user
            self.sandbox_problem = launcher.sandbox_problem

    async def render(self, document: str, *, bare: bool = False) -> Rendering:
        """Picture and facts of a document. Never raises for the page's own fault: see ``Rendering.failure``.

        ``bare`` takes the picture alone, as soon as the page is loaded: for measuring what the rest costs.

        A page that does not come to its end among others is tried once more in a browser of its own, where
        processor time and memory are its own; what happens there decides.
        """
        data = document.encode("utf-8", "replace")
        async with self._pages:
            started = time.monotonic()
            try:
                first, last, failure, gate = await self._twice(data, bare=bare)
            except UsageError as error:  # a browser started when we began, and does not any more
                return Rendering(failure=Failure(reason="browser_crash", detail=str(error)))
        varies: dict[str, Any] = {
            "seconds": round(time.monotonic() - started, 3),
            "from_cache": gate.from_cache,
            "attempts": 1 if last is first else 2,
        }
        if last is not first:
            varies |= {"first_attempt": first.end.value, "cpu_s": round(last.cpu_s, 2)}
        return self._rendering(last, failure, gate.requests, varies)

    async def _twice(self, data: bytes, *, bare: bool) -> tuple[Attempt, Attempt, Failure | None, Gate]:
        """The first and the last try (the same one where that was enough), and what they mean."""
        async with self._pool.shared() as launched, self._gate(data) as gate:
            first = await self._attempt(launched, gate, alone=False, bare=bare)
        if first.end is End.DONE:
            return first, first, None, gate
        before = _machine()
        async with self._pool.alone() as launched, self._gate(data) as gate:
            last = await self._attempt(launched, gate, alone=True, bare=bare)
        return first, last, self._failure(first, last, overloaded=_overloaded(before, last)), gate

    @contextlib.asynccontextmanager
    async def session(
        self,
        document: str,
        *,
        width: int | None = None,
        height: int | None = None,
        driver: Automation = "playwright",
    ) -> AsyncIterator[Session]:
        """The document as a live page, loaded and settled. Raises ``PageHung``, then and later.

        ``width`` and ``height`` are the viewport's in CSS pixels, by default the picture's. ``driver`` is the
        automation library: Selenium drives a browser of the page's own. Raises ``Failed`` (``browser_crash``)
        when no browser can be started any more, ``UsageError`` where the driver is not installed.
        """
        errors = errors_of(driver)
        data = document.encode("utf-8", "replace")
        settings = replace(
            self.settings, width=width or self.settings.width, height=height or self.settings.height
        )
        async with self._sessions, AsyncExitStack() as stack:
            gate = await stack.enter_async_context(self._gate(data))
            opening: AbstractAsyncContextManager[Opened]
            if driver == "selenium":
                from opendesign.rendering.selenium_session import selenium_page

                opening = selenium_page(self._launcher, self._watchdog, gate, settings)
            else:
                try:
                    launched = await stack.enter_async_context(self._pool.shared())
                except UsageError as error:
                    raise failed("browser_crash", str(error)) from error
                opening = playwright_page(launched, self._watchdog, gate, settings)
            yield await stack.enter_async_context(live_page(opening, errors))

    async def _attempt(self, launched: Launched, gate: Gate, *, alone: bool, bare: bool) -> Attempt:
        return await attempt(
            launched, self._watchdog, gate, self.settings, self._workers, alone=alone, bare=bare
        )

    @contextlib.asynccontextmanager
    async def _gate(self, data: bytes) -> AsyncIterator[Gate]:
        gate = await self._network.gate(data)
        try:
            yield gate
        finally:
            await gate.close()

    def _failure(self, first: Attempt, last: Attempt, *, overloaded: bool) -> Failure | None:
        settings = self.settings
        if last.end is End.DONE:
            return None
        if last.end is End.CPU:
            detail = f"The page used {settings.cpu_s:g} s of processor time and had not come to rest."
            return Failure(reason="page_hung", detail=detail)
        if last.end is End.DEADLINE and overloaded and last.cpu_s < 0.25 * last.seconds:
            detail = f"The machine was too busy to render the page within {settings.deadline_s:g} s."
            return Failure(reason="deadline_under_load", detail=detail)
        if last.end is End.DEADLINE:
            detail = f"The page had not come to rest after {settings.deadline_s:g} s, twice."
            return Failure(reason="page_hung", detail=detail)
        if last.end is End.RESTLESS:
            return Failure(reason="page_hung", detail="The page loads itself again without end.")
        if last.end is End.MEMORY or last.peak_mb > 0.6 * settings.memory_mb:
            detail = f"The page used more than {settings.memory_mb} MB of memory."
            return Failure(reason="page_out_of_memory", detail=detail)
        return Failure(reason="browser_crash", detail=f"The browser failed twice on the page: {last.detail}.")

    def _rendering(
        self, last: Attempt, failure: Failure | None, requests: tuple[Request, ...], varies: Mapping[str, Any]
    ) -> Rendering:
        counts = dict(sorted(Counter(str(request.outcome) for request in requests).items()))
        resources = {one.url: one.digest for one in requests if one.digest is not None}
        shot = last.shot
        if shot is None:
            return Rendering(failure=failure, requests=counts, resources=resources, varies=varies)
        return Rendering(
            failure=failure or _unreached(requests),
            picture=shot.picture,
            thumbnail=shot.thumbnail,
            facts=shot.facts,
            width=shot.width,
            height=shot.height,
            true_height=shot.true_height,
            truncated=shot.truncated,
            requests=counts,
            resources=resources,
            varies=varies,
        )


def _unreached(requests: tuple[Request, ...]) -> Failure | None:
    """A script or style sheet that an allowed host could not be asked for."""
    for one in requests:
        if one.outcome == "failed" and one.kind in ("script", "style") and one.reason in _UNREACHED:
            detail = f"'{one.url[:200]}' could not be fetched ({one.reason}), so the page is not complete."
            return Failure(reason="cdn_unreachable", detail=detail)
    return None


def _machine() -> tuple[float, float]:
    """(busy, all) processor seconds of the machine since it started."""
    import psutil

    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    return sum(times) - idle, sum(times)


def _overloaded(before: tuple[float, float], last: Attempt) -> bool:
    """Whether the machine was busy with other things while the last try ran."""
    busy, total = (after - then for after, then in zip(_machine(), before, strict=True))
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return (total > 0 and (busy - last.cpu_s) / total > 0.8) or load > 2.0
