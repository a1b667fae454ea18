"""Rank correlations against scipy, against every order there is, and against published figures."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from opendesign.studying import ranks
from opendesign.studying.figure import EQUAL, centred, figure, leaders, left_out, middle, ranked

REFERENCE = {"spearman": scipy.stats.spearmanr, "kendall": scipy.stats.kendalltau}
few_values = st.integers(0, 4).map(float)  # ties are the rule
pairs = st.lists(st.tuples(few_values, few_values), min_size=3, max_size=12)


@pytest.mark.parametrize("name", REFERENCE)
@given(pairs)
def test_correlations_agree_with_scipy_whatever_the_ties(name: str, both: list[tuple[float, float]]) -> None:
    x, y = np.array(both).T
    value = float(getattr(ranks, name)(x, y))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(value)
    else:
        assert value == pytest.approx(REFERENCE[name](x, y).statistic, abs=1e-9)


@pytest.mark.parametrize("name", ["spearman", "kendall", "footrule"])
def test_many_rows_at_once_are_each_row_alone(name: str) -> None:
    correlate = getattr(ranks, name)
    x, y = np.random.default_rng(1).integers(0, 6, size=(2, 50, 8)).astype(float)
    np.testing.assert_allclose(correlate(x, y), [correlate(a, b) for a, b in zip(x, y, strict=True)])


@pytest.mark.parametrize("name", ["spearman", "kendall"])
@pytest.mark.parametrize(
    "y", [[2, 1, 4, 3, 5, 6], [1, 1, 2, 2, 3, 4], [6, 5, 4, 3, 2, 1], [3, 1, 2, 6, 5, 4]]
)
def test_exact_p_is_the_share_of_all_orders(name: str, y: list[float]) -> None:
    """Counted with scipy's correlations and plain Python's permutations."""
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 5.0])
    reference = REFERENCE[name]
    seen = abs(reference(x, y).statistic)
    orders = list(permutations(y))
    extreme = sum(abs(reference(x, order).statistic) >= seen - 1e-9 for order in orders)
    p, method = ranks.p_value(x, np.array(y, dtype=float), getattr(ranks, name))
    assert p == pytest.approx(extreme / len(orders))
    assert method == "exact, 720 orders"


@pytest.mark.parametrize("n", [5, 8, 9])
def test_exact_p_of_kendall_agrees_with_scipy_without_ties(n: int) -> None:
    x, y = np.random.default_rng(n).normal(size=(2, n))
    p, _ = ranks.p_value(x, y, ranks.kendall)
    assert p == pytest.approx(scipy.stats.kendalltau(x, y, method="exact").pvalue)


def test_drawn_p_is_near_scipys_and_the_same_every_time() -> None:
    x = np.arange(14.0)
    y = x + np.random.default_rng(3).normal(0, 6, 14)
    p, method = ranks.p_value(x, y, ranks.kendall)
    assert method == "20000 permutations"
    assert p == pytest.approx(scipy.stats.kendalltau(x, y, method="exact").pvalue, abs=0.006)
    assert p == ranks.p_value(x, y, ranks.kendall)[0]


@pytest.mark.parametrize(
    ("x", "y", "value"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, 1], 0.0),  # 3 + 1 + 1 + 3 apart, of at most 8
        ([1, 2, 3, 4], [2, 1, 3, 4], 0.75),
        ([1, 2, 3], [2, 2, 9], 0.75),  # ranks 1, 2, 3 and 1.5, 1.5, 3: one apart, of at most 4
    ],
)
def test_footrule_by_hand(x: list[float], y: list[float], value: float) -> None:
    assert float(ranks.footrule(np.array(x), np.array(y))) == pytest.approx(value)


@pytest.mark.parametrize(("apart", "published"), [(4, 0.944), (22, 0.694)])
def test_footrule_gives_what_artifactsbench_published(apart: int, published: float) -> None:
    """Its 94.4 % and 69.4 % over twelve models are ranks 4 and 22 apart in all."""
    order = {4: [1, 0, 3, 2, *range(4, 12)], 22: [11, *range(1, 11), 0]}[apart]
    assert sum(abs(at - place) for at, place in enumerate(order)) == apart
    assert round(float(ranks.footrule(np.arange(12.0), np.array(order, dtype=float))), 3) == published


def test_tau_of_91_over_ten_models_is_two_discordant_pairs() -> None:
    x, y = np.arange(10.0), np.array([1, 0, 3, 2, *range(4, 10)], dtype=float)
    assert len(ranks.discordant(x, y)) == 2
    assert round(float(ranks.kendall(x, y)), 2) == 0.91
    assert round(float(ranks.spearman(x, y)), 2) == 0.98
    assert (1, 0) in ranks.discordant(x, y)


def test_tied_pairs_are_counted_and_never_discordant() -> None:
    x, y = np.array([3.0, 2.0, 2.0, 1.0]), np.array([1.0, 1.0, 2.0, 1.0])
    assert (ranks.ties(x), ranks.ties(y)) == (1, 3)
    assert ranks.discordant(x, y) == [(0, 2)]


def test_a_figure_without_a_value_says_so_and_not_why_it_has_no_interval() -> None:
    assert figure(float("nan"), 4, why="Too few for an interval.").why == EQUAL
    assert figure(0.5, 4, {"cases": None}, "Too few for an interval.").why == "Too few for an interval."


def test_ranges_are_none_where_resamples_say_too_little() -> None:
    draws = np.linspace(0, 1, 1001)
    assert middle(draws) == pytest.approx((0.025, 0.975))
    assert middle(np.where(draws < 0.1, np.nan, draws)) is None
    assert centred(draws, 0.8) == (pytest.approx(0.325), 1.0)
    assert left_out(lambda kept: float(sum(kept)), 4) == (3.0, 6.0)


def test_equal_scores_share_a_rank_and_the_lead() -> None:
    ranking = ranked({"c": 1.0, "a": 2.0, "b": 2.0})
    assert ranking == {"a": 1, "b": 1, "c": 3}
    assert leaders(ranking) == "a = b"
