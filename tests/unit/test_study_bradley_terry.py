"""Bradley–Terry ratings against a logistic regression of statsmodels, and against known strengths."""

from __future__ import annotations

import math
import os
import random
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm

from opendesign.studying import Vote, bradley_terry, read_votes

REAL = os.environ.get("OPENDESIGN_VOTES", "")


def drawn(
    strengths: dict[str, float], raters: int, each: int, *, ties: float = 0.1, seed: int = 0
) -> list[Vote]:
    """Votes won with the odds of the ratings, and a share of ties."""
    draw = random.Random(seed)
    found = []
    for rater in range(raters):
        for _ in range(each):
            a, b = sorted(draw.sample(list(strengths), 2))
            odds = 1 / (1 + 10 ** ((strengths[b] - strengths[a]) / 400))
            value = 0.5 if draw.random() < ties else float(draw.random() < odds)
            found.append(Vote(str(rater), ("", a), ("", b), value))
    return found


def regression(votes: list[Vote]) -> dict[str, float]:
    """Elo out of a binomial regression on +1 and −1, with one tie a page against strength 0."""
    names = sorted({page[1] for vote in votes for page in vote.pair})
    place = {name: at for at, name in enumerate(names)}
    x = np.zeros((len(votes) + len(names), len(names)))
    y = np.full(len(x), 0.5)
    for at, vote in enumerate(votes):
        x[at, place[vote.first[1]]], x[at, place[vote.second[1]]], y[at] = 1, -1, vote.value
    x[len(votes) :] = np.eye(len(names))
    strength = sm.GLM(y, x, family=sm.families.Binomial()).fit(tol=1e-12).params
    elo = 1000 + 400 / math.log(10) * (strength - strength.mean())
    return dict(zip(names, elo, strict=True))


STRENGTHS = {"a": 1250.0, "b": 1100.0, "c": 1000.0, "d": 900.0, "e": 750.0}


@pytest.mark.parametrize("source", ["made up", *(["real"] if REAL else [])])
def test_ratings_are_those_of_a_logistic_regression(source: str) -> None:
    votes = list(read_votes(Path(REAL)).votes) if source == "real" else drawn(STRENGTHS, 20, 30)
    reference = regression(votes)
    found = bradley_terry(votes, resamples=2)
    assert {row.name: row.rating for row in found} == pytest.approx(reference, abs=0.05)
    assert [row.rating for row in found] == sorted((row.rating for row in found), reverse=True)


def test_known_strengths_lie_in_their_intervals() -> None:
    """Twenty sets of votes with five ratings each: of a hundred intervals about 95 hold the truth."""
    inside = 0
    for seed in range(20):
        for row in bradley_terry(drawn(STRENGTHS, 25, 40, ties=0.0, seed=seed)):
            assert row.low is not None
            assert row.high is not None
            inside += row.low <= STRENGTHS[row.name] <= row.high
    assert 86 <= inside < 100


def test_what_wins_every_vote_has_a_finite_rating_and_more_votes_lift_it() -> None:
    def top(times: int) -> float:
        votes = [Vote(str(r), ("", "a"), ("", "b"), 1.0) for r in range(times)]
        return bradley_terry(votes)[0].rating

    assert 1000 < top(3) < top(30) < 3000


def test_counts_and_small_sets() -> None:
    votes = [Vote("r", ("", "a"), ("", "b"), 1.0), Vote("s", ("", "a"), ("", "b"), 0.5)]
    first, second = bradley_terry(votes)
    assert (first.name, first.votes, first.won, first.low, first.high) == ("a", 2, 1.5, None, None)
    assert (second.won, first.rating + second.rating) == (0.5, pytest.approx(2000, abs=0.02))
    assert bradley_terry([]) == ()


def test_all_ties_are_all_equal_and_names_are_in_natural_order() -> None:
    votes = [Vote(str(r), ("", a), ("", b), 0.5) for r in range(6) for a, b in (("2", "10"), ("9", "10"))]
    assert [(row.name, row.rating) for row in bradley_terry(votes)] == [(n, 1000.0) for n in ("2", "9", "10")]
