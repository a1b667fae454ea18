"""One try at one page in one browser, and how it ended."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Executor
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from opendesign.rendering.capture import Shot, capture
from opendesign.rendering.page import CLOSE_S, OpenPage, Vanished, open_page

if TYPE_CHECKING:
    from opendesign.rendering.launch import Launched
    from opendesign.rendering.network import Gate
    from opendesign.rendering.watchdog import ProcessTree, Watchdog
    from opendesign.types import RenderSettings

__all__ = ["Attempt", "End", "attempt"]

LOOK_EVERY_S = 1.0
SILENT_S = 3.0  # a main thread that says nothing for so long, while its process works, may be in a loop
BUSY = 0.5  # of one core: what "works" means on a machine where others work too


class End(StrEnum):
    """How a try ended. All but ``DONE`` are tried once more, alone."""

    DONE = "done"
    DEADLINE = "deadline"
    LOOPING = "looping"  # silent and busy
    CPU = "cpu"  # its processor time is used up; only known where it is alone
    MEMORY = "memory"
    CRASH = "crash"
    RESTLESS = "restless"  # it loads itself again without end


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """``cpu_s`` and ``peak_mb`` are of the whole browser: the page's own where it was alone."""

    end: End
    shot: Shot | None
    detail: str
    seconds: float
    cpu_s: float
    peak_mb: float


async def attempt(
    launched: Launched,
    watchdog: Watchdog,
    gate: Gate,
    settings: RenderSettings,
    workers: Executor,
    *,
    alone: bool,
    bare: bool = False,
) -> Attempt:
    """Render one page. Never raises for what the page does."""
    from playwright.async_api import Error

    tree = launched.tree
    started, cpu_before, ended_before = time.monotonic(), tree.cpu_s, len(tree.killed_for_memory)
    end, shot, detail = End.CRASH, None, ""
    try:
        # The guard is for the case that the driver itself no longer answers.
        with watchdog.guard(tree, settings.deadline_s + 2 * CLOSE_S):
            async with open_page(launched, gate, settings, live=False) as opened:
                end, shot, detail = await _work(opened, tree, workers, alone=alone, bare=bare)
    except Error as error:
        shot, detail = None, detail or error.message.splitlines()[0]
        end = End.CRASH if end is End.DONE else end
    if end is not End.DONE and len(tree.killed_for_memory) > ended_before:
        end, detail = End.MEMORY, f"its {tree.killed_for_memory[-1]} process grew over the limit"
    return Attempt(
        end=end,
        shot=shot,
        detail=detail,
        seconds=time.monotonic() - started,
        cpu_s=tree.cpu_s - cpu_before,
        peak_mb=tree.peak_mb,
    )


async def _work(
    opened: OpenPage, tree: ProcessTree, workers: Executor, *, alone: bool, bare: bool
) -> tuple[End, Shot | None, str]:
    from playwright.async_api import Error

    work = asyncio.create_task(capture(opened, workers, bare=bare))
    crash = asyncio.create_task(opened.crashed.wait())
    try:
        end = await _watch(work, crash, opened, tree, opened.settings, alone=alone)
        if end is not End.DONE:
            return end, None, "its process died" if end is End.CRASH else ""
        return End.DONE, work.result(), ""
    except Vanished as error:
        return End.RESTLESS, None, str(error)
    except Error as error:
        return End.CRASH, None, error.message.splitlines()[0]
    finally:
        work.cancel()
        crash.cancel()
        await asyncio.gather(work, crash, return_exceptions=True)


async def _watch(
    work: asyncio.Task[Shot],
    crash: asyncio.Task[bool],
    opened: OpenPage,
    tree: ProcessTree,
    settings: RenderSettings,
    *,
    alone: bool,
) -> End:
    """Wait for the work, and look from outside whether it can still come to an end."""
    start = time.monotonic()
    while True:
        await asyncio.wait((work, crash), timeout=LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return End.DONE
        if crash.done():
            return End.CRASH
        if time.monotonic() - start >= settings.deadline_s:
            return End.DEADLINE
        if alone:
            if tree.cpu_s >= settings.cpu_s:
                return End.CPU
        elif time.monotonic() - start > SILENT_S and await _is_looping(work, opened, tree):
            return End.LOOPING


async def _is_looping(work: asyncio.Task[Shot], opened: OpenPage, tree: ProcessTree) -> bool:
    answer = asyncio.create_task(opened.answers(SILENT_S))
    await asyncio.wait((work, answer), return_when=asyncio.FIRST_COMPLETED)
    if work.done():
        answer.cancel()
        return False
    return not await answer and tree.busiest_renderer() >= BUSY
