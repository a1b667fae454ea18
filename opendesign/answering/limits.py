"""How fast a model may be asked: requests and tokens a minute, and calls at a time.

One limiter a model, shared by all calls of this process, whoever makes them. A bucket is never above its
limit in any minute: what it can give at once and what flows in within a minute are together the limit.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary, WeakValueDictionary

__all__ = ["Bucket", "Limiter", "Slot", "limiter_for"]

_EXPECTED_TOKENS = 4_000.0  # of a reply, until some have been seen


class Bucket:
    """A token bucket of ``per_minute`` units. Not for itself safe between threads: the limiter locks."""

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        self.burst = max(1.0, per_minute // 10)
        self.rate = (per_minute - self.burst if self.burst > 1 else per_minute) / 60
        self._clock = clock
        self._level, self._at = self.burst, clock()

    def take(self, amount: float) -> float:
        """Take ``amount``; seconds until it may be used. First come, first served.

        More than the bucket holds waits for a full one and leaves a debt, else it would wait for ever.
        """
        self._flow()
        wait = max(0.0, min(amount, self.burst) - self._level) / self.rate
        self._level -= amount
        return wait

    def give_back(self, amount: float) -> None:
        """Return what was taken and not used; a negative amount takes what was used beyond."""
        self._flow()
        self._level = min(self.burst, self._level + amount)

    def _flow(self) -> None:
        now = self._clock()
        self._level = min(self.burst, self._level + (now - self._at) * self.rate)
        self._at = now


class Slot:
    """One call under way. Say what it used, so that the bucket of tokens is right."""

    def __init__(self) -> None:
        self.used: int | None = None


class Limiter:
    """Requests a minute, tokens a minute and calls at a time of one model; None is without limit."""

    def __init__(
        self,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        concurrency: int = 16,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None
        self._concurrency = concurrency
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )
        self._paused_until = 0.0
        self._expected = _EXPECTED_TOKENS

    @asynccontextmanager
    async def slot(
        self,
        prompt_tokens: int = 0,
        max_tokens: int | None = None,
        *,
        check: Callable[[], None] = lambda: None,
    ) -> AsyncIterator[Slot]:
        """Wait for a turn; hold a place among the calls at a time until the end of the block.

        ``check`` raises where the call has become pointless: it is asked before any waiting by the clock, so
        that calls which will not be made do not queue for it, and once more when the turn has come.
        """
        async with self._semaphore():
            check()
            with self._lock:
                expected = prompt_tokens + min(self._expected, max_tokens or self._expected)
                waits = [
                    self._requests.take(1) if self._requests else 0.0,
                    self._tokens.take(expected) if self._tokens else 0.0,
                ]
            slot = Slot()
            try:
                await self._wait(max(waits))
                check()
            except BaseException:
                with self._lock:
                    if self._requests:
                        self._requests.give_back(1)
                    if self._tokens:
                        self._tokens.give_back(expected)
                raise
            try:
                yield slot
            finally:
                self._settle(slot, expected, prompt_tokens)

    def pause(self, seconds: float) -> None:
        """Let no call of this model start for so long: a provider has asked for it."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    async def _wait(self, seconds: float) -> None:
        until = self._clock() + seconds
        while (left := max(until, self._paused_until) - self._clock()) > 0:
            await self._sleep(left)

    def _settle(self, slot: Slot, expected: float, prompt_tokens: int) -> None:
        if slot.used is None:
            return
        with self._lock:
            if self._tokens:
                self._tokens.give_back(expected - slot.used)
            if slot.used:  # a call that failed says nothing of how long replies are
                self._expected = 0.8 * self._expected + 0.2 * max(0, slot.used - prompt_tokens)

    def _semaphore(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        with self._lock:
            return self._semaphores.setdefault(loop, asyncio.Semaphore(self._concurrency))


_limiters: WeakValueDictionary[tuple[object, ...], Limiter] = WeakValueDictionary()
_limiters_lock = threading.Lock()


def limiter_for(
    key: str, *, requests_per_minute: float | None, tokens_per_minute: float | None, concurrency: int
) -> Limiter:
    """The limiter of a model: the same object for the same key and limits, as long as anybody holds it."""
    with _limiters_lock:
        full = (key, requests_per_minute, tokens_per_minute, concurrency)
        limiter = _limiters.get(full)
        if limiter is None:
            limiter = Limiter(
                requests_per_minute=requests_per_minute,
                tokens_per_minute=tokens_per_minute,
                concurrency=concurrency,
            )
            _limiters[full] = limiter
        return limiter
