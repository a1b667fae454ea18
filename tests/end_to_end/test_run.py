"""The main job, from the command and from Python, with a real browser."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from pathlib import Path

import pytest

import opendesign as package
from opendesign.errors import StoreError
from opendesign.running.store import Store

from .conftest import Command, document

pytestmark = pytest.mark.browser

LEAST = {
    "run",
    "benchmark",
    "model",
    "protocol",
    "cases",
    "coverage",
    "scores",
    "by_category",
    "failures",
    "cost_usd",
    "seconds",
}


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def test_run_prints_the_summary_and_a_second_run_does_nothing(opendesign: Command, tmp_path: Path) -> None:
    arguments = ("run", "--model", "builtin/template", "--limit", "5", "--json")
    first = opendesign(*arguments)
    assert first.returncode == 0, first.stderr
    summary = document(first)
    assert set(summary) >= LEAST
    assert summary["cases"] == 5
    assert set(summary["by_category"]) == {"website", "3d", "game", "component", "dataviz"}
    assert summary["coverage"] == {"computed": 1.0, "execution": 1.0, "probe": 1.0}
    for estimate in summary["scores"].values():
        assert set(estimate) == {"mean", "low", "high", "n"}
    assert summary["failures"] == {}
    assert "the judge 'static': 'computed', which needs no model, stands in for it" in first.stderr
    assert "the judge 'interactive': 'probe', which needs no model, stands in for it" in first.stderr
    before = hashes(tmp_path / "runs")
    started = time.process_time()
    second = opendesign(*arguments)
    assert time.process_time() - started < 5
    assert document(second) == summary
    assert hashes(tmp_path / "runs") == before

    # Judging again asks for nothing and changes no answer, page or picture.
    rejudged = opendesign("judge", summary["run"], "--judges", "execution-paper", "--json")
    assert rejudged.returncode == 0, rejudged.stderr
    assert "execution-paper.passed" in document(rejudged)["scores"]
    after = hashes(tmp_path / "runs")
    assert {name: after[name] for name in before} == before
    assert {Path(name).name for name in set(after) - set(before)} == {"verdicts-execution-paper.jsonl"}

    shown = opendesign("runs", "show", Path(summary["run"]).name)
    assert shown.returncode == 0
    assert "computed.total" in shown.stdout
    case = json.loads((tmp_path / summary["run"] / "run.json").read_text())["cases"][0]["id"]
    one = opendesign("runs", "show", Path(summary["run"]).name.rpartition("-")[2], "--case", case)
    assert one.returncode == 0, one.stderr
    picture = next(line.split(": ")[1] for line in one.stdout.splitlines() if "picture: " in line)
    assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
    assert "probe: " in one.stdout
    lines = opendesign("runs", "show", summary["run"], "--cases").stdout.splitlines()
    assert len(lines) == 5
    listed = document(opendesign("runs", "list", "--json"))
    assert [run["run"] for run in listed["runs"]] == [summary["run"]]


def test_two_runs_of_the_same_are_equal_byte_for_byte(opendesign: Command, tmp_path: Path) -> None:
    # Scenes and games that move by themselves may stand a frame apart; pages at rest may not differ at all.
    choice = ("--model", "builtin/broken", "--category", "component", "--limit", "4")
    for folder in ("runs/a", "runs/b"):
        done = opendesign("run", *choice, "--run", folder, "--json")
        assert done.returncode == 0, done.stderr
    for name in ("answers", "artifacts", "verdicts-execution", "verdicts-computed", "verdicts-probe"):
        a, b = (
            sorted(
                json.dumps({**json.loads(line), "varies": None}, sort_keys=True)
                for line in (tmp_path / "runs" / run / f"{name}.jsonl").read_text().splitlines()
            )
            for run in ("a", "b")
        )
        assert a == b, name
    compared = document(opendesign("runs", "compare", "runs/a", "runs/b", "--json"))
    assert compared["differences"]["computed.total"]["tied"] == 4


def test_pages_that_exist_are_scored(opendesign: Command, tmp_path: Path) -> None:
    site = tmp_path / "site" / "deep"
    site.mkdir(parents=True)
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A</title></head><body><h1>A</h1>'
    )
    (site / "a.html").write_text(page)
    (tmp_path / "site" / "b.htm").write_bytes(page.encode().replace(b"<h1>A", b"<h1>\xff\xfe"))
    (tmp_path / "site" / "notes.txt").write_text("not a page")
    done = opendesign("score", "site", "--judges", "execution,computed", "--json")
    assert done.returncode == 0, done.stderr
    summary = document(done)
    assert summary["cases"] == 2
    assert summary["scores"]["execution.passed"]["n"] == 2
    rows = "\n".join(
        json.dumps(row)
        for row in ({"id": "x", "html": page}, {"id": "y", "reply": "I cannot help with that."})
    )
    (tmp_path / "answers.jsonl").write_text(rows)
    done = opendesign("score", "answers.jsonl", "--judges", "execution,computed", "--json")
    summary = document(done)
    assert summary["cases"] == 2
    assert summary["failures_by_owner"] == {"model": 1}
    assert summary["coverage"] == {"computed": 1.0, "execution": 1.0}


def test_from_python_where_a_loop_runs_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENDESIGN_CACHE", str(tmp_path / "cache"))

    async def notebook() -> package.Summary:
        return package.run("builtin/plain", limit=2, judges=["execution"])

    summary = asyncio.run(notebook())
    assert summary.cases == 2
    frame = summary.to_pandas()
    assert list(frame["case"]) == sorted(frame["case"], key=list(frame["case"]).index)
    assert set(frame.columns) >= {"case", "category", "execution.passed"}


def test_a_damaged_run_is_one_sentence_and_stays_as_it_is(opendesign: Command, tmp_path: Path) -> None:
    arguments = (
        "run",
        "--model",
        "builtin/plain",
        "--limit",
        "1",
        "--judges",
        "execution",
        "--run",
        "runs/a",
    )
    assert opendesign(*arguments).returncode == 0
    path = tmp_path / "runs" / "a" / "answers.jsonl"
    path.write_text(path.read_text().replace('"v":1', '"v":99'))
    before = hashes(tmp_path / "runs")
    done = opendesign(*arguments)
    assert done.returncode == 2
    assert "newer opendesign" in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("Error")]) == 1
    assert hashes(tmp_path / "runs") == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user to be refused")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    """As an unprivileged user, since root may write anywhere."""
    (tmp_path / "runs").mkdir(mode=0o555)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            Store(tmp_path / "runs" / "a", write=True).__enter__()
        except StoreError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as said:
        assert said.read().startswith(f"Cannot write {tmp_path}/runs/a/lock (permission denied)")
