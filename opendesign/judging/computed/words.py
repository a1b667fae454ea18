"""Measures of the text: contrast, overlap, clipping, type."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from opendesign.judging.computed.reading import (
    Reading,
    Settings,
    crossing,
    decay,
    mean,
    per_fault,
    quote,
    seen,
)
from opendesign.rendering.facts import Block, Colour, Facts, TextBox

_K = TypeVar("_K")


@lru_cache(maxsize=4096)
def luminance(colour: Colour) -> float:
    """Relative luminance of sRGB, 0–1 (WCAG 2.2, definition "relative luminance")."""

    def linear(channel: float) -> float:
        c = min(255.0, max(0.0, channel)) / 255
        return c / 12.92 if c <= 0.04045 else math.pow((c + 0.055) / 1.055, 2.4)

    return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue)


def contrast_ratio(ink: Colour, background: Colour) -> float:
    """Contrast ratio 1–21 (WCAG 2.2, definition "contrast ratio"); a translucent ink is composed first."""
    a = ink.alpha
    flat = Colour(*(top * a + under * (1 - a) for top, under in zip(ink[:3], background[:3], strict=True)))
    light, dark = sorted((luminance(flat), luminance(background)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def contrast(facts: Facts, settings: Settings) -> Reading | None:
    """Share of the text, by area, whose contrast reaches WCAG 2.2 level AA (1.4.3), with part credit below
    and a little above (1.4.6, level AAA); the worst part of the page weighs extra."""
    read: list[tuple[float, float]] = []
    low: list[tuple[float, float, str]] = []
    for text in seen(facts):
        if text.background is None:
            continue
        large = text.size >= settings["large_px"] or (
            text.size >= settings["large_bold_px"] and text.weight >= 700
        )
        required = settings["large"] if large else settings["normal"]
        enhanced = settings["normal"] if large else settings["enhanced"]
        ratio = contrast_ratio(text.colour, text.background)
        if ratio >= required:
            beyond = max(enhanced - required, 1e-9)  # a card may ask for no more than is required
            credit = 0.92 + 0.08 * min(1.0, (ratio - required) / beyond)
        else:
            credit = 0.92 * ((ratio - 1) / (required - 1)) ** 1.5
            low.append((ratio - required, ratio, text.text))
        read.append((credit, text.length * text.size))
    if not read:
        return None
    score = 100 * (0.8 * mean(read) + 0.2 * _worst(read, settings["worst_share"]))
    low.sort()
    reasons = tuple(
        f"{quote(text)} has a contrast of {ratio:.1f}:1, under the {ratio - below:.1f}:1 that WCAG asks for."
        for below, ratio, text in low[:2]
    )
    return Reading(score, reasons, {"texts": len(read), "below": len(low)})


def _worst(values: Sequence[tuple[float, float]], share: float) -> float:
    """Mean of the lowest ``share`` of the weight."""
    left = share * sum(weight for _, weight in values)
    taken: list[tuple[float, float]] = []
    for value, weight in sorted(values):
        part = min(weight, left)
        taken.append((value, part))
        left -= part
        if left <= 0:
            break
    return mean(taken)


def overlap(facts: Facts, settings: Settings) -> Reading | None:
    """Texts drawn over texts or covered by something opaque, blocks of one parent over one another."""
    texts = facts.texts
    shown = [t for t in texts if t.hidden is None]
    if not shown:
        return None
    crossed = [o for o in facts.overlaps if texts[o.first].hidden is None and texts[o.second].hidden is None]
    covered = [t for t in shown if t.covered and not t.under_fixed]  # a dialog lies over the page on purpose
    blocks = _crossed_blocks(facts.blocks, settings["block_pixels"])
    faults = (
        sum(o.share for o in crossed)
        + settings["covered"] * len(covered)
        + settings["blocks"] * sum(share for share, _, _ in blocks)
    )
    reasons = [
        f"{quote(texts[o.first].text, 30)} and {quote(texts[o.second].text, 30)} are drawn over one another."
        for o in crossed[:2]
    ]
    reasons += [f"{quote(t.text)} is covered by another element." for t in covered[:1]]
    reasons += [f"{one.label} and {two.label} overlap by {share:.0%}." for share, one, two in blocks[:1]]
    return Reading(
        per_fault(faults, len(shown), settings["share"]),
        tuple(reasons),
        {"pairs": len(crossed), "covered": len(covered), "blocks": len(blocks)},
    )


def _crossed_blocks(blocks: Sequence[Block], least: float) -> list[tuple[float, Block, Block]]:
    """Pairs of painted blocks of one parent, in the flow and with text, that overlap; largest first."""
    families: dict[int, list[Block]] = defaultdict(list)
    for block in blocks:
        # Pictures may lie over one another by design, and wrappers over a header.
        if block.positioned in ("static", "relative") and block.text and block.painted:
            families[block.parent].append(block)
    found: list[tuple[float, Block, Block]] = []
    for family in families.values():
        for i, one in enumerate(family):
            for other in family[i + 1 : i + 9]:
                width, height = crossing(one.box, other.box)
                if width > least and height > least:
                    smaller = max(1.0, min(one.box.area, other.box.area))
                    found.append((min(1.0, width * height / smaller), one, other))
    return sorted(found, key=lambda item: -item[0])


def clipping(facts: Facts, settings: Settings) -> Reading | None:
    """Texts of which a part is cut off by a box or the page's edge, and controls nobody can reach."""
    shown = [t for t in facts.texts if t.hidden is None and not t.covered]
    if not shown:
        return None
    cut = [t for t in shown if t.cut in ("clipped", "offscreen")]
    dots = [t for t in shown if t.cut == "ellipsis"]
    unreachable = [i for i in facts.interactive if i.visible and i.covered and not i.disabled]
    faults = len(cut) + settings["ellipsis"] * len(dots) + settings["unreachable"] * len(unreachable)
    reasons = [f"{quote(t.text)} is cut off." for t in cut[:2]]
    reasons += [
        f"The {i.role or i.tag} {quote(i.name)} lies under {i.covered_by or 'something'}: no click hits it."
        for i in unreachable[:1]
    ]
    return Reading(
        per_fault(faults, len(shown), settings["share"]),
        tuple(reasons),
        {"cut": len(cut), "ellipsis": len(dots), "unreachable": len(unreachable)},
    )


def type_scale(facts: Facts, settings: Settings) -> Reading | None:
    """Sizes people can read, few families, one style a kind of text, lines of a readable length.

    Line length and line height: Bringhurst, *The Elements of Typographic Style*, 2.1.2 (45–75 characters; 100
    is taken as the end of comfort here).
    """
    texts = seen(facts)
    letters = sum(t.length for t in texts)
    if not letters:
        return None
    size = mean((_size_credit(t.size, settings), t.length) for t in texts)
    families: Counter[str] = Counter()
    for t in texts:
        families[t.family] += t.length
    usual = max(families.values())
    extra = sum(min(1.0, n / 24) for n in families.values()) - 1
    family = decay(extra, settings["families"] - 1, 3.0)
    steady, odd = _steadiness(texts)
    lines, long = _line_length(facts, texts, settings)
    score = 100 * (
        0.3 * decay(1 - size, 0.0, settings["loss"])
        + 0.2 * family
        + 0.25 * decay(1 - steady, 0.0, settings["loss"])
        + 0.25 * lines
    )
    small = sorted((t.size, t.text) for t in texts if t.size < settings["small_px"])
    reasons = [f"{quote(text)} is set in {px:g} pixels, too small to read." for px, text in small[:1]]
    if family < 0.9:
        reasons.append(f"{len(families)} type families are mixed: {', '.join(sorted(families)[:5])}.")
    if odd is not None and steady < 0.9:
        reasons.append(
            f"{quote(odd.text)} is set unlike the other texts of its kind ({odd.family}, {odd.size:g} px)."
        )
    if long is not None and lines < 0.7:
        reasons.append(f"Lines such as {quote(long.text)} run over {settings['line']} characters.")
    evidence = {
        "smallest": min(t.size for t in texts),
        "families": len(families),
        "usual_family_share": round(usual / letters, 4),
        "sizes": len({t.size for t in texts}),
    }
    return Reading(score, tuple(reasons), evidence)


def _size_credit(size: float, settings: Settings) -> float:
    """1 from the comfortable size on, 0.85 at the small size, falling to 0 at half of it."""
    small, fair = settings["small_px"], settings["fair_px"]
    if size >= fair:
        return 1.0
    if size >= small:
        return float(0.85 + 0.15 * (size - small) / (fair - small))
    return float(max(0.0, 0.85 * (size - small / 2) / (small / 2)))


def _steadiness(texts: Sequence[TextBox]) -> tuple[float, TextBox | None]:
    """Share of the text set like most of its kind (same tag), and the longest exception. Family counts
    double: a size may differ with the place, a family rarely does."""
    kinds: dict[str, list[TextBox]] = defaultdict(list)
    for text in texts:
        kinds[text.tag].append(text)
    parts: list[tuple[float, float]] = []
    odd: TextBox | None = None
    for kind in kinds.values():
        sizes: Counter[float] = Counter()
        families: Counter[str] = Counter()
        for text in kind:
            sizes[text.size] += text.length
            families[text.family] += text.length
        size, family = _most(sizes), _most(families)
        for text in kind:
            credit = (text.size == size) / 3 + (text.family == family) * 2 / 3
            parts.append((credit, text.length))
            if credit < 0.5 and (odd is None or text.length > odd.length):
                odd = text
    return mean(parts), odd


def _most(counter: Counter[_K]) -> _K:
    """The most common one; the first of equals, which is the first on the page."""
    return counter.most_common(1)[0][0]


def _line_length(facts: Facts, texts: Sequence[TextBox], settings: Settings) -> tuple[float, TextBox | None]:
    """Credit for lines that are not too long, by length of the running text; the worst line."""
    parts: list[tuple[float, float]] = []
    worst: tuple[float, TextBox | None] = (1.0, None)
    for text in texts:
        if text.lines < 2 and text.length < settings["line"]:
            continue
        characters = text.box.width / max(1.0, 0.48 * text.size)
        credit = decay(characters, settings["line"], 40.0)
        parts.append((credit, text.length))
        if credit < worst[0]:
            worst = (credit, text)
    return (mean(parts) if parts else 1.0), worst[1]
