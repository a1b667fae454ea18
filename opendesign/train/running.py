"""Running a trainer: from its last checkpoint to its end, and what is left there."""

from __future__ import annotations

import shutil
from typing import Any

from opendesign.errors import UsageError
from opendesign.train import cards, curves, telling
from opendesign.train.cards import Provenance
from opendesign.train.config import Settings
from opendesign.train.folder import MODEL, Outcome, held, keep_outcome, last_checkpoint, placed
from opendesign.train.heldout import Ending, points

__all__ = ["train"]

_TRAINERS_OWN = ("optimizer*", "scheduler*", "rng_state*", "trainer_state.json", "scaler*")


def train(trainer: Any, settings: Settings, made: Provenance, guard: Any = None) -> Outcome:
    """Run a trainer to its end, from its last checkpoint where there is one; save model, card and curves.

    ``guard`` is a callback with an ``ending`` (see ``heldout.watch``). Of a training that may go on after it
    the outcome is not kept: the same command goes on. Raises ``UsageError`` where the folder is in use, and
    where what was learned are no numbers.
    """
    with held(settings.folder):
        return _train(trainer, settings, made, guard)


def _train(trainer: Any, settings: Settings, made: Provenance, guard: Any) -> Outcome:
    folder, model = settings.folder, settings.folder / MODEL
    begun, state = last_checkpoint(folder)
    if begun and 0 < state.max_steps <= state.global_step:  # the trainer would make one step more
        trainer.state = state
        if trainer.is_world_process_zero():
            shutil.copytree(begun, model, ignore=shutil.ignore_patterns(*_TRAINERS_OWN), dirs_exist_ok=True)
    else:
        if begun:
            trainer.args.eval_on_start = False  # it was done, and paid for
        trainer.add_callback(curves.keep(folder, made.title))
        trainer.add_callback(cards.keep(made))
        telling.quiet(trainer)
        trainer.train(resume_from_checkpoint=str(begun) if begun else None)
        _refuse_what_is_no_number(trainer)
        trainer.save_model(str(model))
    ending: Ending | None = getattr(guard, "ending", None)
    found = points(trainer.state.log_history)
    limit = settings.held_out.limit if settings.held_out else None
    outcome = {
        "steps": trainer.state.global_step,
        "of": trainer.state.max_steps,
        "resumed": begun.name if begun else None,
        "ended": ending.why if ending else None,
        "limit_acted": any(one.gap is not None for one in found) if found and limit is not None else None,
    }
    if trainer.is_world_process_zero():
        for place in (model, folder):
            cards.write(place, made, trainer.state, outcome["ended"])
        curves.draw(trainer.state.log_history, folder, made.title)
        if ending is None or not ending.again:
            keep_outcome(folder, outcome)
    return placed(folder, outcome)


def _refuse_what_is_no_number(trainer: Any) -> None:
    if not all(weights.isfinite().all() for weights in trainer.model.parameters()):
        raise UsageError(
            f"At step {trainer.state.global_step} the model's weights are no numbers any more: take a "
            "smaller learning rate, and another folder as 'out'."
        )
