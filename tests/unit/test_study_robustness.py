"""``study robustness``: published tables, and judges whose faults were put there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy.stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from opendesign.errors import UnknownName, UsageError
from opendesign.studying import Panel, load_panel, robustness
from opendesign.studying.chance import icc, icc_sums
from opendesign.studying.robustness import families, family_of
from tests.unit.studying_support import run_study, shown, stored_run, write_csv

MODELS = ("openai/gpt-5", "anthropic/claude-4", "qwen/qwen-3", "lab/x")
HEADER = "judge,model,case,score"


def panel(*values: object, **more: object) -> Panel:
    """One (cases, models) table of scores a judge; every second case is a game."""
    table = np.stack([np.asarray(one, dtype=float) for one in values])
    _, cases, models = table.shape
    given = {
        "judges": tuple(f"j{at}" for at in range(len(table))),
        "models": MODELS[:models],
        "cases": tuple(f"c{at}" for at in range(cases)),
        "categories": tuple("website" if at % 2 else "game" for at in range(cases)),
        **more,
    }
    return Panel(values=table, **given)  # type: ignore[arg-type]


def quality(cases: int = 40, *, seed: int = 1) -> np.ndarray:
    """Scores of four models, best first, with what differs from page to page."""
    return 50 + np.array([12.0, 4, -4, -12]) + np.random.default_rng(seed).normal(0, 8, (cases, 4))


@pytest.mark.parametrize(("kind", "published"), [("1,1", 0.17), ("2,1", 0.29), ("3,1", 0.71)])
def test_icc_of_the_table_of_shrout_and_fleiss(kind: str, published: float) -> None:
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    sums = icc_sums(np.array(table) - np.mean(table))
    assert round(float(icc(sums.sum(axis=0), kind)), 2) == published  # type: ignore[arg-type]


def test_icc_of_a_panel_is_that_of_statsmodels_analysis_of_variance() -> None:
    true, draw = quality(15), np.random.default_rng(3)
    values = [true + 5, true + draw.normal(0, 6, true.shape), true - 9]
    found = robustness(panel(*values))
    rows = [(f"{c}-{m}", j, v) for j, one in enumerate(values) for (c, m), v in np.ndenumerate(one)]
    data = pandas.DataFrame(rows, columns=["page", "judge", "y"])
    between, judges, error = anova_lm(ols("y ~ C(page) + C(judge)", data=data).fit())["mean_sq"]
    n, k = true.size, 3
    below = between + (k - 1) * error
    assert found.icc_3_1.value == pytest.approx((between - error) / below)
    assert found.icc_2_1.value == pytest.approx((between - error) / (below + k * (judges - error) / n))
    assert found.icc_3_1.n == n


def test_a_pair_of_judges_is_compared_as_scipy_and_plain_means_do() -> None:
    a, b = quality(), quality(seed=2) - 7
    pair = robustness(panel(a, b)).pairings[0]
    assert pair.shift.value == pytest.approx((a - b).mean())
    assert pair.shift_by_category["game"].value == pytest.approx((a - b)[::2].mean())
    assert pair.kendall.value == pytest.approx(scipy.stats.kendalltau(a.mean(0), b.mean(0)).statistic)
    within = [scipy.stats.spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)]
    assert pair.per_case.value == pytest.approx(np.mean(within))
    low, high = pair.shift.ranges["cases"]
    assert low < (a - b).mean() < high


def test_a_favour_is_found_where_it_was_put_and_strictness_is_none() -> None:
    """Judge 1 gives the first model 6 points more; judge 2 is strict with all."""
    true = quality()
    found = robustness(
        panel(
            true,
            true + np.array([6, 0, 0, 0]),
            true - 20,
            judge_models={"j1": "openai/gpt-4.1", "j2": "m/nobody"},
        )
    )
    lenient, strict = found.judges[1], found.judges[2]
    assert {m: f.value for m, f in lenient.by_model.items()} == pytest.approx(
        dict(zip(MODELS, [4.5, -1.5, -1.5, -1.5], strict=True))
    )
    assert (lenient.family, lenient.own_family.value) == ("openai", pytest.approx(6.0))
    assert strict.mean.value == pytest.approx(true.mean() - 20)
    assert strict.by_model["lab/x"].value == pytest.approx(0.75)
    assert (strict.family, strict.own_family.value) == (None, None)
    assert sum(f.value or 0 for f in strict.by_category.values()) == pytest.approx(0, abs=1e-6)


def test_a_favour_for_a_category_is_found() -> None:
    true = quality()
    favour = np.where(np.arange(40) % 2, 0, 8)[:, None]
    found = robustness(panel(true, true + favour, true)).judges[1]
    values = {name: figure.value for name, figure in found.by_category.items()}
    assert values == pytest.approx({"website": -4.0, "game": 4.0})


def test_a_judge_that_scores_length_is_seen() -> None:
    true, size = quality(), np.random.default_rng(8).integers(100, 900, (40, 4)).astype(float)
    judges = robustness(panel(true, size / 10, sizes={"answer tokens": size})).judges
    assert judges[1].size_bias["answer tokens"].value == pytest.approx(1.0)
    low, high = judges[0].size_bias["answer tokens"].ranges["cases"]
    assert low < 0.15
    assert high > -0.15


def test_what_one_judge_does_to_the_ranking() -> None:
    """The third judge turns the order round, loudly."""
    true = quality()
    found = robustness(panel(true, true, 3 * (100 - true)))
    assert found.averaged.leader == "lab/x"
    without = {w.left_out: w for w in found.without}
    assert (without["j2"].leader, without["j0"].leader) == ("openai/gpt-5", "lab/x")
    assert (without["j2"].kendall.value, without["j2"].places) == (pytest.approx(-1.0), 3)
    assert [w.leader for w in found.alone] == ["openai/gpt-5", "openai/gpt-5", "lab/x"]


def test_pages_that_a_judge_has_not_scored_are_left_out_of_what_is_compared() -> None:
    a, b = quality(), quality(seed=5)
    a[:10, 0] = np.nan
    found = robustness(panel(a, b))
    assert found.judges[0].coverage == pytest.approx(150 / 160)
    assert found.icc_2_1.n == 150
    per_case = np.nanmean(a - b, axis=1)
    assert found.pairings[0].shift.value == pytest.approx(per_case.mean())


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai/gpt-5", "openai"),
        ("o3-mini", "openai"),
        ("Claude Sonnet 4", "anthropic"),
        ("Qwen2.5-Coder-7B", "alibaba"),
        ("meta-llama/llama-4", "meta"),
        ("lab/foo3", None),
        (None, None),
    ],
)
def test_families(model: str | None, family: str | None) -> None:
    assert family_of(model, families()) == family


# Files and runs


def test_a_csv_with_repeats_goes_all_the_way(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    true = quality(12)
    rows = [
        [j, MODELS[m], f"c{c}", r, round(true[c, m] + draw.normal(0, spread), 4), 100 * m + c, "openai/gpt-5"]
        for j, spread in (("steady", 1.0), ("wild", 12.0))
        for c in range(12)
        for m in range(4)
        for r in range(3)
    ]
    file = write_csv(tmp_path / "p.csv", "judge,model,case,repeat,score,length,judge_model", rows)
    judges = {one["judge"]: one for one in run_study("robustness", file)["judges"]}
    assert judges["steady"]["repeat_icc"]["value"] > 0.97 > 0.7 > judges["wild"]["repeat_icc"]["value"]
    assert judges["wild"]["repeat_spread"]["value"] == pytest.approx(12, rel=0.15)
    low, high = judges["steady"]["repeat_spread"]["ranges"]["pages"]
    assert low < 1.0 < high
    assert judges["steady"]["family"] == "openai"
    text = shown("robustness", file)
    for words in ("steady – wild", "ICC(2,1)", "How much a judge favours a model", "without", "wild alone"):
        assert (words in text) == (words != "without")  # with two judges, one left out is one alone


def test_judges_of_runs_are_put_on_one_scale(tmp_path: Path) -> None:
    runs = [
        stored_run(
            tmp_path / name,
            f"lab/{name}",
            {"static": [total] * 6, "execution": [passed] * 6, "interactive": [rate] * 5 + [None]},
            replies=[[total - 1, total + 1]] * 6,
        )
        for name, total, passed, rate in (("a", 80.0, 1, 0.5), ("b", 60.0, 0, 0.25), ("c", 40.0, 1, 0.0))
    ]
    found = load_panel([str(run) for run in runs])
    means = {j: np.nanmean(v, axis=0).tolist() for j, v in zip(found.judges, found.values, strict=True)}
    assert means == {"execution": [100, 0, 100], "interactive": [50, 25, 0], "static": [80, 60, 40]}
    assert found.judge_models == {"static": "openai/gpt-5"}
    assert found.repeats["static"].shape == (18, 2)
    assert found.sizes["page height"][:, 0].tolist() == [1000 + at for at in range(6)]
    assert any("'interactive' covers 83%" in mark for mark in found.marks)
    chosen = load_panel([str(run) for run in runs], judges=["static", "interactive.rate"])
    assert chosen.judges == ("static", "interactive")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([["j", "a", "1", 3]], "There is one judge with scores .j.: robustness needs two"),
        ([["j", "a", "1", 3], ["k", "a", "1", ""]], "There is one judge with scores .j."),
        ([["j", "a", "1", ""]], "No judge has scored a page"),
        ([["j", "a", "1", 3], ["j", "a", "1", 4]], "scores the same page by the same judge a second time"),
        ([["j", "a", "1", "good"]], "says 'good' under score"),
    ],
)
def test_too_little_is_one_sentence(tmp_path: Path, rows: list[list[object]], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        load_panel([str(write_csv(tmp_path / "p.csv", HEADER, rows))])


def test_a_judge_that_scored_nothing_is_named_and_equal_scores_are_gaps(tmp_path: Path) -> None:
    rows = [[j, m, c, "" if j == "mute" else 50] for j in ("j", "k", "mute") for m in "abc" for c in range(6)]
    file = write_csv(tmp_path / "p.csv", HEADER, rows)
    found = run_study("robustness", file)
    assert "'mute' has scored nothing and is left out." in found["notes"]
    pair = found["pairings"][0]
    assert (pair["kendall"]["value"], pair["per_case"]["value"], found["icc_2_1"]["value"]) == (None,) * 3
    assert (pair["shift"]["value"], found["averaged"]["leader"]) == (0.0, "a = b = c")
    assert "All values are equal or tied" in shown("robustness", file)
    with pytest.raises(UnknownName, match="did you mean"):
        load_panel([str(file)], judges=["q"])
