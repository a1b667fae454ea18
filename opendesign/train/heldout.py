"""The held-out judge: does another judge see the improvement that the training judge sees?

Every k steps the model answers prompts that it is not trained on, and both judges score the same answers.
A model that learns to please its judge rises with that one alone: the gap

    (training(t) − training(0)) / spread(training(0)) − (held_out(t) − held_out(0)) / spread(held_out(0))

is in standard deviations of each judge's scores at step 0, so that judges of different scales compare. The
means and squares are metrics that ``trl.for_trl`` logs in TRL's own evaluation.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opendesign.train.trl import HELD_OUT

if TYPE_CHECKING:
    from transformers import TrainerCallback

__all__ = ["Point", "points", "watch"]

log = logging.getLogger("opendesign.train")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Both judges' means at one step. ``gap`` is None where a judge's scores did not differ at step 0."""

    step: int
    training: float
    held_out: float
    gap: float | None


def points(history: Sequence[Mapping[str, Any]]) -> list[Point]:
    """The evaluations in a trainer's ``log_history``, the first of which is the base of all gaps."""
    logged = [row for row in history if f"eval_{HELD_OUT}/training" in row]
    if not logged:
        return []
    rises = [[_rise(row, logged[0], judge) for judge in ("training", "held_out")] for row in logged]
    return [
        Point(
            step=int(row["step"]),
            training=_mean(row, "training"),
            held_out=_mean(row, "held_out"),
            gap=None if training is None or held_out is None else training - held_out,
        )
        for row, (training, held_out) in zip(logged, rises, strict=True)
    ]


def _mean(row: Mapping[str, Any], judge: str) -> float:
    return float(row[f"eval_{HELD_OUT}/{judge}"])


def _rise(row: Mapping[str, Any], base: Mapping[str, Any], judge: str) -> float | None:
    square = float(base[f"eval_{HELD_OUT}/{judge}_square"])
    spread = math.sqrt(max(0.0, square - _mean(base, judge) ** 2))
    # What is left of a variance of 0 after rounding is no spread.
    return (_mean(row, judge) - _mean(base, judge)) / spread if spread > 1e-6 else None


def watch(limit: float | None) -> TrainerCallback:
    """Ends the training, after a checkpoint, when the gap is wider than ``limit``; None only warns at 1."""
    from transformers import TrainerCallback

    class Watch(TrainerCallback):  # type: ignore[misc]
        def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            found = points(state.log_history)
            if not found or found[-1].gap is None or found[-1].gap <= (1.0 if limit is None else limit):
                return
            log.warning(
                "Step %d: the training judge has risen %.2f standard deviations more than the held-out one.",
                found[-1].step,
                found[-1].gap,
            )
            if limit is not None:
                control.should_save = control.should_training_stop = True

    return Watch()
