"""The task that watches over a live page ends when it is told to, whatever it is waiting for."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from opendesign.rendering import session
from opendesign.rendering.page import OpenPage


class Page:
    """Answers at the very moment at which the guard is cancelled."""

    def __init__(self) -> None:
        self.crashed = asyncio.Event()
        self.cdp = self
        self.gone = False
        self.guard: asyncio.Task[None]

    async def send(self, *_: Any) -> dict[str, Any]:
        if self.gone:
            raise RuntimeError("the page is gone")
        asyncio.get_running_loop().call_soon(self.guard.cancel)
        return {}

    async def answers(self, patience_s: float) -> bool:
        return await OpenPage.answers(cast(OpenPage, self), patience_s)


async def test_the_guard_ends_though_an_answer_comes_as_it_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "LOOK_EVERY_S", 0.0)
    page = Page()
    page.guard = asyncio.create_task(
        session._keep_watch(session.Session(cast(Any, page), ()), cast(Any, page))
    )
    for _ in range(50):
        await asyncio.sleep(0)
    ended = page.guard.done()
    page.gone = True
    await asyncio.gather(page.guard, return_exceptions=True)
    assert ended
