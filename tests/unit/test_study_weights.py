"""``study weights``: straight lines whose crossings are known, and the reward's gate."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from opendesign.errors import UnknownName, UsageError
from opendesign.studying import Channels, load_channels, weights
from opendesign.studying.weights import parse_weights
from tests.unit.studying_support import run_study, shown, stored_run

CHANNELS = ("execution", "static", "interactive")


def channels(
    means: dict[str, tuple[float, float, float]], *, noise: float = 0.0, cases: int = 20
) -> Channels:
    """Models with these mean scores in execution, static and interactive."""
    values = np.array(list(means.values())).T[:, None, :] + np.zeros((3, cases, 1))
    around = np.random.default_rng(1).normal(0, noise, values.shape) if noise else np.zeros(values.shape)
    table = values + around - around.mean(axis=1, keepdims=True)
    return Channels(
        channels=CHANNELS, models=tuple(means), categories=("website",) * cases, values=table, gated=table,
        judges=dict.fromkeys(CHANNELS, "j.m"),
    )  # fmt: skip


def test_scores_are_the_weighted_means() -> None:
    found = weights(channels({"a": (1, 0.8, 0.5), "b": (0, 0.9, 0.1)}))
    assert {m: f.value for m, f in found.scores.items()} == pytest.approx({"a": 0.79, "b": 0.73})
    assert list(found.scores) == ["a", "b"]
    assert found.leads == {"a": 1.0, "b": 0.0}
    other = weights(channels({"a": (1, 0.8, 0.5), "b": (0, 0.9, 0.1)}), given={"static": 3.0})
    assert {m: f.value for m, f in other.scores.items()} == pytest.approx({"b": 0.9, "a": 0.8})
    assert other.weights == {"execution": 0.0, "static": 1.0, "interactive": 0.0}


def test_the_leader_changes_where_the_lines_cross() -> None:
    """With the others at 1 : 1, a has 0.5·(1 − t) + 0.6·t and b 0.2·(1 − t) + 0.9·t: equal at t = 0.5."""
    found = weights(channels({"a": (0.6, 0.6, 0.4), "b": (0.1, 0.9, 0.3)}))
    sweep = {s.channel: s for s in found.sweeps}["static"]
    assert (sweep.leaders, sweep.rank_changes) == (("a", "b"), 1)
    (change,) = sweep.leader_changes
    assert (change.weight, change.before, change.after) == (pytest.approx(0.5), "a", "b")
    assert sweep.stable == pytest.approx((0.5, 1.0))  # around 0.8, the weight in use
    assert sweep.curves["a"][0] == pytest.approx(0.5)
    assert sweep.curves["b"][-1] == pytest.approx(0.9)
    assert sweep.kendall[-1] == 1.0
    assert sweep.kendall[0] == -1.0


def test_every_crossing_is_found_that_a_fine_search_finds() -> None:
    draw = np.random.default_rng(7)
    models = {f"m{at}": tuple(draw.random(3)) for at in range(8)}
    found = weights(channels(models), given={"execution": 1, "static": 1, "interactive": 1})  # type: ignore[arg-type]
    means = np.array(list(models.values()))
    for at, sweep in enumerate(found.sweeps):
        t = np.linspace(0, 1, 20_001)[:, None]
        rest = np.delete(means, at, axis=1).mean(axis=1)
        scores = t * means[:, at] + (1 - t) * rest
        best = scores.argmax(axis=1)
        seen = [
            list(models)[best[0]],
            *(list(models)[b] for a, b in pairwise(best) if a != b),
        ]
        assert list(sweep.leaders) == seen
        orders = scipy.stats.rankdata(scores, axis=1)
        # Two models that change places are two steps of one rank.
        assert sweep.rank_changes == int(np.abs(np.diff(orders, axis=0)).sum()) // 2


def test_equal_models_share_the_lead_and_noise_shares_it_by_chance() -> None:
    same = weights(channels({"a": (1, 0.5, 0.5), "b": (1, 0.5, 0.5)}))
    assert same.leads == {"a": 0.5, "b": 0.5}
    assert same.sweeps[1].leaders == ("a = b",)
    near = weights(channels({"a": (1, 0.51, 0.5), "b": (1, 0.5, 0.5)}, noise=0.2))
    assert 0.5 < near.leads["a"] < 0.95
    assert sum(near.leads.values()) == pytest.approx(1)


def test_a_failing_page_has_the_floor_in_every_other_channel_unless_ungated(tmp_path: Path) -> None:
    good = stored_run(
        tmp_path / "a", "a", {"execution": [1] * 6, "static": [50.0] * 6, "interactive": [0.5] * 6}
    )
    half = stored_run(
        tmp_path / "b",
        "b",
        # The judge never scored a page that fails: it counts as 0, as in the reward.
        {
            "execution": [1, 1, 1, 0, 0, 0],
            "static": [80.0, 80.0, 80.0, 80.0, 80.0, None],
            "interactive": [1.0] * 6,
        },
    )
    gated = run_study("weights", good, half)
    ungated = run_study("weights", good, half, "--ungated")
    assert gated["channel_means"]["b"]["static"]["value"] == pytest.approx(0.4)
    assert ungated["channel_means"]["b"]["static"]["value"] == pytest.approx(0.8)
    assert gated["channel_means"]["b"]["execution"]["value"] == pytest.approx(0.0)
    assert gated["scores"]["b"]["value"] == pytest.approx(0.1 * 0 + 0.8 * 0.4 + 0.1 * 0.5)
    assert [next(iter(found["scores"])) for found in (gated, ungated)] == ["a", "b"]
    assert "Reward with execution 0.10, static 0.80, interactive 0.10" in shown("weights", good, half)
    assert ", ungated" in shown("weights", good, half, "--ungated")


def test_a_model_without_a_channel_is_named_and_left_out() -> None:
    table = channels({"a": (1, 0.5, 0.5), "b": (1, 0.4, 0.5), "c": (1, 0.4, np.nan)})
    found = weights(table)
    assert list(found.scores) == ["a", "b"]
    assert "'c' is unscored in a channel and left out." in found.notes


def test_weights_without_sense_are_one_sentence(tmp_path: Path) -> None:
    table = channels({"a": (1, 0.5, 0.5), "b": (1, 0.4, 0.5)})
    for given, says in (
        ({"stat": 1.0}, "no channel named 'stat': did you mean static"),
        ({"static": -1.0}, "a number from 0 on"),
        ({"static": float("nan")}, "a number from 0 on"),
        (dict.fromkeys(CHANNELS, 0.0), "All weights are 0"),
    ):
        with pytest.raises(UsageError, match=says):
            weights(table, given=given)
    with pytest.raises(UsageError, match=r"as in static=0\.5, not 'static=x'"):
        parse_weights(["static=x"])
    with pytest.raises(UsageError, match="name two runs or more"):
        weights(channels({"a": (1, 0.5, 0.5)}))
    with pytest.raises(UsageError, match="No model has a score in every channel"):
        weights(channels({"a": (1, 0.5, np.nan), "b": (np.nan, 0.4, 0.5)}))
    alone = stored_run(tmp_path / "x", "x", {"static": [50.0] * 6})
    with pytest.raises(UsageError, match="fewer than two of execution, static and interactive"):
        load_channels([str(alone)])
    with pytest.raises(UnknownName, match="no run named 'nowhere'"):
        load_channels(["nowhere"])
    assert parse_weights(["static=0.5"]) == {"execution": 0.1, "static": 0.5, "interactive": 0.1}
