"""``opendesign study`` as a person, a program and a notebook see it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from opendesign.cli.study import study
from opendesign.studying import (
    agree,
    correlate,
    load_board,
    load_channels,
    load_panel,
    load_reference,
    load_scores,
    power_study,
    read_votes,
    robustness,
    weights,
)
from tests.unit.studying_support import people, run_study, shown, stored_run, write_csv

STUDIES = ["correlation", "agreement", "robustness", "weights", "power"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder, draw = tmp_path_factory.mktemp("runs"), np.random.default_rng(1)
    return [
        str(
            stored_run(
                folder / f"r{m}",
                name,
                {
                    "static": np.clip(70 - 9 * m + draw.normal(0, 9, 25), 0, 100).tolist(),
                    "execution": (draw.random(25) < 0.8).astype(float).tolist(),
                    "interactive": (draw.integers(0, 4, 25) / 3).tolist(),
                },
                categories=["website"] * 15 + ["game"] * 10,
            )
        )
        for m, name in enumerate(("openai/gpt-4.1", "openai/gpt-4o", "anthropic/claude-sonnet-4", "lab/<b>x"))
    ]


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("v") / "v.csv", "rater,left,right,choice", people(6, 8, 10))


def arguments(name: str, runs: list[str], votes: Path) -> list[object]:
    return [name, votes] if name == "agreement" else [name, *runs]


@pytest.mark.parametrize("name", STUDIES)
def test_each_study_is_tables_and_one_document(name: str, runs: list[str], votes: Path) -> None:
    document = run_study(*arguments(name, runs, votes))
    assert document["study"] == name
    json.dumps(document, allow_nan=False)
    text = shown(*arguments(name, runs, votes))
    assert "nan" not in text.lower()
    assert len(text.splitlines()) > 8


@pytest.mark.parametrize("name", STUDIES)
def test_the_same_question_has_the_same_answer(name: str, runs: list[str], votes: Path) -> None:
    assert run_study(*arguments(name, runs, votes)) == run_study(*arguments(name, runs, votes))


def test_notebooks_get_the_same_numbers_as_frames(runs: list[str], votes: Path) -> None:
    board = correlate(load_board(runs), load_reference("design-arena"))
    frames = {
        "correlation": board.to_pandas(),
        "agreement": agree(read_votes(votes)).to_pandas(),
        "robustness": robustness(load_panel(runs)).to_pandas(),
        "weights": weights(load_channels(runs)).to_pandas(),
        "power": power_study(load_scores(runs)).to_pandas(),
    }
    assert {name: len(frame) for name, frame in frames.items()} == {
        "correlation": 9,  # three models overall, for websites and for games
        "agreement": 8,
        "robustness": 3,
        "weights": 3 * 4 * 21,
        "power": 15,
    }
    whole = frames["correlation"].query("category == 'overall'").set_index("ours")["our_score"]
    assert whole["openai/gpt-4.1"] == pytest.approx(load_scores(runs).values[:, 0].mean())
    assert frames["agreement"]["low, raters"].notna().any()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("correlation", ["model and score", "category, case", "--match", "--reference"]),
        ("agreement", ["rater (or session), left, right and choice", "both_bad", "rater, page, rating"]),
        ("robustness", ["judge, model, case and score", "repeat", "judge_model"]),
        ("weights", ["CHANNEL=NUMBER", "0.1, 0.8 and 0.1"]),
        ("power", ["model, case and score", "0.8"]),
    ],
)
def test_help_says_what_a_file_has_to_look_like(name: str, words: list[str]) -> None:
    text = " ".join(CliRunner().invoke(study, [name, "--help"]).stdout.split())
    for word in words:
        assert word in text


def test_references_are_listed_with_credit() -> None:
    listed = {one["name"]: one for one in run_study("references")["references"]}
    assert listed["design-arena"]["models"] == 112
    assert "designarena.ai" in listed["design-arena"]["credit"]
    assert "paper\t2025-10\t11\ttotal\t" in shown("references")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["correlation", "paper", "--reference", "desing-arena"], "did you mean design-arena?"),
        (["agreement", "nowhere.csv"], "Cannot read nowhere.csv: no such file or directory."),
        (["robustness", "nowhere"], "There is no run named 'nowhere'"),
        (["power", "nowhere.csv", "--json"], "Cannot read nowhere.csv"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_on_stderr(given: list[str], says: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "opendesign", "study", *given],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
