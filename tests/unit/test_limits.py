"""Limits of a model, on a clock of their own."""

from __future__ import annotations

import asyncio
import gc
import heapq

import pytest

from opendesign.answering.limits import Limiter, limiter_for


class Clock:
    """Time that passes only when everybody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, id(wake), wake))
        await wake

    async def run(self, *tasks: asyncio.Task[None]) -> None:
        while not all(task.done() for task in tasks):
            for _ in range(50):
                await asyncio.sleep(0)
            if self._sleepers:
                self.now, _, wake = heapq.heappop(self._sleepers)
                if not wake.done():
                    wake.set_result(None)
        await asyncio.gather(*tasks)


async def starts(
    limiter: Limiter, clock: Clock, calls: int, takes_s: float = 0.0, used: int | None = None
) -> list[float]:
    """When each of many calls started, all asked for at once."""
    times: list[float] = []

    async def call() -> None:
        async with limiter.slot(prompt_tokens=100, max_tokens=900) as slot:
            times.append(clock.now)
            if takes_s:
                await clock.sleep(takes_s)
            slot.used = used

    await clock.run(*(asyncio.create_task(call()) for _ in range(calls)))
    return sorted(times)


@pytest.mark.parametrize("per_minute", [1, 7, 30, 60, 200])
async def test_no_minute_has_more_requests_than_allowed(per_minute: int) -> None:
    clock = Clock()
    limiter = Limiter(requests_per_minute=per_minute, concurrency=10_000, clock=clock, sleep=clock.sleep)
    times = await starts(limiter, clock, 3 * per_minute + 2)
    for first in times:
        assert sum(first <= other < first + 60 - 1e-6 for other in times) <= per_minute
    # And no less than it has to be: three minutes' worth takes about three minutes.
    assert times[-1] - times[0] < 60 * (3 * per_minute + 2) / per_minute * 1.15


async def test_tokens_are_counted_and_what_was_not_used_is_given_back() -> None:
    clock = Clock()
    limiter = Limiter(tokens_per_minute=10_000, concurrency=99, clock=clock, sleep=clock.sleep)
    times = await starts(limiter, clock, 21, used=1_000)
    assert times[-1] - times[0] >= 60, "21,000 tokens at 10,000 a minute"
    clock = Clock()
    limiter = Limiter(tokens_per_minute=10_000, concurrency=1, clock=clock, sleep=clock.sleep)
    times = await starts(limiter, clock, 21, used=100)
    assert times[-1] - times[0] < 30, "2,100 tokens, though 21,000 were set aside"


async def test_a_request_larger_than_the_bucket_waits_and_is_not_stuck() -> None:
    clock = Clock()
    limiter = Limiter(tokens_per_minute=60, concurrency=9, clock=clock, sleep=clock.sleep)
    times = await starts(limiter, clock, 2, used=1_000)
    assert times[1] - times[0] >= 900, "the debt of the first is worked off"


async def test_calls_at_a_time() -> None:
    clock = Clock()
    limiter = Limiter(concurrency=3, clock=clock, sleep=clock.sleep)
    times = await starts(limiter, clock, 9, takes_s=10)
    assert times == [1_000] * 3 + [1_010] * 3 + [1_020] * 3


async def test_a_pause_holds_the_whole_model() -> None:
    clock = Clock()
    limiter = Limiter(requests_per_minute=6_000, clock=clock, sleep=clock.sleep)
    limiter.pause(30)
    limiter.pause(5)
    assert min(await starts(limiter, clock, 4)) >= 1_030


async def test_a_call_that_is_given_up_takes_nothing() -> None:
    clock = Clock()
    limiter = Limiter(requests_per_minute=1, concurrency=99, clock=clock, sleep=clock.sleep)
    await starts(limiter, clock, 1)

    async def call() -> None:
        async with limiter.slot():
            pass

    waiting = [asyncio.create_task(call()) for _ in range(50)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert (await starts(limiter, clock, 1))[0] - 1_000 <= 60 + 1e-6


def test_one_limiter_a_model_in_a_process() -> None:
    limits = {"requests_per_minute": 60.0, "tokens_per_minute": None, "concurrency": 4}
    first = limiter_for("a", **limits)  # type: ignore[arg-type]
    assert limiter_for("a", **limits) is first  # type: ignore[arg-type]
    assert limiter_for("b", **limits) is not first  # type: ignore[arg-type]
    gone = id(first)
    del first
    gc.collect()
    assert gone  # the registry keeps no limiter that nobody holds
    from opendesign.answering import limits as module

    assert ("a", 60.0, None, 4) not in module._limiters


def test_one_limiter_in_two_event_loops() -> None:
    limiter = Limiter(concurrency=1)

    async def use() -> None:
        async with limiter.slot():
            await asyncio.sleep(0.01)

    async def both() -> None:
        await asyncio.gather(use(), use())

    asyncio.run(both())
    asyncio.run(both())
