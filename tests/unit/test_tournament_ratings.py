"""Ratings out of matches: known strengths come back, and what the matches do not say is not claimed."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opendesign.judging.pairwise import Outcome
from opendesign.running.tournament_ratings import Played, Standing, _elo, _fitted, _Table, standings
from opendesign.running.tournament_schedule import fixtures, how_many

STRENGTHS = {"a": 1250.0, "b": 1100.0, "c": 1000.0, "d": 900.0, "e": 750.0}


def simulated(strengths: Mapping[str, float], cases: int, *, matches: int, seed: int) -> list[Played]:
    """Matches whose winner is drawn with the odds of the ratings; every tenth is a tie."""
    rng = random.Random(seed)
    played = []
    names = [f"c{number}" for number in range(cases)]
    for fixture in list(fixtures(list(strengths), names, 1, seed=seed))[:matches]:
        first, second = fixture.pair
        odds = 1 / (1 + 10 ** ((strengths[second] - strengths[first]) / 400))
        drawn: Outcome = "first" if rng.random() < odds else "second"
        played.append(Played(fixture.case, fixture.pair, "tie" if rng.random() < 0.1 else drawn))
    return played


def table(played: list[Played], resamples: int = 400) -> dict[str, Standing]:
    runs = sorted({run for one in played for run in one.pair})
    models = {run: f"model/{run}" for run in runs}
    categories = {one.case: "website" if one.case[-1] in "02468" else "game" for one in played}
    return {row.run: row for row in standings(played, models, categories, resamples=resamples)}


def test_known_strengths_lie_within_their_intervals() -> None:
    outside = 0
    for seed in range(6):
        rows = table(simulated(STRENGTHS, 300, matches=2_000, seed=seed))
        assert list(rows) == list(STRENGTHS), "the order comes back"
        for run, row in rows.items():
            assert row.low is not None
            assert row.high is not None
            assert row.low < row.rating < row.high
            # Ties draw the ratings together a little: a tenth of the matches, a tenth of the way or less.
            true = 1000 + 0.9 * (STRENGTHS[run] - 1000)
            outside += not row.low <= true <= row.high
        assert math.isclose(sum(row.rating for row in rows.values()) / 5, 1000, abs_tol=0.01)
    assert outside <= 5, "30 intervals of 95 %"


def test_four_hundred_points_are_odds_of_ten_to_one() -> None:
    played = [Played(f"c{n}", ("a", "b"), "first" if n % 11 else "second") for n in range(1_100)]
    rows = table(played)
    assert rows["a"].rating - rows["b"].rating == pytest.approx(400, abs=2)
    assert (rows["a"].wins, rows["a"].losses, rows["b"].wins) == (1000, 100, 100)


def test_more_matches_make_narrower_intervals() -> None:
    def width(matches: int) -> float:
        row = table(simulated(STRENGTHS, 300, matches=matches, seed=1))["c"]
        assert row.low is not None
        assert row.high is not None
        return row.high - row.low

    assert width(3_000) < 0.6 * width(500)


def test_matches_of_a_case_move_together() -> None:
    """A hundred matches on ten cases say as much as ten, where all matches of a case end alike."""
    alone = [Played(f"c{n}", ("a", "b"), "first" if n % 5 else "second") for n in range(100)]
    clumped = [Played(f"c{n % 10}", ("a", "b"), "first" if n % 10 % 5 else "second") for n in range(100)]
    wide, narrow = table(clumped)["a"], table(alone)["a"]
    assert wide.rating == narrow.rating
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.rating - wide.low > 2 * (narrow.rating - narrow.low)


def test_all_ties_are_all_equal() -> None:
    played = [Played(f"c{n}", pair, "tie") for n in range(20) for pair in combinations("abc", 2)]
    for row in table(played).values():
        assert (row.rating, row.low, row.high) == (1000, 1000, 1000)
        assert (row.best, row.worst, len(row.not_separated)) == (1, 3, 2)


def test_a_run_that_wins_all_has_no_upper_end() -> None:
    played = simulated({"b": 1050, "c": 950}, 60, matches=60, seed=3)
    played += [Played(f"c{n}", ("top", run), "first") for n in range(30) for run in "bc"]
    top = table(played)["top"]
    assert math.isfinite(top.rating)
    assert (top.high, top.best, top.worst) == (None, 1, 1)
    assert top.low is not None
    assert 1000 < top.low < top.rating
    longer = [*played, *(Played(f"d{n}", ("top", run), "first") for n in range(300) for run in "bc")]
    assert (table(longer)["top"].low or 0) > top.low + 200, "what is certain rises with every case won"
    lost = table([Played(one.case, one.pair, _turned(one)) for one in played])["top"]
    assert (lost.low, lost.best, lost.worst) == (None, 3, 3)


@pytest.mark.parametrize("cases", [6, 16, 100])
def test_the_end_there_is_lies_where_wilsons_does(cases: int) -> None:
    """Of n won matches out of n, Wilson's 95 % interval ends at n/(n + z²)."""
    rows = table([Played(f"c{n}", ("a", "b"), "first") for n in range(cases)])
    assert rows["a"].low is not None
    assert rows["b"].high is not None
    odds = 10 ** ((rows["a"].low - rows["b"].high) / 400)
    # The tie that was not played lowers it a little further.
    assert odds == pytest.approx((cases + 0.5) / (1.96**2 + 0.5), rel=0.01)
    again = table([Played(f"c{n % cases}", ("a", "b"), "first") for n in range(cases * 5)])
    assert again["a"].low == pytest.approx(rows["a"].low, abs=40), "a case is one match"


def test_many_fits_at_once_are_what_evalica_fits_one_by_one() -> None:
    import numpy as np

    tables = [_Table(simulated(STRENGTHS, 40, matches=90, seed=seed), list(STRENGTHS)) for seed in range(5)]
    at_once = _elo(np.stack([one.points for one in tables]))
    for one, ratings in zip(tables, at_once, strict=True):
        assert ratings == pytest.approx(_fitted(one), abs=0.01)


def _turned(one: Played) -> Outcome:
    turned: dict[Outcome, Outcome] = {"first": "second", "second": "first", "tie": "tie"}
    return turned[one.outcome]


def test_groups_that_never_gave_a_point_are_bounds_too() -> None:
    """a and b share their matches, so do c and d; but nobody of the lower group took a point above."""
    played = []
    for n in range(20):
        for pair in (("a", "b"), ("c", "d")):
            played.append(Played(f"c{n}", pair, "first" if n // 2 % 2 else "second"))
        played += [Played(f"c{n}", (upper, lower), "first") for upper in "ab" for lower in "cd"]
    rows = table(played)
    assert [rows[run].high is None for run in "abcd"] == [True, True, False, False]
    assert [rows[run].low is None for run in "abcd"] == [False, False, True, True]
    assert rows["a"].not_separated == ("b",)
    assert (rows["a"].best, rows["a"].worst, rows["c"].best, rows["c"].worst) == (1, 2, 3, 4)


def test_runs_that_never_met_are_not_told_apart() -> None:
    played = [Played(f"c{n}", ("a", "b"), "first") for n in range(20)]
    played += [Played(f"c{n}", ("c", "d"), "first" if n % 2 else "tie") for n in range(20)]
    rows = table(played)
    assert "c" in rows["a"].not_separated
    assert "d" in rows["a"].not_separated
    assert (rows["c"].low, rows["c"].high) == (None, None)


def test_few_cases_separate_nothing() -> None:
    few = table([Played(f"c{n % 5}", ("a", "b"), "first") for n in range(50)])
    assert few["a"].not_separated == ("b",)
    assert (few["a"].low, few["a"].high, few["a"].cases) == (None, None, 5)
    enough = table([Played(f"c{n}", ("a", "b"), "first") for n in range(6)])
    assert enough["a"].not_separated == ()
    assert enough["a"].low is not None


def test_close_runs_are_not_separated_and_far_ones_are() -> None:
    rows = table(simulated({"a": 1200, "b": 1010, "c": 1000, "d": 800}, 200, matches=1_200, seed=5))
    assert rows["b"].not_separated == ("c",)
    assert rows["c"].not_separated == ("b",)
    assert (rows["b"].best, rows["b"].worst) == (2, 3)
    assert (rows["a"].best, rows["a"].worst, rows["d"].best, rows["d"].worst) == (1, 1, 4, 4)


def test_a_pair_may_be_written_either_way() -> None:
    played = simulated(STRENGTHS, 40, matches=200, seed=2)
    swapped = [Played(p.case, (p.pair[1], p.pair[0]), _turned(p)) for p in played]
    assert table(played, 50) == table(swapped, 50)


def test_nothing_played_is_no_table() -> None:
    assert standings([], {"a": "m", "b": "m"}, {}) == ()


@given(runs=st.integers(2, 6), cases=st.integers(1, 12), samples=st.integers(1, 2), seed=st.integers(0, 99))
def test_every_beginning_of_the_order_is_balanced(runs: int, cases: int, samples: int, seed: int) -> None:
    names = [f"r{n}" for n in range(runs)]
    order = list(fixtures(names, [f"c{n}" for n in range(cases)], samples, seed=seed))
    assert len(order) == len(set(order)) == how_many(runs, cases * samples)
    once = how_many(runs, cases)
    assert {fixture.sample for fixture in order[:once]} == {0}
    for count in {1, once // 3, once // 2, once}:
        begun = order[:count]
        pairs = Counter(fixture.pair for fixture in begun)
        per_case = Counter(fixture.case for fixture in begun)
        assert max(pairs.values(), default=0) <= -(-count // how_many(runs, 1))
        assert max(per_case.values(), default=0) <= -(-count // cases)


def test_the_order_is_the_seeds() -> None:
    def drawn(seed: int) -> list[object]:
        return list(fixtures(["a", "b", "c"], [f"c{n}" for n in range(20)], 1, seed=seed))

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
