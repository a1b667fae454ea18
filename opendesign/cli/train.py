"""``opendesign train score / serve``, and with ``train_runs`` the group: the judges as rewards."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from opendesign.cli.output import parse_names, parse_pairs, print_json
from opendesign.cli.train_runs import data, grpo, sft

if TYPE_CHECKING:
    from opendesign.train import AgenticReward

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--judges", default="execution,static,interactive", help="With commas, one a role."),
    click.option("--judge-model", "judge_models", multiple=True, metavar="JUDGE=MODEL", help="Repeatable."),
    click.option("--weight", "weights", multiple=True, metavar="CHANNEL=NUMBER", help="Repeatable."),
    click.option("--scale", default="unit", type=click.Choice(["unit", "paper"])),
    click.option("--gate", default="execution", help="The role whose failure floors the others, or none."),
    click.option("--guards", metavar="NAME,…", help="Penalties, off by default: blank, hidden_text …"),
    click.option("--interactions", default=3, type=click.IntRange(min=1), help="Tried on a page."),
    click.option("--deadline", default=60.0, metavar="SECONDS", help="To draw a page; again for each judge."),
    click.option("--fallback", type=float, help="A number for abstaining channels; default: null."),
    click.option("--cache", type=click.Path(file_okay=False), help="Keep verdicts in this folder."),
    click.option("--concurrency", default=16, type=click.IntRange(min=1), help="Model calls at once."),
    click.option("--pool", type=click.IntRange(min=1), help="Pages drawn at once; default: by the cores."),
    click.option("--budget", type=float, metavar="USD", help="Spend at most so much on judges' models."),
    click.option("--models-file", type=click.Path(dir_okay=False), help="Default: ./models.toml."),
    click.option("--browser", help="Path of the browser to use."),
)


def _reward_options(command: F) -> F:
    return functools.reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


def _reward(**options: Any) -> AgenticReward:
    """The reward that the options describe; its notes go to stderr."""
    from opendesign.train import AgenticReward

    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("opendesign.train").setLevel(logging.INFO)
    gate, deadline = options.pop("gate"), options.pop("deadline")
    return AgenticReward(
        judges=parse_names(options.pop("judges")),
        judge_models=parse_pairs(options.pop("judge_models"), "--judge-model"),
        weights=_numbers(options.pop("weights")),
        gate=None if gate == "none" else gate,
        guards=parse_names(options.pop("guards")),
        deadline_s=deadline,
        **options,
    )


def _numbers(values: tuple[str, ...]) -> dict[str, float]:
    try:
        return {name: float(number) for name, number in parse_pairs(values, "--weight").items()}
    except ValueError:
        raise click.UsageError(f"--weight takes CHANNEL=NUMBER, not '{' '.join(values)}'.") from None


@click.group()
def train() -> None:
    """The judges as rewards."""


for command in (sft, grpo, data):
    train.add_command(command)


@train.command(context_settings={"show_default": True})
@click.argument("rows", type=click.Path(exists=True, dir_okay=False, allow_dash=False))
@click.option("--out", type=click.Path(dir_okay=False), help="Rows with rewards; default: stdout.")
@_reward_options
@click.option("--json", "as_json", is_flag=True, help="A summary, one JSON document on stdout.")
def score(rows: str, out: str | None, as_json: bool, **options: Any) -> int:
    """Rewards of ROWS, a JSONL of prompts and completions; writes the same rows with reward and channels."""
    from opendesign.train.scoring import score_rows, written

    if as_json and out is None:
        raise click.UsageError("With --json the summary goes to stdout: name a file for the rows with --out.")
    if out is not None and Path(out).resolve() == Path(rows).resolve():
        raise click.UsageError("--out is the file that is read: name another.")
    with _reward(**options) as reward:
        if out is None:
            summary = score_rows(Path(rows), sys.stdout, reward)
        else:
            with written(Path(out)) as stream:
                summary = score_rows(Path(rows), stream, reward)
    found = summary.to_dict()
    if as_json:
        print_json(found)
    else:
        mean = "none" if found["reward"] is None else f"{found['reward']:.4f}"
        click.echo(
            f"{found['rows']} rows, mean reward {mean}; {found['gated']} failed the gate, "
            f"{found['unscored']} are unscored, {found['seconds']:g} s.",
            err=True,
        )
    return 1 if summary.unscored else 0


@train.command(context_settings={"show_default": True})
@click.option(
    "--host", default="127.0.0.1", help="Other machines reach another address, and no TLS is spoken."
)
@click.option("--port", default=8765, type=click.IntRange(0, 65535), help="0 takes any free one.")
@_reward_options
def serve(host: str, port: int, **options: Any) -> None:
    """The reward as a small HTTP service, until Ctrl-C.

    The bearer token is read from OPENDESIGN_REWARD_TOKEN; without it one is made and shown once.
    """
    import os
    import secrets

    from opendesign.train import serving

    token = os.environ.get(serving.TOKEN) or secrets.token_urlsafe(32)

    def ready(address: str) -> None:
        click.echo(f"{address}  (Ctrl-C ends it)", err=True)
        if not os.environ.get(serving.TOKEN):
            click.echo(f"{serving.TOKEN}={token}", err=True)

    try:
        serving.serve(_reward(**options), token, host, port, ready)
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
