"""``opendesign train grpo``: TRL's GRPO with the agentic reward and the paper's settings."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.canonical import hash_of
from opendesign.errors import UnknownName, UsageError
from opendesign.judging.asking.abilities import asked_name
from opendesign.judging.cards import load_card
from opendesign.train import AgenticReward, cards
from opendesign.train.config import HeldOut, Settings, processes, trainer_settings
from opendesign.train.family import families
from opendesign.train.folder import BASE, Outcome, take_folder
from opendesign.train.heldout import watch
from opendesign.train.loading import ends_of, fingerprint, load_model, need_extra, plain_folder, set_up
from opendesign.train.panel import role_of
from opendesign.train.prompts import Asked, ask, rows_for
from opendesign.train.running import train
from opendesign.train.sft import configured
from opendesign.train.trl import HELD_OUT, for_trl

if TYPE_CHECKING:
    from opendesign.answering.models import Model
    from opendesign.running.journey import Seat

__all__ = ["run_grpo", "steps_of"]


def run_grpo(settings: Settings, *, allow_test_cases: bool = False) -> Outcome:
    """Train the model by the judges; the same call again resumes.

    Raises ``UsageError`` for what cannot be done as asked, before the model is loaded.
    """
    need_extra()
    apart = settings.prompts.held_out if settings.held_out else 0
    asked = ask(settings.prompts, held_out=apart, allow_test_cases=allow_test_cases)
    with ExitStack() as open_rewards:
        reward = open_rewards.enter_context(reward_of(settings.reward))
        beside = None
        if settings.held_out is not None:
            beside = open_rewards.enter_context(held_out_reward(settings.held_out, reward))
        config = _config(settings, asked, reward)
        made = _provenance(settings, config, asked, reward, beside)
        if outcome := take_folder(settings, "grpo", _made_of(settings, asked, reward, beside)):
            return outcome
        trainer = _trainer(settings, config, asked, reward, beside)
        guard = watch(settings.held_out.limit if settings.held_out else None)
        trainer.add_callback(guard)
        return train(trainer, settings, made, guard)


def reward_of(settings: Mapping[str, Any], table: str = "reward") -> AgenticReward:
    """The reward of a table. Raises ``UsageError`` for a setting that there is none of."""
    known = inspect.signature(AgenticReward).parameters
    for name in settings:
        if name not in known:
            raise UnknownName(f"setting of [{table}]", name, known)
    return AgenticReward(**settings)


def held_out_reward(held_out: HeldOut, training: AgenticReward) -> AgenticReward:
    """The held-out judge. Raises ``UsageError`` where it is the training judge, or of its model's family."""
    named: dict[str, Any] = {"judges": held_out.judges, "judge_models": dict(held_out.judge_models)}
    if not any(role_of(load_card(name)) == "execution" for name in held_out.judges):
        named["gate"] = None  # the training has one, and the held-out judge looks at every page
    reward = reward_of({**named, **held_out.settings}, "held_out")
    theirs = [(seat.card.name, _model_name(seat)) for seat in _seats(training)]
    if all((seat.card.name, _model_name(seat)) in theirs for seat in _seats(reward)):
        raise UsageError("[held_out]: these are the training judges themselves: name another judge.")
    for mine in _models(reward):
        for its in _models(training):
            _refuse_related(mine, its, held_out.family)
    return reward


def _refuse_related(mine: Model, its: Model, family: str | None) -> None:
    """Raise ``UsageError`` where two models are of one family; where nobody knows, ``family`` has to tell."""
    families_of_mine, families_of_its = families(mine), families(its)
    if family is not None:
        families_of_mine = frozenset({family.lower()})
    elif unknown := [m.name for m, f in ((mine, families_of_mine), (its, families_of_its)) if not f]:
        raise UsageError(
            f"[held_out]: of which family {unknown[0]} is, its name does not tell: name the family of the "
            "held-out judge's model as 'family'."
        )
    if families_of_mine & families_of_its:
        raise UsageError(
            f"[held_out]: {mine.name} is of the family of the training judge {its.name} and overlooks what "
            "that one overlooks: name a model of another maker."
        )


def _seats(reward: AgenticReward) -> tuple[Seat, ...]:
    return reward.panel.seats


def _models(reward: AgenticReward) -> list[Model]:
    return [seat.model for seat in _seats(reward) if seat.model is not None]


def _model_name(seat: Seat) -> str | None:
    return asked_name(seat.model) if seat.model is not None else None


def _config(settings: Settings, asked: Asked, reward: AgenticReward) -> Any:
    """TRL's configuration. Raises ``UsageError`` where the prompts or the steps do not fit to it."""
    from trl import GRPOConfig

    if settings.shuffled and settings.prompts_a_step % processes():
        raise UsageError(
            "A shuffled control needs all answers to a prompt in one process, and 'prompts_a_step' is no "
            f"multiple of {processes()} processes."
        )
    arguments = {**trainer_settings("grpo", settings), **for_trl(reward, settings.mode).settings}
    if settings.held_out is not None:
        at_once = min(settings.per_device, len(asked.held_out))
        arguments = {"per_device_eval_batch_size": at_once} | arguments
        arguments |= {
            "eval_strategy": "steps",
            "eval_steps": settings.held_out.every,
            "eval_on_start": True,
            "num_generations_eval": 1,
        }
    config = configured(GRPOConfig, arguments)
    steps = steps_of(config, len(asked.train))
    if not steps:
        raise UsageError(
            f"{len(asked.train)} prompts are left to train on, and a step takes "
            f"{_prompts_at_once(config)}: add prompts, or take a smaller 'prompts_a_step'."
        )
    if settings.held_out is not None and settings.held_out.every >= steps:
        raise UsageError(
            f"[held_out]: every {settings.held_out.every} steps never comes in a training of {steps}: take a "
            "smaller 'every'."
        )
    return config


def steps_of(config: Any, prompts: int) -> int:
    """How many steps TRL makes with so many prompts; 0 where they are too few for one."""
    rounds = prompts // _prompts_at_once(config)
    if not rounds or config.max_steps > 0:
        return int(config.max_steps) if rounds else 0
    batches = rounds * config.steps_per_generation * config.num_iterations
    an_epoch: int = math.ceil(batches / config.gradient_accumulation_steps)
    epochs: float = config.num_train_epochs
    return math.ceil(epochs * an_epoch)


def _prompts_at_once(config: Any) -> int:
    """How many prompts are answered before the model is changed."""
    return int(config.generation_batch_size // config.num_generations)


def _trainer(
    settings: Settings, config: Any, asked: Asked, reward: AgenticReward, beside: AgenticReward | None
) -> Any:
    from datasets import Dataset

    with config.main_process_first(local=False):
        base = plain_folder(settings.model, settings.folder / BASE, settings.dtype)
    model, tokenizer = load_model(base, settings.dtype)
    judges = for_trl(
        reward,
        settings.mode,
        held_out=beside,
        ends=ends_of(model, tokenizer),
        shuffle_groups_of=config.num_generations if settings.shuffled else None,
    )
    train_on, held_out = _rows(settings, asked, chat=tokenizer.chat_template is not None)
    with set_up():
        return _trainer_class()(
            model,
            judges.functions,
            config,
            train_dataset=Dataset.from_list(train_on),
            eval_dataset=Dataset.from_list(held_out) if held_out else None,
            processing_class=tokenizer,
        )


def _trainer_class() -> type[Any]:
    from trl import GRPOTrainer

    class Resumable(GRPOTrainer):  # type: ignore[misc]
        """Draws the order of the prompts from the epoch, so that a resumed training goes on with it."""

        def _get_train_sampler(self, dataset: Any = None) -> Any:
            sampler = super()._get_train_sampler(dataset)
            sampler.set_epoch = lambda epoch: sampler.generator.manual_seed(self.args.seed + epoch)
            return sampler

    return Resumable


def _rows(settings: Settings, asked: Asked, *, chat: bool = True) -> list[list[dict[str, Any]]]:
    """Rows to train on, and rows to hold out."""
    how: dict[str, Any] = {"chat": chat, "system": settings.prompts.system}
    parts = ((asked.train, False), (asked.held_out, True))
    return [rows_for(cases, **how | {HELD_OUT: apart}) for cases, apart in parts]


def _made_of(
    settings: Settings, asked: Asked, reward: AgenticReward, beside: AgenticReward | None
) -> dict[str, str]:
    """Hashes of what the training is made from beside its settings."""
    judges = {"judges": reward} | ({"held-out judges": beside} if beside is not None else {})
    return {
        "prompts": hash_of(_rows(settings, asked)),
        "model files": fingerprint(settings.model),
        **{name: hash_of([one.panel.config(seat) for seat in _seats(one)]) for name, one in judges.items()},
    }


def _provenance(
    settings: Settings, config: Any, asked: Asked, reward: AgenticReward, beside: AgenticReward | None
) -> cards.Provenance:
    facts: dict[str, object] = {
        "Base": cards.short(settings.model),
        "Stage": f"GRPO, mode {settings.mode}" + (", control: rewards shuffled" if settings.shuffled else ""),
        **cards.about_reward(reward, settings.reward.get("judge_models", {})),
        **cards.about_prompts(asked),
        "A step": f"{settings.prompts_a_step} prompts with {settings.answers} answers each",
        **cards.about_steps(config),
        "Settings": settings.hash,
    }
    if beside is not None and settings.held_out is not None:
        for name, value in cards.about_reward(beside, settings.held_out.judge_models).items():
            facts[f"Held out: {name.lower()}"] = value
    title = f"{Path(settings.out).name}: trained by judges"
    test_cases = tuple(dict.fromkeys([*asked.test_cases, *cards.inherited(settings.model)]))
    return cards.Provenance(title=title, facts=facts, test_cases=test_cases)
