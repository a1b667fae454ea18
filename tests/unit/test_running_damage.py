"""A stored run that was changed by hand or by a fault: one sentence, and nothing is believed or destroyed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opendesign.errors import StoreError, UnknownName
from opendesign.running.store import find_run
from opendesign.running.summary import summarize

from .running_support import FakeModel, FakeRenderer, carry_out, planned, seat

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    plan = planned(
        tmp_path / "run",
        FakeModel(lambda case, sample: f"<p>{case.id}"),
        seat(lambda case, artifact: {"total": 80.0, "good": 1.0}),
    )
    carry_out(plan, FakeRenderer())
    return tmp_path / "run"


def edited(path: Path, edit: Edit) -> bytes:
    """Change the first line of a file (or a whole JSON file); returns what is there then."""
    first, newline, rest = (
        path.read_text().partition("\n") if path.suffix == ".jsonl" else (path.read_text(), "", "")
    )
    document = json.loads(first)
    edit(document)
    path.write_text(json.dumps(document) + newline + rest)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("field", "edit"),
    [
        ("scores", lambda r: r["value"].update(scores={"total": True})),
        ("scores", lambda r: r["value"].update(scores={"total": float("inf")})),
        ("scores", lambda r: r["value"].update(scores={"total": "80"})),
        ("scores", lambda r: r["value"].update(scores=None)),
        ("judge", lambda r: r["value"].update(judge="other")),
        ("judge", lambda r: r.update(step="verdict-other")),
        ("case", lambda r: r["value"].update(case="game-3")),
        ("case", lambda r: r.update(sample=1.5)),
        ("value", lambda r: r.update(value=[1])),
        ("made", lambda r: r.update(made=None)),
        ("made", lambda r: r["made"].update(judge_hash=7)),
        ("varies", lambda r: r["varies"].update(seconds="1")),
        ("failure", lambda r: r["value"].update(failure={"reason": "nonsense", "detail": "x"})),
        ("usage", lambda r: r["value"].update(usage={"cost_usd": "1"})),
    ],
)
def test_a_damaged_verdict_is_named_and_left(run: Path, field: str, edit: Edit) -> None:
    path = run / "verdicts-looks.jsonl"
    before = edited(path, edit)
    with pytest.raises(StoreError, match=f"Line 1 of .* is damaged at '{field}'"):
        summarize(run)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("field", "edit"),
    [
        ("samples", lambda m: m.update(samples=10**12)),
        ("samples", lambda m: m.update(samples=0)),
        ("protocol", lambda m: m["protocol"].update(resamples=10**9)),
        ("protocol", lambda m: m["protocol"].pop("version")),
        ("benchmark", lambda m: m.update(benchmark=[])),
        ("model", lambda m: m.update(model="x")),
        ("cases", lambda m: m.update(cases=[])),
        ("cases", lambda m: m["cases"].append(7)),
        ("judges", lambda m: m.update(judges=[1])),
        ("judges", lambda m: m["judges"]["looks"]["measures"]["total"].pop("kind")),
    ],
)
def test_a_damaged_manifest_is_named_and_left(run: Path, field: str, edit: Edit) -> None:
    before = edited(run / "run.json", edit)
    with pytest.raises(StoreError, match=f"damaged at '{field}'"):
        summarize(run)
    assert (run / "run.json").read_bytes() == before


def test_deep_nesting_is_damage(run: Path) -> None:
    (run / "run.json").write_text("[" * 200_000)
    with pytest.raises(StoreError, match="damaged"):
        summarize(run)


def test_a_changed_page_is_never_judged(run: Path) -> None:
    page = next(path for path in (run.parent / "blobs").rglob("*.html"))
    page.write_text("")
    plan = planned(
        run,
        FakeModel(lambda case, sample: f"<p>{case.id}"),
        seat(lambda case, artifact: {"total": float(len(artifact.document.read_text()))}, name="second"),  # type: ignore[union-attr]
    )
    with pytest.raises(StoreError, match="was changed"):
        carry_out(plan, FakeRenderer(), model=None)
    assert (
        not (run / "verdicts-second.jsonl").exists()
        or page.name not in (run / "verdicts-second.jsonl").read_text()
    )


def test_names_of_any_length_are_only_unknown(tmp_path: Path) -> None:
    with pytest.raises(UnknownName) as error:
        find_run("x" * 5_000, tmp_path)
    assert len(str(error.value)) < 200
