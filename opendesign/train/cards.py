"""The card of a checkpoint: what it was trained on, by which judges, and what must not be tested with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.errors import UsageError
from opendesign.train.heldout import Point, points

if TYPE_CHECKING:
    from transformers import TrainerCallback

    from opendesign.train import AgenticReward
    from opendesign.train.prompts import Asked

__all__ = [
    "Provenance",
    "about_prompts",
    "about_reward",
    "about_steps",
    "inherited",
    "keep",
    "short",
    "text",
    "write",
]

FILE = "README.md"
#: The test cases that a model has learned, beside its weights, so that what is trained from it says so too.
TEST_CASES = "test_cases.json"
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What a card says before there is any result: ``facts`` are shown in a table, in this order."""

    title: str
    facts: Mapping[str, object]
    test_cases: tuple[str, ...] = ()


def about_reward(reward: AgenticReward, models: Mapping[str, Any]) -> dict[str, object]:
    """Rows of a card about the judges of a reward."""
    roles = [
        f"{role}: {judge}" + (f" ({models[judge]})" if judge in models else "")
        for role, judge in reward.roles.items()
    ]
    weights = [f"{name} {weight:g}" for name, weight in reward.weights.items()]
    return {"Judges": ", ".join(roles), "Weights": ", ".join(weights)}


def about_prompts(asked: Asked) -> dict[str, object]:
    """Rows of a card about the prompts."""
    counts = f"{len(asked.train)} trained on, {len(asked.held_out)} held out"
    return {"Prompts": f"{asked.source} ({asked.hash}): {counts}"}


def about_steps(config: Any) -> dict[str, object]:
    """Rows of a card about how it was learned."""
    return {"Learning rate": f"{config.learning_rate:g}, {config.lr_scheduler_type}", "Seed": config.seed}


def text(made: Provenance, *, step: int, found: list[Point], ended: str | None = None) -> str:
    """The card in Markdown. ``ended``: why the training ended before its last step, in a sentence."""
    import opendesign

    lines = [f"# {made.title}, step {step}", ""]
    if ended:
        lines += [f"**Ended early.** {ended}", ""]
    if made.test_cases:
        named = ", ".join(made.test_cases[:_MOST_NAMED])
        rest = len(made.test_cases) - _MOST_NAMED
        lines += [
            f"**Trained on test cases.** {len(made.test_cases)} prompts are of a benchmark or nearly so, "
            f"on which results say nothing of it: {named}{f' and {rest} more' if rest > 0 else ''}.",
            "",
        ]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {name} | {_cell(value)} |" for name, value in made.facts.items()]
    lines += [f"| opendesign | {opendesign.__version__} |", ""]
    if found:
        lines += ["| step | training judge | held-out judge | gap |", "|---:|---:|---:|---:|"]
        lines += [
            f"| {one.step} | {one.training:.3f} | {one.held_out:.3f} | "
            f"{'–' if one.gap is None else f'{one.gap:+.2f}'} |"
            for one in found
        ]
        lines += [
            "",
            f"Means of the weighted rewards of answers to held-out prompts. {_about_gap(found)}",
            "",
        ]
    if "Judges" in made.facts:
        lines.append(
            "Test with a judge of another family: a model learns to please the judge that trains it."
        )
    return "\n".join(lines).rstrip("\n") + "\n"


def _about_gap(found: list[Point]) -> str:
    if all(one.gap is None for one in found):
        return (
            "A judge gave all held-out answers one score at step 0, so that there is no gap and no limit "
            "to it."
        )
    return "The gap is in standard deviations of each judge's scores at step 0."


def short(path: str) -> str:
    """A model's place without what is of this machine only."""
    return "/".join(Path(path).parts[-2:])


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def write(folder: Path, made: Provenance, state: Any, ended: str | None = None) -> None:
    """Put the card into ``folder``, in place of the trainer's."""
    card = text(made, step=state.global_step, found=points(state.log_history), ended=ended)
    (folder / FILE).write_text(card, encoding="utf-8")
    if made.test_cases:
        (folder / TEST_CASES).write_text(json.dumps(made.test_cases), encoding="utf-8")


def inherited(model: str) -> tuple[str, ...]:
    """The test cases that a model of ours has learned before."""
    file = Path(model).expanduser() / TEST_CASES
    try:
        return tuple(map(str, json.loads(file.read_text(encoding="utf-8"))))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"{file} names the test cases that the model has learned, and is damaged."
        ) from error


def keep(made: Provenance) -> TrainerCallback:
    """Writes a card into every checkpoint."""
    from transformers import TrainerCallback

    class Keep(TrainerCallback):  # type: ignore[misc]
        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            if state.is_world_process_zero and folder.is_dir():
                write(folder, made, state)
                write(folder.parent, made, state)

    return Keep()
