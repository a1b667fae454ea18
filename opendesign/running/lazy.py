"""A browser or a sandbox that starts when the first case needs it, so that a finished run starts none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """An async context manager around ``make``; ``get`` starts what it makes once."""

    def __init__(
        self, make: Callable[[], AbstractAsyncContextManager[T]], check: Callable[[T], None] | None = None
    ) -> None:
        self._make = make
        self._check = check
        self._stack = AsyncExitStack()
        self._starting = asyncio.Lock()
        self._started: T | None = None

    async def get(self) -> T:
        """What was made, started. ``check`` may refuse it, e.g. because it differs from the run's."""
        async with self._starting:
            if self._started is None:
                started = await self._stack.enter_async_context(self._make())
                if self._check is not None:
                    self._check(started)
                self._started = started
            return self._started

    async def __aenter__(self) -> Lazy[T]:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()
