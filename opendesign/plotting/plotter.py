"""Answers' code → plots, many at once. Keeps the warm parent, runs tasks in it, makes their pictures."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from opendesign.errors import UsageError
from opendesign.plotting import ends
from opendesign.plotting.facts import PlotFacts
from opendesign.plotting.warm import Limits
from opendesign.types import Failure, PlotSettings, PlotTask

if TYPE_CHECKING:
    from opendesign.plotting.board import Board
    from opendesign.plotting.drawing import Scored
    from opendesign.plotting.parent import Parent
    from opendesign.plotting.pictures import Picture
    from opendesign.plotting.task import Outcome
    from opendesign.rendering import Renderer

__all__ = ["Plot", "Plotter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """What code became. ``picture`` is a PNG of ``width`` × ``height`` pixels, ``thumbnail`` a small WebP.

    ``failure`` is the model's or the instrument's; a blank plot is none, see ``PlotFacts.blank``. ``output``
    is what the code printed, its traceback included. Code that failed after it had drawn keeps its picture.
    """

    picture: bytes | None = None
    thumbnail: bytes | None = None
    facts: PlotFacts | None = None
    width: int = 0
    height: int = 0
    failure: Failure | None = None
    output: str = ""
    varies: Mapping[str, Any] = field(default_factory=dict)


class Plotter:
    """Runs code and catches what it draws. An async context manager; one for a run.

    ``renderer`` gives the browser for figures of plotly, when one is needed. ``unsafe`` allows to go without
    isolation where this machine has none. ``at_once``: tasks that run together (default: one a core).
    Entering raises ``UsageError`` where the libraries are missing or code cannot be isolated.
    """

    def __init__(
        self,
        settings: PlotSettings,
        *,
        renderer: Callable[[], Awaitable[Renderer]] | None = None,
        unsafe: bool = False,
        at_once: int | None = None,
    ) -> None:
        self.settings = settings
        self.at_once = at_once or os.cpu_count() or 1
        self.engine = ""  # "matplotlib 3.10.8, seaborn 0.13.2, plotly 6.5.0, pandas 2.3.3, python 3.11"
        self.isolation = ""  # what is in force, one line
        self._renderer = renderer
        self._unsafe = unsafe
        self._parent: Parent | None = None
        self._board: Board | None = None
        self._restart = threading.Lock()
        self._workers = ThreadPoolExecutor(self.at_once, "opendesign-plot")

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._warm, None)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._board is not None:
            await self._board.close()
        if self._parent is not None:
            await asyncio.to_thread(self._parent.close)
        self._workers.shutdown(wait=False)

    async def plot(self, code: str, task: PlotTask) -> Plot:
        """Run ``code`` after the task's setup. Never raises for the code's own fault: see ``Plot.failure``.

        Raises ``UsageError`` where the setup of the task fails, which is the benchmark's fault.
        """
        data = await asyncio.to_thread(task.data.read_bytes)
        stop = threading.Event()
        work = asyncio.get_running_loop().run_in_executor(self._workers, self._run, code, task, data, stop)
        try:
            outcome = await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([work])
            raise
        failure = ends.failure(outcome, task, self.settings)
        scored = await self._scored(outcome, task, failure)
        image, small = await asyncio.to_thread(_files, scored.picture)
        return Plot(
            picture=image,
            thumbnail=small,
            facts=scored.facts,
            width=scored.facts.width if scored.facts else 0,
            height=scored.facts.height if scored.facts else 0,
            failure=failure or scored.failure,
            output=outcome.output.decode("utf-8", "replace"),
            varies={
                "seconds": round(outcome.seconds, 3),
                "cpu_s": round(outcome.cpu_s, 3),
                "peak_mb": round(outcome.peak_mb),
            },
        )

    async def _scored(self, outcome: Outcome, task: PlotTask, failure: Failure | None) -> Scored:
        from opendesign.plotting.board import Board
        from opendesign.plotting.drawing import Scored, of_matplotlib, of_plotly

        if outcome.matplotlib is not None and task.library != "plotly":
            return await asyncio.to_thread(of_matplotlib, outcome, outcome.matplotlib, task)
        if not outcome.plotly or failure is not None:
            return Scored()
        if self._renderer is None:
            raise UsageError("A figure of plotly is drawn by a browser, and this plotter was given none.")
        renderer = await self._renderer()
        if self._board is None:
            self._board = Board(renderer)
        return await of_plotly(outcome, renderer, self._board)

    # In threads

    def _warm(self, gone: Parent | None) -> None:
        """Start a parent, in place of one that is ``gone``; once, however many ask for it."""
        from opendesign.plotting import parent

        with self._restart:
            if self._parent is gone:
                if gone is not None:
                    gone.close()
                self._parent, self.isolation = parent.start(unsafe=self._unsafe)
                self.engine = self._parent.engine

    def _run(self, code: str, task: PlotTask, data: bytes, stop: threading.Event) -> Outcome:
        """One task; once more in a new parent where the parent ended meanwhile."""
        from opendesign.plotting.task import Outcome

        head = {"code": code, "setup": task.setup, "most_pixels": self.settings.most_pixels}
        request = json.dumps(head).encode() + b"\n" + data
        outcome = Outcome()
        for _ in range(2):
            parent = self._parent
            assert parent is not None, "the plotter was entered"
            with contextlib.suppress(OSError):
                outcome = self._watch(parent, request, stop)
            if outcome.code is not None or stop.is_set():
                break
            self._warm(parent)
        return outcome

    def _watch(self, parent: Parent, request: bytes, stop: threading.Event) -> Outcome:
        from opendesign.plotting.task import watch

        settings = self.settings
        with parent.folder() as folder:
            limits = Limits(
                cpu_s=settings.cpu_s,
                memory_mb=settings.memory_mb,
                disk_mb=settings.disk_mb,
                processes=settings.processes,
                folder=folder,
            )
            return watch(lambda files: parent.start(asdict(limits), files), request, settings, stop)


def _files(picture: Picture | None) -> tuple[bytes | None, bytes | None]:
    if picture is None:
        return None, None
    files = picture.png(), picture.thumbnail()
    with contextlib.suppress(AttributeError):  # a C library that has it keeps the holes that pixels leave
        ctypes.CDLL(None).malloc_trim(0)
    return files
