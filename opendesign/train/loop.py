"""An event loop in a thread of its own, so that one set of browsers serves whoever calls, from any loop."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import concurrent.futures.thread
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

from opendesign.errors import UsageError

__all__ = ["LoopThread"]


class _Closable(Protocol):
    async def close(self) -> None: ...


R = TypeVar("R", bound=_Closable)
T = TypeVar("T")
#: What is done on the loop, with what lives there.
Work = Callable[[R], Coroutine[Any, Any, T]]
_CLOSED = "The reward was closed while it was at work: call it again for the rest."
_PATIENCE_S = 30.0  # for what is under way to let go, when the thread is stopped


class LoopThread(Generic[R]):
    """Starts with the first call, in each process anew: a forked child has no thread of its parent's.

    ``make`` makes what the work is done with. It lives as long as the loop does and is closed on it when the
    thread is stopped, at the latest when Python ends; the next call makes both anew.
    """

    def __init__(self, name: str, make: Callable[[], R]) -> None:
        self._name, self._make = name, make
        self._lock = threading.Lock()  # never held for long: callers may be on a loop of their own
        self._life: _Life[R] | None = None

    def call(self, work: Work[R, T]) -> T:
        """The outcome of ``work``; whatever breaks the waiting off (Ctrl-C) ends the work, too."""
        future = self._submit(work)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise UsageError(_CLOSED) from None
        except BaseException:
            future.cancel()
            raise

    async def acall(self, work: Work[R, T]) -> T:
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
        """Cancel what is under way, close what it was done with, end the thread. A no-op where none runs."""
        with self._lock:
            life = self._life
            if life is not None:
                life.end()
        if life is not None:
            life.wait()

    def _submit(self, work: Work[R, T]) -> concurrent.futures.Future[T]:
        with self._lock:
            if self._life is None or not self._life.open:
                self._life = _Life(self._name, self._make(), after=self._life)
            return self._life.submit(work)


class _Life(Generic[R]):
    """One thread from its start to its end, with all that is its own: loop, work, what is closed last.

    It begins when the one before has ended: connections to models are the process's, and closed with a life.
    """

    def __init__(self, name: str, made: R, after: _Life[R] | None) -> None:
        self._made, self._process, self._ending = made, os.getpid(), False
        self._end = asyncio.Event()
        self._work: set[asyncio.Task[Any]] = set()
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._thread = threading.Thread(target=self._run, args=(after,), name=name, daemon=True)
        self._thread.start()
        _lives.add(self)

    @property
    def open(self) -> bool:
        return self._process == os.getpid() and not self._ending

    def submit(self, work: Work[R, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(self._known(work), self._loop)

    def end(self) -> None:
        """Take no more work, and let go of what is under way."""
        if self.open:
            self._ending = True
            self._loop.call_soon_threadsafe(self._end.set)

    def wait(self) -> None:
        """Wait until the thread has ended. A no-op in another process."""
        if self._process == os.getpid():
            self._thread.join(2 * _PATIENCE_S)

    async def _known(self, work: Work[R, T]) -> T:
        """The work, known to be under way."""
        task = asyncio.current_task()
        assert task is not None
        self._work.add(task)
        try:
            return await work(self._made)
        finally:
            self._work.discard(task)

    def _run(self, after: _Life[R] | None) -> None:
        if after is not None:
            after.wait()
        try:
            with self._runner:
                self._runner.run(self._live())
        finally:
            _lives.discard(self)

    async def _live(self) -> None:
        await self._end.wait()
        for task in self._work:
            task.cancel()
        if self._work:
            await asyncio.wait(self._work, timeout=_PATIENCE_S)
        await self._made.close()


_lives: set[_Life[Any]] = set()


def _stop_all() -> None:
    for life in list(_lives):
        life.end()
        life.wait()


# Closing a browser needs a thread pool, and Python takes those away before it comes to ``atexit``: what is
# registered here, after the pools' own end, is done before it.
getattr(threading, "_register_atexit", atexit.register)(_stop_all)
