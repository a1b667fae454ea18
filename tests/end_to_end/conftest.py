"""The command line as a person would use it: a process in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


def environment(**more: str) -> dict[str, str]:
    """This environment without anything that would change what a command does."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENDESIGN_", "COLUMNS"))}
    return {**kept, "PYTHONWARNINGS": "ignore", **more}


@pytest.fixture
def opendesign(tmp_path: Path) -> Command:
    """``opendesign(*arguments)`` → finished process, in an empty folder."""

    def command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "opendesign", *arguments],
            cwd=tmp_path,
            env=environment(OPENDESIGN_CACHE=str(tmp_path / "cache"), **variables),
            capture_output=True,
            text=True,
            timeout=400,
        )

    return command


def document(done: subprocess.CompletedProcess[str]) -> Any:
    """The JSON document on stdout, and nothing but it."""
    assert done.stdout, done.stderr
    return json.loads(done.stdout)
