"""Taking all journeys of a run, many at once, and leaving nothing behind when one of them fails."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from opendesign.errors import OpenDesignError, StoreError, UsageError
from opendesign.running.blobs import cannot_write
from opendesign.running.journey import Seat, Setup, journey
from opendesign.running.lazy import LazyRenderer
from opendesign.running.plan import Plan, check_same, stored_plan
from opendesign.running.report import Report
from opendesign.running.store import Store

if TYPE_CHECKING:
    from opendesign.answering.models import Model
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


async def execute(
    plan: Plan,
    report: Report,
    *,
    concurrency: int = CONCURRENCY,
    browser: str | None = None,
    pages_at_once: int | None = None,
) -> Store:
    """Do what is not done yet of ``plan``. Returns the store, closed, with all its records."""
    with Store(plan.folder, write=True) as store:
        if store.manifest_path.exists():
            check_same(store, plan)
        else:
            store.create(plan.manifest())
        await _all(
            store,
            plan.cases,
            plan.samples,
            plan.protocol,
            plan.seats,
            plan.model,
            report,
            concurrency=concurrency,
            browser=browser,
            pages_at_once=pages_at_once,
        )
    return store


async def rejudge(
    folder: Path,
    seats: tuple[Seat, ...],
    report: Report,
    *,
    concurrency: int = CONCURRENCY,
    browser: str | None = None,
    pages_at_once: int | None = None,
) -> Store:
    """Judge a stored run (again): asks no model for an answer and writes no artifact."""
    with Store(folder, write=True) as store:
        cases, samples, protocol = stored_plan(store)
        await _all(
            store,
            cases,
            samples,
            protocol,
            seats,
            None,
            report,
            concurrency=concurrency,
            browser=browser,
            pages_at_once=pages_at_once,
        )
    return store


async def _all(
    store: Store,
    cases: tuple[Case, ...],
    samples: int,
    protocol: Protocol,
    seats: tuple[Seat, ...],
    model: Model | None,
    report: Report,
    *,
    concurrency: int,
    browser: str | None,
    pages_at_once: int | None,
) -> None:
    if concurrency < 1:
        raise UsageError(f"--concurrency is {concurrency}: at least one case has to be in flight.")
    from opendesign.answering.models import close_models

    def make() -> Renderer:
        from opendesign.rendering import Renderer

        waiting = any(seat.card.live and seat.model is not None for seat in seats)
        return Renderer(
            protocol.render,
            browser=browser,
            pages_at_once=pages_at_once,
            sessions_at_once=SESSIONS if waiting else None,
            cache=cache_folder() / "network",
        )

    asyncio.get_running_loop().set_exception_handler(_unheard)
    report.begin(len(cases) * samples, [seat.card.name for seat in seats])
    room = asyncio.Semaphore(concurrency)
    broken: list[str] = []

    async def one(case: Case, sample: int) -> None:
        try:
            await journey(case, sample, setup, store, report)
        except OpenDesignError:
            raise  # the store or what was asked for: every other case would fail alike
        except Exception as error:
            broken.append(f"{type(error).__name__}: {error}"[:200])
            _log(store.folder / "errors.log", case.id, sample)
        else:
            report.finished()
        finally:
            room.release()

    try:
        async with LazyRenderer(make, lambda renderer: _check_engine(store, renderer)) as renderer:
            setup = Setup(model=model, protocol=protocol, renderer=renderer, seats=seats)
            async with asyncio.TaskGroup() as group:
                for case in cases:
                    for sample in range(samples):
                        await room.acquire()
                        group.create_task(one(case, sample))
    except* OpenDesignError as errors:
        raise _first(errors) from None
    finally:
        await close_models()
    if store.cut:
        report.note(f"{store.cut} records were cut short when a process was ended: they were made again.")
    if broken:
        report.note(
            f"{len(broken)} answers met an unexpected error ({broken[0]}) and are unscored: "
            f"{store.folder / 'errors.log'} has it in full; the same command tries them again."
        )


def _unheard(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say what nobody waited for, but for this: a Ctrl-C ends the browser's driver too, which breaks off."""
    if "Connection closed while reading from the driver" not in str(context.get("exception")):
        loop.default_exception_handler(context)


def _first(errors: BaseExceptionGroup[OpenDesignError]) -> OpenDesignError:
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def _log(path: Path, case: str, sample: int) -> None:
    """Keep the traceback of an internal error beside the run; resuming does the case again."""
    from opendesign.answering.faults import redact

    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"case {case}, sample {sample}\n{redact(traceback.format_exc())}\n")
    except OSError as error:
        raise StoreError(cannot_write(path, error)) from error


def _check_engine(store: Store, renderer: Renderer) -> None:
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
