"""The Python side of the change measurement: loads the page with our clock and asks it for changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from opendesign.errors import Failed, OpenDesignError, failed
from opendesign.judging.change.decide import Change

if TYPE_CHECKING:
    from playwright.async_api import Page

T = TypeVar("T")
SLOWEST_MS = 1000  # a timer of the page that turns more slowly is not waited for


class Unanswered(Exception):
    """The page did not answer in time, or is gone: a hang, a crash, a closed page."""


class PageLeft(Exception):
    """The page went to another document in the middle of a step."""


@cache
def script(name: str) -> str:
    """Text of a script of this folder."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How an input is given. ``muted``: no script hears it. ``timed``: the page runs on meanwhile.

    ``again``: it was given before and only brings the page back to where it stood; nothing is measured.
    """

    muted: bool = False
    timed: bool = False
    again: bool = False


class Observer:
    """One page under observation.

    ``caused_ms`` is how long what an input started may run on, ``own_ms`` how long a moving page is watched
    (both page time, not ours); ``answer_s`` is the wall time for one answer. Every method may raise
    ``Unanswered`` or ``PageLeft``.
    """

    def __init__(
        self,
        page: Page,
        *,
        scripts: Sequence[str] = (),
        answer_s: float = 5.0,
        caused_ms: int = 1200,
        own_ms: int = 300,
    ) -> None:
        self.page = page
        self.motion: Mapping[str, float] = {"frames": 0, "period": 0}
        self.hovering = False  # whether the pointer was left on something that reacts to it
        self._source = "\n".join((script("clock.js"), script("snapshot.js"), *scripts))
        self._url = page.url.partition("#")[0]
        self._answer_s, self._caused_ms, self._own_ms = answer_s, caused_ms, own_ms
        self._installed = False

    @property
    def moves_fast(self) -> bool:
        """Whether the page has a loop of its own that could pick up an input later."""
        return self.motion["frames"] > 0 or 0 < self.motion["period"] <= SLOWEST_MS

    @property
    def window_ms(self) -> int:
        """How long the page must run for its own loops to have turned once."""
        period = self.motion["period"]
        return max(self._own_ms, int(period) + 60 if 0 < period <= SLOWEST_MS else 0)

    @property
    def moves(self) -> bool:
        """Whether anything at all goes on without input."""
        return self.motion["frames"] > 0 or self.motion["period"] > 0

    async def fresh(self) -> None:
        """Load the page anew and bring it to where it waits for a person."""
        if not self._installed:
            await self.answer(self.page.add_init_script(self._source))
            self._installed = True
        await self.answer(self.page.mouse.move(0, 0))
        self.hovering = False
        await self.answer(self.page.goto(self._url, wait_until="load", timeout=self._answer_s * 2000), 2.0)
        await self.answer(self.page.evaluate("() => window.__probe.start()"))

    async def ask(self, name: str, *arguments: Any) -> Any:
        """Call a function of the scripts."""
        call = f"window.__probe.call({json.dumps(name)}, {json.dumps(arguments)})"
        told: str | None = await self.answer(self.page.evaluate(call))
        return None if told is None else json.loads(told)

    async def begin(self, key: str | None, how: Manner) -> None:
        """From here on, input is what we measure; ``key`` is the operated element."""
        await self.ask("begin", {"key": key, "muted": how.muted, "timed": how.timed, "again": how.again})

    async def finish(self, *, own_ms: int = 0) -> list[Change]:
        """What changed since ``begin``; with ``own_ms`` all of the page runs on, else what that caused."""
        found = await self.ask("finish", self._caused_ms, own_ms)
        self.motion = found["motion"]
        return [Change.read(value) for value in found["changes"]]

    async def run(self, ms: int) -> None:
        """Let the whole page run for ``ms`` of its own time; no picture of it is taken in between."""
        await self.ask("advance", ms, None, True)

    async def answer(self, awaitable: Awaitable[T], patience: float = 1.0) -> T:
        """The result, or ``Unanswered`` after ``patience`` times the deadline or when the page is gone."""
        from playwright.async_api import Error

        task = asyncio.ensure_future(awaitable)
        done, _ = await asyncio.wait({task}, timeout=self._answer_s * patience)
        if not done:
            task.add_done_callback(_forget)
            task.cancel()
            raise Unanswered("the page did not answer")
        try:
            return task.result()
        except Failed:
            raise
        except OpenDesignError as error:  # rendering's PageHung: its watchdog has ended the page
            raise Unanswered(str(error)) from error
        except Error as error:
            text = error.message.splitlines()[0] if error.message else "no message"
            if "context was destroyed" in text or "because of a navigation" in text:
                raise PageLeft(text) from error
            if "net::ERR_" in text:
                raise failed("network", f"The stored page could not be loaded again: {text}.") from error
            raise Unanswered(text) from error


def _forget(task: asyncio.Future[Any]) -> None:
    """A call to a page that hangs ends when the page does; nobody waits for it any more."""
    if not task.cancelled():
        task.exception()
