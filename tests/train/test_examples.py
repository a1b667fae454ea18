"""The example of a small real model: its settings and its pages; the training itself takes an hour."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from opendesign.train import AgenticReward
from opendesign.train.config import read_settings
from opendesign.train.pairs import read_pairs
from opendesign.train.prompts import ask

FOLDER = Path(__file__).parents[2] / "examples" / "smollm2"


@pytest.mark.parametrize("name", ["sft", "grpo"])
def test_its_settings_are_read(name: str) -> None:
    assert read_settings(FOLDER / f"{name}.toml").folder == Path("smollm2") / name


def test_its_pages_are_sound_and_flawed_in_turn_and_of_no_held_out_prompt(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FOLDER / "pages.py", tmp_path / "sft.jsonl"], check=True)
    rows = read_pairs(tmp_path / "sft.jsonl")
    prompts = read_settings(FOLDER / "grpo.toml").prompts
    asked = ask(prompts, held_out=prompts.held_out)
    assert {row["prompt"][-1]["content"] for row in rows} == {case.prompt for case in asked.train}
    assert not {row["prompt"][-1]["content"] for row in rows} & {case.prompt for case in asked.held_out}
    with AgenticReward(("execution",)) as reward:
        found = reward([row["prompt"] for row in rows], [row["completion"] for row in rows])
    assert found == [0.1, -0.1] * 176
