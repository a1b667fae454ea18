"""What the probe plans to operate: ranking and variety, without a browser."""

from __future__ import annotations

from typing import Any

import pytest

from opendesign.judging.probe.actions import text_for
from opendesign.judging.probe.plan import Control, plan
from opendesign.types import Case, Category, Requirement


def control(key: str, kind: str, name: str = "", **values: Any) -> dict[str, Any]:
    defaults: dict[str, Any] = dict.fromkeys(Control.__dataclass_fields__, False)
    defaults |= {"tag": kind, "type": "", "link": "", "form": "", "x": 0, "y": 0, "width": 80, "height": 30}
    return defaults | {"key": key, "kind": kind, "name": name, "group": f"{kind} row"} | values


def listing(*controls: dict[str, Any], text: str = "", **keys: Any) -> dict[str, Any]:
    heard: dict[str, Any] = dict.fromkeys(("listens", "arrows", "space", "enter", "wasd"), False)
    return {"controls": list(controls), "text": text, "keys": heard | {"target": ""} | keys}


def case(category: Category = "website", behaviour: str = "") -> Case:
    wanted = (Requirement(kind="behaviour", text=behaviour),) if behaviour else ()
    return Case(id="c", category=category, prompt="Make a page.", requirements=wanted)


def names(found: dict[str, Any], of: Case, count: int = 3) -> list[str]:
    return [step.label for step in plan(found, of, count)]


def test_nothing_to_operate() -> None:
    assert plan(listing(), case(), 3) == []
    outside = control("1", "link", "Elsewhere", link="outside")
    assert plan(listing(outside, control("2", "button", "Off", disabled=True)), case(), 3) == []


def test_kinds_are_mixed_before_a_second_of_the_same_row() -> None:
    found = listing(
        *(control(str(i), "button", f"Add {i}") for i in range(4)),
        control("8", "select", "Sort"),
        control("9", "slider", "Price"),
    )
    assert {step.kind for step in plan(found, case(), 3)} == {"button", "select", "slider"}


def test_what_the_case_asks_for_comes_first() -> None:
    buttons = [
        control(str(i), "button", name) for i, name in enumerate(("Share", "Info", "Checkout", "More"))
    ]
    wanted = case(behaviour="Pressing checkout shows the sum.")
    assert names(listing(*buttons), wanted, 1) == ["button button 'Checkout'"]


def test_shown_already_and_undoing_come_last() -> None:
    found = listing(
        control("1", "tab", "Reset"), control("2", "tab", "Second"), control("3", "tab", "Third", active=True)
    )
    assert names(found, case(), 1) == ["tab tab 'Second'"]


def test_few_controls_are_operated_again() -> None:
    assert names(listing(control("1", "button", "More")), case()) == [
        "button button 'More'",
        "button button 'More' (2)",
        "button button 'More' (3)",
    ]


def test_a_form_is_one_interaction() -> None:
    found = listing(
        control("1", "type", "Name", form="0"),
        control("2", "type", "Email", form="0"),
        control("3", "button", "Send", form="0", submit=True),
    )
    assert plan(found, case(), 1)[0].action == "form"


def test_a_game_is_started_then_played() -> None:
    canvas = control("1", "canvas", width=400, height=400)
    found = listing(canvas, control("2", "button", "Start game"), listens=True, arrows=True, space=True)
    steps = plan(found, case("game"), 3)
    assert steps[0].opens
    assert steps[0].label == "button button 'Start game'"
    assert all(step.action == "keys" for step in steps[1:])
    pressed = plan(listing(canvas, text="Press space to start", listens=True, arrows=True), case("game"), 2)
    assert (pressed[0].keys, pressed[0].opens) == ((" ",), True)


def test_what_runs_is_not_started_again() -> None:
    found = listing(
        control("1", "canvas", width=400, height=400),
        control("2", "button", "Start"),
        text="Press Enter to start",
        listens=True,
        arrows=True,
        enter=True,
    )
    assert sum(step.opens for step in plan(found, case("game"), 3)) == 1


def test_a_board_is_played_before_it_is_cleared() -> None:
    cells = [control(str(i), "button", f"Square {i}", group="board") for i in range(9)]
    buttons = [control("a", "button", "New game"), control("b", "select", "Pieces")]
    steps = plan(listing(*cells, *buttons), case("game", "New game empties the board."), 3)
    assert not any(step.opens for step in steps)
    assert "Square" in steps[0].label or "Square" in steps[1].label
    assert "New game" in steps[-1].label


def test_a_calculator_is_given_numbers_first() -> None:
    keys = [control(str(i), "button", name) for i, name in enumerate("C±%÷789×456−123+0.=")]
    assert all(label[-2] in "123456789+" for label in names(listing(*keys), case(), 3))


@pytest.mark.parametrize(
    ("text", "letters", "expected"),
    [
        ("Q and E turn the yard", "qe", [("q",), ("e",)]),
        ("Press R to roll", "r", [("r",)]),
        ("A calm page, and I like it", "ai", []),
        ("Q and E turn the yard", "", []),
    ],
)
def test_letters_that_the_page_names_are_pressed(
    text: str, letters: str, expected: list[tuple[str, ...]]
) -> None:
    steps = plan(listing(text=text, letters=letters), case("3d"), 3)
    assert [step.keys for step in steps if not step.variant] == expected


def test_keys_in_a_search_field_go_through_its_list() -> None:
    found = listing(control("1", "type", "Search"), text="Use the arrow keys", listens=True, arrows=True)
    found["keys"]["target"] = "1"
    assert ("ArrowDown", "Enter") in [step.keys for step in plan(found, case("component"), 3)]


def test_keys_that_nobody_mentions_are_not_pressed_on_a_website() -> None:
    assert all(not s.keys for s in plan(listing(control("1", "button", "Ok"), listens=True), case(), 3))


def test_scene_is_dragged_and_chart_is_pointed_at() -> None:
    canvas = control("1", "canvas", width=800, height=600)
    assert plan(listing(canvas), case("3d"), 1)[0].action == "drag"
    assert plan(listing(canvas), case("dataviz"), 1)[0].action == "hover"


def test_jump_link_and_dead_link_differ() -> None:
    links = (control("1", "link", "Menu", link="section"), control("2", "link", "Nowhere", link="missing"))
    assert [step.action for step in plan(listing(*links), case(), 2)] == ["jump", "jump"]
    asked = case(behaviour="The links in the navigation lead to their sections.")
    assert [step.action for step in plan(listing(*links), asked, 2)] == ["jump", "link"]
    assert [step.action for step in plan(listing(links[1]), case(), 2)] == ["link", "link"]


def test_texts_fit_their_fields() -> None:
    assert "@" in text_for("email", "Your e-mail", 0)
    assert text_for("text", "Phone", 1).isdigit()
    assert text_for("text", "Anything", 0) != text_for("text", "Anything", 1)
    assert 10 <= int(text_for("number", "Amount", 0, {"min": "10", "max": "20"})) <= 20
