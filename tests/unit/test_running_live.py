"""A live page that falls silent ends its own case and no other; a busy machine is not the page's fault."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from opendesign.errors import UsageError
from opendesign.rendering import PageHung
from opendesign.running.plan import seats_for
from opendesign.running.summary import summarize
from opendesign.types import Artifact, Card, Case, Verdict

from .running_support import CASES, PROTOCOL, FakeModel, FakeRenderer, carry_out, planned, seat


class Hanging(FakeRenderer):
    """Pages with "loop" in them fall silent: on arrival, or when they are left."""

    def __init__(self, times: int, *, leaving: bool = False) -> None:
        super().__init__()
        self.times, self.leaving, self.opened = times, leaving, 0

    @contextlib.asynccontextmanager
    async def session(self, document: str, **how: object) -> AsyncIterator[object]:
        hangs = "loop" in document and self.opened < self.times
        self.opened += "loop" in document
        if hangs and not self.leaving:
            raise PageHung("The page stopped answering.")
        yield object()
        if hangs:
            raise PageHung("The page stopped answering.")


def run(folder: Path, renderer: Hanging) -> dict[str, object]:
    """Case that hangs → its outcome; every other case is scored."""

    def score(case: Case, artifact: Artifact) -> dict[str, float]:
        return {"total": 80.0, "good": 1.0}

    model = FakeModel(lambda case, _: "<p>loop" if case.id == "game-1" else f"<p>{case.id}")
    carry_out(planned(folder / "run", model, seat(score, live=True)), renderer)
    frame = summarize(folder / "run").to_pandas().set_index("case")
    assert (frame.drop("game-1")["looks.total"] == 80).all()
    assert len(frame) == len(CASES)
    return {"failures": summarize(folder / "run").failures, "total": frame.loc["game-1", "looks.total"]}


@pytest.mark.parametrize(("times", "leaving"), [(1, False), (5, True)])
def test_once_or_on_the_way_out_is_nothing(tmp_path: Path, times: int, leaving: bool) -> None:
    renderer = Hanging(times, leaving=leaving)
    assert run(tmp_path, renderer) == {"failures": {}, "total": 80}
    assert renderer.opened == (1 if leaving else 2)


def test_twice_is_the_pages_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.1, 0.1, 0.1))
    assert run(tmp_path, Hanging(5)) == {"failures": {"page_hung": 1}, "total": 0}


def test_on_a_busy_machine_nobody_is_blamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (900.0, 900.0, 900.0))
    found = run(tmp_path, Hanging(5))
    assert found["failures"] == {"deadline_under_load": 1}
    assert found["total"] != found["total"], "no score at all"
    assert run(tmp_path, Hanging(0)) == {"failures": {}, "total": 80}, "resumed"


def judged_silent(folder: Path, times: int) -> tuple[object, dict[str, int], int]:
    """Total and failures of a case whose judge finds the page silent so many times, and its looks."""
    looks = 0

    async def engine(case: Case, artifact: Artifact, card: Card, page: object, model: object) -> Verdict:
        nonlocal looks
        looks += case.id == "game-1"
        hung = case.id == "game-1" and looks <= times
        scores = {"total": 10.0 if hung else 80.0, "good": 0.0 if hung else 1.0}
        evidence = {"hung": "no answer"} if hung else {}
        return Verdict(case=case.id, sample=0, judge=card.name, scores=scores, evidence=evidence)

    looking = replace(seat(lambda case, artifact: {}, live=True), engine=engine)
    model = FakeModel(lambda case, _: f"<p>{case.id}")
    carry_out(planned(folder / "run", model, looking), FakeRenderer())
    summary = summarize(folder / "run")
    frame = summary.to_pandas().set_index("case")
    assert (frame.drop("game-1")["looks.total"] == 80).all()
    return frame.loc["game-1"].get("looks.total"), dict(summary.failures), looks


def test_a_judge_that_finds_silence_looks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.1, 0.1, 0.1))
    assert judged_silent(tmp_path / "once", 1) == (80.0, {}, 2)
    assert judged_silent(tmp_path / "twice", 5) == (10.0, {}, 2)


def test_silence_on_a_busy_machine_is_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (900.0, 900.0, 900.0))
    total, failures, _ = judged_silent(tmp_path, 5)
    assert total != total, "no score at all"
    assert failures == {"deadline_under_load": 1}


def test_the_card_says_how_its_page_is_opened(tmp_path: Path) -> None:
    renderer, how = FakeRenderer(), {"width": 1920, "height": 1200, "driver": "selenium"}
    judge = seat(lambda *_: {"total": 80.0, "good": 1.0}, live=True, settings={**how, "answer_s": 5})
    carry_out(planned(tmp_path / "run", FakeModel(lambda case, _: "<p>"), judge), renderer)
    assert renderer.opened_as == [how] * len(CASES)


def test_a_driver_that_is_not_there_is_said_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = Path(__file__).parents[2] / "judges" / "probe"
    shutil.copytree(card, tmp_path / "judges" / "mine")
    toml = tmp_path / "judges" / "mine" / "judge.toml"
    toml.write_text(toml.read_text().replace('name = "probe"', 'name = "mine"') + 'driver = "firefox"\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="no driver 'firefox'"):
        seats_for(PROTOCOL, ["mine"])
