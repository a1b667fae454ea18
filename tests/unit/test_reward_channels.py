"""Channels and totals from what judges found: who failed decides what a missing number becomes."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest

from opendesign.errors import UnknownName, UsageError
from opendesign.train.channels import Evaluation, Found, evaluation_of
from opendesign.train.panel import GUARDS, Panel, panel_of
from opendesign.types import Failure

PASSES, FAILS = Found(scores={"score": 1, "passed": 1}), Found(scores={"score": -1, "passed": 0})
JUDGE = Failure(reason="unparsable", detail="It said nothing.")
HUNG = Failure(reason="page_hung", detail="It hangs.")
CRASH = Failure(reason="browser_crash", detail="It crashed.")


def panel(judges: Any = ("execution", "computed", "probe"), **changes: Any) -> Panel:
    asked: dict[str, Any] = {
        "weights": None,
        "scale": "unit",
        "gate": "execution",
        "guards": (),
        "interactions": 3,
        "deadline_s": 60.0,
        "fallback": None,
        "protocol": "standard",
        "models_file": None,
        "concurrency": 4,
        "budget": None,
    }
    return panel_of(judges, changes.pop("judge_models", None), **{**asked, **changes})


def looks(total: float, **gates: str) -> Found:
    return Found(scores={"total": total}, gates=gates)


def works(points: int) -> Found:
    return Found(scores={"points": points, "rate": round(points / 3, 4)})


def evaluation(of: Panel, execution: Found, static: Found, interactive: Found | None = None) -> Evaluation:
    found = {"execution": execution, "computed": static}
    if interactive is not None:
        found["probe"] = interactive
    return evaluation_of(of.channels, found, gate=of.gate, seconds=0.0)


@pytest.mark.parametrize(
    ("scale", "channels", "total"),
    [("unit", (1, 0.62, 2 / 3), 0.1 + 0.8 * 0.62 + 0.2 / 3), ("paper", (1, 62, 2), 0.1 + 0.8 * 62 + 0.2)],
)
def test_the_papers_weights_on_both_scales(scale: Any, channels: tuple[float, ...], total: float) -> None:
    found = evaluation(panel(scale=scale), PASSES, looks(62), works(2))
    assert list(found.channels) == ["execution", "static", "interactive"]
    assert tuple(found.channels.values()) == pytest.approx(channels, abs=1e-4)
    assert found.total == pytest.approx(total, abs=1e-4)


def test_an_absent_role_is_left_out_and_the_weights_stay() -> None:
    found = evaluation(panel(("execution", "computed")), PASSES, looks(50))
    assert dict(found.channels) == {"execution": 1, "static": 0.5}
    assert found.total == pytest.approx(0.1 + 0.8 * 0.5)


@pytest.mark.parametrize("scale", ["unit", "paper"])
def test_no_page_that_fails_the_gate_beats_one_that_passes(scale: Any) -> None:
    of = panel(scale=scale, guards=list(GUARDS))
    gates = dict.fromkeys(GUARDS, "Found.")
    failing = evaluation(of, FAILS, looks(100), works(3))
    worst = evaluation(of, PASSES, looks(0, **gates), works(0))
    assert failing.gated
    assert not worst.gated
    assert failing.channels["execution"] == -1
    assert failing.total is not None
    assert worst.total is not None
    assert failing.total < worst.total
    for name, weight in of.weights.items():
        one, other = failing.channels[name], worst.channels[name]
        assert one is not None
        assert other is not None
        assert weight * one <= weight * other, name


@pytest.mark.parametrize("failure", [JUDGE, CRASH])
def test_a_judges_or_an_instruments_failure_abstains(failure: Failure) -> None:
    found = evaluation(panel(), PASSES, Found(failure=failure), works(3))
    assert dict(found.channels) == {"execution": 1, "static": None, "interactive": 1}
    assert found.total is None
    assert found.unscored
    assert {name: one.reason for name, one in found.failures.items()} == {"static": failure.reason}


def test_a_failed_judge_without_weight_costs_nothing() -> None:
    found = evaluation(panel(weights={"static": 0}), PASSES, Found(failure=JUDGE), works(3))
    assert found.total == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("fallback", "static"), [(0.25, 0.25), ({"static": 0.5, "guard_blank": 0}, 0.5), ({"execution": 0}, None)]
)
def test_a_fallback_stands_in_where_it_is_given(fallback: Any, static: float | None) -> None:
    of = panel(fallback=fallback, guards=["blank"])
    found = evaluation(of, PASSES, Found(failure=JUDGE), works(0))
    assert found.channels["static"] == static
    assert (found.total is None) == (static is None)
    if static == 0.25:
        assert found.total == pytest.approx(0.1 + 0.8 * 0.25)  # a guard that saw nothing takes nothing


def test_a_page_that_fails_by_itself_is_at_the_floor_of_everything() -> None:
    hung = Found(failure=HUNG, of_page=True)
    found = evaluation(panel(), PASSES, hung, hung)
    assert found.gated
    assert dict(found.channels) == {"execution": -1, "static": 0, "interactive": 0}
    assert found.total == pytest.approx(-0.1)


def test_a_page_that_hangs_when_it_is_operated_loses_that_channel_alone() -> None:
    found = evaluation(panel(), PASSES, looks(80), Found(failure=HUNG))
    assert dict(found.channels) == {"execution": 1, "static": 0.8, "interactive": 0}
    assert not found.gated


def test_nothing_to_operate_earns_no_point() -> None:
    assert evaluation(panel(), PASSES, looks(80), Found()).channels["interactive"] == 0


def test_where_the_gate_is_not_known_everything_abstains() -> None:
    found = evaluation(panel(), Found(failure=CRASH), looks(90), works(3))
    assert set(found.channels.values()) == {None}
    assert not found.gated
    assert found.unscored


@pytest.mark.parametrize("gate", ["static", None])
def test_the_gate_may_be_another_role_or_none(gate: str | None) -> None:
    found = evaluation(panel(gate=gate), FAILS, looks(0), works(3))
    assert found.gated == (gate is not None)
    assert found.total == pytest.approx(-0.1 if gate else -0.1 + 0.1)


def test_a_guard_takes_away_by_its_weight() -> None:
    of = panel(guards=["blank", "giant"], weights={"guard_giant": -0.25})
    found = evaluation(of, PASSES, looks(50, giant="It is tall."), works(0))
    assert (found.channels["guard_blank"], found.channels["guard_giant"]) == (0, 1)
    assert found.total == pytest.approx(0.1 + 0.4 - 0.25)


def test_a_total_is_finite_or_none_whatever_was_found() -> None:
    of = panel(guards=["blank"])
    kinds = (looks(0), looks(100, blank="x"), Found(), Found(failure=HUNG), Found(failure=JUDGE))
    for execution, static, probe in product((PASSES, FAILS, Found(failure=HUNG)), kinds, kinds):
        total = evaluation(of, execution, static, probe).total
        assert total is None or math.isfinite(total)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"judges": "execution"}, "a list of names"),
        ({"judges": ("execution", "execution-paper")}, "both give the execution reward"),
        ({"judges": ("execution", "pairwise")}, "needs a model"),
        ({"judge_models": {"computed": "openai/x"}}, "takes no model"),
        ({"judge_models": {"static": "openai/x"}}, "not among the judges"),
        ({"scale": "percent"}, "no scale named 'percent'"),
        ({"gate": "looks"}, "no role named 'looks'"),
        ({"judges": ("execution",), "gate": "static"}, "no judge gives that reward"),
        ({"guards": ("blnk",)}, "did you mean blank"),
        ({"weights": {"beauty": 1}}, "no channel named 'beauty'"),
        ({"weights": {"static": math.nan}}, "finite number"),
        ({"weights": {"static": -1}}, "0 or more"),
        ({"weights": {"guard_blank": 1}}, "takes away"),
        ({"fallback": math.inf}, "finite number"),
        ({"fallback": {"statics": 0}}, "did you mean static"),
        ({"interactions": 0}, "whole number from 1 to 50"),
    ],
)
def test_what_cannot_sit_together_is_told_in_one_sentence(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says) as raised:
        panel(**changes)
    assert "\n" not in str(raised.value)


def test_more_interactions_make_another_judge_with_more_points() -> None:
    five = panel(interactions=5)
    three = panel()
    card = next(seat.card for seat in five.seats if seat.card.name == "probe")
    assert (card.settings["interactions"], card.measures["points"].high) == (5, 5)
    hashes = [{seat.card.name: of.config(seat) for seat in of.seats} for of in (three, five)]
    assert hashes[0]["computed"] == hashes[1]["computed"]
    assert hashes[0]["probe"] != hashes[1]["probe"]


def test_a_name_that_nothing_has_is_an_unknown_name() -> None:
    with pytest.raises(UnknownName):
        panel(("execution", "beauty"))
