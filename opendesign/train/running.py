"""What both trainings share: a folder that belongs to one training, resuming, and what is left at the end."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opendesign.errors import UsageError
from opendesign.train import cards, curves
from opendesign.train.cards import Provenance
from opendesign.train.config import Settings, Stage, is_main
from opendesign.train.heldout import Ending

__all__ = ["Outcome", "take_folder", "train"]

SETTINGS = "training.json"
#: model, curves (paths), steps, of (how many there were to be), resumed (checkpoint or None), ended (why a
#: guard ended it, or None).
Outcome = dict[str, Any]
_TRAINERS_OWN = ("optimizer*", "scheduler*", "rng_state*", "trainer_state.json", "scaler*")

log = logging.getLogger("opendesign.train")


def take_folder(settings: Settings, stage: Stage, made_of: Mapping[str, str]) -> Outcome | None:
    """Make the folder this training's own; the outcome, where it has come to its end already.

    ``made_of`` is what it is made from beside the settings, name → hash. Raises ``UsageError`` where another
    training is in the folder.
    """
    file = settings.folder / SETTINGS
    mine = {"stage": stage, "settings": settings.hash, **made_of}
    try:
        if not file.is_file():
            if is_main():
                settings.folder.mkdir(parents=True, exist_ok=True)
                _write(file, {"made_of": mine})
            return None
        kept = json.loads(file.read_text(encoding="utf-8"))
        theirs = dict(kept.get("made_of", {}))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"The folder {settings.out} cannot be used: {error}.") from error
    other = [name for name in mine if mine[name] != theirs.get(name)]
    if other and is_main():  # elsewhere a copy of the same file may have another date
        raise UsageError(
            f"{settings.out} holds a training with other {', '.join(other)}: name another folder as 'out'."
        )
    outcome: Outcome | None = kept.get("outcome")
    return outcome


def train(trainer: Any, settings: Settings, made: Provenance, guard: Any = None) -> Outcome:
    """Run a trainer to its end, from its last checkpoint where there is one; save model, card and curves.

    ``guard`` is a callback with an ``ending`` (see ``heldout.watch``). Of a training that may go on after it
    the outcome is not kept: the same command goes on.
    """
    folder, model = settings.folder, settings.folder / "model"
    begun, state = _last_checkpoint(folder)
    if begun and 0 < state.max_steps <= state.global_step:  # the trainer would make one step more
        trainer.state = state
        if trainer.is_world_process_zero():
            shutil.copytree(begun, model, ignore=shutil.ignore_patterns(*_TRAINERS_OWN), dirs_exist_ok=True)
    else:
        if begun:
            trainer.args.eval_on_start = False  # it was done, and paid for
        trainer.add_callback(curves.keep(folder))
        trainer.add_callback(cards.keep(made))
        trainer.train(resume_from_checkpoint=str(begun) if begun else None)
        trainer.save_model(str(model))
    ending: Ending | None = getattr(guard, "ending", None)
    outcome = {
        "model": str(model),
        "curves": str(folder / curves.PICTURE),
        "steps": trainer.state.global_step,
        "of": trainer.state.max_steps,
        "resumed": begun.name if begun else None,
        "ended": ending.why if ending else None,
    }
    if trainer.is_world_process_zero():
        for place in (model, folder):
            cards.write(place, made, trainer.state)
        curves.draw(trainer.state.log_history, folder)
        if ending is None or not ending.again:
            file = folder / SETTINGS
            _write(file, {**json.loads(file.read_text(encoding="utf-8")), "outcome": outcome})
    return outcome


def _last_checkpoint(folder: Path) -> tuple[Path | None, Any]:
    """The newest checkpoint that is whole, and the trainer's state in it, which is written last."""
    from transformers import TrainerState

    found = [(place.name.removeprefix("checkpoint-"), place) for place in folder.glob("checkpoint-*")]
    for _, place in sorted(((int(step), place) for step, place in found if step.isdecimal()), reverse=True):
        try:
            return place, TrainerState.load_from_json(str(place / "trainer_state.json"))
        except (OSError, ValueError, TypeError) as error:
            log.warning("%s is damaged and left aside: %s.", place, error)
    return None, None


def _write(file: Path, document: Any) -> None:
    made = file.with_suffix(f".{os.getpid()}")  # a reader sees all of it or the one before
    made.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    made.replace(file)
