"""Damage to how a page looks: text too faint, too small, in many types, over text; things out of line.

What is damaged is a part of the page: about half of its text, a few places, one section. The rest stays.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from opendesign.judging.sensitivity.outline import Element, outline, with_style
from opendesign.judging.sensitivity.page import Good

_TEXTS = frozenset(
    (
        *("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th", "dt", "button", "a", "span", "strong"),
        *("small", "label", "blockquote", "dd", "figcaption", "div"),
    )
)
_PLAIN = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote"))  # text without room around it
_ROOMY = _PLAIN | {"div", "li", "dt", "dd", "figcaption", "label", "small"}  # text that may have some
_DARK = re.compile(
    r"dark|text-white|text-light|masthead|bg-(?:primary|success|danger|info|gradient|secondary|warning)|"
    r"page-header|hero|sidenav|sidebar|btn|badge|jumbotron|carousel|background"
)
_FAMILIES = ("serif", "monospace", "cursive", "sans-serif", "fantasy")
_BODY = 16  # characters from which a text is body text


def contrast(page: Good, rng: random.Random) -> str | None:
    """About half of the text is greyed, where the ground is light, or see-through."""
    texts = _texts(page.document)
    light = [t for t in texts if not any(_DARK.search(e.attributes.get("class", "")) for e in t.ancestors)]
    grey = rng.random() < 0.5 and _letters(light) > 0.5 * _letters(texts)
    chosen = _run(light if grey else texts, 0.5, rng)
    style = "color: #adadad !important" if grey else "opacity: .35 !important"
    return with_style(page.document, chosen, style) if chosen else None


def tiny(page: Good, rng: random.Random) -> str | None:
    """About half of the text is set in 8 pixels."""
    chosen = _run(_texts(page.document), 0.5, rng)
    return with_style(page.document, chosen, "font-size: 8px !important") if chosen else None


def fonts(page: Good, rng: random.Random) -> str | None:
    """About half of the text is set in one family after the other."""
    chosen = _run(_texts(page.document), 0.5, rng)
    first = rng.randrange(len(_FAMILIES))
    if not chosen:
        return None
    return with_style(
        page.document,
        chosen,
        lambda at: f"font-family: {_FAMILIES[(first + at) % len(_FAMILIES)]} !important",
    )


def overlap(page: Good, rng: random.Random) -> str | None:
    """In a few places a text lies over its neighbour: a height too small for it, or a shift upwards."""
    texts = [t for t in _texts(page.document, 8) if t.tag not in ("td", "th", "a", "span", "button")]
    tall = [t for t in texts if t.own >= 160 and t.next and t.next.own > 8 and t.next.shown]
    under = [t for t in texts if t.tag in _PLAIN and _meets(t.before, _PLAIN)]
    if len(under) < 2:
        under = [t for t in texts if t.tag in _ROOMY and _meets(t.before, _ROOMY)]
    squeezed = len(tall) >= 3 and (rng.random() < 0.5 or len(under) < 2)
    places = tall if squeezed else under
    style = (
        "height: 1.2em !important; margin-bottom: 0 !important"
        if squeezed
        else "position: relative; top: -2.2em; margin-bottom: -2.2em"
    )
    if len(places) < 2:
        return None
    count = max(2, min(6, round(0.2 * len(texts))))
    start = rng.randrange(max(1, len(places) - count + 1))
    return with_style(page.document, places[start : start + count], style)


def columns(page: Good, rng: random.Random) -> str | None:
    """In the three largest groups of like things, every second one stands 10 to 24 pixels out of line."""
    groups: dict[tuple[int, str, str], list[Element]] = {}
    for element in outline(page.document):
        if element.parent and element.shown and element.text > 12 and element.tag not in ("tr", "td", "th"):
            kind = (element.parent.start, element.tag, " ".join(element.classes[:1]))
            groups.setdefault(kind, []).append(element)
    alike = [family for family in groups.values() if len(family) > 1]
    if not alike:
        return None
    alike.sort(key=lambda family: -sum(e.text for e in family))
    across, down = (rng.choice((-1, 1)) * rng.randrange(10, 25) for _ in range(2))
    moved = {e.start: e for family in alike[:3] for e in family[1::2]}
    style = f"position: relative !important; left: {across}px !important; top: {down}px !important"
    return with_style(page.document, moved.values(), style)


def sideways(page: Good, rng: random.Random) -> str | None:
    """A part of the page with much text is set 400 to 900 pixels wider than the window."""
    elements = outline(page.document)
    whole = sum(e.own for e in elements if e.shown and not e.inside("svg"))
    parts = [
        e
        for e in elements
        if e.tag in ("section", "main", "article", "div", "form", "table", "header", "ul")
        and e.shown
        and not e.inside("svg", "nav")
        and 0.12 * whole <= e.text <= 0.9 * whole
    ]
    if not parts:
        return None
    wide = 1280 + rng.randrange(400, 901)
    style = f"width: {wide}px !important; min-width: {wide}px !important; max-width: none !important"
    return with_style(page.document, [rng.choice(parts)], style)


def _texts(document: str, least: int = _BODY) -> list[Element]:
    """Texts that are shown, in document order."""
    return [
        e
        for e in outline(document)
        if e.tag in _TEXTS and e.own >= least and e.shown and not e.inside("svg", "pre", "code")
    ]


def _letters(texts: Sequence[Element]) -> int:
    return sum(text.own for text in texts)


def _run(texts: Sequence[Element], share: float, rng: random.Random) -> list[Element]:
    """Neighbours that hold about that share of all the text; none where there are too few to leave some."""
    if len(texts) < 4:
        return []
    wanted, start = share * _letters(texts), rng.randrange(len(texts))
    chosen: list[Element] = []
    for at in range(len(texts)):
        if _letters(chosen) >= wanted:
            break
        chosen.append(texts[(start + at) % len(texts)])
    return chosen


def _meets(neighbour: Element | None, tags: frozenset[str]) -> bool:
    return neighbour is not None and neighbour.tag in tags and neighbour.own > 8 and neighbour.shown
