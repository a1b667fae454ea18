"""Measures of the look: content, colour, styling."""

from __future__ import annotations

import colorsys
import math
import re
from collections import Counter
from collections.abc import Sequence

from opendesign.judging.computed.reading import Reading, Settings, decay, mean, saturating, seen
from opendesign.rendering.facts import Colour, Facts, TextBox

_UA_LINK = (0, 0, 238)  # what a browser gives a link that nobody styled
_UA_SERIF = ("times new roman", "times", "serif")
_UA_BUTTON = (239, 239, 239)
_NO_BOX = ("html", "body", "button", "input", "select", "textarea", "hr", "iframe")
_FIXED = re.compile("mono|courier|consol|code|menlo", re.IGNORECASE)
_SHARPEN = 4
_CELL = 40 * 40  # pixels
_DEFAULTS = {
    "typeface": "the browser's own serif",
    "links": "the browser's blue links",
    "buttons": "the browser's grey buttons",
    "boxes": "no boxes",
    "layout": "one column",
    "ground": "a plain white ground",
}


def content(facts: Facts, settings: Settings) -> Reading | None:
    """How much there is to see and read: characters, controls and pictures, and squares that are drawn in.

    Grows by ever less, so that more of the same is worth little and a part left out is still missed.
    """
    words, cells = _letters(facts), _cells(facts)
    score = 100 * (
        0.6 * _amount(words, settings["letters"], settings["letters_full"])
        + 0.4 * _amount(cells, settings["cells"], settings["cells_full"])
    )
    reasons = ("There is hardly anything on the page.",) if score < settings["hardly"] else ()
    return Reading(score, reasons, {"cells": cells, "letters": round(words)})


def substance(facts: Facts, settings: Settings) -> float:
    """0–1: how much there is to judge. Every measure is multiplied by it, so that an empty page, on which
    nothing can be wrong, has nothing right either."""
    return 1 - math.exp(-(_letters(facts) + settings["per_cell"] * _cells(facts)) / settings["letters"])


def _amount(value: float, few: float, full: float) -> float:
    """Mostly saturating early, with a slow logarithm that goes on to ``full``."""
    slow = min(1.0, math.log1p(value / few) / math.log1p(full / few))
    return 0.4 * saturating(value, few) + 0.6 * slow


def _letters(facts: Facts) -> float:
    """Characters that can be read, and what controls and pictures stand for, in characters."""
    letters = sum(t.length for t in seen(facts)) + 25 * sum(i.visible for i in facts.interactive)
    areas = [c.box.area for c in facts.canvases if not c.blank]
    areas += [i.box.area for i in facts.images if not i.broken] + [s.box.area for s in facts.svgs if s.shapes]
    return letters + 2 * min(sum(areas) / _CELL, _cells(facts))


def _cells(facts: Facts) -> int:
    """Squares that something is drawn in; without a picture, as many as the texts would fill."""
    if facts.picture is not None:
        return facts.picture.cells
    return int(sum(t.box.area for t in seen(facts)) / _CELL)


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
    some = min(1.0, 0.7 + 0.3 * fullness / settings["colourful"])
    garish = decay(fullness, settings["garish"], 40.0)
    score = 100 * few * some * garish
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
    no boxes, grey buttons, a white ground. Shares are sharpened, so that a page counts as styled where nearly
    all of it is, and a local change of colour or type is no styling."""
    texts = seen(facts)
    if not texts and not facts.blocks:
        return None
    parts: dict[str, tuple[float, float]] = {}
    if texts:
        parts["typeface"] = (_typeface(texts), 2.0)
    links = [t for t in texts if t.link]
    if links:
        own = mean((float(tuple(t.colour[:3]) != _UA_LINK), t.length) for t in links)
        parts["links"] = (own**_SHARPEN, 1.5)
    buttons = [b.background for b in facts.blocks if b.tag == "button" and b.background is not None]
    if buttons:
        own = sum(tuple(ground[:3]) != _UA_BUTTON for ground in buttons) / len(buttons)
        parts["buttons"] = (own**_SHARPEN, 1.0)
    boxes = sum(b.painted and b.tag not in _NO_BOX for b in facts.blocks)
    parts["boxes"] = (saturating(boxes, settings["boxes_half"]), 2.0)
    parts["layout"] = (saturating(_beside(facts), settings["beside_half"]), 2.0)
    parts["ground"] = (_ground(facts), 1.5)
    bare = [_DEFAULTS[name] for name, (value, _) in parts.items() if value < 0.15]
    reasons = (f"The page looks unstyled: {', '.join(bare)}.",) if len(bare) > 2 else ()
    evidence = {name: round(value, 4) for name, (value, _) in parts.items()}
    return Reading(100 * mean(parts.values()), reasons, evidence)


def _typeface(texts: Sequence[TextBox]) -> float:
    """Square of the share of the two families most used, the browser's serif apart (the second one counts
    half), less for every family beyond two: a jumble is no choice of type. Fixed-width ones are free."""
    letters: Counter[str] = Counter()
    for text in texts:
        letters[text.family] += text.length
    chosen = [n for family, n in letters.most_common() if family.lower() not in _UA_SERIF]
    if not chosen:
        return 0.0
    families = sum(min(1.0, n / 24) for family, n in letters.items() if not _FIXED.search(family))
    share = (chosen[0] + sum(chosen[1:2]) / 2) / sum(letters.values())
    return share**2 * decay(families, 2.0, 1.5)


def _beside(facts: Facts) -> int:
    """Blocks laid out by flex or grid, or floated beside one another."""
    return sum(
        1
        for b in facts.blocks
        if b.parent >= 0 and facts.blocks[b.parent].display in ("flex", "grid", "inline-flex", "inline-grid")
    )


def _ground(facts: Facts) -> float:
    """Near 1 where the page, or a good part of it, stands on a ground that is not white."""
    page = max(1.0, facts.width * facts.height)
    area = 0.0
    for block in facts.blocks:
        if block.background is not None and min(block.background[:3]) < 254:
            area += block.box.area * block.background.alpha
        elif block.background is None and block.painted and block.tag not in ("input", "textarea"):
            area += 0.5 * block.box.area  # a gradient, a picture or a border
    return saturating(area / page, 0.1)
