"""The held-out judge's gap, and the picture of a training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opendesign.errors import UsageError
from opendesign.train import AgenticReward
from opendesign.train.cards import Provenance, text
from opendesign.train.config import HeldOut
from opendesign.train.curves import draw
from opendesign.train.grpo import held_out_reward
from opendesign.train.heldout import after_evaluation, after_step, points


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


def test_the_panels_have_one_order_and_a_title_over_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import vl_convert

    specs: list[dict[str, Any]] = []
    monkeypatch.setattr(vl_convert, "vegalite_to_png", lambda spec, **_: specs.append(spec) or b"")
    for history in (HISTORY, HISTORY[::-1]):
        draw(history, tmp_path, "mine, control")
        assert specs[-1]["title"] == "mine, control"
        panels = [panel["title"] for panel in specs[-1]["concat"]]
        assert panels == ["reward", "channels", "pages", "held-out prompts", "gap", "loss"]
    legends = {panel["title"]: "legend" not in panel["encoding"]["color"] for panel in specs[-1]["concat"]}
    assert (legends["loss"], legends["gap"], legends["channels"]) == (False, False, True)


def test_a_card_says_what_must_not_be_tested() -> None:
    made = Provenance(title="mine", facts={"Base": "a|b"}, test_cases=("opendesign/game-001",))
    card = text(made, step=7, found=points(HISTORY))
    assert "**Trained on test cases.**" in card
    assert "opendesign/game-001" in card
    assert "| 10 | 0.600 | 50.000 | +1.50 |" in card
    assert "| Base | a\\|b |" in card
    assert "Trained on test cases" not in text(Provenance(title="mine", facts={}), step=7, found=[])


def test_a_card_says_how_it_ended_and_what_its_numbers_are() -> None:
    judged = Provenance(title="mine", facts={"Judges": "static: static"})
    card = text(judged, step=7, found=points(HISTORY), ended="At step 7 it was enough.")
    assert card.startswith("# mine, step 7\n\n**Ended early.** At step 7 it was enough.\n\n| | |")
    assert "weighted rewards" in card
    assert "no limit to it" not in card
    assert "the judge that trains it" in card
    flat = points([logged(step, 0.4, 40.0, spreads=(0.0, 20.0)) for step in (0, 5)])
    card = text(judged, step=7, found=flat)
    assert "one score at step 0, so that there is no gap and no limit to it." in card
    assert "Ended early" not in card
    # No judge has trained what was fitted to answers.
    assert "judge" not in text(Provenance(title="mine", facts={"Stage": "SFT"}), step=7, found=[])


SILENT = {"eval_loss": 0.0, "eval_held_out/unscored": 1.0}


def test_the_base_is_the_evaluation_at_step_0_and_no_later_one() -> None:
    late = logged(10, 0.4, 40.0, spreads=(0.1, 20.0))
    assert [point.gap for point in points([SILENT | {"step": 0}, late])] == [None]
    with pytest.raises(UsageError, match="nothing to compare with"):
        after_evaluation([SILENT | {"step": 0}], 1.0)


def test_a_training_that_nothing_guards_is_ended(caplog: pytest.LogCaptureFixture) -> None:
    history = [*HISTORY, SILENT | {"step": 20}]
    assert after_evaluation(history, 1.0) is None
    assert "step 20" in caplog.text
    few = logged(30, 0.4, 40.0, spreads=(0.1, 20.0)) | {"eval_held_out/unscored": 0.9}
    for last in (SILENT | {"step": 30}, few):
        ending = after_evaluation([*history, last], 1.0)
        assert ending is not None
        assert ending.again
        assert "20 and 30" in ending.why
    # One that has scores again is looked at as ever.
    again = logged(30, 0.4, 40.0, spreads=(0.1, 20.0))
    assert after_evaluation([*history, again], 1.0) is None
    assert after_evaluation([*history, again, SILENT | {"step": 40}], 1.0) is None


def test_a_gap_over_the_limit_ends_a_training_for_good(caplog: pytest.LogCaptureFixture) -> None:
    ending = after_evaluation(HISTORY, 1.4)
    assert ending is not None
    assert (ending.again, "1.50" in ending.why, "1.4" in ending.why) == (False, True, True)
    assert after_evaluation(HISTORY, 1.6) is None
    assert not caplog.text
    assert after_evaluation(HISTORY, None) is None
    assert "1.50" in caplog.text


def test_judges_that_stay_silent_end_a_training() -> None:
    def steps(*failed: float) -> list[dict[str, Any]]:
        return [{"step": at, "judges/failed": one} for at, one in enumerate(failed, start=1)]

    assert after_step(steps(*[1.0] * 9)) is None
    assert after_step(steps(*[1.0] * 9, 0.5)) is None
    ending = after_step(steps(0.0, *[1.0] * 10))
    assert ending is not None
    assert ending.again
    assert "11" in ending.why
    assert after_step([*steps(*[1.0] * 10), {"step": 10, "train_runtime": 1.0}]) is None


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "AZURE", "OPENROUTER", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", "none")
    monkeypatch.setenv("HOSTED_VLLM_API_BASE", "http://127.0.0.1:9")


def held_out_of(training: Any, judges: tuple[str, ...], model: str | None, **more: Any) -> AgenticReward:
    """The held-out reward beside a training reward of judges, or of a model."""
    if isinstance(training, str):
        training = {"judges": ["execution", "static"], "judge_models": {"static": training}}
    models = {"static": model} if model else {}
    return held_out_reward(HeldOut(judges=judges, judge_models=models, **more), AgenticReward(**training))


@pytest.mark.parametrize(
    ("training", "held_out", "more", "said"),
    [
        (
            "openai/gpt-5",
            "azure/gpt-5",
            {},
            "azure/gpt-5 is of the family of the training judge openai/gpt-5",
        ),
        ("openai/gpt-5", "openrouter/openai/o4-mini", {}, "of the family"),
        ("hosted_vllm/qwen3-vl", "hosted_vllm/deepseek-r1-distill-qwen", {}, "of the family"),
        ("openai/gpt-5", "hosted_vllm/ours", {}, "hosted_vllm/ours.*'family'"),
        ("hosted_vllm/ours", "openai/gpt-5", {}, "hosted_vllm/ours.*'family'"),
        ("hosted_vllm/qwen3-vl", "hosted_vllm/ours", {"family": "Alibaba"}, "of the family"),
        ("openrouter/openai/gpt-5", "openrouter/anthropic/claude-sonnet-4.5", {}, None),
        ("hosted_vllm/qwen3-vl", "hosted_vllm/internvl3", {}, None),
        ("openai/gpt-5", "hosted_vllm/ours", {"family": "ours"}, None),
        ("hosted_vllm/ours", "hosted_vllm/ours-2", {"family": "ours"}, None),
    ],
)
def test_a_held_out_model_is_of_another_family(
    keys: None, training: str, held_out: str, more: Any, said: str | None
) -> None:
    if said is None:
        assert held_out_of(training, ("execution", "static"), held_out, **more).roles["static"] == "static"
        return
    with pytest.raises(UsageError, match=said):
        held_out_of(training, ("execution", "static"), held_out, **more)


@pytest.mark.parametrize(
    ("training", "judges", "other"),
    [
        (["execution", "computed"], ("computed", "execution"), False),
        (["execution", "computed"], ("static",), False),  # for which computed stands in
        (["execution", "computed"], ("execution-literal",), True),
        ("openai/gpt-5", ("execution", "static"), True),  # computed, not the model
    ],
)
def test_a_held_out_judge_is_another_one(
    keys: None, training: Any, judges: tuple[str, ...], other: bool
) -> None:
    training = training if isinstance(training, str) else {"judges": training}
    if other:
        held_out_of(training, judges, None)
        return
    with pytest.raises(UsageError, match="the training judges themselves"):
        held_out_of(training, judges, None)
