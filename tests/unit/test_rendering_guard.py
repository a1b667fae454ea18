"""The task that watches over a live page ends when it is told to, whatever it is waiting for."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from opendesign.rendering import session
from opendesign.rendering.page import OpenPage


class Page:
    """Answers at the very moment at which the guard is cancelled."""

    guard: asyncio.Task[None]
    crashed = asyncio.Event()

    @property
    def cdp(self) -> Page:
        return self

    async def send(self, *_: Any) -> dict[str, Any]:
        asyncio.get_running_loop().call_soon(self.guard.cancel)
        return {}

    async def answers(self, patience_s: float) -> bool:
        return await OpenPage.answers(cast(OpenPage, self), patience_s)


async def test_the_guard_ends_though_an_answer_comes_as_it_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "LOOK_EVERY_S", 0.0)
    page: Any = Page()
    watched = session.Session(page, ())
    page.guard = asyncio.create_task(session._keep_watch(watched, page))
    for _ in range(50):
        await asyncio.sleep(0)
        page.send = Quiet().send if page.guard.cancelling() else page.send
    assert page.guard.done()


class Quiet:
    async def send(self, *_: Any) -> dict[str, Any]:
        return {}
