"""What a ballot asks: balanced over models and cases, fair to both sides, and equal for equal seeds."""

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest

from opendesign.balloting.sampling import draw_pairs, left_first, most_repeats, ordered

CASES = [f"c{n}" for n in range(12)]


def field(runs: int, cases: int = 12) -> dict[tuple[str, str], list[str]]:
    return dict.fromkeys(combinations([f"r{n}" for n in range(runs)], 2), CASES[:cases])


@pytest.mark.parametrize(
    ("runs", "cases", "count"), [(2, 12, 7), (3, 12, 30), (4, 5, 30), (5, 12, 23), (6, 3, 8)]
)
def test_pairs_of_models_and_cases_are_balanced_and_none_comes_twice(
    runs: int, cases: int, count: int
) -> None:
    for seed in range(5):
        drawn = draw_pairs(field(runs, cases), count, random.Random(seed))
        assert len(drawn) == len(set(drawn)) == count
        by_runs = Counter(dict.fromkeys(field(runs), 0)) + Counter(pair for pair, _ in drawn)
        assert max(by_runs.values()) - min(by_runs[pair] for pair in field(runs)) <= 1
        by_case = Counter(case for _, case in drawn)
        assert max(by_case.values()) - min(by_case[case] for case in CASES[:cases]) <= 2


def test_what_has_no_page_is_never_drawn_and_all_that_is_there_can_be() -> None:
    shown = {("a", "b"): ["c1"], ("a", "c"): [], ("b", "c"): ["c1", "c2", "c3"]}
    drawn = draw_pairs(shown, 99, random.Random(1))
    assert sorted(drawn) == [(("a", "b"), "c1"), *((("b", "c"), f"c{n}") for n in (1, 2, 3))]


def test_equal_seeds_draw_equal_pairs_and_others_others() -> None:
    first, again, other = (draw_pairs(field(4), 20, random.Random(seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_each_model_stands_left_as_often_as_right_against_each_other() -> None:
    share = 0
    for seed in range(40):
        rng = random.Random(seed)
        drawn = draw_pairs(field(3), 21, rng)
        sides = left_first(drawn, rng)
        for runs in field(3):
            left = sum(side for (pair, _), side in zip(drawn, sides, strict=True) if pair == runs)
            assert left in (3, 4), "of seven"
        share += sides[0]
    assert 8 <= share <= 32, "the side of the first question is a matter of chance"


@pytest.mark.parametrize(
    ("pairs", "repeats", "checks"), [(30, 3, 3), (30, 10, 5), (1, 0, 1), (3, 1, 0), (9, 3, 9)]
)
def test_all_questions_come_once_repeats_late_and_checks_throughout(
    pairs: int, repeats: int, checks: int
) -> None:
    for seed in range(20):
        order = ordered(pairs, repeats, checks, random.Random(seed))
        assert Counter(slot.kind for slot in order) == Counter(pair=pairs, repeat=repeats, check=checks)
        assert len(set(order)) == len(order)
        places = {(slot.kind, slot.at): at for at, slot in enumerate(order)}
        for slot in order:
            if slot.kind == "repeat":
                assert places["repeat", slot.at] - places["pair", slot.at] > pairs // 2 - pairs // 3 - 1
        tests = [at for at, slot in enumerate(order) if slot.kind == "check"]
        if pairs == 30:
            assert tests[0] < len(order) / checks
            assert max(b - a for a, b in pairwise(tests)) < 2 * len(order) / checks
    assert most_repeats(pairs) >= repeats
