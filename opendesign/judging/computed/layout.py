"""Measures of the layout: overflow, alignment, spacing. They compare what is seen, not the boxes around."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from opendesign.judging.computed.reading import Reading, Settings, decay, mean
from opendesign.rendering.facts import Block, Box, Facts

_MEDIA = frozenset(
    ("img", "canvas", "svg", "video", "iframe", "object", "input", "select", "textarea", "button", "progress")
)


@dataclass(frozen=True, slots=True)
class Item:
    """A block and what is seen of it: its own box where it is painted, else around its texts and pictures."""

    block: Block
    ink: Box


def overflow(facts: Facts, settings: Settings) -> Reading | None:
    """How far the page reaches beyond the right edge of the window, and how much of it does; what is there
    and cut off, because the page does not scroll sideways, counts half."""
    if not facts.blocks:
        return None
    lost, block = _lost(facts)
    amount = max(facts.overflow, settings["lost"] * lost)
    wide = len([o for o in facts.overflowing if o.amount > 1])
    credit = decay(amount, 1.0, settings["scale_px"]) / (1 + 0.05 * wide)
    reasons: tuple[str, ...] = ()
    if facts.overflow > 1:
        furthest = f"; {facts.overflowing[0].label} reaches out furthest" if wide else ""
        reasons = (f"The page is {facts.overflow:.0f} pixels wider than the window{furthest}.",)
    elif block is not None and lost > 8:
        reasons = (f"{lost:.0f} pixels of {block.label} are cut off at the right edge of the window.",)
    return Reading(
        100 * credit, reasons, {"pixels": round(facts.overflow, 1), "lost": round(lost, 1), "elements": wide}
    )


def _lost(facts: Facts) -> tuple[float, Block | None]:
    """The most that a block in the flow, with something in it, is cut off by the window's right edge; blocks
    in boxes that clip or scroll (a carousel) are left out, where these are not the page's main part."""
    edge, tall = facts.viewport[0], facts.viewport[1] / 2
    most: tuple[float, Block | None] = (0.0, None)
    boxed: list[bool] = []
    for block in facts.blocks:
        held = block.positioned in ("absolute", "fixed") or (block.parent >= 0 and boxed[block.parent])
        main = block.box.width > 0.6 * edge and block.box.height > tall and block.tag != "pre"
        boxed.append(held or (block.clips and not main))
        beyond = block.box.right - edge
        if not held and beyond > most[0] and (block.text or block.media) and block.box.x < edge:
            most = (beyond, block)
    return most


def alignment(facts: Facts, settings: Settings) -> Reading | None:
    """Whether what stands below or beside its sibling shares an edge or axis with it, by visible size; and
    how few distinct left edges the page has for its things.

    Edges: after the alignment measures of Ngo, Teo and Byrne, "Modelling interface aesthetics", 2003, which
    count distinct vertical alignment points against objects; pairs are our own addition.
    """
    families = list(_families(facts))
    pairs = [pair for family in families for pair in _pairs(family, settings)]
    if not pairs:
        return None
    loss = 1 - mean((credit, weight) for credit, weight, _, _, _ in pairs)
    edges, things = _edges(facts)
    ratio = edges / things if things else 0.0
    score = 100 * (
        0.75 * decay(loss, 0.0, settings["loss"]) + 0.25 * decay(ratio, 0.0, settings["edges_per_thing"])
    )
    worst = sorted((p for p in pairs if p[0] < 0.7), key=lambda p: ((p[0] - 1) * p[1], p[2].block.label))
    reasons = tuple(
        f"{one.block.label} and {two.block.label} are {off:.0f} pixels out of line."
        for _, _, one, two, off in worst[:2]
    )
    evidence = {"pairs": len(pairs), "out_of_line": len(worst), "left_edges": edges, "things": things}
    return Reading(score, reasons, evidence)


def spacing(facts: Facts, settings: Settings) -> Reading | None:
    """Regularity of the gaps between the things of one family (three or more in a column or row), and texts
    that touch the edge of the box they are in."""
    families = list(_families(facts))
    gaps: list[tuple[float, float]] = []
    worst: tuple[float, str] = (1.0, "")
    for family in families:
        for line in _gaps(family):
            middle = median(line)
            for gap in line:
                credit = decay(abs(gap - middle), 1.0, settings["scale_px"] + abs(middle))
                gaps.append((credit, 1.0))
                if credit < worst[0]:
                    worst = (
                        credit,
                        f"The gaps in {_name(facts, family)} differ: {gap:.0f} and {middle:.0f} pixels.",
                    )
    touching, boxes = _touching(facts, settings)
    if not gaps and not boxes:
        return None
    regular = mean(gaps) if gaps else 1.0
    free = decay(len(touching) / boxes, 0.0, 0.5) if boxes else 1.0
    reasons = [worst[1]] if worst[0] < 0.5 else []
    reasons += [f"The text in {label} touches the edge of its box." for label in touching[:1]]
    score = 100 * (0.6 * decay(1 - regular, 0.0, settings["loss"]) + 0.4 * free)
    return Reading(score, tuple(reasons), {"gaps": len(gaps), "touching": len(touching)})


def _name(facts: Facts, family: Sequence[Item]) -> str:
    parent = family[0].block.parent
    return facts.blocks[parent].label if parent >= 0 else "the page"


def inks(facts: Facts) -> list[Box | None]:
    """What is seen of each block; None where nothing is. Blocks come in document order."""
    found: list[list[Box]] = [[] for _ in facts.blocks]
    for text in facts.texts:
        if text.parent >= 0 and text.hidden is None:
            found[text.parent].append(text.box)
    result: list[Box | None] = [None] * len(facts.blocks)
    for i in range(len(facts.blocks) - 1, -1, -1):
        block = facts.blocks[i]
        own = block.box if block.painted or block.tag in _MEDIA else (_around(found[i]) if found[i] else None)
        result[i] = own
        if own is not None and block.parent >= 0 and block.positioned not in ("absolute", "fixed"):
            found[block.parent].append(own)
    return result


def _around(boxes: Sequence[Box]) -> Box:
    """The smallest box around one or more."""
    left, top = min(b.x for b in boxes), min(b.y for b in boxes)
    return Box(left, top, max(b.right for b in boxes) - left, max(b.bottom for b in boxes) - top)


def _families(facts: Facts) -> Iterator[list[Item]]:
    """The visible children of one parent that are in the flow, in document order; two or more."""
    families: dict[int, list[Item]] = defaultdict(list)
    for block, ink in zip(facts.blocks, inks(facts), strict=True):
        if ink is None or block.positioned in ("absolute", "fixed") or ink.width < 4 or ink.height < 4:
            continue
        if block.display.startswith(("table-row", "table-header", "table-footer")):
            continue
        families[block.parent].append(Item(block, ink))
    for family in families.values():
        if len(family) > 1:
            yield family


def _pairs(family: Sequence[Item], settings: Settings) -> Iterator[tuple[float, float, Item, Item, float]]:
    """(credit, weight, one, other, pixels out of line) of neighbours within a row, and of a row with the
    next: cell by cell where they have like cells, else as wholes."""
    rows = _rows(family)
    for row in rows:
        for one, other in itertools.pairwise(row):
            off, credit = _row(one.ink, other.ink, settings)
            yield credit, _weight(one, other), one, other, off
    for upper, lower in itertools.pairwise(rows):
        for one, other in _facing(upper, lower):
            off, credit = _column(one, other, settings)
            yield credit, _weight(one, other), one, other, off


def _rows(family: Sequence[Item]) -> list[list[Item]]:
    """The things of a family, in document order, cut into rows of things that stand beside one another."""
    rows: list[list[Item]] = []
    for item in family:
        before = rows[-1][-1] if rows else None
        if before is not None and _beside(before.ink, item.ink):
            rows[-1].append(item)
        else:
            rows.append([item])
    return rows


def _beside(one: Box, other: Box) -> bool:
    """Whether two boxes stand in a row; they may overlap a little, as a stack of portraits does."""
    return _along(one, other) > 0.4 and _across(one, other) <= max(4.0, 0.5 * min(one.width, other.width))


def _facing(upper: Sequence[Item], lower: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
    alike = abs(upper[0].block.box.width - lower[0].block.box.width) < 0.25 * upper[0].block.box.width
    if alike and min(len(upper), len(lower)) > 1:
        yield from zip(upper, lower, strict=False)
    elif alike and len(lower) == 1 < len(upper) and abs(upper[0].ink.x - lower[0].ink.x) < 40:
        yield upper[0], lower[0]  # the last row of a grid
    elif _across(_whole(upper).ink, _whole(lower).ink) > 0:
        yield _whole(upper), _whole(lower)


def _whole(row: Sequence[Item]) -> Item:
    """A row as one thing."""
    if len(row) == 1:
        return row[0]
    box = _around([item.block.box for item in row])
    return Item(replace(row[0].block, box=box), _around([item.ink for item in row]))


def _weight(one: Item, other: Item) -> float:
    return min(250.0, math.sqrt(min(one.ink.area, other.ink.area))) + 20.0


def _across(one: Box, other: Box) -> float:
    return min(one.right, other.right) - max(one.x, other.x)


def _along(one: Box, other: Box) -> float:
    """Share of the smaller height that two boxes have in common."""
    return (min(one.bottom, other.bottom) - max(one.y, other.y)) / max(1.0, min(one.height, other.height))


def _column(one: Item, other: Item, settings: Settings) -> tuple[float, float]:
    """By what is seen, or for a little less by the boxes: a wrapper's content is ragged, its box is not."""
    off, credit = _stacked(one.ink, other.ink, settings)
    boxed = settings["boxes"] * _stacked(one.block.box, other.block.box, settings)[1]
    return off, max(credit, boxed)


def _stacked(one: Box, other: Box, settings: Settings) -> tuple[float, float]:
    centre = abs(one.x + one.width / 2 - other.x - other.width / 2)
    return _credit(abs(one.x - other.x), centre, abs(one.right - other.right), settings)


def _row(one: Box, other: Box, settings: Settings) -> tuple[float, float]:
    top, bottom = abs(one.y - other.y), abs(one.bottom - other.bottom)
    middle = abs(one.y + one.height / 2 - other.y - other.height / 2)
    return _credit(top, middle, bottom, settings)


def _credit(first: float, middle: float, last: float, settings: Settings) -> tuple[float, float]:
    """Pixels out of line, and credit: first edge or middle in line is good, the last edge alone is half good:
    a thing that fills its parent shares it whatever its margin. A large offset may be meant (an indent)."""
    tolerance, scale = settings["tolerance_px"], settings["scale_px"]
    near = [decay(d, tolerance, scale) for d in (first, middle, last)]
    off = min(first, middle)
    meant = settings["meant"] * (1 - decay(off, tolerance, settings["meant_px"]))
    return off, max(near[0], near[1], 0.6 * near[2], meant)


def _gaps(family: Sequence[Item]) -> Iterator[list[float]]:
    """Gaps of three or more things of one kind that follow one another in a column or a row."""
    for vertical in (True, False):
        run: list[float] = []
        for one, other in itertools.pairwise(family):
            if vertical:
                follows = other.ink.y >= one.ink.bottom - 4 and _across(one.ink, other.ink) > 0
                gap = other.ink.y - one.ink.bottom
            else:
                follows = other.ink.x >= one.ink.right - 4 and _along(one.ink, other.ink) > 0.4
                gap = other.ink.x - one.ink.right
            if follows and one.block.tag == other.block.tag:
                run.append(gap)
            else:
                if len(run) > 1:
                    yield run
                run = []
        if len(run) > 1:
            yield run


def _edges(facts: Facts) -> tuple[int, int]:
    """Distinct left edges (or middles, of centred text) and the number of things that have one."""
    places: list[float] = []
    for text in facts.texts:
        if text.hidden is None and not text.link:
            middle = text.align in ("center", "-webkit-center")
            places.append(text.box.x + text.box.width / 2 if middle else text.box.x)
    places += [b.box.x for b in facts.blocks if b.painted or b.tag in _MEDIA]
    return _clusters(places), len(places)


def _clusters(places: Iterable[float]) -> int:
    count, last = 0, float("-inf")
    for place in sorted(places):
        if place - last > 2.0:
            count += 1
            last = place
    return count


def _touching(facts: Facts, settings: Settings) -> tuple[list[str], int]:
    """Painted boxes whose text is nearer than the padding to their left edge; how many hold text."""
    texts: dict[int, list[Box]] = defaultdict(list)
    for text in facts.texts:
        if text.hidden is None and text.parent >= 0:
            texts[text.parent].append(text.box)
    touching, boxes = [], 0
    for i, block in enumerate(facts.blocks):
        if not block.painted or i not in texts or block.background is None:
            continue
        boxes += 1
        if min(box.x for box in texts[i]) - block.box.x < settings["padding_px"]:
            touching.append(block.label)
    return touching, boxes
