"""Damage is pure, changes only what it is about, and says where it cannot happen."""

from __future__ import annotations

import pytest

from tests.wild.damage import DAMAGES
from tests.wild.outline import outline

LONG = "A sentence that is long enough to be body text on any page. "
PAGE = (
    "<!doctype html><html lang=en><head><title>T</title><style>p > a { color: red }</style></head><body>"
    + "".join(f"<section><h2>Heading number {i}</h2><p class=x>{LONG}<p>{LONG}</section>" for i in range(4))
    + "<div class='modal fade'><p>" + LONG + "</p><img src='data:image/gif;base64,R0lG' alt=hidden></div>"
    + "".join(f"<img alt='{i}' src=\"data:image/gif;base64,R0lGOD{i}\">" for i in range(5))
    + '<a href="#there">Go</a><button onclick="go()">Go</button>'
    + '<script>if (1 < 2) go("<p>")</script></body></html>'
)  # fmt: skip


def tags(document: str) -> list[str]:
    return [element.tag for element in outline(document)]


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("seed", range(6))
def test_damage_is_pure_and_leaves_the_rest(kind: str, seed: int) -> None:
    damaged = DAMAGES[kind].change(PAGE, seed)
    assert damaged is not None
    assert damaged != PAGE
    assert damaged == DAMAGES[kind].change(PAGE, seed)
    added = {"script", "style"} if kind == "controls" else set()
    assert [tag for tag in tags(damaged) if tag not in added] == [t for t in tags(PAGE) if t not in added]
    for kept in ("<style>p > a { color: red }</style>", 'if (1 < 2) go("<p>")', "class='modal fade'"):
        assert kept in damaged


def test_what_is_damaged_is_a_part_of_what_is_shown() -> None:
    for seed in range(6):
        faint = DAMAGES["contrast"].change(PAGE, seed) or ""
        touched = [e for e in outline(faint) if "style" in e.attributes]
        assert 2 <= len(touched) < 8
        assert all(e.shown and e.tag == "p" for e in touched)
        broken = DAMAGES["pictures"].change(PAGE, seed) or ""
        sources = [e.attributes["src"] for e in outline(broken) if e.tag == "img"]
        assert sources[0] == "data:image/gif;base64,R0lG", "a picture that is not shown was damaged"
        if seed % 2 == 0:
            assert sum(source.startswith("images/") for source in sources) == 2


def test_dead_controls_lose_handlers_and_places_to_go() -> None:
    dead = DAMAGES["controls"].change(PAGE, 0) or ""
    assert "go()" not in dead
    assert "#there" not in dead
    assert dead.index("addEventListener") < dead.index("<title>")


def test_a_page_without_text_pictures_or_head_cannot_have_it() -> None:
    bare = "<p>Hello"
    assert {kind: damage.change(bare, 0) for kind, damage in DAMAGES.items()} == dict.fromkeys(DAMAGES)


def test_elements_are_found_where_they_are() -> None:
    for element in outline(PAGE):
        assert PAGE[element.start :].startswith(f"<{element.tag}")
        assert PAGE[element.end - 1] == ">"
    section = next(e for e in outline(PAGE) if e.tag == "section")
    assert [child.tag for child in section.children] == ["h2", "p", "p"]  # the second p closes the first
