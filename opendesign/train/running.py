"""What both trainings share: a folder that belongs to one training, resuming, and what is left at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from opendesign.errors import UsageError
from opendesign.train import cards, curves
from opendesign.train.cards import Provenance
from opendesign.train.config import Settings

__all__ = ["Outcome", "take_folder", "train"]

SETTINGS = "training.json"
Outcome = dict[str, Any]


def take_folder(settings: Settings, stage: str) -> None:
    """Make the folder this training's own. Raises ``UsageError`` where another one's is there."""
    file = settings.folder / SETTINGS
    mine = {"stage": stage, "settings": settings.hash}
    try:
        if file.is_file():
            theirs = json.loads(file.read_text(encoding="utf-8"))
            if theirs != mine:
                raise UsageError(
                    f"{settings.out} holds a training with other settings: name another folder as 'out'."
                )
            return
        settings.folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(mine), encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"The folder {settings.out} cannot be used: {error}.") from error


def train(trainer: Any, settings: Settings, made: Provenance) -> Outcome:
    """Run a trainer to its end, from its last checkpoint where there is one; save model, card and curves."""
    from transformers.trainer_utils import get_last_checkpoint

    folder = settings.folder
    trainer.add_callback(curves.keep(folder))
    trainer.add_callback(cards.keep(made))
    begun = get_last_checkpoint(str(folder))
    trainer.train(resume_from_checkpoint=begun)
    trainer.save_model(str(folder / "model"))
    state = trainer.state
    if trainer.is_world_process_zero():
        cards.write(folder / "model", made, state)
        curves.draw(state.log_history, folder)
    return {
        "model": str(folder / "model"),
        "curves": str(folder / curves.PICTURE),
        "steps": state.global_step,
        "of": state.max_steps,
        "resumed": Path(begun).name if begun else None,
    }
