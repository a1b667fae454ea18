"""Each change does what its name says, to a part of the page, the same for a seed, and only where it can."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opendesign.answering.controls import document
from opendesign.cases.benchmark import load_benchmark, select
from opendesign.judging.cards import cards, load_card
from opendesign.judging.sensitivity import KINDS, Good, role_of
from opendesign.judging.sensitivity.outline import attributes, edited, outline, with_style
from opendesign.judging.sensitivity.page import table
from opendesign.types import Case

LONG = "A sentence that is long enough to be body text on any page. "
CASE = Case(id="website-1", category="website", prompt="A page")
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>T</title>
<style>
.card { color: red; }
.lead { margin: 4px; }
#start { top: 0; }
</style></head>
<body>
"""
SECTION = f"""<section class="card" data-n="%d">
<h2>Heading number %d</h2>
<p class="lead note">{LONG}</p>
<p>{LONG}</p></section>
"""
TAIL = """<a href="#start">Go to the start</a><button onclick="go()">Go</button>
<form><input name="a"></form>
<script>if (1 < 2) document.querySelector("#start").classList.add("lead"), go("<p>")</script></body></html>"""
PICTURE = '<img alt="%d" src="data:image/gif;base64,' + "R" * 150 + '%d">'
PAGE = "".join(
    (
        HEAD,
        f'<p id="start" class="lead">{LONG}</p>\n',
        *(SECTION % (n, n) for n in range(4)),
        f'<div class="modal fade"><p>{LONG}</p>{PICTURE % (9, 9)}</div>',
        *(PICTURE % (n, n) for n in range(5)),
        TAIL,
    )
)
GOOD = Good(case=CASE, document=PAGE, other="<p>Another page altogether")


def made(kind: str, seed: int = 0, page: Good = GOOD) -> str:
    changed = KINDS[kind].of(page, seed)
    assert changed is not None
    return changed


def tags(page: str) -> list[str]:
    return [element.tag for element in outline(page)]


def test_there_are_twelve_kinds_of_damage_and_six_harmless_edits() -> None:
    asked = "contrast overlap picture section columns controls topic sideways tiny element fonts injection"
    damage = [name for name, kind in KINDS.items() if not kind.harmless]
    assert set(asked.split()) <= set(damage)
    assert [name for name, kind in KINDS.items() if kind.harmless] == [
        "class_renamed",
        "rules_reordered",
        "comment_added",
        "whitespace",
        "attribute_order",
        "id_renamed",
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_a_change_depends_on_page_and_seed_alone(kind: str, seed: int) -> None:
    changed = made(kind, seed)
    assert changed != PAGE
    assert changed == made(kind, seed)


@pytest.mark.parametrize("kind", ["contrast", "tiny", "fonts", "overlap", "columns", "sideways", "picture"])
def test_what_is_damaged_in_its_looks_keeps_its_elements_and_the_rest(kind: str) -> None:
    for seed in range(4):
        changed = made(kind, seed)
        assert tags(changed) == tags(PAGE)
        pairs = zip(outline(PAGE), outline(changed), strict=True)
        touched = [new for old, new in pairs if old.attributes != new.attributes]
        assert 1 <= len(touched) < 10
        assert all(element.shown for element in touched), "something was damaged that nobody sees"
        for kept in (".card { color: red; }", 'go("<p>")', 'class="modal fade"'):
            assert kept in changed


def test_texts_are_damaged_as_named() -> None:
    assert "font-size: 8px !important" in made("tiny")
    assert re.search(r"color: #adadad !important|opacity: \.35 !important", made("contrast"))
    assert len(set(re.findall(r"font-family: (\S+) !important", made("fonts")))) >= 3
    widths = [int(w) for w in re.findall(r"min-width: (\d+)px", made("sideways"))]
    assert len(widths) == 1
    assert 1680 <= widths[0] <= 2180


def test_parts_are_gone() -> None:
    assert tags(made("section")).count("section") == 3
    assert "form" not in tags(made("element"))
    assert made("topic") == GOOD.other
    lost = {"no_title": "<title>T</title>", "no_viewport": "viewport", "no_language": 'lang="en"'}
    for kind, text in lost.items():
        assert text not in made(kind)
    assert made("no_doctype").startswith("<html")
    assert sum("alt" in e.attributes for e in outline(made("no_alt"))) == 5
    ids = [e.attributes["id"] for e in outline(made("same_id")) if "id" in e.attributes]
    assert ids == ["start", "start"]
    assert made("unpaired").count("</") == PAGE.count("</") - 1


def test_pictures_that_are_not_shown_are_left_alone() -> None:
    for seed in range(4):
        changed = [e.attributes["src"] for e in outline(made("picture", seed)) if e.tag == "img"]
        before = [e.attributes["src"] for e in outline(PAGE) if e.tag == "img"]
        assert changed[0] == before[0]
        assert sum(a != b for a, b in zip(changed, before, strict=True)) == 2


def test_a_sentence_to_the_judge_is_drawn_as_text() -> None:
    said = table()["drawn"]["injection"]
    drawn = {made("injection", seed).partition("<body>")[2].partition("</p>")[0] for seed in range(12)}
    assert len(drawn) > 1
    assert all(any(text in one for text in said) for one in drawn)


def test_dead_controls_lose_their_handlers_in_three_ways() -> None:
    pages = {made("controls", seed) for seed in range(12)}
    assert len(pages) == 3
    for page in pages:
        assert page.index("<script>") < page.index("<title>"), "before any script of the page"
        assert tags(page)[: tags(page).index("body")].count("script") == 1


def test_a_renamed_class_is_renamed_everywhere() -> None:
    changed = made("class_renamed", 3)
    (new,) = set(re.findall(r"[\w]+-x\d\d", changed))
    old = new.rpartition("-x")[0]
    assert not re.search(rf"(?<![\w-]){old}(?![\w-])", changed)
    assert re.sub(r"-x\d\d", "", changed) == PAGE


def test_a_renamed_id_is_renamed_in_links_styles_and_scripts() -> None:
    changed = made("id_renamed")
    (new,) = set(re.findall(r"start-x\d\d", changed))
    for place in (f'id="{new}"', f'href="#{new}"', f"#{new} {{", f'querySelector("#{new}")'):
        assert place in changed
    assert "Go to the start<" in changed, "the words of the page stay"


@pytest.mark.parametrize(
    "script",
    [
        'document.getElementById("st" + letter)',
        "start.focus()",
        "const field = form.elements.start",
        'x = `#${"start"}`.replace("start", "end"); go(start)',
    ],
)
def test_an_id_that_could_be_missed_is_not_renamed(script: str) -> None:
    page = Good(case=CASE, document=PAGE.replace("if (1 < 2)", f"{script}; if (1 < 2)"))
    assert KINDS["id_renamed"].of(page, 0) is None


def test_a_class_that_selectors_name_by_a_part_is_not_renamed() -> None:
    style = "<style>[class*=ca] { color: blue } [class^=lead] { top: 0 } [class~=note] { x: y }</style>"
    page = Good(case=CASE, document=PAGE.replace("<title>", style + "<title>"))
    for seed in range(8):
        changed = KINDS["class_renamed"].of(page, seed) or ""
        assert "card-x" not in changed
        assert "lead-x" not in changed
        assert "note-x" not in changed


@pytest.mark.parametrize(
    ("sheet", "free"),
    [
        ("a { color: red } b { margin: 0 }", True),
        ("a { color: red } a { color: blue }", False),
        ("a { font: 12px x } b { line-height: 2 }", False),
        ("a { all: unset } b { margin: 0 }", False),
        ("a { margin: 0 } b { margin-left: 1px }", False),
        ("a { --x: 1 } b { --y: 2 }", True),
        ("a { color: red } @media print { b { margin: 0 } }", False),
    ],
)
def test_only_rules_that_have_nothing_in_common_change_places(sheet: str, free: bool) -> None:
    page = Good(case=CASE, document=f"<title>T</title><style>{sheet}</style><p>x")
    changed = KINDS["rules_reordered"].of(page, 0)
    assert (changed is not None) == free
    if changed is not None:
        assert sorted(changed) == sorted(page.document)


@pytest.mark.parametrize("kind", ["comment_added", "whitespace", "attribute_order", "rules_reordered"])
def test_an_edit_leaves_every_element_with_its_attributes(kind: str) -> None:
    for seed in range(6):
        changed = made(kind, seed)
        assert [(e.tag, dict(e.attributes)) for e in outline(changed)] == [
            (e.tag, dict(e.attributes)) for e in outline(PAGE)
        ]


def test_a_page_with_nothing_on_it_cannot_have_most_of_it() -> None:
    bare = Good(case=CASE, document="<p>Hello")
    assert {name for name, kind in KINDS.items() if kind.of(bare, 0) is not None} == set()


def test_every_control_page_can_have_nearly_everything() -> None:
    for case in select(load_benchmark("opendesign"), limit=5):
        page = Good(case=case, document=document("template", case), other="<p>x")
        cannot = {name for name, kind in KINDS.items() if kind.of(page, 0) is None}
        assert cannot <= {"overlap", "id_renamed"}, case.id


def test_what_a_judge_is_meant_to_see_is_known() -> None:
    for name, judge in table()["judges"].items():
        assert set(judge["sees"]) | set(judge.get("resists", ())) <= set(KINDS), name
    assert role_of(load_card("execution-paper")) == role_of(load_card("execution"))
    assert "injection" in role_of(load_card("static")).resists
    for card in cards()[0]:
        assert role_of(card).sees, card.name


TEXT = st.text(alphabet="<>/=\"' abcp!-\n&;", max_size=80)


@given(TEXT)
def test_any_text_has_an_outline_within_its_bounds(text: str) -> None:
    for element in outline(text):
        assert 0 <= element.start < element.end <= element.inner_end <= element.close <= len(text)
        assert text[element.start] == "<"


@given(TEXT)
def test_any_text_can_be_changed_or_not(text: str) -> None:
    page = Good(case=CASE, document=text, other=text)
    for kind in KINDS.values():
        changed = kind.of(page, 1)
        assert changed is None or changed != text, f"{kind.name} says that it did something"
        assert changed == kind.of(page, 1), f"{kind.name} is drawn by its seed alone"


def test_attributes_are_found_as_written() -> None:
    page = """<a  HREF='x y'  data-q = "style='no'" hidden title=z&amp;>"""
    (link,) = outline(page)
    found = [(a.name, a.value, page[a.start : a.end]) for a in attributes(page, link)]
    assert found == [
        ("href", "x y", "HREF='x y'"),
        ("data-q", "style='no'", "data-q = \"style='no'\""),
        ("hidden", "", "hidden"),
        ("title", "z&", "title=z&amp;"),
    ]
    assert "style=\"top: 0\" HREF='x y'" in re.sub(" +", " ", with_style(page, [link], "top: 0"))


def test_edits_that_overlap_are_a_mistake() -> None:
    assert edited("abcd", [(3, 4, "X"), (0, 1, "")]) == "bcX"
    with pytest.raises(ValueError, match="overlap"):
        edited("abcd", [(0, 2, ""), (1, 3, "")])
