"""Damage as it happens to real pages: text too faint, text over text, dead controls, pictures that are gone.

Each function takes a document and a seed and gives the damaged document, or None where the page has nothing
that this can happen to. Pure: equal arguments give equal documents. The rest of the page stays as it is, and
what is damaged is a part of it: one or two sections, a few pictures.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.wild.outline import Element, outline, with_attribute, with_style

Change = Callable[[str, int], str | None]


@dataclass(frozen=True, slots=True)
class Damage:
    """``judge`` names the card that should see it."""

    judge: str
    change: Change


_TEXTS = frozenset(
    (
        *("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td"),
        *("small", "label", "blockquote", "dd", "figcaption", "div"),
    )
)
_PLAIN = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote"))  # text without room around it
_DARK = re.compile(
    r"dark|text-white|text-light|masthead|bg-(?:primary|success|danger|info|gradient|secondary|warning)|"
    r"page-header|hero|sidenav|sidebar|btn|badge|jumbotron|carousel|background"
)
_WORDS = 24  # characters from which a text is body text
_CONTROLS = "a, button, input, select, textarea, label, summary, [role=button], [role=tab], [onclick], .btn"


def low_contrast(document: str, seed: int = 0) -> str | None:
    """The body text of a part of the page is fainter than anybody can read at ease: greyed or see-through."""
    texts = _texts(document)
    light = [t for t in texts if not any(_DARK.search(e.attributes.get("class", "")) for e in t.ancestors)]
    grey = seed % 2 == 0 and sum(t.own for t in light) > 0.4 * sum(t.own for t in texts)
    chosen = _run(light if grey else texts, 0.4, random.Random(f"contrast {seed}"))
    if not chosen:
        return None
    return with_style(document, chosen, "color: #adadad !important" if grey else "opacity: .4")


def overlapping_text(document: str, seed: int = 0) -> str | None:
    """In a few places a text is drawn over its neighbour: a height too small for it, or a shift upwards."""
    rng = random.Random(f"overlap {seed}")
    texts = [t for t in _texts(document, 8) if t.tag != "td"]
    tall = [t for t in texts if t.own >= 160 and t.next and t.next.own > 8 and t.next.shown]
    under = [t for t in texts if t.tag in _PLAIN and _meets(t.before)]
    for places, style in (
        (
            tall if len(tall) >= 3 and (seed % 2 == 0 or len(under) < 2) else (),
            "height: 1.2em; margin-bottom: 0",
        ),
        (under, "position: relative; top: -1.9em; margin-bottom: -1.9em"),
    ):
        if len(places) >= 2:
            count = max(2, min(6, round(0.2 * len(texts))))
            start = rng.randrange(max(1, len(places) - count + 1))
            return with_style(document, places[start : start + count], style)
    return None


def _meets(neighbour: Element | None) -> bool:
    return neighbour is not None and neighbour.tag in _PLAIN and neighbour.own > 8 and neighbour.shown


def dead_controls(document: str, seed: int = 0) -> str | None:
    """The page looks as it did, and nothing on it answers: handlers are not attached, the controls take no
    pointer, or an invisible backdrop was left over the page."""
    head = re.search(r"<head\b[^>]*>", document, re.IGNORECASE)
    if head is None:
        return None
    kind = seed % 3
    if kind == 0:
        changes = [
            (element, name, "#" if name == "href" else "")
            for element in outline(document)
            for name in element.attributes
            if (name.startswith("on") and name not in ("onload", "onerror"))
            or (name == "href" and element.tag == "a" and element.attributes[name].startswith("#"))
        ]
        document = with_attribute(document, changes)
        return document[: head.end()] + f"<script>{_UNHEARD}</script>" + document[head.end() :]
    if kind == 1:
        style = f"<style>{_CONTROLS} {{ pointer-events: none !important }}</style>"
    else:
        style = '<style>body::after { content: ""; position: fixed; inset: 0; z-index: 2147483647 }</style>'
    return document[: head.end()] + style + document[head.end() :]


def broken_pictures(document: str, seed: int = 0) -> str | None:
    """Some pictures are files that are not there, or that end half-way."""
    pictures = [
        e
        for e in outline(document)
        if e.tag == "img" and e.attributes.get("src", "").startswith("data:") and e.shown
    ]
    if not pictures:
        return None
    rng = random.Random(f"pictures {seed}")
    chosen = sorted(rng.sample(range(len(pictures)), max(1, round(0.4 * len(pictures)))))
    return with_attribute(
        document,
        [
            (
                pictures[i],
                "src",
                f"images/photo-{i + 1}.jpg" if seed % 2 == 0 else pictures[i].attributes["src"][:60],
            )
            for i in chosen
        ],
    )


DAMAGES: Mapping[str, Damage] = {
    "contrast": Damage("computed", low_contrast),
    "overlap": Damage("computed", overlapping_text),
    "pictures": Damage("computed", broken_pictures),
    "controls": Damage("probe", dead_controls),
}

_UNHEARD = (
    "(() => { const listen = EventTarget.prototype.addEventListener, "
    "dead = /^(click|dblclick|mouse|pointer|touch|key|input|change|submit|focus|blur|drag|drop|wheel)/; "
    "EventTarget.prototype.addEventListener = function (type, ...rest) { "
    "if (!dead.test(type)) listen.call(this, type, ...rest); }; })()"
)


def _texts(document: str, least: int = _WORDS) -> list[Element]:
    """Body text that is shown, in document order."""
    return [e for e in outline(document) if e.tag in _TEXTS and e.own >= least and e.shown]


def _run(texts: Sequence[Element], share: float, rng: random.Random) -> list[Element]:
    """Neighbours that hold about that share of all the text."""
    wanted = share * sum(text.own for text in texts)
    if len(texts) < 3:
        return []
    start = rng.randrange(len(texts))
    chosen: list[Element] = []
    for i in range(len(texts)):
        if sum(text.own for text in chosen) >= wanted:
            break
        chosen.append(texts[(start + i) % len(texts)])
    return chosen
