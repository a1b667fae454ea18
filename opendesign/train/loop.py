"""An event loop in a thread of its own, so that one set of browsers serves whoever calls, from any loop."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import concurrent.futures.thread
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar
from weakref import WeakSet

from opendesign.errors import UsageError

__all__ = ["LoopThread"]

T = TypeVar("T")
_CLOSED = "The reward was closed while it was at work: call it again for the rest."
_PATIENCE_S = 30.0  # for what is under way to let go, when the thread is stopped


class LoopThread:
    """Starts with the first call, in each process anew: a forked child has no thread of its parent's.

    ``last`` is done on the loop when it is stopped, at the latest when Python ends.
    """

    def __init__(self, name: str, last: Callable[[], Awaitable[None]]) -> None:
        self._name, self._last = name, last
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._end: asyncio.Future[None]
        self._process = 0
        self._work: set[asyncio.Task[Any]] = set()

    @property
    def running(self) -> bool:
        return self._loop is not None and self._process == os.getpid()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of ``work``; whatever breaks the waiting off (Ctrl-C) ends the work, too."""
        future = self._submit(work)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise UsageError(_CLOSED) from None
        except BaseException:
            future.cancel()
            raise

    async def acall(self, work: Coroutine[Any, Any, T]) -> T:
        """The same from any other loop; who is cancelled while waiting cancels the work."""
        future = self._submit(work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise UsageError(_CLOSED) from None

    def stop(self) -> None:
        """Cancel what is under way, do ``last``, end the thread. A no-op where none runs."""
        with self._lock:
            loop, thread, running = self._loop, self._thread, self.running
            self._loop = self._thread = None
        _running.discard(self)
        if loop is not None and thread is not None and running:
            loop.call_soon_threadsafe(self._end.set_result, None)
            thread.join(2 * _PATIENCE_S)

    def _submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        with self._lock:
            if not self.running:
                self._start()
            assert self._loop is not None
            return asyncio.run_coroutine_threadsafe(self._known(work), self._loop)

    async def _known(self, work: Coroutine[Any, Any, T]) -> T:
        """``work``, known to be under way."""
        task = asyncio.current_task()
        assert task is not None
        self._work.add(task)
        try:
            return await work
        finally:
            self._work.discard(task)

    def _start(self) -> None:
        started = threading.Event()

        async def live() -> None:
            self._loop, self._work = asyncio.get_running_loop(), set()
            self._end = self._loop.create_future()
            started.set()
            await self._end
            for task in self._work:
                task.cancel()
            if self._work:
                await asyncio.wait(self._work, timeout=_PATIENCE_S)
            await self._last()

        self._process = os.getpid()
        self._thread = threading.Thread(target=asyncio.run, args=(live(),), name=self._name, daemon=True)
        self._thread.start()
        _running.add(self)
        started.wait()


_running: WeakSet[LoopThread] = WeakSet()


def _stop_all() -> None:
    for thread in list(_running):
        thread.stop()


# Closing a browser needs a thread pool, and Python takes those away before it comes to ``atexit``: what is
# registered here, after the pools' own end, is done before it.
getattr(threading, "_register_atexit", atexit.register)(_stop_all)
