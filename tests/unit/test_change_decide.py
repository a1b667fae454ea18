"""Which changes count for which action: the rules, without a browser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opendesign.judging.change import Action, Change, alike, beyond, earned, strength
from opendesign.judging.change.decide import Drift

BASE = Change(
    key=".1.0", kind="text", place="other", area=400, tag="p", control=False, after="x", sample="3 items"
)


def change(**values: object) -> Change:
    return replace(BASE, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "action", "expected"),
    [
        (change(), "click", "strong"),
        (change(place="own"), "click", "strong"),
        (change(place="own"), "type", "none"),  # typed into an editable element
        (change(kind="state", place="own", tag="input", sample="value=abc"), "type", "none"),
        (change(kind="state", place="own", tag="input", sample="checked=true"), "check", "none"),
        (change(kind="state", place="own", tag="select", sample="value=2"), "select", "none"),
        (change(kind="state", place="own", tag="input", sample="value=70"), "slide", "none"),
        (change(kind="state", place="own", tag="div", sample="aria-checked=true"), "click", "strong"),
        (change(kind="state", place="own", tag="button", sample="aria-expanded=true"), "click", "none"),
        (change(kind="state", place="own", tag="button", sample="aria-selected=true"), "click", "none"),
        (change(kind="state", place="other", tag="input", sample="value=12"), "slide", "strong"),
        (change(kind="state", place="other", tag="input", sample="checked=false"), "check", "weak"),
        (change(kind="paint", place="own", control=True), "click", "none"),
        (change(kind="paint", place="own"), "click", "weak"),  # a cell that is coloured
        (change(kind="paint", place="own"), "hover", "weak"),
        (change(kind="paint", place="own", control=True), "hover", "none"),
        (change(kind="paint", place="ancestor", tag="body"), "click", "weak"),
        (change(kind="moved", place="own", control=True), "click", "none"),
        (change(kind="moved", place="own"), "drag", "weak"),
        (change(kind="moved", place="peer", control=True, tag="a"), "click", "none"),
        (
            change(kind="appeared", place="own", control=True, tag="span", sample=""),
            "click",
            "none",
        ),  # ripple
        (change(kind="appeared", place="own", tag="ul"), "hover", "strong"),
        (change(kind="appeared", area=0, sample=""), "click", "none"),
        (change(kind="canvas", place="own", tag="canvas"), "drag", "strong"),
        (change(kind="scroll", place="page"), "click", "strong"),
        (change(kind="scroll", place="page"), "link", "none"),  # href="#" goes to the top
        (change(kind="hash", place="page"), "jump", "strong"),
        (change(kind="hash", place="page"), "click", "none"),
        (change(kind="navigation", place="page"), "click", "none"),
        (change(kind="popup", place="page"), "click", "none"),
        (change(kind="dialog", place="page"), "click", "strong"),
    ],
)
def test_what_a_change_is_worth(one: Change, action: Action, expected: str) -> None:
    assert strength(one, action) == expected


def test_weak_changes_count_only_beyond_the_control() -> None:
    paint = change(kind="paint", place="ancestor", tag="body", area=900_000)
    assert earned([paint], "click", controlled=False) == []
    assert earned(beyond([paint], [paint], moving=False), "click", controlled=True) == []
    assert earned(beyond([paint], [], moving=False), "click", controlled=True) == [paint]
    other = replace(paint, after="y")
    assert earned(beyond([paint], [other], moving=False), "click", controlled=True) == [paint]


def test_tiny_weak_changes_are_not_seen() -> None:
    assert earned([change(kind="moved", area=40)], "click", controlled=True) == []
    assert (
        len(earned([change(kind="moved", area=60), change(kind="moved", area=60)], "click", controlled=True))
        == 2
    )


def test_stopping_a_moving_page_is_an_effect() -> None:
    frame = change(kind="canvas", tag="canvas")
    assert beyond([], [frame], moving=True) == [frame]
    assert beyond([], [frame], moving=False) == []


def test_a_highlight_that_moves_on_earns_nothing_and_a_rating_does() -> None:
    first, second = (
        change(kind="paint", place="peer", control=True, tag="button", key=key) for key in (".1", ".2")
    )
    assert earned([first], "click", controlled=True) == []
    assert earned([first, second], "click", controlled=True) == [first, second]


def test_wiping_the_page_earns_nothing() -> None:
    assert earned([change(kind="vanished", tag="body"), change()], "click", controlled=False) == []


@pytest.mark.parametrize(
    ("steps", "seen"),
    [([0] * 3072, False), ([5] * 7, False), ([1] * 3000, False), ([6], True), ([2] * 8, True)],
)
def test_a_canvas_differs_as_far_as_a_person_can_see(steps: list[int], seen: bool) -> None:
    tones = [300] * 3072
    other = [tone + step for tone, step in zip(tones, steps + [0] * (3072 - len(steps)), strict=True)]
    one, two = (change(kind="canvas", after="".join(map(chr, values))) for values in (tones, other))
    assert bool(beyond([one], [two], moving=False)) == seen
    assert alike([one], [two]) is not seen


def test_what_a_touch_anywhere_does_is_not_a_controls_doing() -> None:
    touch = Drift(touched=True)
    spark = change(kind="appeared", tag="b", key=".1.4")
    touch.add([spark, change(key=".1.2"), change(kind="canvas", key=".1.3")])
    assert touch.has(replace(spark, key=".1.7"))
    assert touch.has(change(key=".1.2", after="other"))
    assert not touch.has(replace(spark, tag="li"))
    assert not touch.has(change(key=".1.9"))  # beside the sparks
    assert not touch.has(change(kind="canvas", key=".1.3"))  # touched anywhere on purpose
    by_itself = Drift()
    by_itself.add([spark])
    assert by_itself.has(change(key=".1.9"))
