"""Taking all journeys of a run, many at once, and leaving nothing behind when one of them fails."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from opendesign.errors import OpenDesignError, StoreError, UsageError
from opendesign.running.blobs import cannot_write
from opendesign.running.journey import Seat, Setup, journey
from opendesign.running.keep import keep_tasks
from opendesign.running.lazy import Lazy
from opendesign.running.plan import Plan, check_same, stored_plan
from opendesign.running.report import Report
from opendesign.running.store import Store

if TYPE_CHECKING:
    from opendesign.answering.models import Model
    from opendesign.plotting import Plotter
    from opendesign.rendering import Renderer
    from opendesign.types import Case, Protocol

T = TypeVar("T")
CONCURRENCY = 16  # cases in flight at once
SESSIONS = 12  # live pages at once, where what operates them mostly waits for a model


def cache_folder() -> Path:
    """Where answers of public hosts are kept: ``$OPENDESIGN_CACHE``, else the user's cache folder."""
    if named := os.environ.get("OPENDESIGN_CACHE"):
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "opendesign"


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a run may use of this machine. None of it changes a result."""

    concurrency: int = CONCURRENCY
    browser: str | None = None  # path of the browser to use
    pages_at_once: int | None = None
    unsafe_plots: bool = False  # run the code of plots also where nothing isolates it


async def execute(plan: Plan, report: Report, means: Means | None = None) -> Store:
    """Do what is not done yet of ``plan``. Returns the store, closed, with all its records."""
    with Store(plan.folder, write=True) as store:
        if store.manifest_path.exists():
            check_same(store, plan)
        else:
            keep_tasks(plan.cases, store.blobs)
            store.create(plan.manifest())
        work = _Work(plan.cases, plan.samples, plan.protocol, plan.seats, plan.model)
        await _all(store, work, report, means or Means())
    return store


async def rejudge(folder: Path, seats: tuple[Seat, ...], report: Report, means: Means | None = None) -> Store:
    """Judge a stored run (again): asks no model for an answer and writes no artifact."""
    with Store(folder, write=True) as store:
        cases, samples, protocol = stored_plan(store)
        await _all(store, _Work(cases, samples, protocol, seats, None), report, means or Means())
    return store


@dataclass(frozen=True, slots=True)
class _Work:
    cases: tuple[Case, ...]
    samples: int
    protocol: Protocol
    seats: tuple[Seat, ...]
    model: Model | None

    def renderer(self, means: Means) -> Renderer:
        from opendesign.rendering import Renderer

        waiting = any(seat.card.live and seat.model is not None for seat in self.seats)
        return Renderer(
            self.protocol.render,
            browser=means.browser,
            pages_at_once=means.pages_at_once,
            sessions_at_once=SESSIONS if waiting else None,
            cache=cache_folder() / "network",
        )

    def plotter(self, means: Means, renderer: Lazy[Renderer]) -> Plotter:
        from opendesign.plotting import Plotter

        assert self.protocol.plots is not None
        return Plotter(self.protocol.plots, renderer=renderer.get, unsafe=means.unsafe_plots)


async def _all(store: Store, work: _Work, report: Report, means: Means) -> None:
    if means.concurrency < 1:
        raise UsageError(f"--concurrency is {means.concurrency}: at least one case has to be in flight.")
    from opendesign.answering.models import close_models

    asyncio.get_running_loop().set_exception_handler(unheard)
    report.begin(len(work.cases) * work.samples, [seat.card.name for seat in work.seats])
    room = asyncio.Semaphore(means.concurrency)
    broken: list[str] = []

    async def one(case: Case, sample: int) -> None:
        try:
            await journey(case, sample, setup, store, report)
        except OpenDesignError:
            raise  # the store or what was asked for: every other case would fail alike
        except Exception as error:
            broken.append(f"{type(error).__name__}: {error}"[:200])
            log_error(store.folder / "errors.log", case.id, sample)
        else:
            report.finished()
        finally:
            room.release()

    try:
        async with (
            Lazy(lambda: work.renderer(means), lambda renderer: check_engine(store, renderer)) as renderer,
            Lazy(lambda: work.plotter(means, renderer)) as plotter,
        ):
            setup = Setup(
                model=work.model,
                protocol=work.protocol,
                renderer=renderer,
                plotter=plotter,
                seats=work.seats,
            )
            async with asyncio.TaskGroup() as group:
                for case in work.cases:
                    for sample in range(work.samples):
                        await room.acquire()
                        group.create_task(one(case, sample))
    except* OpenDesignError as errors:
        raise first_of(errors) from None
    finally:
        await close_models()
    if store.cut:
        report.note(f"{store.cut} records were cut short when a process was ended: they were made again.")
    if broken:
        report.note(
            f"{len(broken)} answers met an unexpected error ({broken[0]}) and are unscored: "
            f"{store.folder / 'errors.log'} has it in full; the same command tries them again."
        )


def unheard(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say what nobody waited for, but for this: a Ctrl-C ends the browser's driver too, which breaks off."""
    if "Connection closed while reading from the driver" not in str(context.get("exception")):
        loop.default_exception_handler(context)


def first_of(errors: BaseExceptionGroup[OpenDesignError]) -> OpenDesignError:
    error = errors.exceptions[0]
    return first_of(error) if isinstance(error, BaseExceptionGroup) else error


def log_error(path: Path, case: str, sample: int) -> None:
    """Keep the traceback of an internal error beside the run; resuming does the case again."""
    from opendesign.answering.faults import redact

    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"case {case}, sample {sample}\n{redact(traceback.format_exc())}\n")
    except OSError as error:
        raise StoreError(cannot_write(path, error)) from error


def check_engine(store: Store, renderer: Renderer) -> None:
    """Refuse to mix pictures of different browsers in one run."""
    here = major(renderer.engine)
    for record in store.records("artifacts.jsonl").values():
        there = major(record["made"].get("browser", renderer.engine))
        if there != here:
            raise UsageError(
                f"{store.folder} was rendered with {there} and the browser here is {here}: name "
                "that browser with --browser, or start another run with --run."
            )


def major(engine: str) -> str:
    """Kind and major version of an engine string: what has to be equal for pictures to be comparable."""
    kind, _, version = engine.rpartition(" ")
    return f"{kind} {version.split('.')[0]}"


def run_sync(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end, in a thread of its own where a loop already runs (notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    outcome: list[T] = []
    error: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(asyncio.run(make()))
        except BaseException as raised:  # handed on to the thread that waits
            error.append(raised)

    thread = threading.Thread(target=work, name="opendesign")
    thread.start()
    thread.join()
    if error:
        raise error[0]
    return outcome[0]
