"""What an agent says, and what it can be asked to do: pure, whatever the text."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opendesign.judging.asking import Malformed
from opendesign.judging.interactive.deeds import AgentError, deed_of
from opendesign.judging.interactive.hand import dated
from opendesign.judging.interactive.marks import Mark, Numbers, list_text, marks_of
from opendesign.judging.interactive.replies import VERBS, Next, plan_in, turn_in

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELDS = ("do", "on", "for", "to", "text", "fields", "submit", "onto", "by", "at", "keys", "seconds", "why")
NEXT = st.fixed_dictionaries(
    {"do": st.sampled_from(VERBS) | ANYTHING}, optional=dict.fromkeys(FIELDS[1:], ANYTHING)
)
TURNS = st.fixed_dictionaries({}, optional={"last": ANYTHING, "next": NEXT | ANYTHING})


def said(**more: Any) -> str:
    action = {"do": "click", "on": 3, "for": 1, **more}
    return json.dumps({"last": {"why": "seen", "worked": True}, "next": action})


def turn(text: str) -> Next:
    return turn_in(text, judges=True, planned=3).next


@settings(deadline=None)  # the machine may be busy with other things
@given(st.text() | TURNS.map(json.dumps), st.booleans())
def test_any_turn_is_sound_or_malformed(text: str, judges: bool) -> None:
    try:
        found = turn_in(text, judges=judges, planned=3)
    except Malformed as problem:
        assert "\n" not in str(problem)  # noqa: PT017
        assert problem.reason == "unparsable"  # noqa: PT017
        return
    assert (found.word is not None) == judges
    wanted = found.next
    assert wanted.do in VERBS
    assert wanted.interaction in ((0,) if wanted.do == "finish" else (1, 2, 3))
    assert wanted.on is not None or wanted.do not in ("click", "select", "set", "drag", "hover")
    numbers = [*(wanted.by or ()), *(wanted.at or ()), wanted.hold_s or 1.0]
    assert all(math.isfinite(number) for number in numbers)
    assert all(0 <= share <= 1 for share in wanted.at or ())
    assert 0 < (wanted.hold_s or 1) <= 10
    assert len(wanted.keys) <= 12
    for text in (wanted.to, wanted.why, *(field.text for field in wanted.fields)):
        text.encode("utf-8")


@settings(deadline=None)
@given(st.text() | st.dictionaries(st.sampled_from(["interactions", "what"]), ANYTHING).map(json.dumps))
def test_any_plan_is_sound_or_malformed(text: str) -> None:
    try:
        plan = plan_in(text, most=3)
    except Malformed:
        return
    assert 1 <= len(plan) <= 3
    assert all(one.what and one.expect for one in plan)


def test_a_plan_is_cut_and_a_short_one_asked_for_again() -> None:
    one = {"what": "click [1]", "expect": "a list opens"}
    assert len(plan_in(json.dumps({"interactions": [one] * 5}), most=3, least=3)) == 3
    with pytest.raises(Malformed, match=r"holds 2 of 3 interactions"):
        plan_in(json.dumps({"interactions": [one] * 2}), most=3, least=3)


#: Replies that say plainly what to do, in a form that models fall into.
LOOSE = {
    "in a fence": "```json\n" + said() + "\n```",
    "in prose": f"I looked at it {{carefully}}.\n{said()}\nThat is all.",
    "in Chinese prose": f"我先点击按钮。{said(why='点击')}",
    "after a thought": f"<think>maybe {{}}</think>{said()}",
    "numbers as text": said(on="[3]", **{"for": "1"}),
    "numbers with a point": said(on=3.0),
    "a verb in capitals": said(do="Click"),
    "worked as text": said().replace("true", '"true"'),
}


@pytest.mark.parametrize("name", LOOSE)
def test_a_reply_in_another_dress_is_read(name: str) -> None:
    found = turn_in(LOOSE[name], judges=True, planned=3)
    assert (found.next.do, found.next.on, found.next.interaction) == ("click", 3, 1)
    assert found.word is not None
    assert found.word.worked is True


@pytest.mark.parametrize(
    ("keys", "pressed"),
    [
        ("ArrowLeft", ("ArrowLeft",)),
        (["left", "Arrow Up", "arrow_down"], ("ArrowLeft", "ArrowUp", "ArrowDown")),
        (["Space", " ", "Enter", "esc"], (" ", " ", "Enter", "Escape")),
        (["a", "KeyW", "Digit7", "W"], ("a", "w", "7", "W")),
    ],
)
def test_keys_by_their_usual_names(keys: Any, pressed: tuple[str, ...]) -> None:
    assert turn(said(do="press", on=None, keys=keys)).keys == pressed


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        ("2026-06-15", "06152026"),
        ("14:30", "0230PM"),
        ("2026-06-15T00:05", "061520261205AM"),
        ("2026-06", "062026"),
        ("June 2026", "June2026"),
    ],
)
def test_a_date_is_typed_as_its_field_takes_it(value: str, typed: str) -> None:
    assert dated(value) == typed


# -- what is listed, and what it can be asked to do --------------------------------------------------------

KINDS = ("button", "type", "select", "check", "slider", "canvas", "link")
_CONTROL = {
    "tag": "div", "type": "", "name": "One", "x": 0, "y": 0, "width": 90, "height": 30, "disabled": False,
    "active": False, "link": "", "heard": True, "dragged": False, "wheel": False, "pointed": False,
    "clicked": True, "double": False, "nav": False, "group": "", "form": "", "near": False,
    "required": False, "submit": False,
}  # fmt: skip


def control(number: int, kind: str, **more: Any) -> dict[str, Any]:
    return {**_CONTROL, "key": f".{number}", "kind": kind, **more}


def marks(*controls: dict[str, Any], **described: Any) -> list[Mark]:
    about = {"box": [0, 0, 90, 30], "place": "here", "states": [], **described}
    return marks_of({"controls": list(controls)}, [about] * len(controls), Numbers(), 60)


LISTED = {
    mark.number: mark
    for mark in marks(
        *(control(i, kind) for i, kind in enumerate(KINDS)), options=["Red", "Blue"], chosen=0, low=0, high=10
    )
}
BUTTON, FIELD, SELECT, CHECK, SLIDER, CANVAS, LINK = range(1, 8)


def test_the_sample_is_listed_in_order() -> None:
    assert [mark.role for mark in LISTED.values()] == [
        *("button", "text field", "select", "checkbox", "slider", "canvas", "link"),
    ]


@pytest.mark.parametrize(
    "action",
    [
        {"do": "click", "on": 99},
        {"do": "drag", "on": CANVAS, "onto": 99},
        {"do": "type", "on": FIELD, "text": "x", "submit": 99},
        {"do": "type", "on": FIELD, "text": "x", "submit": SLIDER},
        {"do": "type", "on": BUTTON, "text": "x"},
        {"do": "type", "fields": [{"on": FIELD, "text": "x"}, {"on": CANVAS, "text": "x"}]},
        {"do": "click", "on": SELECT},
        {"do": "select", "on": BUTTON, "to": "Red"},
        {"do": "select", "on": SELECT, "to": "Green"},
        {"do": "select", "on": SELECT, "to": "Red"},
        {"do": "set", "on": BUTTON, "to": "5"},
        {"do": "set", "on": SLIDER, "to": "high"},
    ],
)
def test_what_does_not_fit_the_list_is_the_agents_error(action: dict[str, Any]) -> None:
    with pytest.raises(AgentError) as caught:
        deed_of(turn(said(**{"on": None, **action})), LISTED)
    assert str(caught.value).endswith(".")
    assert "One" not in str(caught.value), "no text of the page goes to the agent outside of its slot"


@settings(deadline=None)
@given(NEXT)
def test_any_action_is_a_deed_or_an_error_of_the_agent(action: dict[str, Any]) -> None:
    try:
        wanted = turn(json.dumps({"last": {"worked": True}, "next": action}))
        deed = deed_of(wanted, LISTED)
    except (Malformed, AgentError):
        return
    assert deed.label
    assert deed.mark is None or deed.mark.number in LISTED
    assert all(0 <= entry.share <= 1 for entry in deed.entries)


def test_sliders_selects_and_forms_become_what_a_hand_does() -> None:
    moved = deed_of(turn(said(do="set", on=SLIDER, to="7 kg")), LISTED)
    assert moved.entries[0].share == pytest.approx(0.7)
    chosen = deed_of(turn(said(do="select", on=SELECT, to="blue")), LISTED)
    assert chosen.entries[0].moves == 1
    form = deed_of(turn(said(do="type", on=FIELD, text="Ada", submit=BUTTON)), LISTED)
    assert (form.action, form.key) == ("form", LISTED[BUTTON].key)
    alone = deed_of(turn(said(do="type", on=FIELD, text="Ada")), LISTED)
    assert alone.action == "type", "Enter is no button: the text itself is no effect"


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=40))
def test_page_text_never_starts_a_line_of_the_list(name: str, value: str) -> None:
    text = list_text(marks(control(1, "type", name=name), value=value, hint=value, options=[value]), {})
    assert text.count("\n") == 0
    assert text.startswith("[1] text field ")


ROWS = st.lists(
    st.tuples(st.sampled_from(["button", "link"]), st.sampled_from("ABC")), min_size=1, max_size=6
)


@settings(deadline=None)
@given(ROWS, ROWS)
def test_a_control_keeps_its_number_and_no_two_share_one(
    first: list[tuple[str, str]], second: list[tuple[str, str]]
) -> None:
    numbers = Numbers()
    looks = [[(role, name, f".{i}") for i, (role, name) in enumerate(rows)] for rows in (first, second)]
    once, then = numbers.give(looks[0]), numbers.give(looks[1])
    assert len(set(once)) == len(once)
    assert len(set(then)) == len(then)
    assert numbers.give(looks[0]) == once
