"""What every judge of plots asks first: is the case a plot's, was anything drawn, is the card sound."""

from __future__ import annotations

import asyncio
from collections.abc import Set
from typing import Any

from opendesign.errors import UsageError, failed
from opendesign.types import Artifact, Card, Case, PlotTask, Verdict

__all__ = ["check_good", "lowest", "nothing_drawn", "refuse_unknown", "task_of"]

_BLANK = "The plot is blank: its picture has a single colour, or nothing is drawn in its axes."


def task_of(case: Case, card: Card) -> PlotTask:
    """What the case asks to be plotted. Raises ``UsageError`` where it asks for a page."""
    if case.task is None:
        raise UsageError(
            f"The judge '{card.name}' scores plots and the case '{case.id}' asks for a page: name a judge of "
            "pages."
        )
    return case.task


async def nothing_drawn(artifact: Artifact) -> str | None:
    """Why there is nothing to look at, for a plot that is blank; None where there is something.

    Blankness is measured on the pixels, outside the sandbox. Raises ``Failed`` (``no_plot``, the model's)
    where there is no picture at all.
    """
    from opendesign.plotting.facts import PlotFacts

    if artifact.picture is None:
        raise failed("no_plot", "The code drew nothing, so there is no plot to judge.")
    if (blob := artifact.facts) is None:
        return None
    facts = await asyncio.to_thread(lambda: PlotFacts.from_json(blob.read_bytes()))
    return _BLANK if facts.blank else None


def lowest(case: Case, artifact: Artifact, card: Card, why: str) -> Verdict:
    """The lowest score of every measure, without a question and without a failure."""
    return Verdict(
        case=case.id,
        sample=artifact.sample,
        judge=card.name,
        scores={name: measure.low for name, measure in card.measures.items()},
        reasons=(why,),
        evidence={"blank": True},
    )


def refuse_unknown(card: Card, known: Set[str]) -> str:
    """The card's file, for messages. Raises ``UsageError`` for a setting that the engine does not have."""
    where = str(card.path / "judge.toml")
    if unknown := sorted(set(card.settings) - known):
        raise UsageError(
            f"{where}: [settings] has no '{unknown[0]}': the settings are {', '.join(sorted(known))}."
        )
    return where


def check_good(card: Card, headline: str) -> None:
    """Raise ``UsageError`` where headline, ``good`` and the score from which a plot is good make no sense."""
    where, good = str(card.path / "judge.toml"), card.settings.get("good")
    for name, ends in ((headline, (0, 100)), ("good", (0, 1))):
        measure: Any = card.measures.get(name)
        if measure is None or (measure.low, measure.high) != ends:
            raise UsageError(f"{where}: measures.{name} must go from {ends[0]} to {ends[1]}.")
    if isinstance(good, bool) or not isinstance(good, (int, float)) or not 0 <= good <= 100:
        raise UsageError(f"{where}: settings.good must be a number from 0 to 100.")
