"""A run that a script starts with ``&``: it is made to ignore Ctrl-C, and ends by SIGTERM all the same."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from opendesign.testing import ScriptedReply, ScriptedServer

from .conftest import environment

pytestmark = pytest.mark.browser


def test_terminated_where_ctrl_c_is_ignored(tmp_path: Path) -> None:
    with ScriptedServer(lambda _: ScriptedReply(text="<!doctype html>", latency_s=60)) as server:
        variables = {"OPENAI_API_KEY": "not-a-key", "OPENAI_API_BASE": server.base_url}
        process = subprocess.Popen(
            [sys.executable, "-m", "opendesign", "run", "--model", "openai/any", "--limit", "2"],
            cwd=tmp_path,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
        try:
            while not server.requests and process.poll() is None:
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, told
    assert "Stopped. What is done is stored" in told
    assert "Traceback" not in told
