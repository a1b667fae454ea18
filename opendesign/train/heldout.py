"""What guards a training: does another judge see the improvement, and do the judges answer at all?

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

from opendesign.errors import UsageError
from opendesign.train.trl import HELD_OUT

if TYPE_CHECKING:
    from transformers import TrainerCallback

__all__ = ["Ending", "Point", "after_evaluation", "after_step", "points", "watch"]

#: Metrics that ``trl.for_trl`` logs: 1 where a whole batch abstains; share of rows that both have not scored.
_FAILED, _UNSCORED = "judges/failed", f"eval_{HELD_OUT}/unscored"
_MOST_FAILED = 10  # steps in a row
_MOST_UNSCORED = 0.5
#: TRL's own metric: the share of prompts all answers to which earned the same.
_EQUAL, _MOST_EQUAL = "frac_reward_zero_std", 5  # logged steps in a row

log = logging.getLogger("opendesign.train")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Both judges' means at one step, and by how many standard deviations they have risen since step 0: None
    where a judge's scores did not differ then."""

    step: int
    training: float
    held_out: float
    training_rise: float | None
    held_out_rise: float | None

    @property
    def gap(self) -> float | None:
        """By how much more the training judge has risen."""
        if self.training_rise is None or self.held_out_rise is None:
            return None
        return self.training_rise - self.held_out_rise


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Why a training ends before its last step, in a sentence. ``again``: the same command may go on."""

    why: str
    again: bool


def points(history: Sequence[Mapping[str, Any]]) -> list[Point]:
    """The evaluations in a trainer's ``log_history`` that have scores; the very first is the base of gaps."""
    evaluated = _evaluations(history)
    found = []
    for row in filter(_scored, evaluated):
        found.append(
            Point(
                step=int(row["step"]),
                training=_mean(row, "training"),
                held_out=_mean(row, "held_out"),
                training_rise=_rise(row, evaluated[0], "training"),
                held_out_rise=_rise(row, evaluated[0], "held_out"),
            )
        )
    return found


def _evaluations(history: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in history if any(name.startswith("eval_") for name in row)]


def _scored(row: Mapping[str, Any]) -> bool:
    return f"eval_{HELD_OUT}/training" in row and row.get(_UNSCORED, 0.0) <= _MOST_UNSCORED


def _mean(row: Mapping[str, Any], judge: str) -> float:
    return float(row[f"eval_{HELD_OUT}/{judge}"])


def _rise(row: Mapping[str, Any], base: Mapping[str, Any], judge: str) -> float | None:
    if not _scored(base):
        return None
    square = float(base[f"eval_{HELD_OUT}/{judge}_square"])
    spread = math.sqrt(max(0.0, square - _mean(base, judge) ** 2))
    # What is left of a variance of 0 after rounding is no spread.
    return (_mean(row, judge) - _mean(base, judge)) / spread if spread > 1e-6 else None


def watch(limit: float | None) -> TrainerCallback:
    """Ends the training, after a checkpoint, and has then an ``ending``: when the gap is wider than ``limit``
    (None only warns at 1), when nothing guards it any more, and when the judges stay silent.

    Raises ``UsageError`` where there are no scores at step 0.
    """
    from transformers import TrainerCallback

    class Watch(TrainerCallback):  # type: ignore[misc]
        ending: Ending | None = None

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step >= state.max_steps and args.eval_strategy != "no":
                control.should_evaluate = True  # older versions of transformers do not at the last step

        def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self._end(control, after_evaluation(state.log_history, limit))

        def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self._end(control, after_step(state.log_history))

        def _end(self, control: Any, ending: Ending | None) -> None:
            if ending is not None and self.ending is None:
                log.warning("%s", ending.why)
                self.ending = ending
                control.should_save = control.should_training_stop = True

    return Watch()


def after_evaluation(history: Sequence[Mapping[str, Any]], limit: float | None) -> Ending | None:
    """What the newest evaluation means for the training. Warns of what does not end it."""
    *before, last = _evaluations(history)
    step = last["step"]
    if not _scored(last):
        return _unscored(before, step)
    gap = points(history)[-1].gap
    if gap is None and not before:
        log.warning("All held-out answers have one score from a judge: there is no gap, and no limit to it.")
    if gap is None or gap <= (1.0 if limit is None else limit):
        return None
    risen = f"the training judge has risen {gap:.2f} standard deviations more than the held-out one"
    if limit is not None:
        return Ending(why=f"At step {step} {risen}, and the limit is {limit:g}.", again=False)
    log.warning("At step %d %s.", step, risen)
    return None


def _unscored(before: Sequence[Mapping[str, Any]], step: int) -> Ending | None:
    if not before:
        raise UsageError(
            "Most held-out answers have no score of both judges at step 0, so that there would be nothing to "
            "compare with: see the log for what failed."
        )
    if _scored(before[-1]):
        log.warning(
            "At step %d most held-out answers have no score of both judges: the gap is unknown.", step
        )
        return None
    steps = f"{before[-1]['step']} and {step}"
    return Ending(
        why=f"At steps {steps} most held-out answers have no score of both judges, and nothing guards the "
        "training.",
        again=True,
    )


def after_step(history: Sequence[Mapping[str, Any]]) -> Ending | None:
    """What the newest steps mean for the training. Warns where there is nothing to learn from."""
    if not history or _FAILED not in history[-1]:
        return None
    equal = [row.get(_EQUAL, 0.0) == 1 for row in history if _FAILED in row][-_MOST_EQUAL - 1 :]
    if equal[-_MOST_EQUAL:] == [True] * _MOST_EQUAL and equal != [True] * (_MOST_EQUAL + 1):
        log.warning(
            "In %d steps in a row all answers to a prompt have earned the same, and nothing is learned from "
            "these: look at what the model says. Is it asked as it was fitted (see 'system' of 'prompts')?",
            _MOST_EQUAL,
        )
    # Logged may be a mean of several steps.
    logged = [row for row in history if _FAILED in row]
    worked = next((row["step"] for row in reversed(logged) if row[_FAILED] < 1), 0)
    if logged[-1]["step"] - worked < _MOST_FAILED:
        return None
    return Ending(
        why=f"The judges have failed in {_MOST_FAILED} steps in a row, up to step {history[-1]['step']}, and "
        "nothing was learned from these.",
        again=True,
    )
