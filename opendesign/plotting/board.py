"""A page with plotly's script in it, on which one figure after another is drawn.

Reading that script takes ten times as long as drawing with it. Figures are data and run no code of their own,
so they may share a page; one that could leave something behind there, or that does not come to its end, is
drawn on a page of its own instead, where the renderer finds out whose fault it is.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from opendesign.errors import OpenDesignError
from opendesign.plotting.plotly_page import PlotlyFigure, document

if TYPE_CHECKING:
    from opendesign.rendering import Renderer, Session

__all__ = ["Board"]

_DRAW_S = 20.0
_FIGURES = 40  # drawn on one page, then it is replaced: canvases are given back late
#: Names by which data could reach what all objects of a page share.
_SHARED = ("__proto__", "prototype", "constructor")


class Board:
    """Draws a figure at a time, on the browser of ``renderer``."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._turn = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._session: Session | None = None
        self._drawn = 0

    async def picture(self, figure: PlotlyFigure) -> bytes | None:
        """PNG of the page's upper left corner, the figure in it; None where it needs a page of its own."""
        if any(name in figure.script for name in _SHARED):
            return None
        from playwright.async_api import Error

        async with self._turn:
            try:
                return await self._draw(figure)
            except (OpenDesignError, Error):
                await self._close()
                return None

    async def _draw(self, figure: PlotlyFigure) -> bytes | None:
        if self._session is None or self._drawn >= _FIGURES:
            await self._close()
            opening = self._renderer.session(document())
            self._session, self._drawn = await self._stack.enter_async_context(opening), 0
        session, settings = self._session, self._renderer.settings
        self._drawn += 1
        room = (settings.width, settings.max_height)
        script = f"draw({figure.arguments(*room)}).then(() => 0)"
        call = session.cdp.send("Runtime.evaluate", {"expression": script, "awaitPromise": True})
        if "exceptionDetails" in await session.call(call, _DRAW_S):
            return None
        width, height = figure.shown(*room)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": settings.scale}
        taking = {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": True, "clip": clip}
        answer = await session.call(session.cdp.send("Page.captureScreenshot", taking), _DRAW_S)
        return base64.b64decode(answer["data"])

    async def close(self) -> None:
        """Give the page back."""
        async with self._turn:
            await self._close()

    async def _close(self) -> None:
        from playwright.async_api import Error

        self._session = None
        with contextlib.suppress(OpenDesignError, Error):  # it hung, which is why it is closed
            await self._stack.aclose()
        self._stack = AsyncExitStack()
