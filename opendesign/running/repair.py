"""Self-repair: code that failed goes back to the model with its error, up to K times. Never part of a score.

Every try is a question and a plot of its own in ``answers-repair-1.jsonl``, ``artifacts-repair-1.jsonl`` …,
kept and used again like the first ones, so that no try is paid for twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opendesign.running.journey import Setup
    from opendesign.running.report import Report
    from opendesign.running.store import Store
    from opendesign.types import Answer, Case, Failure

__all__ = ["REPAIRED", "repair", "repair_prompt"]

#: What a model may mend when it is told: its code failed, or there was none.
REPAIRED = frozenset({"syntax_error", "exception", "timeout", "no_plot", "wrong_library", "no_document"})
_MOST = 20_000  # characters of a failed answer that are shown again
_PROMPT = """{prompt}

You have answered this before, and your answer did not give a plot. It was:

{answer}

What went wrong: {reason}

Answer again, with the whole program and not only what you changed."""


async def repair(
    case: Case, answer: Answer, failure: Failure | None, setup: Setup, store: Store, report: Report
) -> None:
    """Up to ``setup.protocol.plots.repairs`` more tries at a plot whose code failed with ``failure``.

    Ends with the first try that draws, or fails in a way that no retelling mends. A try that the provider or
    the sandbox failed is made again when the run is resumed.
    """
    from opendesign.running.journey import answer_of, artifact_of  # of which this is a step

    plots = setup.protocol.plots
    if plots is None or setup.model is None:
        return
    for number in range(1, plots.repairs + 1):
        if failure is None or failure.reason not in REPAIRED:
            return
        again = replace(case, prompt=repair_prompt(case, answer, failure))
        step = f"repair-{number}"
        tried = await answer_of(again, answer.sample, setup, store, report, f"answer-{step}")
        if tried is None:
            return
        answer, failure = tried, tried.failure
        if failure is None:
            plot = await artifact_of(again, answer, setup, store, report, f"artifact-{step}")
            failure = plot.failure


def repair_prompt(case: Case, answer: Answer, failure: Failure) -> str:
    """The case's own prompt, then the last answer (its code where there is some) and what went wrong."""
    said = answer.document or answer.text
    shown = said if len(said) <= _MOST else f"{said[:_MOST]}\n[{len(said) - _MOST} more characters]"
    fence = "`" * 3
    while fence in shown:
        fence += "`"
    return _PROMPT.format(
        prompt=case.prompt, answer=f"{fence}python\n{shown}\n{fence}", reason=failure.detail
    )
