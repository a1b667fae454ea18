"""What a check says of its pairs: shares with intervals, falls, and nothing made up for what is missing."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from opendesign.running.check_result import Check, KindResult, Pair, kind_result, noise, tolerances
from opendesign.running.statistics import rate


def pair(good: float | None, changed: float | None, status: str = "compared", kind: str = "tiny") -> Pair:
    return Pair(
        page="p",
        kind=kind,
        source="template",
        status=status,  # type: ignore[arg-type]
        good=good,
        changed=changed,
    )


def result(pairs: list[Pair], role: str = "sees", tolerance: float = 0.0) -> KindResult:
    return kind_result("tiny", "about", role, [replace(p, tolerance=tolerance) for p in pairs])  # type: ignore[arg-type]


def check(*kinds: KindResult, harmless: list[float] | None = None, pairs: tuple[Pair, ...] = ()) -> Check:
    return Check(
        judge="j",
        judge_hash="h",
        judge_model=None,
        measure="total",
        seed=0,
        good_pages={"template": 2},
        tolerance=0.0,
        kinds=kinds,
        harmless=rate([[fell] for fell in harmless or []]),
        unscored=0,
        calls=0,
        cost_usd=0.0,
        seconds=1.0,
        run="runs/x",
        pairs=pairs,
    )


def test_a_fall_counts_beyond_the_tolerance_and_rises_are_told() -> None:
    found = result([pair(80, 70), pair(80, 78), pair(80, 80), pair(80, 89)], tolerance=3)
    assert found.pages == 4
    assert found.fell is not None
    assert found.rose is not None
    assert (found.fell.mean, found.rose.mean) == (0.25, 0.25)
    assert found.mean_fall == pytest.approx(0.75)
    assert found.median_fall == pytest.approx(1.0)
    # Wilson interval of 1 in 4, as in Newcombe's tables: 4.6 % to 69.9 %.
    assert (found.fell.low, found.fell.high) == (
        pytest.approx(0.0456, abs=1e-4),
        pytest.approx(0.6994, abs=1e-4),
    )


def test_pairs_without_two_scores_are_counted_and_lower_nothing() -> None:
    found = result(
        [pair(80, 70), pair(None, None, "unscored"), pair(0, None, "floor"), pair(80, None, "unseen")]
    )
    assert found.pages == 1
    assert found.mean_fall == 10
    assert found.left_out == {"unscored": 1, "floor": 1, "unseen": 1}
    assert math.isnan(pair(80, None, "unseen").fall)
    empty = result([pair(None, None, "absent")])
    assert (empty.pages, empty.fell, empty.mean_fall, empty.holds) == (0, None, None, None)


@pytest.mark.parametrize(
    ("role", "changed", "holds"),
    [
        ("sees", [70] * 19 + [80], True),
        ("sees", [70] * 18 + [80] * 2, False),
        ("harmless", [80] * 19 + [70], True),
        ("harmless", [80] * 18 + [70] * 2, False),
        ("resists", [70] * 19 + [90], True),
        ("resists", [80] * 18 + [90] * 2, False),
        ("other", [80] * 20, None),
    ],
)
def test_what_should_be(role: str, changed: list[float], holds: bool | None) -> None:
    assert result([pair(80, score) for score in changed], role).holds is holds


def test_noise_is_that_of_a_fall_without_cause() -> None:
    assert noise([]) == 0
    assert noise([0, 0, 0]) == 0
    assert noise([2, -2, 2, -2]) == pytest.approx(1.96 * 2)


def test_noise_is_the_judges_with_a_model_and_the_pages_without() -> None:
    seen_twice = {"still": 0.0, "moves": -3.0}
    assert tolerances(seen_twice, 100, with_model=False) == (0.1, {"still": 0.1, "moves": 3.0})
    everywhere, own = tolerances(seen_twice, 100, with_model=True)
    assert everywhere == pytest.approx(1.96 * math.sqrt(4.5))
    assert own == {}


def test_a_check_is_sound_where_everything_is_as_it_should_be() -> None:
    seen, missed = result([pair(80, 70)]), result([pair(80, 80)])
    other = result([pair(80, 80)], "other")
    assert check(seen, other, harmless=[0.0]).sound
    assert not check(seen, missed).sound
    assert not check(seen, harmless=[1.0]).sound
    assert not check(other).sound, "nothing was compared that it is meant to see"
    assert check(seen, missed).misses == ("tiny",)
    assert check(seen, missed).meets == ("tiny",)


def test_the_document_and_the_table_hold_every_pair() -> None:
    pairs = (pair(80, 70), pair(None, None, "unscored"))
    found = check(result(list(pairs)), pairs=pairs)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [row["fall"] for row in document["pairs"]] == [10, None]
    assert document["kinds"][0]["holds"] is True
    assert document["kinds"][0]["fell"]["low"] is not None
    frame = found.to_pandas()
    assert list(frame["status"]) == ["compared", "unscored"]
    assert frame["fall"].tolist()[0] == 10
    assert frame["fall"].isna().tolist() == [False, True]
