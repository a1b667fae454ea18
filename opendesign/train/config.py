"""One TOML file for ``opendesign train sft`` and ``grpo``; what it leaves out is as in the paper.

    model = "models/qwen3-4b"        # a folder as transformers writes it, or a .gguf file
    out = "runs/grpo"                # checkpoints, curves, card; the same command again resumes
    [reward]                         # settings of AgenticReward
    judges = ["execution", "static"]
    judge_models = { static = "openai/gpt-5" }
    [held_out]                       # another judge, on prompts that are not trained on
    judges = ["execution", "static"]
    judge_models = { static = "anthropic/claude-sonnet-4-5" }
    [trainer]                        # any field of TRL's GRPOConfig or SFTConfig
    logging_steps = 1

The settings of Code Aesthetics with Agentic Reward Feedback (arXiv 2510.23272). SFT: 3 epochs, AdamW, 10 %
linear warm-up and then cosine, peak 1e-5, batch 128, length 8K. GRPO-AR: constant 3e-6, 64 prompts with 8
answers each, KL 0.001, clip 0.5. How many steps the paper does not tell: 200 are our own choice.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from opendesign.canonical import hash_of, plain
from opendesign.cases.reading import read_toml, shown
from opendesign.errors import UsageError
from opendesign.train.trl import Mode

__all__ = [
    "GRPO",
    "SFT",
    "HeldOut",
    "Prompts",
    "Settings",
    "Stage",
    "is_main",
    "processes",
    "read_settings",
    "spread",
    "trainer_settings",
]

Stage = Literal["sft", "grpo"]
SFT: Mapping[str, Any] = {
    "num_train_epochs": 3,
    "learning_rate": 1e-5,
    "lr_scheduler_type": "cosine",
    "warmup_steps": 0.1,  # of all steps
    "max_length": 8192,
}
GRPO: Mapping[str, Any] = {
    "max_steps": 200,  # ours; where [trainer] names num_train_epochs, it counts instead
    "learning_rate": 3e-6,
    "lr_scheduler_type": "constant",
    "beta": 0.001,
    "epsilon": 0.5,
    "max_completion_length": 8192,
    "logging_steps": 1,
}
#: Fields of TRL's that this file has a word of its own for.
_OURS: Mapping[str, str] = {
    "output_dir": "out",
    "seed": "seed",
    "per_device_train_batch_size": "per_device",
    "gradient_accumulation_steps": "'batch' (SFT) or 'prompts_a_step' (GRPO)",
    "num_generations": "answers",
    "eval_strategy": "[held_out]",
    "eval_steps": "'every' of [held_out]",
    "reward_weights": "'weights' of [reward]",
    "multi_objective_aggregation": "mode",
}
#: Fields of TRL's without which a training could not be guarded or resumed.
_NEEDED = (
    "eval_delay",
    "eval_on_start",
    "logging_strategy",
    "num_generations_eval",
    "resume_from_checkpoint",
    "save_only_model",
    "save_strategy",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """What is asked. ``held_out`` of them, spread over the categories, are for the held-out judge alone."""

    benchmark: str = "opendesign-train"
    file: str | None = None  # JSONL with prompt, and category, case_id, requirements: instead of a benchmark
    # Said before every prompt, "": nothing. Default: to a model with a chat template what a run says, to
    # another nothing.
    system: str | None = None
    limit: int | None = None
    held_out: int = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """A reward of another family, evaluated every so many steps; see ``heldout.py`` for gap and limit.

    ``family`` is who made its models, where their names do not tell.
    """

    every: int = 20
    limit: float | None = 1.0  # widest gap, in standard deviations at step 0; without one it only warns
    judges: tuple[str, ...]
    judge_models: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)  # others of AgenticReward
    family: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A whole file. ``data`` (JSONL) is what SFT learns from; ``per_device`` is rows on a device at once.

    ``dtype`` is of the weights that are trained: in bfloat16 small updates are lost, at half the memory.
    """

    model: str
    out: str
    dtype: Literal["float32", "bfloat16"] = "float32"
    seed: int = 0
    data: str | None = None
    prompts: Prompts = field(default_factory=Prompts)
    prompts_a_step: int = 64
    answers: int = 8  # a prompt
    batch: int = 128  # rows a step of SFT
    per_device: int = 8
    mode: Mode = "gdpo"
    shuffled: bool = False  # a control: the rewards of a prompt's answers dealt out among them at random
    reward: Mapping[str, Any] = field(default_factory=dict)
    held_out: HeldOut | None = None
    trainer: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return Path(self.out).expanduser()

    @property
    def hash(self) -> str:
        """Of all but the folder: a folder holds one training."""
        return hash_of(plain(dataclasses.replace(self, out="")))


def read_settings(file: Path) -> Settings:
    """The file, checked. Raises ``UsageError`` that names the line and the field."""
    settings = read_toml(file, Settings)
    counts = {name: getattr(settings, name) for name in ("prompts_a_step", "answers", "batch", "per_device")}
    for name, count in counts.items():
        if count < 1:
            raise UsageError(f"{shown(file)}: '{name}' is {count}; it has to be 1 or more.")
    if settings.answers < 2:
        raise UsageError(
            f"{shown(file)}: 'answers' is 1, but GRPO compares the answers to one prompt: 2 or more."
        )
    if settings.held_out is not None and (settings.held_out.every < 1 or settings.prompts.held_out < 2):
        raise UsageError(
            f"{shown(file)}: a held-out judge needs 'every' from 1 and 'prompts.held_out' from 2."
        )
    if settings.held_out is not None and not (settings.held_out.limit is None or settings.held_out.limit > 0):
        raise UsageError(f"{shown(file)}: the 'limit' of [held_out] is a number above 0.")
    for name in settings.trainer.keys() & _OURS.keys():
        word = _OURS[name] if "'" in _OURS[name] or "[" in _OURS[name] else f"'{_OURS[name]}'"
        raise UsageError(f"{shown(file)}: '{name}' of [trainer] is said as {word} here.")
    for name in settings.trainer:
        if name in _NEEDED:
            raise UsageError(
                f"{shown(file)}: '{name}' of [trainer] cannot be set: guards and resuming depend on it."
            )
    for name in ("max_steps", "num_train_epochs"):
        if (value := settings.trainer.get(name, 1)) is not None and not _above_nought(value):
            raise UsageError(f"{shown(file)}: '{name}' of [trainer] is {value!r}; it has to be above 0.")
    return settings


def _above_nought(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def processes() -> int:
    """How many train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main() -> bool:
    """Whether this is the one of them that speaks and writes."""
    return os.environ.get("RANK", "0") == "0"


def spread(total: int, per_device: int) -> int:
    """Steps to gather gradients over, so that ``total`` rows make a step on all devices together.

    Raises ``UsageError`` where they do not divide.
    """
    steps, rest = divmod(total, per_device * (devices := processes()))
    if rest or not steps:
        raise UsageError(
            f"{total} rows a step cannot be split into {per_device} on each of {devices} devices: change "
            "'per_device'."
        )
    return steps


def trainer_settings(stage: Stage, settings: Settings) -> dict[str, Any]:
    """Fields of TRL's configuration: the paper's, under the file's.

    Raises ``UsageError`` where several GPUs would be one process's, which TRL's trainers do not do.
    """
    import torch
    from transformers import TrainingArguments

    seen = torch.cuda.device_count()
    if seen > 1 and "WORLD_SIZE" not in os.environ and not settings.trainer.get("use_cpu"):
        raise UsageError(
            f"{seen} GPUs are visible to one process: run accelerate launch -m opendesign train {stage} …, "
            "or show it one with CUDA_VISIBLE_DEVICES=0."
        )
    rows = settings.batch if stage == "sft" else settings.prompts_a_step * settings.answers
    gpu = torch.cuda.is_available()
    # TRL trades time for a GPU's memory, under a name that newer versions of transformers have changed.
    known = TrainingArguments.__dataclass_fields__
    recomputing = next(
        name for name in known if name in ("activation_checkpointing", "gradient_checkpointing")
    )
    usual = dict(SFT if stage == "sft" else {**GRPO, "num_generations": settings.answers})
    if "num_train_epochs" in settings.trainer:
        usual.pop("max_steps", None)
    return {
        "output_dir": str(settings.folder),
        "seed": settings.seed,
        "report_to": "none",
        "bf16": gpu,
        "dataloader_pin_memory": gpu,
        **({} if gpu else {recomputing: False}),
        "logging_nan_inf_filter": False,  # what is not a number is not to look like one
        "save_strategy": "steps",
        "save_steps": 20,
        "save_total_limit": 3,
        "per_device_train_batch_size": settings.per_device,
        "gradient_accumulation_steps": spread(rows, settings.per_device),
        **usual,
        **settings.trainer,
    }
