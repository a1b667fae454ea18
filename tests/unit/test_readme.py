"""What the README shows is what is there: commands that exist, and the example that trains."""

import re
import shlex
from pathlib import Path

import click
import pytest

from opendesign.cli import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.S)
COMMANDS = [
    line.partition("  #")[0]
    for block in BLOCKS
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith("opendesign ")
]


def test_the_script_that_trains_is_shown_as_it_is() -> None:
    assert f"```python\n{(ROOT / 'examples' / 'train_tiny.py').read_text(encoding='utf-8')}```" in README


def test_it_is_short() -> None:
    """Twenty-odd lines: somebody will type it."""
    lines = (ROOT / "examples" / "train_tiny.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) <= 30


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_and_option_exists(line: str) -> None:
    words = shlex.split(line)[1:]
    command: click.Command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words.pop(0))
        assert found is not None, line
        command = found
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    asked = {word.partition("=")[0] for word in words if word.startswith("-")}
    assert asked <= options | {"--help"}, line


def test_there_are_commands_to_check() -> None:
    assert len(COMMANDS) > 25
