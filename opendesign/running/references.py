"""The references of a benchmark of plots, run: to make its ground truths, and to see whether they hold."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from opendesign.running.lazy import Lazy
from opendesign.types import Benchmark, Case, PlotSettings, RenderSettings

if TYPE_CHECKING:
    from opendesign.cases.check import CheckReport, Problem
    from opendesign.plotting import Plot
    from opendesign.rendering import Renderer

__all__ = ["LEVELS", "SHARE", "Drawn", "add_facts", "check_references", "difference", "draw_references"]

#: Two pictures are the same where at most this share of pixels differs by more than so many levels of 255.
SHARE, LEVELS = 0.001, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What the references drew, by case, and the libraries they drew with."""

    plots: Mapping[str, Plot]
    engine: str


async def draw_references(
    cases: Sequence[Case], settings: PlotSettings | None = None, *, unsafe: bool = False
) -> Drawn:
    """Run every reference once, cases with the same code and data together.

    Raises ``UsageError`` where this machine cannot isolate code, unless ``unsafe``.
    """
    from opendesign.plotting import Plotter

    first = {_key(case): case for case in reversed(cases)}
    async with (
        Lazy(_renderer) as renderer,
        Plotter(settings or PlotSettings(), renderer=renderer.get, unsafe=unsafe) as plotter,
    ):
        tasks = [case.task for case in first.values() if case.task is not None]
        made = await asyncio.gather(*(plotter.plot(task.reference, task) for task in tasks))
        engine = plotter.engine
    plots = dict(zip(first, made, strict=True))
    return Drawn(plots={case.id: plots[_key(case)] for case in cases}, engine=engine)


def _renderer() -> Renderer:
    from opendesign.rendering import Renderer

    return Renderer(RenderSettings(network="offline"))


def _key(case: Case) -> tuple[str, str, str]:
    assert case.task is not None, f"{case.id} is about a plot"
    return case.task.setup, case.task.reference, case.task.data.digest


async def add_facts(cases: Sequence[Case], *, unsafe: bool = False) -> tuple[str, ...]:
    """Lay the facts of every reference beside its ground truth; ids of the cases where there are none."""
    from opendesign.cases.plots import facts_beside

    drawn = await draw_references(cases, unsafe=unsafe)
    without = []
    for case in cases:
        facts = drawn.plots[case.id].facts
        assert case.task is not None, f"{case.id} is about a plot"
        if facts is None:
            without.append(case.id)
        else:
            facts_beside(case.task.truth.path).write_text(facts.to_json(), encoding="utf-8")
    return tuple(without)


async def check_references(benchmark: Benchmark, report: CheckReport, *, unsafe: bool = False) -> CheckReport:
    """The report, with every reference that fails or no longer draws its ground truth.

    Where other libraries were used for the truths (``source.drawn_with`` of the card), that is said with it.
    The truths of an imported benchmark were drawn elsewhere: its references must run, and are not compared.
    """
    from opendesign.cases.benchmark import load_card
    from opendesign.cases.check import Problem

    drawn = await draw_references(benchmark.cases, unsafe=unsafe)
    card = load_card(benchmark.name)
    before = card.source.get("drawn_with", drawn.engine)
    versions = f"drawn with {before}, now with {drawn.engine}" if before != drawn.engine else ""
    found: dict[tuple[str, str, str], Problem] = {}
    for case in benchmark.cases:
        if text := await asyncio.to_thread(_fault, case, drawn.plots[case.id], not card.imported):
            said = f"{text} ({versions})" if versions else text
            found.setdefault(_key(case), Problem(case=case.id, rule="reference", text=said))
    return replace(report, problems=(*report.problems, *found.values()), drawn_with=drawn.engine)


def _fault(case: Case, plot: Plot, compared: bool) -> str:
    if plot.failure is not None:
        return f"it does not run: {plot.failure.detail}"
    if plot.picture is None or plot.facts is None or plot.facts.blank:
        return "it draws nothing"
    assert case.task is not None
    if not compared:
        return ""
    if told := difference(case.task.truth.read_bytes(), plot.picture):
        return f"it does not draw the ground truth: {told}"
    if case.task.facts is not None and case.task.facts.read_text() != plot.facts.to_json():
        return "it draws a figure whose facts are not those of the ground truth"
    return ""


def difference(truth: bytes, picture: bytes) -> str:
    """What tells two pictures apart, as a phrase; "" where they are the same within ``SHARE``, ``LEVELS``."""
    import numpy as np
    from PIL import Image

    try:
        one, two = (
            np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=np.int16)
            for data in (truth, picture)
        )
    except (OSError, ValueError):
        return "the ground truth is not a picture"
    if one.shape != two.shape:
        return f"{two.shape[1]} × {two.shape[0]} pixels, not {one.shape[1]} × {one.shape[0]}"
    share = float((np.abs(one - two).max(axis=2) > LEVELS).mean())
    return f"{share:.2%} of the pixels differ" if share > SHARE else ""
