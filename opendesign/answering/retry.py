"""The one retry loop: exponential backoff with full jitter, Retry-After honoured, attempts and time capped.

Backoff: the wait before try n + 1 is uniform on [0, min(longest, first · 2^n)] ("full jitter"). A Retry-After
is a lower bound for the wait; the jitter comes on top, so that waiting calls do not all come back at once.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

from opendesign.errors import Failed
from opendesign.types import Failure

__all__ = ["RetryPolicy", "Transient", "retry_after_s", "with_retries"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long to try. Times are seconds."""

    attempts: int = 6
    first_s: float = 1.0
    longest_s: float = 60.0
    total_s: float = 1_800.0  # no try starts later than this after the first
    seed: int = 0

    def rng(self, *key: object) -> random.Random:
        """The jitter of one call: equal for equal keys, so that a run can be repeated."""
        return random.Random(":".join(map(str, (self.seed, *key))))


class Transient(Exception):
    """A try failed in a way that another may not. ``wait_s`` is what the provider asked for, if it did."""

    def __init__(self, failure: Failure, wait_s: float | None = None) -> None:
        super().__init__(failure.detail)
        self.failure, self.wait_s = failure, wait_s


async def with_retries(
    call: Callable[[int], Awaitable[T]],
    policy: RetryPolicy,
    rng: random.Random,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> T:
    """The value of the first try that gives one; ``call`` is handed the number of the try, from 1.

    ``Transient`` is tried again; anything else passes through. Raises ``Failed`` with the last failure when
    the tries or the time are used up, at once where the wait asked for would not fit into the time left.
    """
    start = clock()
    attempt = 1
    while True:
        try:
            return await call(attempt)
        except Transient as fault:
            wait = rng.uniform(0, min(policy.longest_s, policy.first_s * 2.0 ** min(attempt - 1, 60)))
            wait += fault.wait_s or 0.0
            if attempt >= policy.attempts or clock() - start + wait > policy.total_s:
                raise Failed(_after(fault.failure, attempt)) from fault
            await sleep(wait)
            attempt += 1


def _after(failure: Failure, attempts: int) -> Failure:
    tries = "1 try" if attempts == 1 else f"{attempts} tries"
    return Failure(reason=failure.reason, detail=f"{failure.detail.rstrip('.')} ({tries}).")


def retry_after_s(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """Seconds to wait by ``retry-after-ms`` or ``Retry-After`` (seconds or an HTTP date), RFC 9110 10.2.3.

    ``now`` is a Unix time. None where neither is there or can be read; never negative.
    """
    lower = {key.lower(): value for key, value in headers.items()}
    milliseconds = _number(lower.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1_000
    value = lower.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        date = parsedate_to_datetime(value.strip())
        return max(0.0, date.timestamp() - (time.time() if now is None else now))
    except (ValueError, OverflowError):
        return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None
