"""A language model from this machine: a folder as transformers writes it, or one .gguf file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.canonical import digest, hash_of
from opendesign.errors import UsageError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

__all__ = ["ends_of", "fingerprint", "load_model", "need_extra", "plain_folder", "set_up"]

_WEIGHTS = (".safetensors", ".bin", ".gguf")


def need_extra() -> None:
    """Raise ``UsageError`` where torch or TRL are not installed, or TRL is too old."""
    try:
        import torch  # noqa: F401
        import trl
    except ImportError as error:
        raise UsageError(
            f"Training needs {error.name}: run pip install 'opendesign[train]' (judging does not need it)."
        ) from None
    version = tuple(int(part) for part in trl.__version__.split(".")[:2])
    if version < (1, 16):
        raise UsageError(
            f"Training needs TRL 1.16 or newer, and {trl.__version__} is here: pip install -U trl."
        )


@contextlib.contextmanager
def set_up() -> Iterator[None]:
    """Where a trainer is made. Raises ``UsageError`` for what a model lacks, in the library's words."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:  # a chat template, an end of answers: each lack shows in its own way
        raise UsageError(f"The training cannot be set up: {' '.join(str(error).split())}") from error


def load_model(path: str, dtype: str = "float32") -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Model and tokenizer, nothing fetched from anywhere. Raises ``UsageError`` where there is none."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = _found(path)
    quantised = place.is_file()
    how: dict[str, Any] = {"local_files_only": True}
    if quantised:
        how["gguf_file"], place = place.name, place.parent
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **how)
        kind = "float32" if quantised else dtype
        model = AutoModelForCausalLM.from_pretrained(place, dtype=kind, **how)
    except Exception as error:  # of a damaged file every reader complains in its own way
        raise UsageError(f"The model at {path} cannot be loaded: {' '.join(str(error).split())}") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return (_saveable(model, dtype) if quantised else model), tokenizer


def plain_folder(path: str, to: Path, dtype: str) -> str:
    """The model's folder. Of a .gguf file one is made at ``to``: TRL loads its reference model by name."""
    if _found(path).is_dir():
        return path
    if not to.is_dir():
        made = to.with_name(f"{to.name}.{os.getpid()}")
        for part in load_model(path, dtype):
            part.save_pretrained(made)
        made.rename(to)
    return str(to)


def fingerprint(path: str) -> str:
    """Of a model's files, weights by size and date, others by content: changes when they do."""
    place = _found(path)
    files = [place] if place.is_file() else sorted(file for file in place.iterdir() if file.is_file())
    found: list[object] = []
    for file in files:
        if file.suffix in _WEIGHTS:
            found.append([file.name, file.stat().st_size, int(file.stat().st_mtime)])
        elif file.suffix in (".json", ".jinja"):
            found.append([file.name, digest(file.read_bytes())])
    return hash_of(found)


def ends_of(model: Any, tokenizer: Any) -> set[int]:
    """The tokens at which TRL ends an answer: the tokenizer's, and those that the model declares."""
    declared = model.generation_config.eos_token_id
    ends = {tokenizer.eos_token_id, *(declared if isinstance(declared, list) else [declared])}
    return ends - {None}


def _found(path: str) -> Path:
    place = Path(path).expanduser()
    if not (place / "config.json").is_file() and not (place.suffix == ".gguf" and place.is_file()):
        raise UsageError(
            f"There is no model at {path}: give a folder with config.json and weights, or a .gguf file."
        )
    return place


def _saveable(model: Any, dtype: str) -> PreTrainedModel:
    """The same weights in a model that was never quantised: transformers saves no other."""
    import torch
    from transformers import AutoModelForCausalLM

    config = model.config
    del config.quantization_config
    plain = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype))
    plain.load_state_dict(model.state_dict())
    plain.generation_config = model.generation_config
    made: PreTrainedModel = plain
    return made
