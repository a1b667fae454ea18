"""The held-out judge's gap, and the picture of a training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opendesign.errors import UsageError
from opendesign.train.cards import Provenance, text
from opendesign.train.config import HeldOut
from opendesign.train.curves import draw
from opendesign.train.grpo import held_out_reward
from opendesign.train.heldout import points


def logged(step: int, training: float, held_out: float, *, spreads: tuple[float, float]) -> dict[str, Any]:
    means = {"training": training, "held_out": held_out}
    row: dict[str, Any] = {"step": step}
    for (name, mean), spread in zip(means.items(), spreads, strict=True):
        row |= {f"eval_held_out/{name}": mean, f"eval_held_out/{name}_square": mean**2 + spread**2}
    return row


HISTORY = [
    {"step": 1, "reward": 0.2, "rewards/execution/mean": -0.5, "loss": 0.1, "judges/gated": 0.75},
    logged(0, 0.4, 40.0, spreads=(0.1, 20.0)),
    {"step": 2, "reward": 0.3, "rewards/execution/mean": 0.5, "loss": float("nan"), "judges/gated": 0.25},
    logged(10, 0.6, 50.0, spreads=(0.3, 1.0)),
]


def test_the_gap_is_in_spreads_at_step_0() -> None:
    first, last = points(HISTORY)
    assert (first.step, first.gap) == (0, 0.0)
    # The training judge has risen 0.2, two of its spreads; the other 10, half of its own.
    assert last.gap == pytest.approx(2.0 - 0.5)


def test_without_a_spread_there_is_no_gap() -> None:
    found = points([logged(step, 0.4 + step, 40.0, spreads=(0.0, 20.0)) for step in (0, 5)])
    assert [point.gap for point in found] == [None, None]
    assert points([{"step": 1, "reward": 0.2}]) == []


def test_curves_are_drawn_from_what_was_logged(tmp_path: Path) -> None:
    draw(HISTORY, tmp_path)
    rows = json.loads((tmp_path / "curves.json").read_text(encoding="utf-8"))
    assert {"panel": "gap", "curve": "gap", "step": 10, "value": pytest.approx(1.5)} in rows
    assert [row["value"] for row in rows if row["panel"] == "channels"] == [-0.5, 0.5]
    assert len([row for row in rows if row["curve"] == "loss"]) == 1  # a NaN is no value
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_a_card_says_what_must_not_be_tested() -> None:
    made = Provenance(title="mine", facts={"Base": "a|b"}, test_cases=("opendesign/game-001",))
    card = text(made, step=7, found=points(HISTORY))
    assert "**Trained on test cases.**" in card
    assert "opendesign/game-001" in card
    assert "| 10 | 0.600 | 50.000 | +1.50 |" in card
    assert "| Base | a\\|b |" in card
    assert "Trained on test cases" not in text(Provenance(title="mine", facts={}), step=7, found=[])


@pytest.mark.parametrize(
    ("judges", "models", "said"),
    [
        (("static",), {"static": "openai/gpt-4o"}, "of the family of the training judge openai/gpt-5"),
        (("execution", "static"), {}, "the training judges themselves"),
    ],
)
def test_a_held_out_judge_is_another_one(judges: Any, models: Any, said: str) -> None:
    training = {"judges": ["execution", "static"], "judge_models": {"static": "openai/gpt-5"}}
    with pytest.raises(UsageError, match=said):
        held_out_reward(HeldOut(judges=judges, judge_models=models), training)
