"""Whether a change shows as it was meant: in what was measured on the page, or in its picture.

By arithmetic of its own on boxes, sizes and colours, so that no judge decides which damage it is tested on.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable

from opendesign.judging.computed.words import contrast_ratio
from opendesign.judging.sensitivity.outline import outline
from opendesign.judging.sensitivity.page import Seen, Shown
from opendesign.rendering.facts import Facts, TextBox

_FAINT = 3.0  # contrast under which text of any size fails WCAG 2.2, 1.4.3
_PART = 0.1  # of the text, from which a damage is one of a part of the page
_SHIFT = 6.0  # pixels


def same_picture(before: Shown, after: Shown) -> bool:
    """Equal pixel by pixel."""
    return before.picture == after.picture or _pixels(before.picture) == _pixels(after.picture)


def as_before(before: Shown, after: Shown) -> bool:
    """Equal pixel by pixel; where the page moves by itself, every text and box is where and as it was."""
    if same_picture(before, after):
        return True
    return before.moves and _drawn(before.facts) == _drawn(after.facts)


def other_picture(before: Shown, after: Shown) -> bool:
    """A pixel or more differs."""
    return not same_picture(before, after)


def fainter(before: Shown, after: Shown) -> bool:
    """A part of the text has a contrast under 3 that it had not before."""

    def faint(text: TextBox) -> bool:
        return text.background is not None and contrast_ratio(text.colour, text.background) < _FAINT

    return _share(after.facts, faint) - _share(before.facts, faint) >= _PART


def smaller(before: Shown, after: Shown) -> bool:
    """A part of the text is set in 8 pixels that was not before."""

    def small(text: TextBox) -> bool:
        return text.size <= 8.5

    return _share(after.facts, small) - _share(before.facts, small) >= _PART


def more_families(before: Shown, after: Shown) -> bool:
    """Two families of type more, for a part of the text."""
    old = {text.family for text in _read(before.facts)}
    new = {text.family for text in _read(after.facts)} - old

    def strange(text: TextBox) -> bool:
        return text.family in new

    return len(new) >= 2 and _share(after.facts, strange) >= _PART


def crossing_texts(before: Shown, after: Shown) -> bool:
    """Two pairs of texts more that share a quarter of the smaller one's box."""
    return _crossings(after.facts) >= _crossings(before.facts) + 2


def out_of_line(before: Shown, after: Shown) -> bool:
    """The same texts, and two of them or more stand elsewhere, though not all."""
    old, new = _read(before.facts), _read(after.facts)
    if [t.text for t in old] != [t.text for t in new]:
        return False
    moved = [
        abs(a.box.x - b.box.x) >= _SHIFT or abs(a.box.y - b.box.y) >= _SHIFT
        for a, b in zip(old, new, strict=True)
    ]
    return 2 <= sum(moved) < len(moved)


def too_wide(before: Shown, after: Shown) -> bool:
    """A text reaches 16 pixels or more beyond the window's right edge, further than any before."""
    edge = after.facts.viewport[0]

    def reach(facts: Facts) -> float:
        return max((text.box.right - edge for text in facts.texts), default=0.0)

    return reach(after.facts) >= max(16.0, reach(before.facts) + 16.0)


def broken_pictures(before: Shown, after: Shown) -> bool:
    """A picture more does not load, and that is seen."""
    more = sum(i.broken for i in after.facts.images) > sum(i.broken for i in before.facts.images)
    return more and other_picture(before, after)


def less_text(before: Shown, after: Shown) -> bool:
    """A part of the text is gone."""
    return after.facts.text_length <= (1 - _PART / 2) * before.facts.text_length


def fewer_things(before: Shown, after: Shown) -> bool:
    """Drawings, controls and pictures of a hundredth of the window are gone, or a part of the text is."""
    width, height = before.facts.viewport
    gone = _area(before.facts) - _area(after.facts) >= 0.01 * width * height
    return (gone or less_text(before, after)) and other_picture(before, after)


def other_words(before: Shown, after: Shown) -> bool:
    """Of all words of both pages, at most 60 % stand on both."""
    old, new = (set(re.findall(r"\w{3,}", page.facts.text.lower())) for page in (before, after))
    return bool(old and new) and len(old & new) <= 0.6 * len(old | new)


def more_said(before: Shown, after: Shown) -> bool:
    """A sentence more can be read."""
    drawn = [t for t in _read(after.facts) if t.text not in before.facts.text and t.length > 40]
    return bool(drawn) and after.facts.text_length > before.facts.text_length


def quieter(before: Shown, after: Shown) -> bool:
    """The page looks as it did (99 of 100 pixels, or as still as it is) and its document is another."""
    if before.document == after.document:
        return False
    return _alike(before.picture, after.picture) >= 0.99 or as_before(before, after)


def unpaired(before: Shown, after: Shown) -> bool:
    """One end tag less."""
    closed = [sum(e.closed for e in outline(page.document)) for page in (before, after)]
    ends = [len(re.findall(r"</[a-z]", page.document, re.IGNORECASE)) for page in (before, after)]
    return ends[1] == ends[0] - 1 and closed[1] < closed[0]


def repeated_id(before: Shown, after: Shown) -> bool:
    """An id stands on one element more than before."""

    def repeats(page: Shown) -> int:
        ids = [e.attributes["id"] for e in outline(page.document) if e.attributes.get("id")]
        return len(ids) - len(set(ids))

    return repeats(after) > repeats(before)


def lost(what: Callable[[Facts], bool]) -> Seen:
    """What was true of the page before, and is not after."""
    return lambda before, after: what(before.facts) and not what(after.facts)


def unnamed_picture(before: Shown, after: Shown) -> bool:
    """A picture more has no alternative text."""

    def unnamed(page: Shown) -> int:
        return sum(e.tag == "img" and "alt" not in e.attributes for e in outline(page.document))

    return unnamed(after) > unnamed(before)


def _drawn(facts: Facts) -> tuple[object, ...]:
    texts = [(t.text, t.box, t.colour, t.size, t.family) for t in facts.texts]
    return facts.width, facts.height, texts, [(b.box, b.background, b.painted) for b in facts.blocks]


def _read(facts: Facts) -> list[TextBox]:
    return [text for text in facts.texts if text.hidden is None]


def _area(facts: Facts) -> float:
    """Square pixels of drawings, controls and pictures."""
    kinds = (facts.images, facts.canvases, facts.svgs, facts.interactive)
    return sum(thing.box.area for things in kinds for thing in things)


def _share(facts: Facts, fits: Callable[[TextBox], bool]) -> float:
    """Share of the letters that can be seen, in texts that fit."""
    texts = _read(facts)
    return sum(t.length for t in texts if fits(t)) / max(1, sum(t.length for t in texts))


def _crossings(facts: Facts) -> int:
    boxes = [t.box for t in _read(facts) if not t.covered or t.length > 1]
    count = 0
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            width = min(one.right, other.right) - max(one.x, other.x)
            height = min(one.bottom, other.bottom) - max(one.y, other.y)
            if width > 0 and height > 0 and width * height >= 0.25 * min(one.area, other.area):
                count += 1
    return count


def _pixels(png: bytes) -> tuple[tuple[int, int], bytes]:
    from PIL import Image

    with Image.open(io.BytesIO(png)) as opened:
        return opened.size, opened.convert("RGB").tobytes()


def _alike(one: bytes, other: bytes) -> float:
    """Share of equal pixels; 0 for pictures of different sizes."""
    import numpy as np

    (size, first), (size2, second) = _pixels(one), _pixels(other)
    if size != size2:
        return 0.0
    a, b = (np.frombuffer(data, np.uint8).reshape(-1, 3) for data in (first, second))
    return float((a == b).all(axis=1).mean())
