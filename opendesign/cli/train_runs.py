"""``opendesign train sft / grpo / data``: trainings, and data for them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from opendesign.cli.output import parse_names, print_json

_ALLOW = click.option(
    "--allow-test-cases", is_flag=True, help="Train on cases of a benchmark; the model's card says so."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
_SETTINGS = click.argument("settings", type=click.Path(exists=True, dir_okay=False, path_type=Path))


@click.command()
@_SETTINGS
@_ALLOW
@_JSON
def sft(settings: Path, allow_test_cases: bool, as_json: bool) -> int:
    """Fit a model to answers: TRL's SFT with the paper's settings. The same command again resumes.

    SETTINGS is a TOML file; only model, data and out have no default:

    \b
    model = "models/qwen3-4b"     # a folder as transformers writes it, or a .gguf file
    data = "rft.jsonl"            # rows of prompt and completion, see opendesign train data
    out = "runs/sft"              # checkpoints, curves, card
    dtype = "float32"             # of the weights in training; or bfloat16
    seed = 0
    batch = 128                   # rows a step
    per_device = 8                # rows on a device at once
    [trainer]                     # any other field of TRL's SFTConfig
    """
    from opendesign.train.sft import run_sft

    return _run(run_sft, settings, allow_test_cases, as_json)


@click.command()
@_SETTINGS
@_ALLOW
@_JSON
def grpo(settings: Path, allow_test_cases: bool, as_json: bool) -> int:
    """Train a model by the judges: TRL's GRPO with the paper's settings. The same command again resumes.

    SETTINGS is a TOML file; only model and out, and the judges of [held_out], have no default:

    \b
    model = "runs/sft/model"      # a folder as transformers writes it, or a .gguf file
    out = "runs/grpo"             # checkpoints, curves, card
    dtype = "float32"             # of the weights in training; or bfloat16
    seed = 0
    prompts_a_step = 64
    answers = 8                   # a prompt
    per_device = 8                # answers on a device at once
    mode = "gdpo"                 # each channel normalised by itself; or paper: their sum
    shuffled = false              # a control: rewards dealt out at random
    [prompts]
    benchmark = "opendesign-train"
    file = "prompts.jsonl"        # instead of a benchmark
    limit = 500                   # how many; default: all
    held_out = 32                 # of them, for the held-out judge alone
    system = ""                   # said before each; default: what a run says
    [reward]                      # settings of AgenticReward
    judges = ["execution", "static"]
    judge_models = { static = "openai/gpt-5" }
    [held_out]                    # a judge of another family; without the table there is none
    judges = ["execution", "static"]
    judge_models = { static = "anthropic/claude-sonnet-4-5" }
    every = 20                    # steps
    limit = 1.0                   # the gap that ends the training, in standard deviations at step 0
    family = "mine"               # who made its model, where the name does not tell
    settings = {}                 # others of AgenticReward
    [trainer]                     # any other field of TRL's GRPOConfig
    """
    from opendesign.train.grpo import run_grpo

    return _run(run_grpo, settings, allow_test_cases, as_json)


def _run(stage: Callable[..., dict[str, Any]], file: Path, allow_test_cases: bool, as_json: bool) -> int:
    """0 where all steps were made and nothing was amiss, 1 where a guard ended it, 130 after Ctrl-C."""
    from opendesign.train.config import is_main, read_settings
    from opendesign.train.telling import hush

    settings = read_settings(file)
    hush()
    try:
        with contextlib.redirect_stdout(sys.stderr):  # where the trainer's own lines belong
            outcome = stage(settings, allow_test_cases=allow_test_cases)
    except KeyboardInterrupt:  # what the other verbs say of it is not true of steps after the last checkpoint
        if is_main():
            click.echo(f"Stopped. {_next_time(settings.folder)}", err=True)
        return 130
    if is_main():
        if as_json:
            print_json(outcome)
        else:
            _show(outcome)
    return 1 if outcome["steps"] < outcome["of"] or outcome["ended"] else 0


def _next_time(folder: Path) -> str:
    whole = [state.parent.name for state in folder.glob("checkpoint-*/trainer_state.json")]  # written last
    steps = [int(step) for name in whole if (step := name.removeprefix("checkpoint-")).isdecimal()]
    if not steps:
        return "There was no checkpoint yet: the same command begins anew."
    return f"The same command again goes on from the last checkpoint (checkpoint-{max(steps)})."


def _show(outcome: Mapping[str, Any]) -> None:
    if outcome["resumed"]:
        click.echo(f"Resumed from {outcome['resumed']}.")
    click.echo(f"{outcome['steps']} of {outcome['of']} steps; model: {outcome['model']}")
    click.echo(f"Curves: {outcome['curves']}")
    if outcome.get("limit_acted") is False:  # outcomes of older versions do not say
        click.echo(
            "The limit could not act: a judge gave all held-out answers one score at step 0.", err=True
        )
    if outcome["ended"]:
        click.echo(f"Ended: {outcome['ended']}", err=True)


@click.command(context_settings={"show_default": True})
@click.argument("sources", nargs=-1, required=True, metavar="RUN|JSONL…")
@click.option(
    "--kind", required=True, type=click.Choice(["rft", "dpo"]), help="Best of n, or best against worst."
)
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="JSONL to write.")
@click.option("--judges", help="Of the runs, with commas, one a role; default: all that judged them.")
@click.option("--margin", default=0.0, type=click.FloatRange(min=0), help="DPO: least difference of rewards.")
@_ALLOW
@_JSON
def data(
    sources: tuple[str, ...],
    kind: Any,
    out: Path,
    judges: str | None,
    margin: float,
    allow_test_cases: bool,
    as_json: bool,
) -> int:
    """Data for SFT or DPO out of judged samples: runs with --samples, or rows of opendesign train score.

    One row a prompt. What fails the gate is never learned from; what is unscored is left out.
    """
    from opendesign.train.data import write_data

    picked = write_data(
        sources,
        out,
        kind,
        judges=parse_names(judges),
        margin=margin,
        allow_test_cases=allow_test_cases,
    )
    if as_json:
        print_json({"out": str(out), **picked.to_dict()})
    else:
        click.echo(
            f"{len(picked.rows)} rows from {picked.samples} samples of {picked.prompts} prompts; mean reward "
            f"{picked.reward:.3f}, of all samples {picked.reward_of_all:.3f}; {picked.unscored} unscored."
        )
    return 0
