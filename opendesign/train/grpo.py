"""``opendesign train grpo``: TRL's GRPO with the agentic reward and the paper's settings."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from opendesign.errors import UsageError
from opendesign.train import AgenticReward, cards
from opendesign.train.config import HeldOut, Settings, trainer_settings
from opendesign.train.heldout import watch
from opendesign.train.loading import load_model, need_extra
from opendesign.train.prompts import Asked, ask, rows_for
from opendesign.train.running import Outcome, take_folder, train
from opendesign.train.sft import configured
from opendesign.train.trl import HELD_OUT, for_trl

__all__ = ["run_grpo"]


def run_grpo(settings: Settings, *, allow_test_cases: bool = False) -> Outcome:
    """Train the model by the judges; the same call again resumes.

    Raises ``UsageError`` for what cannot be done as asked, before the model is loaded.
    """
    need_extra()
    apart = settings.prompts.held_out if settings.held_out else 0
    asked = ask(settings.prompts, held_out=apart, allow_test_cases=allow_test_cases)
    arguments = trainer_settings("grpo", settings)
    with ExitStack() as open_rewards:
        reward = open_rewards.enter_context(reward_of(settings.reward))
        beside = None
        if settings.held_out is not None:
            beside = open_rewards.enter_context(held_out_reward(settings.held_out, settings.reward))
        if outcome := take_folder(settings, "grpo"):
            return outcome
        trainer = _trainer(settings, arguments, asked, reward, beside)
        return train(trainer, settings, "grpo", _provenance(settings, asked, reward, beside))


def reward_of(settings: Mapping[str, Any]) -> AgenticReward:
    """The reward of a [reward] table. Raises ``UsageError`` for a setting that there is none of."""
    try:
        return AgenticReward(**settings)
    except TypeError as error:
        raise UsageError(f"[reward]: {error}.") from error


def held_out_reward(held_out: HeldOut, training: Mapping[str, Any]) -> AgenticReward:
    """The held-out judge. Raises ``UsageError`` where it is the training judge, or of its model's family."""
    theirs = {model.split("/")[0]: model for model in training.get("judge_models", {}).values()}
    for model in held_out.judge_models.values():
        if (family := model.split("/")[0]) in theirs:
            raise UsageError(
                f"[held_out]: {model} is of the family of the training judge {theirs[family]} and overlooks "
                "what that one overlooks: name a model of another provider."
            )
    if tuple(training.get("judges", ())) == held_out.judges and not held_out.judge_models:
        raise UsageError("[held_out]: these are the training judges themselves: name another judge.")
    return reward_of(
        {"judges": held_out.judges, "judge_models": dict(held_out.judge_models), **held_out.settings}
    )


def _trainer(
    settings: Settings,
    arguments: dict[str, Any],
    asked: Asked,
    reward: AgenticReward,
    beside: AgenticReward | None,
) -> Any:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    shuffle = settings.seed if settings.shuffled else None
    judges = for_trl(reward, settings.mode, held_out=beside, shuffle=shuffle)
    arguments = {**arguments, **judges.settings}
    if settings.held_out is not None:
        at_once = min(settings.per_device, len(asked.held_out))
        arguments = {"per_device_eval_batch_size": at_once} | arguments
        arguments |= {
            "eval_strategy": "steps",
            "eval_steps": settings.held_out.every,
            "eval_on_start": True,
            "num_generations_eval": 1,
        }
    model, tokenizer = load_model(settings.model)
    chat = tokenizer.chat_template is not None
    how: dict[str, Any] = {"chat": chat, "system": settings.prompts.system}
    held_out = rows_for(asked.held_out, **how | {HELD_OUT: True})
    trainer = GRPOTrainer(
        model,
        judges.functions,
        configured(GRPOConfig, arguments),
        train_dataset=Dataset.from_list(rows_for(asked.train, **how | {HELD_OUT: False})),
        eval_dataset=Dataset.from_list(held_out) if held_out else None,
        processing_class=tokenizer,
    )
    if settings.held_out is not None:
        trainer.add_callback(watch(settings.held_out.limit))
    return trainer


def _provenance(
    settings: Settings, asked: Asked, reward: AgenticReward, beside: AgenticReward | None
) -> cards.Provenance:
    facts: dict[str, object] = {
        "Base": cards.short(settings.model),
        "Stage": f"GRPO, mode {settings.mode}" + (", control: rewards shuffled" if settings.shuffled else ""),
        **cards.about_reward(reward, settings.reward.get("judge_models", {})),
        **cards.about_prompts(asked),
        "Settings": settings.hash,
    }
    if beside is not None and settings.held_out is not None:
        for name, value in cards.about_reward(beside, settings.held_out.judge_models).items():
            facts[f"Held out: {name.lower()}"] = value
    title = f"{Path(settings.out).name}: trained by judges"
    return cards.Provenance(title=title, facts=facts, test_cases=asked.test_cases)
