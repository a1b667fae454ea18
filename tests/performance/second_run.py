"""A second run over the same answers and settings, and the intervals of its scores.

Both work on one stored run of 840 cases (see ``stored``). The second run is the command itself; that it did
nothing is read off the store, which must be the same bytes afterwards.
"""

from __future__ import annotations

import importlib
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.performance import home
from tests.performance.bench import Bench, Row, Sample, Samples, Variant, at_most, column, costs, say, work
from tests.performance.meter import BenchError, measure


def variants(bench: Bench) -> list[Variant]:
    count, repeats = bench.sizes.stored_cases, min(5, bench.sizes.short_repeats)
    folder = home.make(bench.pages(count), bench.folder / "second-run")
    env, answers, run = home.environment(folder), str(folder / "answers"), folder / "runs" / "stored"
    say(f"storing a run of {count} cases")
    work("stored:make", env=env, memory=False, answers=answers, run=str(run))

    def again() -> Sample:
        before = _state(run.parent)
        command = [sys.executable, "-m", "opendesign", "run", "--model", answers, "--benchmark", home.NAME]
        command += ["--judges", ",".join(home.JUDGES), "--run", str(run), "--json"]
        measured = measure(command, env=env, memory=False)
        if _state(run.parent) != before:
            raise BenchError(f"The second run did something again: {measured.stderr[-500:]}")
        return {**costs(measured.cost), "cases": count}

    def intervals() -> Sample:
        return work("second_run:summarize_again", env=env, memory=False, run=str(run))

    return [
        Variant(name="second run", repeats=repeats, run=again),
        Variant(name="resampling", repeats=repeats, run=intervals),
    ]


def _state(folder: Path) -> dict[str, str]:
    """Name and content of every record file, and the names of all blobs."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        if path.suffix == ".jsonl"
        else ""
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def summarize_again(run: str) -> dict[str, Any]:
    """CPU of the intervals alone: everything of the summary that is resampled, and of the whole summary."""
    from opendesign.running import statistics, summary

    for module in ("numpy", "scipy.special"):  # to load them is no resampling
        importlib.import_module(module)
    spent = {"resampling": 0.0, "scores": 0}
    inner = statistics.Resampling.estimates

    class Timed(statistics.Resampling):
        def __init__(self, *args: Any, **options: Any) -> None:
            started = time.process_time()
            super().__init__(*args, **options)
            spent["resampling"] += time.process_time() - started

        def estimates(self, values: Any) -> Any:
            started = time.process_time()
            found = inner(self, values)
            spent["resampling"] += time.process_time() - started
            spent["scores"] += len(found)
            return found

    vars(summary)["Resampling"] = Timed
    started = time.process_time()
    made = summary.summarize(Path(run))
    return {**spent, "summary_s": time.process_time() - started, "cases": made.cases}


def rows(samples: Samples) -> list[Row]:
    again, intervals = samples["second run"], samples["resampling"]
    what = f"{intervals[0]['cases']} cases, {intervals[0]['scores']} means"
    return [
        at_most(
            "second run",
            column(again, "cpu_s"),
            5.0,
            "CPU-s",
            f"{again[0]['cases']} cases, nothing done anew",
        ),
        at_most("10,000 resamples", column(intervals, "resampling"), 2.0, "CPU-s", what),
        Row(
            quantity="the whole summary of that run",
            values=column(intervals, "summary_s"),
            unit="CPU-s",
        ),
    ]
