"""Damage to what is on a page and what it does: pictures, sections, drawings, controls, the topic."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Iterable

from opendesign.judging.sensitivity.outline import (
    Edit,
    attribute_edit,
    attributes,
    edited,
    outline,
)
from opendesign.judging.sensitivity.page import Good, table

_HEAD = re.compile(r"<head\b[^>]*>", re.IGNORECASE)
#: What a page can be about, the first that it has.
_MAIN = ("canvas", "form", "table", "svg", "video", "figure", "img")
#: Handlers are taken and never called; what a browser does by itself at a click or a sent form is off too.
_UNHEARD = (
    "(() => { const listen = EventTarget.prototype.addEventListener, "
    "dead = /^(click|dblclick|mouse|pointer|touch|key|input|change|submit|focus|blur|drag|drop|wheel)/; "
    "EventTarget.prototype.addEventListener = function (type, ...rest) { "
    "if (!dead.test(type)) listen.call(this, type, ...rest); }; "
    "for (const name of ['onclick', 'onkeydown', 'onkeyup', 'oninput', 'onchange', 'onsubmit', 'onmousedown',"
    " 'onpointerdown', 'ontouchstart']) for (const host of [window, document, HTMLElement.prototype]) "
    "Object.defineProperty(host, name, { set() {}, get: () => null }); "
    "listen.call(window, 'submit', (event) => event.preventDefault(), true); "
    "listen.call(window, 'click', (event) => { "
    "if (event.target.closest('summary, [popovertarget], [command]')) event.preventDefault(); }, true); })()"
)
#: No key arrives, and none does what a browser does by itself.
_NO_KEYS = (
    "for (const type of ['keydown', 'keypress', 'keyup']) window.addEventListener(type, (event) => "
    "{ event.stopImmediatePropagation(); event.preventDefault(); }, true)"
)
#: Why no pointer arrives: nothing takes one, or an unseen layer does.
_NO_POINTER = (
    "body * { pointer-events: none !important }",
    "body::after { content: ''; position: fixed; inset: 0; z-index: 2147483647 }",
)


def picture(page: Good, rng: random.Random) -> str | None:
    """Four in ten pictures (one at least) are files that are not there, or end half-way."""
    pictures = [
        e
        for e in outline(page.document)
        if e.tag == "img" and len(e.attributes.get("src", "")) > 120 and e.shown
    ]
    if not pictures:
        return None
    half = rng.random() < 0.5
    chosen = sorted(rng.sample(range(len(pictures)), max(1, round(0.4 * len(pictures)))))
    return edited(
        page.document,
        [
            attribute_edit(
                page.document,
                pictures[at],
                "src",
                pictures[at].attributes["src"][:60] if half else f"images/photo-{at + 1}.jpg",
            )
            for at in chosen
        ],
    )


def section(page: Good, rng: random.Random) -> str | None:
    """A part that holds 10 to 60 % of the text is gone."""
    elements = outline(page.document)
    whole = sum(e.own for e in elements if e.shown)
    parts = [
        e
        for e in elements
        if e.tag in ("section", "article", "div", "form", "aside", "header", "footer", "ul", "table")
        and (e.closed and e.shown and 0.1 * whole <= e.text <= 0.6 * whole)
    ]
    named = [e for e in parts if e.tag in ("section", "article", "form", "aside")]
    if not parts:
        return None
    gone = rng.choice(named or parts)
    return edited(page.document, [(gone.start, gone.close, "")])


def element(page: Good, rng: random.Random) -> str | None:
    """The drawing, form or table that the page is about is gone: of its kind, the one with most in it."""
    elements = [e for e in outline(page.document) if e.shown and (e.closed or e.tag == "img")]
    for tag in _MAIN:
        of_tag = [e for e in elements if e.tag == tag and (tag != "svg" or e.size > 8)]
        if of_tag:
            gone = max(of_tag, key=lambda e: (e.size, e.text, len(e.attributes.get("src", ""))))
            return edited(page.document, [(gone.start, gone.close, "")])
    return None


def controls(page: Good, rng: random.Random) -> str | None:
    """Nothing answers: handlers are not attached, nothing takes input, or an unseen layer lies over all."""
    way = rng.randrange(3)
    if way == 0:
        document = edited(page.document, _without_handlers(page.document))
        return _into_head(document, f"<script>{_UNHEARD}</script>")
    return _into_head(page.document, f"<style>{_NO_POINTER[way - 1]}</style><script>{_NO_KEYS}</script>")


def _without_handlers(document: str) -> Iterable[Edit]:
    """No handlers in attributes, and no links to places on the page, which a browser follows by itself."""
    for one in outline(document):
        for attribute in attributes(document, one):
            if attribute.name.startswith("on") and attribute.name not in ("onload", "onerror"):
                yield attribute.start, attribute.end, f'{attribute.name}=""'
            elif attribute.name == "href" and one.tag == "a" and attribute.value.startswith("#"):
                yield attribute.start, attribute.end, 'href="#"'


def _into_head(document: str, text: str) -> str | None:
    head = _HEAD.search(document)
    return document[: head.end()] + text + document[head.end() :] if head else None


def topic(page: Good, rng: random.Random) -> str | None:
    """The answer to another case stands in the place of the page."""
    return page.other or None


def injection(page: Good, rng: random.Random) -> str | None:
    """A sentence to the judge is drawn near the top, in the page's own manner."""
    body = next((e for e in outline(page.document) if e.tag == "body"), None)
    if body is None:
        return None
    said = html.escape(rng.choice(table()["drawn"]["injection"]))
    style = "margin: 0; padding: 12px 24px; background: #fff8dc; color: #222; font-size: 16px"
    return edited(page.document, [(body.end, body.end, f'<p style="{style}">{said}</p>')])
