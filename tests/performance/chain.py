"""The whole key-free chain through the real journey: answers on disk → pages → three judges.

The harness's own CPU is that of its Python process (all threads) while the cases are under way, without what
Pillow spends on decoding and encoding. Importing and summing up are paid once a run and have targets of their
own (``starting``, ``resampling``); a row beside it shows the figure with them, for a run of this size.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.performance import home
from tests.performance.bench import Bench, Row, Sample, Samples, Variant, at_least, at_most, column, work
from tests.performance.meter import Driver

if TYPE_CHECKING:
    from opendesign.running.report import Tally

#: What a run loads one after the other; loaded before the clock starts.
_HEAVY = ("playwright.async_api", "numpy", "PIL.Image", "psutil", "pydantic")
_INTERACTIONS = 3


def variants(bench: Bench) -> list[Variant]:
    folder = home.make(bench.pages(bench.sizes.pages), bench.folder / "chain")
    env = home.environment(folder)

    def run() -> Sample:
        with TemporaryDirectory(dir=folder) as runs:
            return work("chain:run", env=env, answers=str(folder / "answers"), run=str(Path(runs) / "run"))

    return [Variant(name="chain", repeats=bench.sizes.repeats, run=run)]


def run(answers: str, run: str) -> dict[str, Any]:
    """Take all answers through every step, as ``opendesign run`` does. Returns times and what came out."""
    import importlib

    began = time.process_time()
    for module in _HEAVY:
        importlib.import_module(module)
    from opendesign import api
    from opendesign.running.execute import execute, run_sync
    from opendesign.running.report import Tally
    from opendesign.running.summary import summarize
    from tests.performance.pictures import PictureTime

    plan = api.plan(answers, benchmark=home.NAME, judges=home.JUDGES, folder=run)
    probe = next(seat.card for seat in plan.seats if seat.card.name == "probe")
    if probe.settings.get("interactions") != _INTERACTIONS:
        raise ValueError(
            f"the probe plans {probe.settings.get('interactions')} interactions, not {_INTERACTIONS}"
        )
    tally, pictures, driver = Tally(), PictureTime(), _Driver()
    started, cpu = time.monotonic(), time.process_time()
    store = run_sync(lambda: execute(plan, driver.heard(tally)))
    seconds, cpu = time.monotonic() - started, time.process_time() - cpu
    summary = summarize(store)
    cases = len(plan.cases)
    return {
        "pages": cases,
        "failed": cases - tally.done + sum(tally.failures.values()),
        "failures": dict(tally.failures),
        "coverage": dict(summary.coverage),
        "scores": {name: round(score.mean, 4) for name, score in summary.scores.items()},
        "points": asdict(summary.scores["probe.points"]) if "probe.points" in summary.scores else None,
        "seconds": seconds,
        "rate": cases / seconds,
        "python_s": cpu,
        "pictures_s": pictures.seconds,
        "driver_s": driver.spent,
        "own_s": (cpu - pictures.seconds) / cases,
        "own_all_s": (time.process_time() - began - pictures.seconds) / cases,
    }


class _Driver:
    """The driver's CPU as of the last page that was judged, since it ends with the run."""

    def __init__(self) -> None:
        self._driver: Driver | None = None
        self.spent = 0.0

    def heard(self, tally: Tally) -> Tally:
        """The same tally, which tells us of every step."""
        inner = tally.step

        def step(step: str, outcome: Any, *, fresh: bool) -> None:
            if step == "artifact":
                self._driver = self._driver or Driver()
            elif self._driver is not None:
                self.spent = self._driver.cpu()
            inner(step, outcome, fresh=fresh)

        vars(tally)["step"] = step
        return tally


def rows(samples: Samples) -> list[Row]:
    taken = samples["chain"]
    cpu = tuple(sample["cpu_s"] / sample["pages"] for sample in taken)
    python, driver = (median(s[name] / s["pages"] for s in taken) for name in ("python_s", "driver_s"))
    parts = f"Python {python:.3f}, driver {driver:.3f}, browser {median(cpu) - python - driver:.3f}"
    points = taken[-1]["points"]
    note = f"{points['mean']:.1f} of {_INTERACTIONS} points a page" if points else "nothing was operated"
    found = [
        at_least("key-free chain", column(taken, "rate"), 1.0, "pages/s", note),
        Row(quantity="key-free chain", values=cpu, unit="CPU-s a page", note=parts),
        at_most(
            "harness's own CPU", column(taken, "own_s"), 0.05, "CPU-s a case", "imports and summary apart"
        ),
        Row(
            quantity="harness's own CPU with them",
            values=column(taken, "own_all_s"),
            unit="CPU-s a case",
            note=f"a run of {taken[0]['pages']} cases",
        ),
    ]
    if all(sample["peak_mb"] for sample in taken):
        found.append(at_most("key-free chain, peak", column(taken, "peak_mb"), 2000, "MB proportional"))
    if failed := max(int(sample["failed"]) for sample in taken):
        found.append(
            Row(quantity="key-free chain: steps that failed", values=(failed,), target="0", met=False)
        )
    return found
