"""What a training says on its way: a line a step, an evaluation, and a checkpoint, on stderr."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opendesign.train.heldout import points

if TYPE_CHECKING:
    from transformers import TrainerCallback

__all__ = ["evaluation_line", "hush", "quiet", "step_line", "tell"]

_CHANNEL = ("rewards/", "/mean")


def hush() -> None:
    """No warnings of the libraries beneath, which a user cannot mend; ``python -W`` has them back."""
    if not sys.warnoptions:
        warnings.filterwarnings("ignore", module=r"(transformers|trl|accelerate|torch)(\.|$)")


def quiet(trainer: Any) -> None:
    """Our lines instead of the trainer's raw numbers and bars."""
    from transformers import PrinterCallback, ProgressCallback
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # every checkpoint would draw one
    for theirs in (ProgressCallback, PrinterCallback):
        trainer.remove_callback(theirs)
    trainer.add_callback(tell())


def tell() -> TrainerCallback:
    """Prints the lines, in one of the processes."""
    from transformers import TrainerCallback

    class Tell(TrainerCallback):  # type: ignore[misc]
        def on_log(
            self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any
        ) -> None:
            _say(state, step_line(logs or {}, state.global_step, state.max_steps))

        def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            _say(state, evaluation_line(state.log_history, state.global_step))

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            _say(state, f"Step {state.global_step}: checkpoint-{state.global_step} is saved.")

    return Tell()


def _say(state: Any, line: str | None) -> None:
    if line and state.is_world_process_zero:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def step_line(logged: Mapping[str, Any], step: int, of: int) -> str | None:
    """What was logged of a step; None where nothing of it is of interest."""
    known = {
        name: value
        for name, value in logged.items()
        if isinstance(value, (int, float)) and math.isfinite(value)
    }
    shown = _of_judges(known) if any(name.startswith(_CHANNEL[0]) for name in logged) else _of_fitting(known)
    return f"Step {step} of {of}: {', '.join(shown)}" if shown else None


def _of_judges(known: Mapping[str, float]) -> list[str]:
    before, after = _CHANNEL
    formats = {
        "reward": "reward {:.3f}",
        **{
            name: f"{name.removeprefix(before).removesuffix(after)} {{:.2f}}"
            for name in known
            if name.startswith(before) and name.endswith(after)
        },
        "judges/gated": "{:.0%} fail the gate",
        "judges/unscored": "{:.0%} unscored",
        "judges/cost_usd": "${:.3f}",
        "step_time": "{:.0f} s",
    }
    shown = [form.format(known[name]).replace("%", " %") for name, form in formats.items() if name in known]
    # Where a whole batch abstains, TRL logs a reward all the same.
    return [*shown, "the judges failed"] if known.get("judges/failed") else shown


def _of_fitting(known: Mapping[str, float]) -> list[str]:
    formats = {"loss": "loss {:.3f}", "mean_token_accuracy": "token accuracy {:.2f}"}
    return [form.format(known[name]) for name, form in formats.items() if name in known]


def evaluation_line(history: Sequence[Mapping[str, Any]], step: int) -> str:
    """What the newest evaluation, at ``step``, has found on the held-out prompts."""
    found = [point for point in points(history) if point.step == step]
    if not found:
        return f"Step {step}: held-out prompts: most have no score of both judges, the gap is unknown"
    point = found[-1]
    training, held_out = _risen(point.training_rise), _risen(point.held_out_rise)
    gap = "unknown" if point.gap is None else f"{point.gap:z.1f}"
    return (
        f"Step {step}: held-out prompts: training judge {point.training:.3f} ({training}), "
        f"held-out judge {point.held_out:.3f} ({held_out}), gap {gap}"
    )


def _risen(deviations: float | None) -> str:
    return "no spread at step 0" if deviations is None else f"{deviations:+z.1f} sd"
