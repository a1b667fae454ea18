"""``study power`` against statsmodels, and against comparing models again and again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.power import NormalIndPower

from opendesign.errors import UsageError
from opendesign.studying import CaseScores, cases_needed, load_scores, power_study
from opendesign.studying.power import power_table
from tests.unit.studying_support import run_study, shown, stored_run, write_csv


def table(*columns: np.ndarray, categories: tuple[str, ...] = ()) -> CaseScores:
    values = np.stack(columns, axis=1)
    return CaseScores(
        name="static.total",
        models=tuple("abcdef"[: len(columns)]),
        cases=tuple(f"c{at}" for at in range(len(values))),
        categories=categories or ("website",) * len(values),
        values=values,
    )


def scores(n: int, *spreads: float, seed: int = 1) -> CaseScores:
    """One model, and others that differ from it by noise of these standard deviations."""
    draw = np.random.default_rng(seed)
    base = draw.normal(60, 15, n)
    return table(base, *(base + draw.normal(0, spread, n) for spread in spreads))


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize(("d", "spread"), [(1.0, 10.0), (3.0, 12.5), (0.2, 0.5)])
def test_cases_needed_are_those_of_statsmodels(d: float, spread: float, power: float) -> None:
    reference = NormalIndPower(ddof=0).solve_power(effect_size=d / spread, alpha=0.05, power=power, ratio=0)
    assert cases_needed(d, spread, power) == int(np.ceil(reference - 1e-9))


def test_the_spread_is_that_of_paired_differences_and_not_of_scores() -> None:
    found = power_study(scores(400, 6.0), differences=[2.0])
    whole = found.spreads[0]
    assert whole.spread.value == pytest.approx(6.0, rel=0.1)
    low, high = whole.spread.ranges["cases"]
    assert low < 6.0 < high
    assert whole.smallest == pytest.approx(2.8016 * whole.spread.value / 20, rel=1e-3)


def test_the_needed_cases_do_separate_as_often_as_asked_for() -> None:
    """Fresh differences of that spread, compared by scipy's paired t-test."""
    (need,) = power_study(scores(300, 8.0), differences=[2.0]).spreads[0].needs
    assert need.simulated_power.value == pytest.approx(0.8, abs=0.04)
    spread = power_study(scores(300, 8.0)).spreads[0].spread.value
    draws = np.random.default_rng(5).normal(2.0, spread, (1500, need.cases))
    result = scipy.stats.ttest_1samp(draws, 0, axis=1)
    assert np.mean((result.pvalue < 0.05) & (result.statistic > 0)) == pytest.approx(0.8, abs=0.04)


def test_the_extremes_are_the_pairs_that_differ_least_and_most() -> None:
    (need,) = power_study(scores(200, 2.0, 30.0), differences=[5.0]).spreads[0].needs
    assert need.cases_least < need.cases <= need.cases_most
    assert need.cases_least == pytest.approx(cases_needed(5.0, 2.0), abs=2)


def test_categories_too_small_to_say_are_marked() -> None:
    found = power_study(
        table(*np.random.default_rng(2).normal(60, 9, (2, 30)), categories=("game",) * 25 + ("3d",) * 5)
    )
    by_name = {spread.category: spread for spread in found.spreads}
    assert list(by_name) == ["overall", "3d", "game"]
    assert by_name["3d"].spread.value is None
    assert by_name["3d"].why.startswith("Fewer than 10 cases")
    assert by_name["game"].needs


def test_equal_models_need_no_formula() -> None:
    same = power_study(table(np.full(20, 50.0), np.full(20, 40.0))).spreads[0]
    assert (same.needs, same.smallest) == ((), 0.0)
    assert "differ by the same on every case" in same.why


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"power": 1.0}, "it lies between 0.5 and 1"),
        ({"power": float("nan")}, "it lies between 0.5 and 1"),
        ({"differences": [0.0]}, "numbers above 0"),
        ({"differences": [float("inf")]}, "numbers above 0"),
    ],
)
def test_questions_without_sense_are_one_sentence(options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        power_study(scores(30, 5.0), **options)  # type: ignore[arg-type]


def test_runs_and_files_go_all_the_way(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    runs = [
        stored_run(tmp_path / m, f"lab/{m}", {"static": draw.uniform(40, 90, 20).round(2).tolist()})
        for m in "ab"
    ]
    found = run_study("power", *runs, "--difference", "4")
    values = load_scores([str(run) for run in runs]).values
    spread = float(np.std(values[:, 0] - values[:, 1], ddof=1))
    assert found["spreads"][0]["spread"]["value"] == pytest.approx(spread)
    assert found["spreads"][0]["needs"][0]["cases"] == cases_needed(4.0, spread)
    assert "Cases that separate two models by static.total with a chance of 80%" in shown("power", *runs)
    with pytest.raises(UsageError, match="name two runs or more"):
        power_study(load_scores([str(runs[0])]))
    flat = write_csv(tmp_path / "flat.csv", "model,score", [["a", 1], ["b", 2]])
    with pytest.raises(UsageError, match="a CSV with a column 'case'"):
        power_table([str(flat)])
