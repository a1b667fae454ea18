"""Intervals against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from opendesign.running.statistics import Resampling, matrix, rate

CATEGORIES = ["website"] * 512 + ["3d"] * 123 + ["game"] * 114 + ["component"] * 50 + ["dataviz"] * 41


def test_bca_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).beta(5, 2, 200) * 100
    estimate = Resampling(["one"] * 200, resamples=20_000).estimates(values)[0]
    reference = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2)
    ).confidence_interval
    assert estimate is not None
    assert estimate.mean == pytest.approx(values.mean(), abs=1e-9)
    width = reference.high - reference.low
    assert estimate.low == pytest.approx(reference.low, abs=0.05 * width)
    assert estimate.high == pytest.approx(reference.high, abs=0.05 * width)


def test_stratified_resampling_takes_out_what_lies_between_categories() -> None:
    """Scores that differ only between categories have no spread within: the interval must be tiny."""
    noise = np.random.default_rng(3).normal(0, 0.01, 840)
    values = np.array([{"website": 10, "3d": 90, "game": 50}.get(c, 20) for c in CATEGORIES]) + noise
    inside = Resampling(CATEGORIES, resamples=2_000).estimates(values)[0]
    pooled = Resampling(["all"] * 840, resamples=2_000).estimates(values)[0]
    assert inside is not None
    assert pooled is not None
    assert inside.low is not None
    assert inside.high is not None
    assert pooled.low is not None
    assert pooled.high is not None
    assert inside.high - inside.low < 0.01
    assert pooled.high - pooled.low > 1


def test_small_categories_are_resampled_together() -> None:
    """Two cases a category say nothing about the spread inside it."""
    values = np.array([0.0, 0.0, 100.0, 100.0, 50.0, 50.0, 20.0, 20.0, 80.0, 80.0])
    estimate = Resampling([c for c in "abcde" for _ in range(2)]).estimates(values)[0]
    assert estimate is not None
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.high - estimate.low > 20


@pytest.mark.parametrize(("n", "at_least"), [(30, 0.92), (120, 0.93)])
def test_coverage_on_skewed_scores(n: int, at_least: float) -> None:
    """Seeded simulation with a known mean: the interval holds it about 95 times in 100."""
    hits = 0
    for trial in range(400):
        values = np.random.default_rng(trial).beta(6, 1.5, n) * 100
        estimate = Resampling(["one"] * n, resamples=1_500, seed=str(trial)).estimates(values)[0]
        assert estimate is not None
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= 80.0 <= estimate.high
    assert at_least <= hits / 400 <= 0.975


def test_missing_scores_are_left_out_never_zero() -> None:
    table = matrix({"a": {"x": 80.0, "y": 60.0}, "b": {}}, ["x", "y", "z"])
    assert np.isnan(table[2, 0])
    whole, none = Resampling(["c"] * 3).estimates(table)
    assert whole is not None
    assert (whole.mean, whole.n) == (70.0, 2)
    assert none is None


def test_few_cases_have_no_interval_and_equal_scores_have_no_width() -> None:
    few = Resampling(["c"] * 4).estimates(np.array([7.0, 8.0, 9.0, 8.0]))[0]
    assert few is not None
    assert (few.mean, few.low, few.high, few.n) == (8.0, None, None, 4)
    same = Resampling(["c"] * 50).estimates(np.full(50, 7.1))[0]
    assert same is not None
    assert (same.low, same.high) == (same.mean, same.mean)


def test_draws_depend_on_the_seed_alone() -> None:
    values = np.random.default_rng(5).normal(size=60)
    first, second, other = (
        Resampling(["c"] * 60, resamples=500, seed=seed).estimates(values)[0] for seed in ("s", "s", "t")
    )
    assert first == second
    assert first != other


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (9, 10), (10, 10), (412, 840)])
def test_wilson_agrees_with_scipy(hits: int, n: int) -> None:
    estimate = rate([[1.0]] * hits + [[0.0]] * (n - hits))
    reference = scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert estimate is not None
    assert estimate.low == pytest.approx(reference.low, abs=1e-9)
    assert estimate.high == pytest.approx(reference.high, abs=1e-9)


def test_samples_of_one_case_count_less_than_cases() -> None:
    """Five samples that always agree say no more than one; five that never do say as much as five cases."""
    single = rate([[1.0]] * 30 + [[0.0]] * 10)
    agreeing = rate([[1.0] * 5] * 30 + [[0.0] * 5] * 10)
    mixed = rate([[1.0, 1.0, 1.0, 0.0]] * 40)
    assert single is not None
    assert agreeing is not None
    assert mixed is not None

    def width(estimate: object) -> float:
        return estimate.high - estimate.low  # type: ignore[attr-defined,no-any-return]

    assert width(agreeing) == pytest.approx(width(single), rel=0.02)
    assert width(mixed) < 0.6 * width(single)
    assert rate([[], []]) is None
