"""Reading a judge's reply: whatever it is, a sound object comes out or ``Malformed`` does."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opendesign.judging.asking import Malformed, json_in, number, text_of
from opendesign.judging.static import Reading, Rubric
from tests.unit.static_support import SCORES, STATIC, verdict

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=8), JSON, min_size=1, max_size=4)
PROSE = st.text(st.characters(exclude_characters='{}"<'), max_size=60)
RUBRIC = Rubric.of(STATIC)
ODD = st.one_of(JSON, st.floats(), st.sampled_from(["18/30", "31 / 40", "-3", "1e3", "三十", "NaN", "٣", ""]))


@example({"score": 1}, "Infinity", "NaN")
@settings(deadline=None)  # the machine may be busy with other things
@given(OBJECTS, PROSE, PROSE)
def test_an_object_is_found_wherever_it_stands(value: dict[str, Any], before: str, after: str) -> None:
    for text in (
        json.dumps(value),
        json.dumps(value, ensure_ascii=False, indent=1),
        f"```json\n{json.dumps(value)}\n```",
        f"{before}\n```\n{json.dumps(value)}\n```\n{after}",
        f"{before} {json.dumps(value)} {after}",
        f'{{"draft": 1}} {before} {json.dumps(value)}',
        f"<think>{{}} {before}</think>{json.dumps(value)}",
    ):
        assert json_in(text) == value


@settings(deadline=None)  # the machine may be busy with other things
@given(st.text())
def test_any_text_is_an_object_or_malformed(text: str) -> None:
    try:
        found = json_in(text)
    except Malformed as problem:
        assert problem.reason == "unparsable"  # noqa: PT017
    else:
        assert isinstance(found, dict)


@settings(deadline=None)  # the machine may be busy with other things
@given(OBJECTS, st.data())
def test_an_object_that_is_cut_off_is_none(value: dict[str, Any], data: Any) -> None:
    whole = json.dumps({"scores": value})
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(Malformed):
        json_in(cut)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "say "hi"", "scores": {"a": 1}}',  # broken outside, sound inside
        '{"a": 1, "scores": {"a": 1}, }}',
        '{"a": NaN}',
        'Verdict: {"a": Infinity}',
        "{'a': 1}",
        "{color: red}",
        "[1, 2]",
        "7",
        '"text"',
    ],
)
def test_what_is_broken_is_not_read_in_part(text: str) -> None:
    with pytest.raises(Malformed):
        json_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        '{"a":' * 100_000,
        "<think>" * 50_000,
        "```\n" * 50_000,
        '{"' * 100_000,
        '{"a": [' + "1," * 200_000,
        '{"a": 1, b' * 50_000,
    ],
)
def test_a_hostile_reply_takes_a_moment(text: str) -> None:
    started = time.thread_time()
    with pytest.raises(Malformed):
        json_in(text)
    assert time.thread_time() - started < 5


@settings(deadline=None)  # the machine may be busy with other things
@given(st.dictionaries(st.sampled_from(["a", "b"]), ODD), st.integers(0, 50), st.integers(1, 50))
def test_a_number_is_in_range_or_malformed(values: dict[str, Any], low: int, width: int) -> None:
    try:
        found = number(values, "a", low, low + width)
    except Malformed as problem:
        assert problem.reason in ("unparsable", "out_of_range")  # noqa: PT017
    else:
        assert math.isfinite(found)
        assert low <= found <= low + width
        assert not isinstance(values["a"], bool)


@settings(deadline=None)  # the machine may be busy with other things
@given(st.integers(0, 40))
def test_a_number_may_be_text(value: int) -> None:
    for written in (value, float(value), str(value), f" {value} ", f"{value}/40", f"{value} / 40.0"):
        assert number({"a": written}, "a", 0, 40) == value
    if value != 0:
        for other in (f"-{value}", f"{value}/100", f"{value}%", f"{value} or {value}", True):
            with pytest.raises(Malformed):
                number({"a": other}, "a", 0, 40)


@settings(deadline=None)  # the machine may be busy with other things
@given(st.dictionaries(st.sampled_from(["a", "b"]), JSON))
def test_a_text_is_one_short_line(values: dict[str, Any]) -> None:
    line = text_of(values, "a", most=20)
    assert len(line) <= 20
    assert "\n" not in line


@settings(deadline=None)  # the machine may be busy with other things
@given(
    st.fixed_dictionaries({}, optional={"reasons": JSON, "scores": JSON, "total": ODD, "alignment": ODD}),
    st.fixed_dictionaries({}, optional=dict.fromkeys([*SCORES, "total", "alignment_score"], ODD)),
)
def test_the_rubric_reads_scores_in_range_or_nothing(top: dict[str, Any], scores: dict[str, Any]) -> None:
    for value in (top, {**top, "scores": scores}, scores):
        try:
            found = RUBRIC.read(json.dumps(value))
        except Malformed:
            continue
        assert isinstance(found, Reading)
        assert set(found.scores) == set(SCORES)
        assert 0 <= found.total <= 100
        assert all(RUBRIC.parts[n][0] <= v <= RUBRIC.parts[n][1] for n, v in found.scores.items())


@settings(deadline=None)  # the machine may be busy with other things
@given(st.floats(0, 40), st.floats(0, 30), st.floats(0, 30), st.one_of(st.none(), st.floats(0, 200)))
def test_every_sound_reply_is_read(a: float, b: float, c: float, total: float | None) -> None:
    said = {} if total is None else {"total": total}
    found = RUBRIC.read(verdict(dict(zip(SCORES, (a, b, c), strict=True)), **said))
    assert found.total == pytest.approx(a + b + c)
    assert (found.said is not None) is (total is not None and abs(total - found.total) >= 0.01)
    assert RUBRIC.band(found.total)


def test_the_bands_meet_without_gaps() -> None:
    names = [RUBRIC.band(total) for total in (0, 29.9, 30, 49.99, 50, 69.5, 70, 89.9, 90, 100)]
    assert (
        names == ["poor"] * 2 + ["below average"] * 2 + ["average"] * 2 + ["good"] * 2 + ["outstanding"] * 2
    )
