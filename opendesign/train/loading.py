"""A language model from this machine: a folder as transformers writes it, or one .gguf file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.errors import UsageError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

__all__ = ["load_model", "need_extra"]


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


def load_model(path: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Model and tokenizer, nothing fetched from anywhere. Raises ``UsageError`` where there is none."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = Path(path).expanduser()
    quantised = place.suffix == ".gguf" and place.is_file()
    if not quantised and not (place / "config.json").is_file():
        raise UsageError(
            f"There is no model at {path}: give a folder with config.json and weights, or a .gguf file."
        )
    how: dict[str, Any] = {"local_files_only": True}
    if quantised:
        how["gguf_file"], place = place.name, place.parent
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **how)
        model = AutoModelForCausalLM.from_pretrained(place, dtype="float32" if quantised else "auto", **how)
    except Exception as error:  # of a damaged file every reader complains in its own way
        raise UsageError(f"The model at {path} cannot be loaded: {' '.join(str(error).split())}") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return (_saveable(model) if quantised else model), tokenizer


def _saveable(model: Any) -> PreTrainedModel:
    """The same weights in a model that was never quantised: transformers saves no other."""
    from transformers import AutoModelForCausalLM

    config = model.config
    del config.quantization_config
    plain = AutoModelForCausalLM.from_config(config)
    plain.load_state_dict(model.state_dict())
    plain.generation_config = model.generation_config
    made: PreTrainedModel = plain
    return made
