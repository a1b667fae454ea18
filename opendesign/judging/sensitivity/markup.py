"""Damage to the markup that no picture shows: what a sound document has and this one lacks."""

from __future__ import annotations

import random
import re

from opendesign.judging.sensitivity.outline import (
    Attribute,
    Element,
    attribute_edit,
    attributes,
    edited,
    outline,
)
from opendesign.judging.sensitivity.page import Change, Good


def unpaired(page: Good, rng: random.Random) -> str | None:
    """The end tag of one element is missing; not of one that HTML lets authors leave open."""
    tags = ("div", "section", "span", "ul", "article", "main", "form")
    paired = [e for e in outline(page.document) if e.closed and e.tag in tags and e.shown]
    if not paired:
        return None
    one = rng.choice(paired)
    return edited(page.document, [(one.inner_end, one.close, "")])


def same_id(page: Good, rng: random.Random) -> str | None:
    """A heading or paragraph has the id of another element."""
    elements = outline(page.document)
    ids = sorted({e.attributes["id"] for e in elements if e.attributes.get("id") and e.shown})
    bare = [e for e in elements if e.tag in ("h2", "h3", "p", "li") and "id" not in e.attributes and e.shown]
    if not ids or not bare:
        return None
    return edited(
        page.document,
        [attribute_edit(page.document, bare[-1 - rng.randrange(len(bare))], "id", rng.choice(ids))],
    )


def no_doctype(page: Good, rng: random.Random) -> str | None:
    """The doctype is gone."""
    found = re.match(r"\s*<!doctype[^>]*>\s*", page.document, re.IGNORECASE)
    return page.document[found.end() :] if found else None


def no_title(page: Good, rng: random.Random) -> str | None:
    """The title is gone."""
    gone = [e for e in outline(page.document) if e.tag == "title" and e.inside("head") and e.closed]
    return edited(page.document, [(e.start, e.close, "") for e in gone]) if gone else None


def no_viewport(page: Good, rng: random.Random) -> str | None:
    """The viewport's meta tag is gone."""
    gone = [
        e
        for e in outline(page.document)
        if e.tag == "meta" and e.attributes.get("name", "").lower() == "viewport"
    ]
    return edited(page.document, [(e.start, e.end, "") for e in gone]) if gone else None


def _without(tag: str, name: str) -> Change:
    """An attribute is taken from one element that has it."""

    def change(page: Good, rng: random.Random) -> str | None:
        having: list[tuple[Element, Attribute]] = [
            (element, attribute)
            for element in outline(page.document)
            if element.tag == tag
            for attribute in attributes(page.document, element)
            if attribute.name == name
        ]
        if not having:
            return None
        _, attribute = rng.choice(having)
        return edited(page.document, [(attribute.start, attribute.end, "")])

    return change


no_alt = _without("img", "alt")
no_language = _without("html", "lang")
