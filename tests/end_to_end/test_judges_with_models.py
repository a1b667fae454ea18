"""The judges that ask a model, from the command: real pages, real HTTP, both protocols, judged again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opendesign.answering.controls import document as control
from opendesign.cases.benchmark import load_benchmark
from opendesign.testing import ScriptedReply, ScriptedRequest, ScriptedServer
from opendesign.types import Case
from tests.unit.interactive_support import claims_success, claims_success_on_paper
from tests.unit.static_support import verdict as static_verdict

from .conftest import Command, document
from .test_run import hashes

pytestmark = pytest.mark.browser

LIMIT = 3
POINTS = {"standard": "interactive.points", "paper": "interactive-paper.points"}
TOTAL = {"standard": "static.total", "paper": "static-paper.total"}


def cases() -> dict[str, Case]:
    return {case.prompt: case for case in load_benchmark("opendesign").cases}


def provider(request: ScriptedRequest) -> ScriptedReply | str:
    """``gen`` answers with a page that works, ``x`` looks at pictures, ``y`` operates."""
    model = request.body["model"]
    if model == "gen":
        return f"```html\n{control('template', cases()[request.prompt])}\n```"
    if model in ("x", "x2"):
        return static_verdict()
    return claims_success_on_paper(request) if model == "paper" else claims_success(request)


def asked(server: ScriptedServer) -> list[str]:
    return [request.body["model"] for request in server.requests if request.body]


@pytest.mark.parametrize("protocol", ["standard", "paper"])
def test_three_judges_over_http_and_judged_again(opendesign: Command, tmp_path: Path, protocol: str) -> None:
    operator = "paper" if protocol == "paper" else "y"
    with ScriptedServer(provider) as server:
        key = {"OPENAI_API_KEY": "not-a-key", "OPENAI_API_BASE": server.base_url}
        done = opendesign(
            *("run", "--model", "openai/gen", "--limit", str(LIMIT), "--protocol", protocol, "--json"),
            *("--judges", "execution,static,interactive", "--run", "runs/one"),
            *("--judge-model", "static=openai/x", "--judge-model", f"interactive=openai/{operator}"),
            **key,
        )
        assert done.returncode == 0, done.stderr
        summary = document(done)
        scores = summary["scores"]
        assert set(summary["coverage"].values()) == {1.0}
        assert scores[TOTAL[protocol]]["mean"] == 73
        assert scores[POINTS[protocol]]["mean"] >= 2
        assert summary["failures"] == {}
        calls = asked(server)
        assert calls.count("gen") == calls.count("x") == LIMIT
        before = hashes(tmp_path / "runs")

        again = opendesign(
            *("judge", "runs/one", "--judges", "static", "--judge-model", "static=openai/x2", "--json"),
            **key,
        )
        assert again.returncode == 0, again.stderr
        assert asked(server)[len(calls) :] == ["x2"] * LIMIT
    after = hashes(tmp_path / "runs")
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {f"one/verdicts-{TOTAL[protocol].partition('.')[0]}.jsonl"}
    verdicts = tmp_path / "runs" / "one" / f"verdicts-{POINTS[protocol].partition('.')[0]}.jsonl"
    for line in verdicts.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        files = record["value"]["evidence"]["files"]
        assert files
        assert all((tmp_path / "runs" / "blobs" / name[:2] / name).is_file() for name in files.values())
        assert "not-a-key" not in line
