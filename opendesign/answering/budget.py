"""A budget in USD: the worst case of a call is set aside before it is made, and settled after.

The sum of what is spent and what is set aside never passes the limit, however many calls run at once.
"""

from __future__ import annotations

import asyncio
import threading

from opendesign.errors import UsageError, failed

__all__ = ["Budget", "Reservation"]


class Reservation:
    """Money set aside for one call. Settle it exactly once; later calls change nothing."""

    def __init__(self, budget: Budget, usd: float) -> None:
        self._budget, self.usd, self._open = budget, usd, True

    def settle(self, spent_usd: float) -> None:
        """Say what the call has cost; the rest is free again."""
        if self._open:
            self._open = False
            self._budget._settle(self.usd, spent_usd)


class Budget:
    """What a run may spend on all its models. ``spent_usd`` starts at what earlier sittings have spent."""

    def __init__(self, limit_usd: float, *, spent_usd: float = 0.0) -> None:
        if not limit_usd > 0:
            raise UsageError(f"A budget is an amount in USD above 0, not {limit_usd}.")
        self.limit_usd = limit_usd
        self._spent, self._reserved = spent_usd, 0.0
        self._lock = threading.Lock()
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def spent_usd(self) -> float:
        return self._spent

    @property
    def reserved_usd(self) -> float:
        return self._reserved

    def carry_over(self, usd: float) -> None:
        """Count what earlier sittings of the same run have spent."""
        with self._lock:
            self._spent += usd

    async def reserve(self, usd: float) -> Reservation:
        """Set ``usd`` aside, waiting while calls under way may still free enough of it.

        Raises ``Failed`` (``budget_exhausted``) where what is spent already leaves too little.
        """
        while True:
            with self._lock:
                self.check(usd)
                if self._spent + self._reserved + usd <= self.limit_usd:
                    self._reserved += usd
                    return Reservation(self, usd)
                change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.append(change)
            await change

    def check(self, usd: float) -> None:
        """Raise ``Failed`` (``budget_exhausted``) where no waiting can make room for a call of ``usd``."""
        if self._spent + usd > self.limit_usd:
            raise failed(
                "budget_exhausted",
                f"The next call may cost {usd:.4f} USD and {self._spent:.4f} of the budget of "
                f"{self.limit_usd:.2f} USD are spent: resume with a larger --budget.",
            )

    def _settle(self, reserved: float, spent: float) -> None:
        with self._lock:
            self._reserved = max(0.0, self._reserved - reserved)
            self._spent += spent
            waiting, self._waiting = self._waiting, []
        for change in waiting:
            loop = change.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, change)


def _wake(change: asyncio.Future[None]) -> None:
    if not change.done():
        change.set_result(None)
