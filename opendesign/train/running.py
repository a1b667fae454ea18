"""What both trainings share: a folder that belongs to one training, resuming, and what is left at the end."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from opendesign.errors import UsageError
from opendesign.train import cards, curves
from opendesign.train.cards import Provenance
from opendesign.train.config import Settings, Stage

__all__ = ["Outcome", "take_folder", "train"]

SETTINGS = "training.json"
#: model, curves (paths), steps, of (how many there were to be), resumed (checkpoint or None).
Outcome = dict[str, Any]
_TRAINERS_OWN = ("optimizer*", "scheduler*", "rng_state*", "trainer_state.json", "scaler*")


def take_folder(settings: Settings, stage: Stage) -> Outcome | None:
    """Make the folder this training's own; the outcome, where it has come to its end already.

    Raises ``UsageError`` where another training is in the folder.
    """
    file, mine = settings.folder / SETTINGS, {"stage": stage, "settings": settings.hash}
    try:
        if not file.is_file():
            settings.folder.mkdir(parents=True, exist_ok=True)
            _write(file, mine)
            return None
        theirs = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"The folder {settings.out} cannot be used: {error}.") from error
    if not isinstance(theirs, dict) or {name: theirs.get(name) for name in mine} != mine:
        raise UsageError(
            f"{settings.out} holds a training with other settings: name another folder as 'out'."
        )
    outcome: Outcome | None = theirs.get("outcome")
    return outcome


def train(trainer: Any, settings: Settings, stage: Stage, made: Provenance) -> Outcome:
    """Run a trainer to its end, from its last checkpoint where there is one; save model, card and curves."""
    from transformers.trainer_utils import get_last_checkpoint

    folder, model = settings.folder, settings.folder / "model"
    begun = get_last_checkpoint(str(folder))
    done = _all_steps(Path(begun)) if begun else None
    if begun and done:  # the trainer would make one step more
        trainer.state = done
        shutil.copytree(begun, model, ignore=shutil.ignore_patterns(*_TRAINERS_OWN), dirs_exist_ok=True)
    else:
        trainer.add_callback(curves.keep(folder))
        trainer.add_callback(cards.keep(made))
        trainer.train(resume_from_checkpoint=begun)
        trainer.save_model(str(model))
    outcome = {
        "model": str(model),
        "curves": str(folder / curves.PICTURE),
        "steps": trainer.state.global_step,
        "of": trainer.state.max_steps,
        "resumed": Path(begun).name if begun else None,
    }
    if trainer.is_world_process_zero():
        for place in (model, folder):
            cards.write(place, made, trainer.state)
        curves.draw(trainer.state.log_history, folder)
        _write(folder / SETTINGS, {"stage": stage, "settings": settings.hash, "outcome": outcome})
    return outcome


def _all_steps(checkpoint: Path) -> Any | None:
    """The trainer's state of a checkpoint after the last step; None where there are steps to make."""
    from transformers import TrainerState

    try:
        state = TrainerState.load_from_json(str(checkpoint / "trainer_state.json"))
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{checkpoint} is damaged: delete it to go on from the one before.") from error
    return state if state.global_step >= state.max_steps else None


def _write(file: Path, document: Any) -> None:
    made = file.with_suffix(f".{os.getpid()}")  # several processes train together
    made.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    made.replace(file)
