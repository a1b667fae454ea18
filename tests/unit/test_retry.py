"""The retry loop, on a clock of its own."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from opendesign.answering.retry import RetryPolicy, Transient, retry_after_s, with_retries
from opendesign.errors import Failed, failed
from opendesign.types import Failure

BUSY = Failure(reason="rate_limited", detail="busy.")


class Clock:
    def __init__(self) -> None:
        self.now, self.waits = 0.0, list[float]()

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def __call__(self) -> float:
        return self.now


async def failing(clock: Clock, policy: RetryPolicy, times: int, wait_s: float | None = None) -> int:
    async def call(attempt: int) -> int:
        if attempt <= times:
            raise Transient(BUSY, wait_s)
        return attempt

    return await with_retries(call, policy, policy.rng("case"), sleep=clock.sleep, clock=clock)


async def test_tries_until_one_succeeds() -> None:
    clock = Clock()
    assert await failing(clock, RetryPolicy(attempts=5), 3) == 4
    assert len(clock.waits) == 3


async def test_waits_are_jittered_bounded_and_the_same_for_a_seed() -> None:
    policy = RetryPolicy(attempts=40, first_s=1, longest_s=10, total_s=1e9)
    first, again, other = Clock(), Clock(), Clock()
    await failing(first, policy, 39)
    await failing(again, policy, 39)
    await failing(other, RetryPolicy(attempts=40, first_s=1, longest_s=10, total_s=1e9, seed=1), 39)
    assert first.waits == again.waits != other.waits
    for number, wait in enumerate(first.waits):
        assert 0 <= wait <= min(10, 2**number)
    late = first.waits[10:]
    assert min(late) < 3, "full jitter spreads over the whole range"
    assert max(late) > 7


async def test_gives_up_after_its_attempts_with_the_last_failure() -> None:
    clock = Clock()
    with pytest.raises(Failed) as error:
        await failing(clock, RetryPolicy(attempts=3), 99)
    assert error.value.failure == Failure(reason="rate_limited", detail="busy (3 tries).")
    assert len(clock.waits) == 2, "there is no wait after the last try"


async def test_retry_after_is_a_lower_bound() -> None:
    clock = Clock()
    await failing(clock, RetryPolicy(first_s=0.5), 2, wait_s=20)
    assert all(20 <= wait <= 21 for wait in clock.waits)


async def test_time_is_capped_and_a_wait_beyond_it_is_not_begun() -> None:
    clock = Clock()
    with pytest.raises(Failed, match="1 try"):
        await failing(clock, RetryPolicy(total_s=60), 2, wait_s=3_600)
    assert clock.waits == []
    with pytest.raises(Failed):
        await failing(clock, RetryPolicy(attempts=1_000, total_s=60), 999, wait_s=7)
    assert clock.now <= 60


async def test_anything_else_is_not_retried() -> None:
    tries = []

    async def call(attempt: int) -> None:
        tries.append(attempt)
        raise failed("provider_error", "no such model")

    with pytest.raises(Failed, match="no such model"):
        await with_retries(call, RetryPolicy(), RetryPolicy().rng())
    assert tries == [1]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3),
        ({"retry-after": "2.5"}, 2.5),
        ({"Retry-After-Ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": formatdate(1_000_030, usegmt=True)}, 30),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 99 Nov 2026 99:00:00 GMT"}, None),
        ({"retry-after-ms": "x", "retry-after": "4"}, 4),
        ({}, None),
    ],
)
def test_retry_after_in_all_its_spellings(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, now=1_000_000) == seconds
