"""A damage counts only where it shows as it was meant, and an edit only where nothing else does."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from opendesign.judging.sensitivity import KINDS, Shown
from opendesign.judging.sensitivity.good import given_pages
from opendesign.rendering.facts import Box, Colour, Facts
from tests.unit.test_computed import block_moved, good, image, text, texts_changed

Damage = Callable[[Facts], Facts]


def shown(facts: Facts, shade: int = 0, *, document: str = "<p>x", moves: bool = False) -> Shown:
    png = io.BytesIO()
    Image.new("RGB", (40, 30), (shade, 9, 9)).save(png, "PNG")
    return Shown(document=document, facts=facts, picture=png.getvalue(), moves=moves)


def _faint(facts: Facts) -> Facts:
    return texts_changed(facts, lambda t: replace(t, colour=Colour(220, 220, 220)), 4)


def _small(facts: Facts) -> Facts:
    return texts_changed(facts, lambda t: replace(t, size=8.0), 4)


def _wide(facts: Facts) -> Facts:
    return texts_changed(facts, lambda t: replace(t, box=t.box._replace(x=1500)), 1)


def _crossed(facts: Facts) -> Facts:
    return texts_changed(facts, lambda t: replace(t, box=Box(60, 120, 200, 20)), 4)


def _broken(facts: Facts) -> Facts:
    return replace(facts, images=(image("https://a/1.png", broken=True), facts.images[1]))


def _said(facts: Facts) -> Facts:
    more = text("A sentence more than was on the page before, for whoever reads it", 40, 20, 0)
    return replace(facts, texts=(*facts.texts, more), text_length=facts.text_length + more.length)


SHOWS: dict[str, Damage] = {
    "contrast": _faint,
    "tiny": _small,
    "sideways": _wide,
    "overlap": _crossed,
    "columns": lambda facts: block_moved(facts, 4, 0, 12),
    "picture": _broken,
    "section": lambda facts: replace(facts, text_length=300),
    "element": lambda facts: replace(facts, images=()),
    "injection": _said,
}


@pytest.mark.parametrize("kind", SHOWS)
def test_a_damage_shows_where_it_was_done(kind: str) -> None:
    before, after = shown(good()), shown(SHOWS[kind](good()), 200)
    assert KINDS[kind].seen(before, after)
    assert not KINDS[kind].seen(before, shown(good(), 200)), "nothing was damaged"
    if kind != "columns":  # what is moved back is moved too
        assert not KINDS[kind].seen(after, before), "the damage was taken away"


@pytest.mark.parametrize("kind", ["element", "picture"])
def test_what_is_not_in_the_picture_does_not_show(kind: str) -> None:
    assert not KINDS[kind].seen(shown(good()), shown(SHOWS[kind](good())))


def test_room_to_scroll_into_with_nothing_in_it_is_no_damage_that_shows() -> None:
    assert not KINDS["sideways"].seen(shown(good()), shown(replace(good(), overflow=700), 200))


@pytest.mark.parametrize("change", [_faint, _small, _wide, lambda facts: replace(facts, height=961)])
def test_an_edit_that_changes_what_is_seen_is_not_harmless(change: Damage) -> None:
    edit = KINDS["whitespace"]
    assert edit.seen(shown(good()), shown(good()))
    assert not edit.seen(shown(good()), shown(good(), 200)), "a page that stands still is another"
    assert edit.seen(shown(good(), moves=True), shown(good(), 200)), "a page that moves is never the same"
    assert not edit.seen(shown(good(), moves=True), shown(change(good()), 200))


def test_dead_controls_are_those_of_a_page_that_looks_the_same() -> None:
    dead, before = KINDS["controls"], shown(good())
    assert dead.seen(before, shown(good(), document="<p>y"))
    assert not dead.seen(before, shown(good()))
    assert not dead.seen(before, shown(good(), 200, document="<p>y"))
    assert dead.seen(replace(before, moves=True), shown(good(), 200, document="<p>y"))


def test_pages_of_a_folder_have_names_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a b.html", "a-b.html", "a/b.htm", "game-001.html"):
        (tmp_path / name).write_text(f"<title>{name}</title>", encoding="utf-8")
    ids = {page.case.id for page in given_pages(tmp_path, 4, 0)}
    assert len(ids) == 4
    assert "game-001" not in ids, "the name of a case of the benchmark"
