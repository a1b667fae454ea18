"""A renderer that starts its browser when the first page needs it, so that a finished run starts none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opendesign.rendering import Renderer


class LazyRenderer:
    """An async context manager around ``make``; ``get`` starts the renderer once."""

    def __init__(self, make: Callable[[], Renderer], check: Callable[[Renderer], None] | None = None) -> None:
        self._make = make
        self._check = check
        self._stack = AsyncExitStack()
        self._starting = asyncio.Lock()
        self._renderer: Renderer | None = None

    async def get(self) -> Renderer:
        """The renderer, started. ``check`` may refuse it, e.g. because it differs from the run's."""
        async with self._starting:
            if self._renderer is None:
                renderer = await self._stack.enter_async_context(self._make())
                if self._check is not None:
                    self._check(renderer)
                self._renderer = renderer
            return self._renderer

    async def __aenter__(self) -> LazyRenderer:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()
