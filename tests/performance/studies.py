"""The studies of forty models over 840 cases, each as the command that a person types.

The models are made up, and stored as runs are. The votes are as many as people gave in a study of home pages.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.performance.bench import Bench, Row, Sample, Samples, Variant, at_most, column, costs, say
from tests.performance.meter import BenchError, measure

MODELS, CASES, VOTES, RATERS = 40, 840, 8_000, 400
LIMIT_S = 10
STUDIES = ("correlation", "agreement", "robustness", "weights", "power")


def variants(bench: Bench) -> list[Variant]:
    from tests.unit.site_support import made_up_board

    say(f"making {MODELS} runs of {CASES} cases up")
    folder = bench.folder / "studies"
    runs = made_up_board(folder / "results", models=MODELS, count=CASES, distinct=0, resamples=200)
    names = [f"lab-{at % 7}/model-{at:02}" for at in range(MODELS)]
    draw = random.Random(1)
    board = _csv(
        folder / "board.csv", ("model", "score"), ((n, -at + draw.gauss(0, 4)) for at, n in enumerate(names))
    )
    votes = _csv(
        folder / "votes.csv", ("rater", "case", "left", "right", "choice"), _votes(names, _cases(runs[0]))
    )
    more: dict[str, list[object]] = {
        "correlation": [*runs, "--reference", board],
        "agreement": [votes, *(part for run in runs for part in ("--run", run))],
    }
    return [_variant(name, more.get(name, [*runs])) for name in STUDIES]


def _variant(name: str, given: list[object]) -> Variant:
    command = [sys.executable, "-m", "opendesign", "study", name, *map(str, given), "--json"]

    def run() -> Sample:
        measured = measure(command)
        if not measured.stdout.startswith("{"):
            raise BenchError(f"study {name} gave no document: {measured.stderr[-500:]}")
        return costs(measured.cost)

    return Variant(name=f"study {name}", repeats=1, run=run)


def _cases(run: Path) -> list[str]:
    from opendesign.running.store import Store

    return [case["id"] for case in Store(run).manifest()["cases"]]


def _votes(names: list[str], cases: list[str]) -> Iterable[tuple[object, ...]]:
    """People prefer the stronger model of a case more often the further they are apart."""
    draw = random.Random(2)
    for at in range(VOTES):
        left, right = draw.sample(range(MODELS), 2)
        apart = (right - left) / MODELS + draw.gauss(0, 0.5)
        choice = "tie" if abs(apart) < 0.03 else "left" if apart > 0 else "right"
        yield at % RATERS, draw.choice(cases[:20]), names[left], names[right], choice


def _csv(path: Path, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def rows(samples: Samples) -> list[Row]:
    found = [
        at_most(name, column(taken, "wall_s"), LIMIT_S, "s", f"{max(column(taken, 'cpu_s')):.1f} CPU-s")
        for name, taken in samples.items()
    ]
    most = max(max(column(taken, "peak_mb")) for taken in samples.values())
    return [*found, Row(quantity="studies, most memory", values=(most,), unit="MB")]
