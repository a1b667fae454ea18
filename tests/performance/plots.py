"""Plots: the references of ``plots-mini`` and variations, from a warm parent and from fresh processes.

A fresh process is what anybody would start: Python runs setup and code and saves the current figure. For
plotly it has to start a browser too, as plotly's own export does. As many of them run together as we draw.
"""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from tests.performance.bench import Bench, Row, Samples, Variant, against, at_most, column, work
from tests.performance.meter import ROOT, pss_mb, tree

_VARIED = 200
_WINDOW = 50  # plots whose mean memory is compared
_SAVE = "\nimport matplotlib.pyplot as plt\nplt.savefig(%r, dpi='figure')\n"
_CATCH = (
    "import plotly.basedatatypes as b, plotly.io\n"
    "b.BaseFigure.show = lambda f, *a, **k: open(%r, 'w').write(f.to_json())\n"
)
_DRAW = """
import asyncio
from pathlib import Path
from opendesign.plotting.plotly_page import parse
from opendesign.rendering import Renderer
from opendesign.types import RenderSettings
async def draw():
    async with Renderer(RenderSettings(network="offline")) as renderer:
        page = parse(Path(%r).read_bytes()).page(1280, 16_000)
        rendering = await renderer.render(page)
        assert rendering.picture and not rendering.failure, rendering
asyncio.run(draw())
"""


def variants(bench: Bench) -> list[Variant]:
    sizes = bench.sizes
    varied = _VARIED if sizes.repeats > 1 else _VARIED // 5
    runs = {
        "plots, warm": lambda: work("plots:warm", varied=varied),
        "plots, fresh": lambda: work("plots:fresh", memory=False),
        "plotly, warm": lambda: work("plots:plotly_warm", memory=False),
        "plotly, fresh": lambda: work("plots:plotly_fresh", memory=False),
    }
    return [Variant(name=name, repeats=sizes.repeats, run=run) for name, run in runs.items()]


def _tasks(*libraries: str) -> list[Any]:
    from opendesign.cases.benchmark import load_benchmark

    return [case.task for case in load_benchmark("plots-mini").cases if case.category in libraries]


def warm(varied: int) -> dict[str, Any]:
    return asyncio.run(_warm(varied))


async def _warm(varied: int) -> dict[str, Any]:
    """Starting included: the first plots of a run wait for it."""
    from opendesign.plotting import Plotter
    from opendesign.types import PlotSettings

    tasks = _tasks("matplotlib", "seaborn")
    code = [(task.reference, task) for task in tasks]
    for at in range(varied):
        task = tasks[at % len(tasks)]
        change = f"import matplotlib\nmatplotlib.rcParams['axes.titlesize'] = {8 + at // len(tasks)}\n"
        code.append((change + task.reference, task))
    held: list[float] = []
    same = failed = 0
    started = time.monotonic()
    async with Plotter(PlotSettings()) as plotter:
        waiting = asyncio.Semaphore(2 * plotter.at_once)

        async def one(text: str, task: Any) -> None:
            nonlocal same, failed
            async with waiting:
                plot = await plotter.plot(text, task)
            failed += plot.failure is not None
            same += text == task.reference and _pixels(plot.picture or b"") == _pixels(
                task.truth.read_bytes()
            )
            held.append(pss_mb(tree(os.getpid())) or 0.0)

        await asyncio.gather(*(one(*each) for each in code))
        seconds = time.monotonic() - started
    window = min(_WINDOW, len(held) // 2)
    return {
        "plots": len(code),
        "per_s": len(code) / seconds,
        "failed": failed,
        "same": same / len(tasks),
        "growth": fmean(held[-window:]) / fmean(held[:window]),
    }


def fresh() -> dict[str, Any]:
    """Every reference once, and whether its picture is the ground truth, which a warm parent drew."""
    tasks = _tasks("matplotlib", "seaborn")
    with TemporaryDirectory(prefix="opendesign-bench-") as folder:
        files = [Path(folder, f"{at}.png") for at in range(len(tasks))]
        programs = [
            f"{task.setup}\n{task.reference}{_SAVE % str(file)}"
            for task, file in zip(tasks, files, strict=True)
        ]
        seconds = _together(programs, tasks, Path(folder))
        pairs = zip(tasks, files, strict=True)
        same = sum(_pixels(file.read_bytes()) == _pixels(task.truth.read_bytes()) for task, file in pairs)
    return {"plots": len(tasks), "per_s": len(tasks) / seconds, "same": same / len(tasks)}


def plotly_warm() -> dict[str, Any]:
    return asyncio.run(_plotly_warm())


async def _plotly_warm() -> dict[str, Any]:
    from opendesign.plotting import Plotter
    from opendesign.rendering import Renderer
    from opendesign.types import PlotSettings, RenderSettings

    tasks = _tasks("plotly")
    started = time.monotonic()
    async with Renderer(RenderSettings(network="offline")) as renderer:

        async def give() -> Renderer:
            return renderer

        async with Plotter(PlotSettings(), renderer=give) as plotter:
            plots = await asyncio.gather(*(plotter.plot(task.reference, task) for task in tasks))
            seconds = time.monotonic() - started
    failed = sum(plot.failure is not None for plot in plots)
    return {"plots": len(tasks), "per_s": len(tasks) / seconds, "failed": failed}


def plotly_fresh() -> dict[str, Any]:
    tasks = _tasks("plotly")
    with TemporaryDirectory(prefix="opendesign-bench-") as folder:
        files = [str(Path(folder, f"{at}.json")) for at in range(len(tasks))]
        programs = [
            f"{_CATCH % file}{task.setup}\n{task.reference}{_DRAW % file}"
            for task, file in zip(tasks, files, strict=True)
        ]
        seconds = _together(programs, tasks, Path(folder))
    return {"plots": len(tasks), "per_s": len(tasks) / seconds}


def _together(programs: Sequence[str], tasks: Sequence[Any], folder: Path) -> float:
    """Seconds for all of them, each in a fresh process in a folder of its own, as many at once as cores."""
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": str(ROOT)}
    waiting = list(enumerate(zip(programs, tasks, strict=True)))
    running: list[subprocess.Popen[bytes]] = []
    started = time.monotonic()
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            at, (program, task) = waiting.pop(0)
            place = folder / f"work-{at}"
            place.mkdir()
            (place / "data.csv").write_bytes(task.data.read_bytes())
            running.append(
                subprocess.Popen([sys.executable, "-W", "ignore", "-c", program], cwd=place, env=environment)
            )
        for process in running:
            if process.poll():
                raise RuntimeError("a reference failed in a fresh process")
        running = [process for process in running if process.poll() is None]
        time.sleep(0.005)
    return time.monotonic() - started


def _pixels(png: bytes) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        return image.convert("RGB").tobytes()


def rows(samples: Samples) -> list[Row]:
    warm, fresh = samples["plots, warm"], samples["plots, fresh"]
    plotly_warm, plotly_fresh = samples["plotly, warm"], samples["plotly, fresh"]
    note = f"{warm[0]['plots']} plots, the start included"
    speed = against(
        "plots of matplotlib and seaborn, to fresh processes",
        column(warm, "per_s"),
        column(fresh, "per_s"),
        "plots/s",
        "≥ 5 times",
        lambda ratio: ratio >= 5,
    )
    plotly = against(
        "plots of plotly, to fresh processes",
        column(plotly_warm, "per_s"),
        column(plotly_fresh, "per_s"),
        "plots/s",
        "≥ 2 times",
        lambda ratio: ratio >= 2,
    )
    same = [*column(warm, "same"), *column(fresh, "same")]
    failed = [int(sample["failed"]) for sample in (*warm, *plotly_warm)]
    return [
        replace(speed, note=note),
        Row(
            quantity="their pictures are the ground truth's, pixel by pixel",
            values=tuple(100 * one for one in same),
            unit="%",
            target="100 %",
            met=min(same) == 1,
        ),
        at_most("memory of their last plots to the first", column(warm, "growth"), 1.2, "", note),
        plotly,
        Row(quantity="plots that failed", values=tuple(failed), target="0", met=not any(failed)),
    ]
