"""A training's folder: whose it is, who writes to it now, and the checkpoint to go on from."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opendesign.canonical import plain
from opendesign.errors import UsageError
from opendesign.train.config import Settings, Stage, is_main

__all__ = ["Outcome", "held", "keep_outcome", "last_checkpoint", "placed", "take_folder"]

SETTINGS, CURVES, MODEL, BASE = "training.json", "curves.png", "model", "base"
#: model, curves (paths), steps, of (how many there were to be), resumed (checkpoint or None), ended (why a
#: guard ended it, or None), limit_acted (whether there was a gap to hold to the limit; None where there is no
#: limit).
Outcome = dict[str, Any]

log = logging.getLogger("opendesign.train")


def take_folder(settings: Settings, stage: Stage, made_of: Mapping[str, str]) -> Outcome | None:
    """Make the folder this training's own; the outcome, where it has come to its end already.

    ``made_of`` is what it is made from beside the settings, name → hash. Raises ``UsageError`` where another
    training, which has got somewhere, is in the folder.
    """
    file = settings.folder / SETTINGS
    mine = {"stage": stage, "settings": settings.hash, **made_of}
    said = plain(dataclasses.replace(settings, out=""))
    try:
        kept = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        theirs = dict(kept.get("made_of", {}))
        other = [name for name in mine if mine[name] != theirs.get(name)]
        if other and is_main():  # elsewhere a copy of the same file may have another date
            if kept.get("outcome") or next(settings.folder.glob("checkpoint-*"), None):
                raise UsageError(_not_ours(settings, other, _changed(kept.get("settings"), said)))
            settings.folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(settings.folder / BASE, ignore_errors=True)
            _write(file, {"made_of": mine, "settings": said})
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"The folder {settings.out} cannot be used: {error}.") from error
    outcome = kept.get("outcome")
    if other or not isinstance(outcome, dict) or not outcome.keys() >= {"steps", "of", "resumed", "ended"}:
        return None
    there = (settings.folder / MODEL / "config.json").is_file()
    return placed(settings.folder, outcome) if there else None


def placed(folder: Path, outcome: Mapping[str, Any]) -> Outcome:
    """The outcome with the paths of what was made: a folder may be moved."""
    return {"model": str(folder / MODEL), "curves": str(folder / CURVES), **outcome}


def keep_outcome(folder: Path, outcome: Mapping[str, Any]) -> None:
    """Keep how the training has ended, for whoever gives the same command again."""
    kept = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    _write(folder / SETTINGS, {**kept, "outcome": dict(outcome)})


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """The folder is this training's alone. Raises ``UsageError`` where another process trains into it."""
    import fcntl

    if not is_main():
        yield
        return
    with (folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"Another process trains into {folder}: wait for it or stop it.") from None
        yield


def last_checkpoint(folder: Path) -> tuple[Path | None, Any]:
    """The newest checkpoint that is whole, and the trainer's state in it."""
    from transformers import TrainerState

    found = [(place.name.removeprefix("checkpoint-"), place) for place in folder.glob("checkpoint-*")]
    for step, place in sorted(
        ((int(step), place) for step, place in found if step.isdecimal()), reverse=True
    ):
        try:
            state = TrainerState.load_from_json(str(place / "trainer_state.json"))
            if state.global_step != step or not isinstance(state.log_history, list):
                raise ValueError("its state is another's")
            _refuse_damaged(place)
        except Exception as error:  # of a damaged file every reader complains in its own way
            log.warning("%s is damaged and left aside: %s.", place, " ".join(str(error).split()))
        else:
            return place, state
    return None, None


def _refuse_damaged(checkpoint: Path) -> None:
    """Raise where weights or the optimizer's state are missing or cut off."""
    from safetensors import safe_open

    for kind in (
        ("*.safetensors", "*.bin", "pytorch_model_fsdp*", "global_step*"),
        ("optimizer*", "global_step*"),
    ):
        if not any(next(checkpoint.glob(pattern), None) for pattern in kind):
            raise FileNotFoundError(f"there is no {kind[0]}")
    for file in checkpoint.glob("*.safetensors"):
        with safe_open(file, framework="pt"):
            pass
    for file in [*checkpoint.glob("*.pt"), *checkpoint.glob("*.pth")]:
        if not zipfile.is_zipfile(file):
            raise ValueError(f"{file.name} is cut off")


def _not_ours(settings: Settings, other: list[str], fields: list[str]) -> str:
    named = ", ".join(
        f"settings ({', '.join(fields)})" if name == "settings" and fields else name for name in other
    )
    return f"{settings.out} holds a training with other {named}: name another folder as 'out'."


def _changed(theirs: Any, mine: Any, within: str = "") -> list[str]:
    """Names of the fields that differ, those of tables with the table's."""
    if not (isinstance(theirs, dict) and isinstance(mine, dict)):
        return [within] if within and theirs != mine else []
    start = f"{within}." if within else ""
    return [
        one
        for name in dict.fromkeys([*mine, *theirs])
        for one in _changed(theirs.get(name), mine.get(name), f"{start}{name}")
    ]


def _write(file: Path, document: Any) -> None:
    made = file.with_suffix(f".{os.getpid()}")  # a reader sees all of it or the one before
    made.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    made.replace(file)
