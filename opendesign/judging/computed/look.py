"""Measures of the look: content, colour, styling."""

from __future__ import annotations

import colorsys
import math
from collections import Counter

from opendesign.judging.computed.reading import Reading, Settings, decay, mean, quote, saturating, seen
from opendesign.rendering.facts import Colour, Facts

_UA_LINK = (0, 0, 238)  # what a browser gives a link that nobody styled
_UA_SERIF = ("times new roman", "times", "serif")
_UA_BUTTON = (239, 239, 239)


def content(facts: Facts, settings: Settings) -> Reading | None:
    """How much there is to see and read: squares of the picture that are drawn in, characters and controls.

    Grows by ever less, so that more of the same is worth little and a part left out is still missed.
    """
    cells = facts.picture.cells if facts.picture else _cells_without_picture(facts)
    words = sum(t.length for t in seen(facts)) + 25 * len([i for i in facts.interactive if i.visible])
    score = 100 * (
        0.6 * _amount(cells, settings["cells"], settings["cells_full"])
        + 0.4 * _amount(words, settings["letters"], settings["letters_full"])
    )
    reasons = ("There is hardly anything on the page.",) if cells < settings["cells"] / 2 else ()
    return Reading(score, reasons, {"cells": cells, "letters": words})


def _amount(value: float, few: float, full: float) -> float:
    """Mostly saturating early, with a slow logarithm that goes on to ``full``."""
    slow = min(1.0, math.log1p(value / few) / math.log1p(full / few))
    return 0.5 * saturating(value, few) + 0.5 * slow


def _cells_without_picture(facts: Facts) -> int:
    areas = [t.box.area for t in seen(facts)] + [c.box.area for c in facts.canvases if not c.blank]
    areas += [i.box.area for i in facts.images if not i.broken]
    return int(sum(areas) / 1600)


def substance(facts: Facts, settings: Settings) -> float:
    """0–1: how much there is to judge. Every measure is multiplied by it, so that an empty page, on which
    nothing can be wrong, has nothing right either."""
    cells = facts.picture.cells if facts.picture else _cells_without_picture(facts)
    return 1 - math.exp(-cells / settings["cells"])


def colour(facts: Facts, settings: Settings) -> Reading | None:
    """A palette of few hues that is not none: distinct hues by area, colourfulness of the picture.

    Colourfulness: Hasler and Süsstrunk 2003. What people like is somewhere between grey and garish (Reinecke
    et al., "Predicting users' first impressions of website aesthetics", 2013): a weak guide.
    """
    if facts.picture is None:
        return None
    hues = _hues(facts)
    few = decay(len(hues), settings["hues"], 4.0)
    fullness = facts.picture.colourfulness
    some = 0.5 + 0.5 * saturating(fullness, settings["colourful_half"]) * 1.25
    garish = decay(fullness, settings["garish"], 40.0)
    score = 100 * few * min(1.0, some) * garish
    reasons = []
    if few < 0.8:
        reasons.append(f"{len(hues)} different hues compete.")
    if not hues and fullness < 2:
        reasons.append("The page has no colour at all.")
    return Reading(score, tuple(reasons), {"hues": len(hues), "colourfulness": fullness})


def _hues(facts: Facts) -> set[int]:
    """Twelfths of the colour circle that are in use in texts, boxes or the picture."""
    weights: Counter[int] = Counter()
    total = 0.0
    for text in seen(facts):
        total += text.box.area / 6
        _add(weights, text.colour, text.box.area / 6)
    for block in facts.blocks:
        if block.background is not None and block.background.alpha > 0.3:
            area = min(block.box.area, 1e6)
            total += area
            _add(weights, block.background, area)
    return {hue for hue, area in weights.items() if area > max(200.0, 0.0005 * total)}


def _add(weights: Counter[int], paint: Colour, area: float) -> None:
    hue, light, saturation = colorsys.rgb_to_hls(paint.red / 255, paint.green / 255, paint.blue / 255)
    if saturation > 0.25 and 0.08 < light < 0.95:
        weights[round(hue * 12) % 12] += area  # type: ignore[assignment]


def styling(facts: Facts, settings: Settings) -> Reading | None:
    """How far the page is from what a browser shows without any style: its serif, blue links, one column,
    no boxes, grey buttons, no margins of its own."""
    texts = seen(facts)
    if not texts and not facts.blocks:
        return None
    parts: dict[str, tuple[float, float]] = {}
    if texts:
        parts["typeface"] = (
            mean((float(t.family.lower() not in _UA_SERIF), t.length) for t in texts),
            2.0,
        )
    links = [t for t in texts if t.link]
    if links:
        own = mean((float(tuple(t.colour[:3]) != _UA_LINK), t.length) for t in links)
        parts["links"] = (own, 1.5)
    buttons = [b for b in facts.blocks if b.tag == "button" and b.background is not None]
    if buttons:
        plain = mean((float(tuple(b.background[:3]) == _UA_BUTTON), 1.0) for b in buttons if b.background)
        parts["buttons"] = (1 - plain, 1.0)
    boxes = [
        b for b in facts.blocks if b.painted and b.tag not in ("html", "body", "button", "input", "select")
    ]
    parts["boxes"] = (saturating(len(boxes), settings["boxes_half"]), 2.0)
    parts["layout"] = (saturating(_beside(facts), settings["beside_half"]), 2.0)
    parts["rules"] = (saturating(facts.styles, settings["rules_half"]), 1.0)
    parts["ground"] = (_ground(facts), 1.0)
    score = 100 * mean(parts.values())
    names = {
        "typeface": "the browser's own serif",
        "links": "the browser's blue links",
        "buttons": "grey default buttons",
        "boxes": "no boxes",
        "layout": "one column",
        "ground": "a plain white ground",
    }
    bare = [names[k] for k, (value, _) in parts.items() if value < 0.15 and k in names]
    reasons = (f"The page looks unstyled: {', '.join(bare)}.",) if len(bare) > 2 else ()
    return Reading(score, reasons, {name: round(value, 4) for name, (value, _) in parts.items()})


def _beside(facts: Facts) -> int:
    """Blocks laid out by flex or grid, or floated beside one another."""
    return sum(
        1
        for b in facts.blocks
        if b.parent >= 0 and facts.blocks[b.parent].display in ("flex", "grid", "inline-flex", "inline-grid")
    )


def _ground(facts: Facts) -> float:
    """1 where the page's ground, or a good part of it, is not white."""
    if facts.picture is None:
        return 0.0
    white = sum(share for paint, share in facts.picture.dominant if min(paint[:3]) >= 254)
    return 1 - max(0.0, min(1.0, white)) ** 2


__all__ = ["colour", "content", "quote", "styling", "substance"]
