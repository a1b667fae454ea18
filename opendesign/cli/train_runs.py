"""``opendesign train sft / grpo / data``: trainings, and data for them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
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

    SETTINGS is a TOML file:

    \b
    model = "models/qwen3-4b"     # a folder as transformers writes it, or a .gguf file
    data = "rft.jsonl"            # rows of prompt and completion, see opendesign train data
    out = "runs/sft"
    [trainer]                     # any field of TRL's SFTConfig
    """
    from opendesign.train.sft import run_sft

    return _run(run_sft, settings, allow_test_cases, as_json)


@click.command()
@_SETTINGS
@_ALLOW
@_JSON
def grpo(settings: Path, allow_test_cases: bool, as_json: bool) -> int:
    """Train a model by the judges: TRL's GRPO with the paper's settings. The same command again resumes.

    SETTINGS is a TOML file:

    \b
    model = "runs/sft/model"
    out = "runs/grpo"
    prompts = { benchmark = "opendesign-train", held_out = 32 }
    [reward]                      # settings of AgenticReward
    judges = ["execution", "static"]
    judge_models = { static = "openai/gpt-5" }
    [held_out]                    # a judge of another family, every so many steps
    judges = ["execution", "static"]
    judge_models = { static = "anthropic/claude-sonnet-4-5" }
    every = 20
    limit = 1.0                   # the gap that ends the training, in standard deviations at step 0
    family = "mine"               # who made its model, where the name does not tell
    [trainer]                     # any field of TRL's GRPOConfig
    """
    from opendesign.train.grpo import run_grpo

    return _run(run_grpo, settings, allow_test_cases, as_json)


def _run(stage: Callable[..., dict[str, Any]], settings: Path, allow_test_cases: bool, as_json: bool) -> int:
    """0 where all steps were made and nothing was amiss, 1 where a guard ended the training."""
    from opendesign.train.config import is_main, read_settings

    with contextlib.redirect_stdout(sys.stderr):  # where the trainer's own lines belong
        outcome = stage(read_settings(settings), allow_test_cases=allow_test_cases)
    early = outcome["steps"] < outcome["of"]
    if is_main():
        if as_json:
            print_json({**outcome, "ended_early": early})
        else:
            click.echo(f"{outcome['steps']} of {outcome['of']} steps; model: {outcome['model']}")
            click.echo(f"Curves: {outcome['curves']}")
            if outcome["ended"]:
                click.echo(f"Ended: {outcome['ended']}", err=True)
    return 1 if early or outcome["ended"] else 0


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
