"""``study agreement`` against the krippendorff package, statsmodels, plain loops and cases by hand.

Each check is done on made-up votes, and on real ones where ``OPENDESIGN_VOTES`` names a file of them.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from opendesign.errors import UsageError
from opendesign.studying import Vote, Votes, agree, read_votes
from opendesign.studying.chance import alpha, coincidences_of
from opendesign.studying.coincidence import Coincidence
from opendesign.studying.votes import Page, read_page_scores
from tests.unit.studying_support import people, run_study, shown, stored_run, write_csv

REAL = os.environ.get("OPENDESIGN_VOTES", "")
SETS = ["made up", *(["real"] if REAL else [])]
HEADER = "session,left_page,right_page,choice"
LEVELS = ("nominal", "ordinal", "interval")


@pytest.fixture(scope="module", params=SETS)
def votes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Votes:
    if request.param == "real":
        return read_votes(Path(REAL))
    return read_votes(write_csv(tmp_path_factory.mktemp("votes") / "votes.csv", HEADER, people()))


def table(votes: Votes) -> Coincidence:
    return Coincidence(votes.votes, has_cases=votes.has_cases)


def ask(votes: Votes, name: str, *, judge: dict[Page, float] | None = None) -> float | None:
    found = agree(votes, {"judge": judge} if judge else {})
    return getattr(found.judges["judge"] if judge else found.people, name).value


def values_by_pair(votes: Votes) -> dict[object, list[float]]:
    found: dict[object, list[float]] = defaultdict(list)
    for vote in votes.votes:
        found[vote.pair].append(vote.value)
    return found


def one_case(*said: tuple[str, str, str, float]) -> Votes:
    """Votes (rater, first, second, value), already oriented."""
    made = tuple(Vote(who, ("", a), ("", b), value) for who, a, b, value in said)
    return Votes(votes=made, rows=len(made), raters=len({v.rater for v in made}), repeats=0, consistent=0,
                 both_bad=0, has_cases=False)  # fmt: skip


# Against other programs


def test_alpha_is_the_krippendorff_packages(votes: Votes) -> None:
    """Every pair of pages is a unit in both orders, since which is called the first means nothing."""
    shared = [said for said in values_by_pair(votes).values() if len(said) > 1]
    most = max(map(len, shared))
    ratings = np.full((most, 2 * len(shared)), np.nan)
    for at, said in enumerate(shared):
        ratings[: len(said), 2 * at] = said
        ratings[: len(said), 2 * at + 1] = [1 - value for value in said]
    found = agree(votes).people
    for level in LEVELS:
        reference = krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)
        assert getattr(found, f"alpha_{level}").value == pytest.approx(reference, abs=1e-9), level


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_ratings_with_gaps_is_the_krippendorff_packages(level: str) -> None:
    draw = np.random.default_rng(2)
    ratings = draw.integers(1, 6, size=(5, 30)).astype(float)
    ratings[draw.random(ratings.shape) < 0.4] = np.nan
    mine = alpha(*coincidences_of(ratings), level)  # type: ignore[arg-type]
    reference = krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)
    assert float(mine) == pytest.approx(reference, abs=1e-9)


def test_fleiss_is_statsmodels_where_each_pair_has_as_many_votes(votes: Votes) -> None:
    by_pair: dict[object, list[Vote]] = defaultdict(list)
    for vote in votes.votes:
        by_pair[vote.pair].append(vote)
    firsts = [members[:2] for members in by_pair.values() if len(members) > 1]
    counts = [[sum(v.value == word for v in two) for word in (0.0, 0.5, 1.0)] for two in firsts]
    reference = fleiss_kappa(np.array(counts + [row[::-1] for row in counts]))
    only = replace(votes, votes=tuple(vote for two in firsts for vote in two))
    assert ask(only, "fleiss") == pytest.approx(reference, abs=1e-9)


def test_cohen_is_statsmodels(votes: Votes) -> None:
    draw = random.Random(3)
    judge = {page: float(draw.randrange(6)) for page in votes.pages}
    counts = np.zeros((3, 3))
    for vote in votes.votes:
        apart = judge[vote.first] - judge[vote.second]
        said = 0.5 + 0.5 * ((apart > 0) - (apart < 0))
        counts[int(2 * said), int(2 * vote.value)] += 1
        counts[int(2 * (1 - said)), int(2 * (1 - vote.value))] += 1
    assert ask(votes, "cohen", judge=judge) == pytest.approx(cohens_kappa(counts).kappa, abs=1e-9)


# Against plain loops


def test_the_three_figures_are_those_of_plain_loops(votes: Votes) -> None:
    draw = random.Random(4)
    judge = {page: float(draw.randrange(40)) for page in votes.pages}
    single, shares, crowd, each_left_out = [], [], [], []
    for (first, second), said in values_by_pair(votes).items():
        gap = judge[first] - judge[second]
        verdict = 1.0 if gap > 0 else 0.0 if gap < 0 else 0.5
        single += [1 - abs(verdict - value) for value in said]
        for at, value in enumerate(said):
            others = said[:at] + said[at + 1 :]
            if others:
                shares.append(sum(1 - abs(value - other) for other in others) / len(others))
            if len(said) >= 3:
                each_left_out.append((1 - abs(value - winner(others))) / len(said))
        if len(said) >= 3:
            crowd.append(1 - abs(verdict - winner(said)))
    found = agree(votes, {"judge": judge})
    mine = found.judges["judge"]
    assert mine.votes.value == pytest.approx(np.mean(single))
    assert found.people.pairs.value == pytest.approx(np.mean(shares))
    assert (found.people.pairs.n, mine.votes.n) == (len(shares), len(single))
    assert mine.majority.value == pytest.approx(np.mean(crowd))
    assert found.people.against_majority.value == pytest.approx(sum(each_left_out) / len(crowd))


def winner(said: list[float]) -> float:
    total = sum(value - 0.5 for value in said)
    return 1.0 if total > 0 else 0.0 if total < 0 else 0.5


@pytest.mark.parametrize("kind", ["cases", "raters"])
def test_intervals_are_those_of_drawing_cases_or_raters_again(kind: str, votes: Votes) -> None:
    by_pair: dict[object, list[Vote]] = defaultdict(list)
    for vote in votes.votes:
        by_pair[vote.pair].append(vote)
    shared = [members for members in by_pair.values() if len(members) > 1]
    tops, belows, whos = [], [], []
    for members in shared:
        for a, b in combinations(members, 2):
            tops.append((1 - abs(a.value - b.value)) / (len(members) - 1))
            belows.append(1 / (len(members) - 1))
            whos.append((a.pair, a.rater, b.rater))
    units = list(by_pair) if kind == "cases" else list({vote.rater for vote in votes.votes})
    place = {unit: at for at, unit in enumerate(units)}
    pair, one, two = (np.array([place.get(w[k], 0) for w in whos]) for k in range(3))
    draws = []
    for seed in range(400):
        picks = np.random.default_rng([9, seed]).integers(len(units), size=len(units))
        times = np.bincount(picks, minlength=len(units))
        weight = times[pair] if kind == "cases" else times[one] * times[two]
        draws.append((weight * np.array(tops)).sum() / (weight * np.array(belows)).sum())
    low, high = agree(votes).people.pairs.ranges[kind]
    assert (low, high) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.012)


# By hand


def test_figures_by_hand() -> None:
    """Pair a–b: first, first, second; pair c–d: first, tie. A judge that prefers a and d."""
    votes = one_case(("r", "a", "b", 1), ("s", "a", "b", 1), ("t", "a", "b", 0), ("r", "c", "d", 1),
                     ("s", "c", "d", 0.5))  # fmt: skip
    judge = {("", "a"): 9.0, ("", "b"): 1.0, ("", "c"): 2.0, ("", "d"): 3.0}
    found = agree(votes, {"judge": judge})
    people, mine = found.people, found.judges["judge"]
    assert people.pairs.value == pytest.approx((0.5 + 0.5 + 0 + 0.5 + 0.5) / 5)
    assert people.pairs_untied.value == pytest.approx(1 / 3)
    assert mine.votes.value == pytest.approx((1 + 1 + 0 + 0 + 0.5) / 5)
    assert mine.votes_untied.value == pytest.approx(2 / 4)
    assert (mine.majority.value, mine.majority.n) == (1.0, 3)  # only a–b has three votes
    # Each against the others of a–b: tie of the others, tie of the others, and the minority alone.
    assert people.against_majority.value == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert mine.majority_of_others.value == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert people.pairs.ranges == {}
    assert people.pairs.why


def test_a_perfect_judge_meets_the_majority_better_than_single_votes(votes: Votes) -> None:
    elo = {("", row.name): row.rating for row in agree(votes).ratings}
    found = agree(votes, {"elo": elo})
    mine = found.judges["elo"]
    assert mine.votes.value is not None
    assert mine.majority.value is not None
    assert found.people.pairs.value is not None
    assert mine.majority.value > mine.votes.value > found.people.pairs.value
    shares = [b.agreement.value for b in found.judges_by_gap["elo"]]
    assert shares == sorted(shares)  # type: ignore[type-var]
    assert shares[-1] - shares[0] > 0.1  # type: ignore[operator]


def test_categories_are_kept_apart(tmp_path: Path) -> None:
    rows = [[r, f"c{c}", k, "x", "y", "left" if k == "game" or r % 2 else "right"]
            for r in range(8) for c, k in enumerate(["game", "game", "3d", "3d"])]  # fmt: skip
    file = write_csv(tmp_path / "v.csv", "rater,case,category,left,right,choice", rows)
    judge = write_csv(tmp_path / "j.csv", "case,page,score",
                      [[f"c{c}", p, s] for c in range(4) for p, s in (("x", 2), ("y", 1))])  # fmt: skip
    found = run_study("agreement", file, "--judge", judge)
    values = {c: (row["people"]["value"], row["j"]["value"]) for c, row in found["by_category"].items()}
    assert list(values) == ["3d", "game"]
    assert values["game"] == (1.0, 1.0)
    assert values["3d"] == pytest.approx((3 / 7, 0.5))


# What is read


def test_the_side_a_page_was_on_means_nothing_and_a_repeat_counts_once(tmp_path: Path) -> None:
    rows = [
        ["r", "10", "9", "left"],
        ["r", "9", "10", "right"],
        ["r", "9", "10", "left"],
        ["s", "9", "10", "tie"],
    ]
    votes = read_votes(write_csv(tmp_path / "v.csv", HEADER, rows))
    assert [(v.first[1], v.second[1], v.value) for v in votes.votes] == [("9", "10", 0.0), ("9", "10", 0.5)]
    assert (votes.rows, votes.raters, votes.repeats, votes.consistent) == (4, 2, 2, 1)


def test_both_bad_is_a_tie_and_counted_apart(tmp_path: Path) -> None:
    rows = [["r", "a", "b", "both_bad"], ["s", "a", "b", "Both bad"], ["t", "a", "b", "tie"]]
    votes = read_votes(write_csv(tmp_path / "v.csv", HEADER, rows))
    assert ([v.value for v in votes.votes], votes.both_bad) == ([0.5] * 3, 2)


def test_ratings_are_votes_for_the_higher_page_and_have_an_alpha_of_their_own(tmp_path: Path) -> None:
    draw = np.random.default_rng(6)
    given = np.clip(np.round(draw.normal([[1, 2, 3, 4, 5, 3, 2, 4]] * 4, 1)), 1, 5)
    rows = [[r, f"p{p}", given[r, p]] for r in range(4) for p in range(8)]
    found = agree(read_votes(write_csv(tmp_path / "r.csv", "rater,page,rating", rows)))
    assert found.counts["votes"] == 4 * 28
    assert found.counts["ties"] == sum(int(a == b) for row in given for a, b in combinations(row, 2))
    for level in ("ordinal", "interval"):
        reference = krippendorff.alpha(reliability_data=given, level_of_measurement=level)
        assert found.rated[f"alpha_{level}"].value == pytest.approx(reference)


def test_votes_on_unknown_pages_are_left_out_and_counted() -> None:
    votes = one_case(("r", "a", "b", 1), ("s", "a", "z", 1), ("t", "y", "z", 1))
    found = agree(votes, {"judge": {("", "a"): 2.0, ("", "b"): 1.0}, "mute": {}})
    assert (found.counts["votes"], found.counts["unknown_pages"]) == (1, 2)
    assert any("2 votes are on pages that no judge has scored" in note for note in found.notes)
    assert found.judges["mute"].votes.value is None
    assert found.judges["mute"].votes.why == "It has scored none of these pages."
    with pytest.raises(UsageError, match="None of the 3 votes is on pages that a judge has scored"):
        agree(votes, {"mute": {}})
    with pytest.raises(UsageError, match="A judge cannot be called 'people'"):
        agree(votes, {"people": {("", "a"): 2.0, ("", "b"): 1.0}})


@pytest.mark.parametrize(
    ("header", "row", "says"),
    [
        (HEADER, ["r", "a", "b", "up"], "says 'up' under choice: left, right, tie or both_bad"),
        (HEADER, ["r", "a", "a", "left"], "sets 'a' against itself"),
        (HEADER, ["", "a", "b", "left"], "a vote needs a rater and two pages"),
        ("session,left_page,choice", ["r", "a", "left"], "has no column 'left' or|has no column 'right' or"),
        ("rater,page,rating", ["r", "a", "five"], "says 'five' under rating"),
        ("rater,page,rating", ["r", "a", "5"], "There is no vote that counts"),
    ],
)
def test_broken_votes_are_one_sentence(tmp_path: Path, header: str, row: list[str], says: str) -> None:
    file = write_csv(tmp_path / "v.csv", header, [row])
    with pytest.raises(UsageError, match=says):
        agree(read_votes(file))


def test_page_scores_that_do_not_fit(tmp_path: Path) -> None:
    twice = write_csv(tmp_path / "j.csv", "page,score", [["a", 1], ["a", 2]])
    with pytest.raises(UsageError, match="scores the page 'a' a second time"):
        read_page_scores(twice, has_cases=False)
    with pytest.raises(UsageError, match="has no column 'case', but the votes name cases"):
        read_page_scores(twice, has_cases=True)


def test_the_judges_of_runs_are_held_against_votes_on_their_models(tmp_path: Path) -> None:
    good = stored_run(tmp_path / "good", "lab/good", {"static": [90.0] * 6, "execution": [1, 1, 1, 0, 0, 0]})
    bad = stored_run(tmp_path / "bad", "lab/bad", {"static": [40.0] * 5 + [None], "execution": [0.0] * 6})
    rows = [[r, f"c{c}", "lab/bad", "lab/good", "right"] for r in range(6) for c in range(6)]
    file = write_csv(tmp_path / "v.csv", "rater,case,left,right,choice", rows)
    found = run_study("agreement", file, "--run", good, "--run", bad)
    static, execution = found["judges"]["static"], found["judges"]["execution"]
    assert (static["votes"]["value"], static["votes"]["n"]) == (1.0, 30)
    assert (execution["votes"]["value"], execution["votes_untied"]["value"]) == (0.75, 1.0)
    assert list(found["by_category"]) == ["website"]
    only = run_study("agreement", file, "--run", good, "--run", bad, "--judges", "static")
    assert list(only["judges"]) == ["static"]


def test_a_person_sees_the_three_figures_apart(votes: Votes, tmp_path: Path) -> None:
    rows = [[v.rater, v.first[1], v.second[1], {1.0: "left", 0.0: "right", 0.5: "tie"}[v.value]]
            for v in votes.votes]  # fmt: skip
    judge = write_csv(tmp_path / "length.csv", "page,score", [[p[1], len(p[1])] for p in votes.pages])
    text = shown("agreement", write_csv(tmp_path / "v.csv", HEADER, rows), "--judge", judge)
    for words in ("People among each other", "length against people", "votes shared", "against majority",
                  "by cases and raters", "Bradley–Terry"):  # fmt: skip
        assert words in text


@pytest.mark.skipif(not REAL, reason="OPENDESIGN_VOTES names no file of real votes")
def test_the_real_votes_are_read_as_they_were_given() -> None:
    found = run_study("agreement", REAL)
    counts = found["counts"]
    assert (counts["rows"], counts["pages"], counts["pairs"]) == (8267, 100, 4950)
    assert (counts["pairs_with_two_votes"], counts["repeats"]) == (1866, 505)
    assert len(found["ratings"]) == 100
    assert round(found["people"]["pairs"]["value"], 3) == 0.576
