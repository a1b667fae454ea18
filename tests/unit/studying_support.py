"""Stored runs of given scores, and votes of known people, for the tests of the studies."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from opendesign.cli.study import study
from opendesign.running.store import Key, Store
from opendesign.types import Artifact, Failure, Verdict

RANGES = {"execution": ("passed", 1), "static": ("total", 100), "interactive": ("rate", 1)}
JUDGE_MODEL = "openai/gpt-5"


def stored_run(
    folder: Path,
    model: str,
    scores: Mapping[str, Sequence[float | str | None]],
    *,
    categories: Sequence[str] = (),
    browser: str = "chromium 150.0.1",
    fonts: str = "f1",
    judge_model: str = JUDGE_MODEL,
    benchmark: str = "b1",
    replies: Sequence[Sequence[float]] = (),
) -> Path:
    """A run with one score of each judge a case: a number, the reason why there is none, or nothing yet.

    ``replies``: single totals of the static judge, by case.
    """
    count = len(next(iter(scores.values())))
    kinds = categories or ["website"] * count
    cases = [
        {"id": f"c{at}", "category": kinds[at], "difficulty": "easy", "prompt": "A page."}
        for at in range(count)
    ]
    with Store(folder, write=True) as store:
        store.create(
            {
                "benchmark": {"name": "b", "version": "1", "hash": benchmark},
                "protocol": {"name": "p", "version": "1", "hash": "p1", "resamples": 200},
                "model": {"name": model},
                "judges": {judge: _judge(judge) for judge in scores},
                "cases": cases,
                "samples": 1,
            }
        )
        for at in range(count):
            page = Artifact(case=f"c{at}", sample=0, document=None, height=1000 + at)
            store.put(_key("artifact", at), page, browser=browser, fonts=fonts)
            for judge, given in scores.items():
                if (score := given[at]) is None:
                    continue
                made = {"judge_hash": "j1"} | ({"judge_model": judge_model} if judge == "static" else {})
                said = replies[at] if replies and judge == "static" else ()
                verdict = _verdict(judge, at, score, said)
                store.put(_key(f"verdict-{judge}", at), verdict, **made)
    return folder


def _judge(judge: str) -> dict[str, Any]:
    name, high = RANGES[judge]
    kind = "rate" if judge == "execution" else "mean"
    return {"measures": {name: {"low": 0, "high": high, "kind": kind, "headline": True}}, "hash": "j1"}


def _key(step: str, at: int) -> Key:
    return Key(case=f"c{at}", sample=0, step=step, config="c", input="i")


def _verdict(judge: str, at: int, score: float | str, replies: Sequence[float]) -> Verdict:
    evidence = {"replies": [{"total": reply} for reply in replies]} if replies else {}
    if isinstance(score, str):
        failure = Failure(reason=score, detail="…")
        return Verdict(case=f"c{at}", sample=0, judge=judge, failure=failure)
    scores = {RANGES[judge][0]: float(score)}
    return Verdict(case=f"c{at}", sample=0, judge=judge, scores=scores, evidence=evidence)


def write_csv(path: Path, header: str, rows: Sequence[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])
    return path


def people(pages: int = 12, raters: int = 24, each: int = 20, *, seed: int = 1) -> list[list[object]]:
    """Votes (session, left, right, choice) of people who agree on page quality as far as noise lets them."""
    draw = random.Random(seed)
    rows: list[list[object]] = []
    for rater in range(raters):
        for _ in range(each):
            left, right = draw.sample(range(pages), 2)
            apart = (left - right) / pages + draw.gauss(0, 0.4)
            rows.append(
                [rater, left, right, "tie" if abs(apart) < 0.05 else "left" if apart > 0 else "right"]
            )
    return rows


def run_study(*arguments: object) -> Any:
    """The JSON document of ``opendesign study``."""
    done = CliRunner().invoke(study, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def shown(*arguments: object) -> str:
    """What a person sees of it."""
    done = CliRunner().invoke(study, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0
    return str(done.stdout)
