"""The command line: verbs a researcher would guess, and no logic of its own.

Exit codes: 0 done, 1 something is unscored or unsound, 2 what was asked for cannot be done. One JSON document
on stdout with ``--json``; progress and notes on stderr.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import signal
import sys
from typing import NoReturn

import click

import opendesign
from opendesign.errors import OpenDesignError

#: verb → (module of this package, name in it, what it does); modules are imported when their verb is used
COMMANDS = {
    "run": ("run", "run", "Score a model on a benchmark; the same command again resumes."),
    "score": ("score", "score", "Judge pages that exist already."),
    "judge": ("judge", "judge", "Judge a stored run (again); asks no model for an answer."),
    "runs": ("runs", "runs", "What was measured: list, show, compare, publish."),
    "study": ("study", "study", "What the numbers are worth: correlation, agreement, robustness …"),
    "cases": ("cases", "cases", "What is asked: list, show, check, import."),
    "judges": ("judges", "judges", "Who scores: list, show, copy, check, import."),
    "leaderboard": ("leaderboard", "leaderboard", "The static site of published results: build, serve."),
    "ballot": ("ballot", "ballot", "A blind pairwise vote for people: build, tally."),
    "train": ("train", "train", "The judges as rewards: score, serve, sft, grpo, data."),
    "models": ("models", "models", "Which models can answer here."),
    "doctor": ("doctor", "doctor", "What works on this machine, and what mends the rest."),
}


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[name]
        command: click.Command = getattr(importlib.import_module(f"opendesign.cli.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, _, about) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from opendesign.errors import UnknownName

            raise UnknownName("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(opendesign.__version__, prog_name="opendesign")
def cli() -> None:
    """Score any model on web pages and plots: does it run, does it look good, does it work when clicked?"""


def main() -> None:
    """Entry point: every error of ours becomes one sentence on stderr."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):  # a stranger's text may hold what no encoding has
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except OpenDesignError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except click.exceptions.Abort:
        click.echo("Stopped. What is done is stored: the same command again goes on from there.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (BrokenPipeError, SystemExit):  # click makes the one into the other
        _leave(0)  # the reader of our output has gone; nothing is left to say
    except OSError as error:
        if error.filename is not None:
            raise
        click.echo(f"Error: the output cannot be written ({error.strerror}).", err=True)
        _leave(2)
    gc.freeze()  # looking for garbage at the end would cost a second of CPU and free nothing that matters
    sys.exit(code if isinstance(code, int) else 0)


def _interrupt(*_: object) -> None:
    """End as tidily as by Ctrl-C, which what a script starts with ``&`` is made to ignore."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def _leave(code: int) -> NoReturn:
    """End without a last attempt to write to a stdout that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)
