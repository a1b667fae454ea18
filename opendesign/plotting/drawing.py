"""From what a task left to the figure that is scored: its picture and its facts."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, NamedTuple

from opendesign.errors import StoreError
from opendesign.plotting.facts import AxesFacts, PlotFacts
from opendesign.plotting.pictures import Picture, cropped
from opendesign.plotting.plotly_page import PlotlyFigure, parse
from opendesign.plotting.task import Drawn, Outcome
from opendesign.types import Failure, Library, PlotTask

if TYPE_CHECKING:
    from opendesign.plotting.board import Board
    from opendesign.rendering import Renderer, Rendering

__all__ = ["Scored", "of_matplotlib", "of_plotly"]

_UNREADABLE = "The code made a figure that cannot be drawn"


class Scored(NamedTuple):
    """The last figure that is not blank, or else the last; or why there is none."""

    picture: Picture | None = None
    facts: PlotFacts | None = None
    failure: Failure | None = None


def of_matplotlib(outcome: Outcome, drawn: Drawn, task: PlotTask) -> Scored:
    """Its picture has come from the task as pixels, and its facts as the task's word, checked here."""
    picture = drawn.picture
    assert picture is not None, "a figure of matplotlib comes with its pixels"
    source = outcome.source
    by_seaborn = source["draws_with_seaborn"] or (source["uses_seaborn"] and task.library == "seaborn")
    library: Library = "seaborn" if by_seaborn else "matplotlib"
    known = {
        "library": library,
        "figures": len(outcome.figures),
        "chosen": drawn.number,
        "blank": drawn.blank,
        "width": picture.image.width,
        "height": picture.image.height,
    }
    told = drawn.facts or {}
    cut = drawn.scaled or told.get("truncated") is not False
    given = {"title": told.get("title", ""), "axes": told.get("axes", []), "truncated": cut}
    try:
        facts = PlotFacts.from_json(json.dumps({**given, **known}))
    except (StoreError, ValueError):
        facts = PlotFacts.from_json(json.dumps({**known, "truncated": True}))
    return Scored(picture, facts)


async def of_plotly(outcome: Outcome, renderer: Renderer, board: Board) -> Scored:
    """Drawn by the browser; a figure that is blank is left for the one before it."""
    last = Scored()
    for drawn in reversed(outcome.plotly):
        scored = await _drawn_by(renderer, board, drawn, len(outcome.figures))
        if scored.facts is None or not scored.facts.blank:
            return scored
        last = scored if last.facts is None else last
    return last


async def _drawn_by(renderer: Renderer, board: Board, drawn: Drawn, figures: int) -> Scored:
    settings = renderer.settings
    try:
        figure = await asyncio.to_thread(parse, drawn.plotly)
    except ValueError as error:
        return Scored(failure=Failure(reason="exception", detail=f"{_UNREADABLE}: {error}."))
    room = (settings.width, settings.max_height)
    png = await board.picture(figure)
    if png is None:
        rendering = await renderer.render(figure.page(*room))
        if failure := _failure(rendering):
            return Scored(failure=failure)
        png = rendering.picture
    assert png is not None, "a page that did not fail has a picture"
    picture = await asyncio.to_thread(cropped, png, *figure.shown(*room), settings.scale)
    return Scored(picture, _facts(figure, picture, drawn.number, figures))


def _facts(figure: PlotlyFigure, picture: Picture, number: int, figures: int) -> PlotFacts:
    width, height = picture.image.size
    axes: tuple[AxesFacts, ...] = ()
    with contextlib.suppress(ValueError, TypeError, ArithmeticError, RecursionError):  # of strange values
        axes = figure.axes()
    return PlotFacts(
        library="plotly",
        figures=figures,
        chosen=number,
        blank=picture.plain or not figure.data,
        title=figure.title,
        width=width,
        height=height,
        axes=axes,
        truncated=(width, height) != (figure.width, figure.height) or (bool(figure.data) and not axes),
    )


def _failure(rendering: Rendering) -> Failure | None:
    """What went wrong with the page: its own fault is the figure's, and so the code's."""
    failure = rendering.failure
    if failure is None:
        errors = rendering.facts.script_errors if rendering.facts else ()
        return Failure(reason="exception", detail=f"{_UNREADABLE}: {errors[0][:300]}.") if errors else None
    reasons = {"page_hung": "timeout", "page_out_of_memory": "exception"}
    detail = failure.detail.replace("The page", "Drawing the figure in the browser", 1)
    return Failure(reason=reasons.get(failure.reason, failure.reason), detail=detail)
