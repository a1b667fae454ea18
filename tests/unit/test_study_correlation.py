"""``study correlation``: what two rankings share, how names are matched, and what so few models are worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from opendesign.errors import OpenDesignError, UnknownName, UsageError
from opendesign.studying import load_board, load_reference, references
from opendesign.studying.boards import Board, csv_board, load_against
from opendesign.studying.correlation import Correlation, correlate
from opendesign.studying.names import match_names, read_matches
from tests.unit.studying_support import run_study, shown, stored_run, write_csv


def board(scores: dict[str, float], name: str = "one") -> Board:
    return Board(name=name, score="score", scores={"overall": scores})


def rows(n: int, *, noise: float = 0.0, seed: int = 0) -> dict[str, float]:
    draw = np.random.default_rng(seed).normal(0, noise, n) if noise else np.zeros(n)
    return {f"model {at}": float(at + draw[at]) for at in range(n)}


# The shipped rankings


def test_the_papers_totals_and_the_shipped_board_share_few_models_and_say_so() -> None:
    found = run_study("correlation", "paper")
    overall = found["rankings"][0]
    assert (overall["category"], overall["n"], found["reference"]["date"]) == ("overall", 6, "2026-08-22")
    assert all("one left out" in r["spearman"]["ranges"] for r in found["rankings"])
    assert not any("models" in r["spearman"]["ranges"] for r in found["rankings"])
    assert any("little to conclude" in note for note in found["notes"])
    text = shown("correlation", "paper")
    assert "Design Arena (designarena.ai)" in text
    assert "little to conclude" in text
    assert "Claude Sonnet 4 over Qwen3-Coder-480B-A35B" in text


def test_a_match_file_gives_the_published_comparison(tmp_path: Path) -> None:
    """Six models with GPT-5 and without DeepSeek-V3.1: about .66 for websites and .83 overall."""
    file = tmp_path / "match.toml"
    file.write_text('"GPT-5 (minimal)" = "openai/gpt-5"\n"DeepSeek-V3.1" = ""\n', encoding="utf-8")
    found = run_study("correlation", "paper", "--match", file)
    values = {r["category"]: r["spearman"]["value"] for r in found["rankings"]}
    assert (round(values["website"], 3), round(values["overall"], 3)) == (0.657, 0.829)
    hows = {m["ours"]: (m["how"], m["theirs"]) for m in found["matches"]}
    assert hows["GPT-5 (minimal)"] == ("given", "openai/gpt-5")
    assert hows["DeepSeek-V3.1"] == ("given", None)


def test_every_shipped_reference_has_a_date_credit_and_scores() -> None:
    assert {"paper", "design-arena", "artifactsbench-2025-07", "artifactsbench-2025-08"} <= set(references())
    for name in references():
        reference = load_reference(name)
        assert reference.date
        assert reference.credit
        assert reference.scores
    assert load_reference("paper").scores["overall"]["GPT-4o"] == 48.08
    assert load_against("paper:interactive").scores["overall"]["GPT-4o"] == 0.44
    assert "AesCoder-4B" in load_reference("paper").models


# Figures


def test_figures_are_scipys_with_ties_and_discordant_pairs_named() -> None:
    ours = {"a": 9.0, "b": 7.0, "c": 7.0, "d": 3.0, "e": 1.0}
    theirs = {"a": 5.0, "b": 9.0, "c": 4.0, "d": 4.0, "e": 1.0, "f": 7.0}
    ranking = correlate(board(ours), board(theirs, "two")).rankings[0]
    x, y = [ours[m] for m in "abcde"], [theirs[m] for m in "abcde"]
    assert ranking.spearman.value == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert ranking.kendall.value == pytest.approx(scipy.stats.kendalltau(x, y).statistic)
    assert (ranking.n, ranking.our_ties, ranking.their_ties) == (5, 1, 1)
    assert ranking.discordant == (("a", "b"),)
    assert [p.ours for p in ranking.points][:2] == ["b", "a"]
    assert ranking.p_method == "exact, 120 orders"


def test_one_left_out_is_the_least_and_most_over_all_smaller_sets() -> None:
    ours, theirs = rows(6), rows(6, noise=2, seed=4)
    ranking = correlate(board(ours), board(theirs, "two")).rankings[0]
    values = [
        scipy.stats.spearmanr(*([s[m] for m in ours if m != out] for s in (ours, theirs))).statistic
        for out in ours
    ]
    assert ranking.spearman.ranges["one left out"] == pytest.approx((min(values), max(values)))


def test_from_ten_models_on_they_are_resampled_and_the_interval_is_scipys_bootstrap() -> None:
    ours, theirs = rows(25), rows(25, noise=6, seed=2)
    figure = correlate(board(ours), board(theirs, "two")).rankings[0].spearman
    low, high = figure.ranges["models"]
    x, y = np.array(list(ours.values())), np.array(list(theirs.values()))
    reference = scipy.stats.bootstrap(
        (x, y),
        lambda a, b, axis=-1: (
            np.array([scipy.stats.spearmanr(p, q).statistic for p, q in zip(a, b, strict=True)])
            if a.ndim > 1
            else scipy.stats.spearmanr(a, b).statistic
        ),
        paired=True,
        vectorized=True,
        n_resamples=2000,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert (low, high) == pytest.approx((reference.low, reference.high), abs=0.04)
    assert (
        "models" not in correlate(board(rows(9)), board(rows(9, noise=2), "two")).rankings[0].spearman.ranges
    )


def test_runs_are_resampled_by_case_and_noisier_scores_give_wider_intervals(tmp_path: Path) -> None:
    def widths(noise: float, name: str) -> float:
        draw = np.random.default_rng(5)
        folders = [
            stored_run(
                tmp_path / name / f"r{m}",
                f"model {m}",
                {"static": np.clip(50 + 2 * m + draw.normal(0, noise, 40), 0, 100).tolist()},
                categories=["website"] * 20 + ["game"] * 20,
            )
            for m in range(6)
        ]
        found = correlate(load_board([str(f) for f in folders]), board(rows(6), "two"))
        assert [r.category for r in found.rankings] == ["overall"]
        low, high = found.rankings[0].kendall.ranges["cases"]
        return high - low

    assert widths(4, "calm") < widths(25, "wild")


def test_categories_are_compared_where_both_have_them() -> None:
    split = Board(name="ours", score="s", scores={"overall": rows(4), "game": rows(4), "3d": rows(4)})
    theirs = Board(name="theirs", score="s", scores={"game": rows(4), "overall": rows(4), "dataviz": rows(4)})
    assert [r.category for r in correlate(split, theirs).rankings] == ["overall", "game"]
    whole = correlate(board(rows(4)), theirs)
    assert [r.category for r in whole.rankings] == ["overall", "game", "dataviz"]
    assert any("same is held against every category" in note for note in whole.notes)
    assert len(whole.to_pandas()) == 12


@pytest.mark.parametrize(
    ("ours", "why"),
    [
        ({"model 0": 1.0, "model 1": 2.0}, "2 shared models: a ranking needs at least 3."),
        ({f"model {at}": 5.0 for at in range(5)}, "All values are equal or tied"),
    ],
)
def test_what_cannot_be_ranked_is_a_marked_gap(ours: dict[str, float], why: str) -> None:
    ranking = correlate(board(ours), board(rows(8), "two")).rankings[0]
    for figure in (ranking.spearman, ranking.kendall, ranking.footrule):
        assert figure.value is None
        assert figure.why.startswith(why)
    assert (ranking.spearman_p, ranking.kendall_p) == (None, None)


# Names


@pytest.mark.parametrize(
    ("ours", "theirs", "how"),
    [
        ("GPT-4o", "GPT-4o", "equal"),
        ("GPT-4o", "openai/gpt-4o", "alike"),
        ("gpt 4O", "GPT_4o", "alike"),
        ("Claude Sonnet 4", "anthropic/claude-sonnet-4.5", "none"),
        ("GPT-5 (minimal)", "openai/gpt-5", "none"),  # shown as near, never taken
    ],
)
def test_names_match_by_spelling_alone(ours: str, theirs: str, how: str) -> None:
    (match,) = match_names(board({ours: 1.0}), board({theirs: 1.0}))
    assert match.how == how
    assert (match.theirs, match.near) == ((None, theirs) if how == "none" else (theirs, None))


def test_the_name_without_its_remark_is_nearer_than_a_longer_one() -> None:
    (match,) = match_names(board({"GPT-5 (minimal)": 1.0}), board({"openai/gpt-5-mini": 1.0, "gpt-5": 2.0}))
    assert match.near == "gpt-5"


@pytest.mark.parametrize(
    ("ours", "theirs", "given", "says"),
    [
        (["GPT-4o", "gpt 4o"], ["openai/gpt-4o"], {}, "would both be 'openai/gpt-4o'"),
        (["GPT-4o"], ["a/gpt-4o", "b/gpt-4o"], {}, "could be 'a/gpt-4o' or 'b/gpt-4o'"),
        (["a", "b"], ["a", "b"], {"a": "b"}, "would both be 'b'"),
        (["a"], ["a"], {"x": "a"}, "There is no model on our side named 'x'"),
        (["a"], ["a"], {"a": "x"}, "There is no model of one named 'x'"),
        (["a"], ["b"], {}, "No model of one is on one"),
    ],
)
def test_doubtful_names_are_never_guessed(
    ours: list[str], theirs: list[str], given: dict[str, str], says: str
) -> None:
    with pytest.raises(UsageError, match=says.replace("(", r"\(")):
        correlate(board(dict.fromkeys(ours, 1.0)), board(dict.fromkeys(theirs, 1.0)), matches=given)


# Files


def test_a_newer_state_of_a_shipped_board_is_read_as_that_board(tmp_path: Path) -> None:
    file = write_csv(
        tmp_path / "newer.csv",
        "board_date,model_id,model_name,category,elo,rank,win_rate_percent",
        [
            ["2027-01-02", "a/x", "A: X", "codecategories", 1200, 1, 60],
            ["2027-01-02", "a/x", "A: X", "uicomponent", 1100, 1, 60],
        ],
    )
    newer = csv_board(file, None)
    assert newer.scores == {"overall": {"a/x": 1200.0}, "component": {"a/x": 1100.0}}
    assert (newer.date, newer.title, newer.labels) == ("2027-01-02", "Design Arena", {"a/x": "A: X"})


def test_a_csv_with_cases_is_a_board_that_can_be_resampled(tmp_path: Path) -> None:
    table = [[f"m{m}", f"c{c}", "game" if c < 6 else "3d", m * 10 + c] for m in range(3) for c in range(12)]
    file = write_csv(tmp_path / "cases.csv", "model,case,category,score", [*table, ["m0", "c99", "3d", ""]])
    found = csv_board(file, None)
    assert found.scores["overall"] == {"m0": 5.5, "m1": 15.5, "m2": 25.5}
    assert found.scores["3d"]["m0"] == 8.5
    assert found.cases is not None
    assert np.isnan(found.cases.values[12, 0])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no rows under its header"),
        ("model,score\n", "has no rows under its header"),
        ("model,score\na,1\na,2\n", "has the model 'a' twice: keep one"),
        ("model,score\na,1,2\n", "has 3 cells; its header names 2"),
        ("model,score\na,high\n", "says 'high' under score"),
        ("model,score\na,nan\n", "says 'nan' under score"),
        ("model,score\na,\n", "has no score under score"),
        ("model,score\n,1\n", "names no model"),
        ("model,rank\na,1\n", "has no column 'score' or 'elo'"),
        ("model,score,score\na,1,2\n", "has two columns 'score'"),
        ("model,case,score\na,c,1\na,c,1\n", "has case 'c' of model 'a' twice"),
    ],
)
def test_a_broken_csv_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "broken.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        load_against(str(file))


def test_cells_may_hold_commas_quotes_and_any_separator(tmp_path: Path) -> None:
    name = 'a "b", c\nd\u2028e\x85f'
    assert csv_board(write_csv(tmp_path / "x.csv", "model,score", [[name, 1]]), None).models == [name]


def test_files_and_names_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.csv").write_bytes(b"model,score\n\xff,1\n")
    (tmp_path / "match.toml").write_text("GPT = 3\n", encoding="utf-8")
    for ask, says in (
        (lambda: load_against("nothing.csv"), "Cannot read nothing.csv: no such file"),
        (lambda: load_against("latin.csv"), "is not text in UTF-8"),
        (lambda: read_matches(Path("match.toml")), "and nothing else"),
        (lambda: read_matches(Path("latin.csv")), "is not TOML"),
        (lambda: load_board(["latin.csv", "x"]), "Give either one CSV file or runs"),
        (lambda: load_reference("paper", "totl"), "did you mean total"),
    ):
        with pytest.raises(OpenDesignError, match=says):
            ask()
    for name, ask in (("desing-arena", load_against), ("desing-arena", lambda name: load_board([name]))):
        with pytest.raises(UnknownName, match="did you mean design-arena"):
            ask(name)


def test_a_study_is_a_document_that_says_where_its_numbers_are_from() -> None:
    found: Correlation = correlate(load_board(["paper"]), load_reference("artifactsbench-2025-07"))
    document = found.to_dict()
    assert document["study"] == "correlation"
    assert document["reference"]["credit"].startswith("ArtifactsBench (arXiv 2507.04952)")
    assert document["ours"]["source"]
