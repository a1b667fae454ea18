"""What a task's end means: whose failure it is, and why, in a sentence."""

from __future__ import annotations

import signal
from typing import Any

from opendesign.errors import UsageError
from opendesign.plotting.sources import other_library
from opendesign.plotting.task import Outcome
from opendesign.types import Failure, PlotSettings, PlotTask

__all__ = ["failure"]


def failure(outcome: Outcome, task: PlotTask, settings: PlotSettings) -> Failure | None:
    """None where the code came to its end and drew with the library it was asked to.

    What draws: plotly its own figures. A task for matplotlib may use seaborn to style (themes, palettes), but
    not to draw; one for seaborn has to use seaborn in some way, and may draw with matplotlib beside it, since
    seaborn has no pies, contours or surfaces.

    Raises ``UsageError`` where the task's own setup fails.
    """
    if outcome.stage == "refused":
        return _failed("sandbox_unavailable", f"The code could not be isolated ({_told(outcome)['error']}).")
    if outcome.code is None:
        return _failed("sandbox_unavailable", "The process in which plots are drawn ended, twice.")
    if outcome.source.get("error"):
        return _failed("syntax_error", f"{_text(outcome.source['error'])}{_at(outcome.source)}.")
    if outcome.killed == "load":
        detail = f"The machine was too busy to run the code within {settings.deadline_s:g} s."
        return _failed("deadline_under_load", detail)
    if outcome.stage in ("source", "setup"):
        raise UsageError(f"The setup of the case fails ({_setup(outcome)}): its benchmark has to be mended.")
    return (
        _exceeded(outcome, settings)
        or _raised(outcome)
        or _not_drawn(outcome)
        or _cut(outcome)
        or _library(outcome, task)
    )


def _setup(outcome: Outcome) -> str:
    if outcome.error:
        return f"{outcome.error['type']}: {_text(outcome.error['message'])}{_at(outcome.error)}"
    return f"it was ended: {outcome.killed or outcome.code}"


def _exceeded(outcome: Outcome, settings: PlotSettings) -> Failure | None:
    limits = {
        "cpu": ("timeout", f"The code used more than {settings.cpu_s:g} s of processor time."),
        "wall": ("timeout", f"The code had not ended after {settings.deadline_s:g} s."),
        "memory": ("exception", f"The code used more than {settings.memory_mb} MB of memory."),
        "junk": ("exception", "The code wrote into the channel by which its figures are fetched."),
    }
    return _failed(*limits[outcome.killed]) if outcome.killed in limits else None


def _raised(outcome: Outcome) -> Failure | None:
    error = outcome.error
    if error is not None:
        library = other_library(str(error.get("missing") or ""))
        if library:
            return _failed("wrong_library", f"The code needs {library}, which plots are not drawn with here.")
        text = f"{_text(error.get('type'))}: {_text(error.get('message'))}".rstrip(": .")
        return _failed("exception", f"{text}{_at(error)}.")
    code = outcome.code or 0
    if not outcome.ended and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        reason = "timeout" if name == "SIGXCPU" else "exception"
        return _failed(reason, f"The code's process was ended by {name}.")
    if not outcome.ended and code > 0:
        return _failed("exception", f"The code ended its own process with exit code {code}.")
    return None


def _not_drawn(outcome: Outcome) -> Failure | None:
    if outcome.matplotlib or outcome.plotly:
        return None
    allowed = ("matplotlib", "seaborn", "plotly")
    others = [other_library(name) for name in outcome.source.get("imports", ()) if name not in allowed]
    if others := [name for name in others if name]:
        return _failed("wrong_library", f"The code draws with {others[0]}, whose pictures are not caught.")
    how = "" if outcome.ended else ": it ended its own process"
    return _failed("no_plot", f"The code ran and no figure was left open, shown or saved{how}.")


def _cut(outcome: Outcome) -> Failure | None:
    if outcome.ended:
        return None
    return _failed("exception", "The code's process ended before the code had come to its end.")


def _library(outcome: Outcome, task: PlotTask) -> Failure | None:
    wanted, source = task.library, outcome.source
    used = ""
    if wanted == "plotly":
        used = "" if outcome.plotly else "matplotlib"
    elif outcome.matplotlib is None:
        used = "plotly"
    elif wanted == "matplotlib" and source["draws_with_seaborn"]:
        used = "seaborn"
    elif wanted == "seaborn" and not source["uses_seaborn"]:
        used = "matplotlib alone"
    return _failed("wrong_library", f"The code draws with {used}, not with {wanted}.") if used else None


def _failed(reason: str, detail: str) -> Failure:
    return Failure(reason=reason, detail=detail)


def _told(outcome: Outcome) -> dict[str, Any]:
    return outcome.error or {"error": "no reason given"}


def _at(error: dict[str, Any]) -> str:
    line = error.get("line")
    return f" (line {line})" if isinstance(line, int) and not isinstance(line, bool) else ""


def _text(value: Any) -> str:
    """One line of what a stranger's process tells."""
    return " ".join(str(value).encode("utf-8", "replace").decode().split())[:500]
