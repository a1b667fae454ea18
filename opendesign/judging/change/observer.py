"""The Python side of the change measurement: loads the page with our clock and asks it for changes."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from opendesign.errors import Failed, OpenDesignError, failed
from opendesign.judging.change.answers import PageLeft, Rubbish, Unanswered, listed, number, table
from opendesign.judging.change.decide import Change, Drift
from opendesign.rendering.driver import ScriptFailed, World

if TYPE_CHECKING:
    from opendesign.rendering.driver import Driver

T = TypeVar("T")
_LIBRARIES = ("playwright", "selenium", "urllib3")  # whose errors are the page's doing, or the browser's end
_LEFT = ("context was destroyed", "because of a navigation", "Cannot find context", "navigated or closed")
MOST_CHANGES = 2000
LONGEST_ANSWER = 4_000_000  # characters
SLOWEST_MS = 1000  # a timer of the page that turns more slowly is not waited for


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
        driver: Driver,
        *,
        scripts: Sequence[str] = (),
        answer_s: float = 5.0,
        caused_ms: int = 1200,
        own_ms: int = 300,
    ) -> None:
        self.driver = driver
        self.motion: Mapping[str, float] = {"frames": 0, "period": 0}
        self.hovering = False  # whether the pointer was left on something that reacts to it
        self.keys: Sequence[str] = ()  # of what is operated: it keeps them on the loads to come
        secret = secrets.token_hex(16)  # what the two worlds of a frame greet each other by, once
        apart = (script("dom.js"), script("time.js"), script("snapshot.js"), script("inert.js"), *scripts)
        sources: dict[World, str] = {
            "apart": "\n".join(apart),
            "page": script("clock.js"),
        }  # apart first: it hears the greeting
        self._scripts = [(text.replace("{{secret}}", secret), world) for world, text in sources.items()]
        self._answer_s, self._caused_ms, self._own_ms = answer_s, caused_ms, own_ms
        self._installed = False
        self._drift, self._watched = Drift(), False
        self._touch = Drift(touched=True)

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
        """Load the page anew and bring it to where it waits for a person; the first time, ``watch`` it."""
        if not self._installed:
            for source, world in self._scripts:
                await self.answer(self.driver.add_script(source, world))
            self._installed = True
        else:
            await self.answer(self.driver.move(0, 0))
        self.hovering = False
        await self.answer(self.driver.load(self._answer_s * 2), 2.0)
        seen = await self.ask("start", not self._watched, [*self.keys])
        if not self._watched:
            self._watched = True
            self._drift.add(self._read(seen))

    async def ask(self, name: str, *arguments: Any) -> Any:
        """Call a function of the scripts."""
        call = f"window.__probe.call({json.dumps(name)}, {json.dumps(arguments)})"
        told = await self.answer(self.driver.evaluate(call, "apart"))
        if not isinstance(told, str) or len(told) > LONGEST_ANSWER:
            raise Rubbish("the page's answer is no text, or too long")
        try:
            return json.loads(told)
        except (ValueError, RecursionError):
            raise Rubbish("the page's answer cannot be read") from None

    async def begin(self, key: str | None, how: Manner, *, focus: bool = False) -> None:
        """From here on, input is what we measure; ``key`` is the operated element, focused first if asked."""
        asked = {"key": key, "muted": how.muted, "timed": how.timed, "again": how.again, "focus": focus}
        await self.ask("begin", asked)

    async def finish(self, *, own_ms: int = 0) -> list[Change]:
        """What changed since ``begin``; with ``own_ms`` all of the page runs on, else what that caused."""
        changes = self._read(await self.ask("finish", self._caused_ms, own_ms))
        return [change for change in changes if not self._drift.has(change)]

    async def watch(self) -> None:
        """See what the page changes by itself while its time stands still: that never counts."""
        self._drift.add(self._read(await self.ask("idle")))

    async def touch(self) -> None:
        """See what a touch changes where it means nothing, in place of what was seen of that before."""
        self._touch = Drift(touched=True)
        spot = await self.ask("inert")
        if spot is None:
            return
        x, y = number(table(spot).get("x")), number(table(spot).get("y"))
        await self.answer(self.driver.move(x + 3, y))
        await self.begin(None, Manner())
        await self.answer(self.driver.move(x, y))
        await self.answer(self.driver.click(x, y))
        self._touch.add(self._read(await self.ask("finish", self._caused_ms, 0)))

    def drifts(self, change: Change, *, pointing: bool = False) -> bool:
        """Whether the page was seen to change so without input; or, ``pointing``, by a touch anywhere."""
        return self._drift.has(change) or (pointing and self._touch.has(change))

    def _read(self, found: object) -> list[Change]:
        answer = table(found)
        self.read_motion(answer.get("motion"))
        return [Change.read(value) for value in listed(answer.get("changes"), MOST_CHANGES)]

    def read_motion(self, found: object) -> None:
        """Take over what a script says about the page's own motion. Raises ``Rubbish``."""
        motion = table(found)
        self.motion = {name: number(motion.get(name)) for name in ("frames", "period")}

    async def run(self, ms: int) -> None:
        """Let the whole page run for ``ms`` of its own time; no picture of it is taken in between."""
        await self.ask("advance", ms, None, True)

    async def answer(self, awaitable: Awaitable[T], patience: float = 1.0) -> T:
        """The result, or ``Unanswered`` after ``patience`` times the deadline or when the page is gone."""
        try:
            async with asyncio.timeout(self._answer_s * patience):
                return await awaitable
        except TimeoutError as error:
            raise Unanswered("the page did not answer") from error
        except Failed:
            raise
        except OpenDesignError as error:  # rendering's PageHung: its watchdog has ended the page
            raise Unanswered(str(error)) from error
        except Exception as error:
            if isinstance(error, ScriptFailed) or type(error).__module__.partition(".")[0] in _LIBRARIES:
                raise _named(error) from error
            raise


def _named(error: Exception) -> Exception:
    """What an error of the automation library means."""
    text = next(iter(str(error).splitlines()), "no message")[:200]
    if any(sign in text for sign in _LEFT):
        return PageLeft(text)
    if "net::ERR_" in text and "ERR_ABORTED" not in text:
        return failed("network", f"The stored page could not be loaded again: {text}.")
    return Unanswered(text)
