"""Browsers for many pages: one is filled at a time, then drained and replaced; one alone for a suspect."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opendesign.rendering.launch import Launched, Launcher
    from opendesign.rendering.watchdog import Watchdog

__all__ = ["Pool", "default_pages_at_once"]

PAGES_PER_BROWSER = 150
#: A browser whose own processes have grown by this much since its first pages is replaced early.
GROWN_MB = 400.0


def default_pages_at_once() -> int:
    """One more than the processors we may use: a page that waits for the network leaves room for another."""
    try:
        cores: float = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    with contextlib.suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        cores = min(cores, int(quota) / int(period))  # "max" is no number: no limit
    return max(2, min(16, round(cores) + 1))


@dataclass(slots=True, eq=False)
class _Host:
    launched: Launched
    served: int = 0
    open: int = 0
    retired: bool = False
    first_mb: float = 0.0


class Pool:
    """Hands out browsers. Pages of one browser are in contexts of their own and see nothing of each other."""

    def __init__(
        self,
        launcher: Launcher,
        watchdog: Watchdog,
        *,
        pages_per_browser: int = PAGES_PER_BROWSER,
        alone_at_once: int = 2,
    ) -> None:
        self._launcher, self._watchdog = launcher, watchdog
        self._pages_per_browser = pages_per_browser
        self._current: _Host | None = None
        self._hosts: set[_Host] = set()
        self._lock = asyncio.Lock()
        self._alone = asyncio.Semaphore(alone_at_once)
        self.recycled = 0

    @contextlib.asynccontextmanager
    async def shared(self) -> AsyncIterator[Launched]:
        """A browser that other pages are in as well."""
        host = await self._host()
        try:
            yield host.launched
        finally:
            host.open -= 1
            if not host.launched.browser.is_connected():
                self._retire(host)
            if host.retired and host.open == 0:
                await self._end(host)

    @contextlib.asynccontextmanager
    async def alone(self) -> AsyncIterator[Launched]:
        """A browser of one's own: its processor time and memory are this page's."""
        async with self._alone:
            host = await self._launch()
            try:
                yield host.launched
            finally:
                await self._end(host)

    async def close(self) -> None:
        """End every browser."""
        await asyncio.gather(*(self._end(host) for host in list(self._hosts)))

    async def _host(self) -> _Host:
        async with self._lock:
            host = self._current
            if host and (not host.launched.browser.is_connected() or self._is_worn(host)):
                self._retire(host)
                self.recycled += 1
                if host.open == 0:
                    await self._end(host)
                host = None
            if host is None:
                host = self._current = await self._launch()
            host.served += 1
            host.open += 1
            if host.served == 20:
                host.first_mb = host.launched.tree.shared_mb
            return host

    def _is_worn(self, host: _Host) -> bool:
        if host.served >= self._pages_per_browser:
            return True
        return bool(host.first_mb) and host.launched.tree.shared_mb > host.first_mb + GROWN_MB

    def _retire(self, host: _Host) -> None:
        host.retired = True
        if self._current is host:
            self._current = None

    async def _launch(self) -> _Host:
        host = _Host(await self._launcher.launch())
        self._hosts.add(host)
        self._watchdog.watch(host.launched.tree)
        return host

    async def _end(self, host: _Host) -> None:
        if host in self._hosts:
            self._hosts.discard(host)
            await host.launched.close()
            self._watchdog.forget(host.launched.tree)
