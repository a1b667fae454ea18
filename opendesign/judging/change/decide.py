"""Which changes count: rules over the list of changes that one interaction made. Pure functions.

``strong``: no inert element does this, it counts alone. ``weak``: the browser's own styling could have done
it (``:hover``, ``:focus``, ``:checked``), it counts only where the muted control did not show the same.
``none``: never counts (typed text, a control's own tick, a highlight that moved to the pressed tab).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from opendesign.judging.change.answers import read

Action = Literal[
    "click",
    "link",
    "jump",
    "hover",
    "check",
    "select",
    "slide",
    "type",
    "form",
    "keys",
    "drag",
    "carry",
    "wheel",
]
Strength = Literal["strong", "weak", "none"]

SMALLEST_PX2 = 16  # one element; below this a person sees nothing
WEAK_PX2 = 100  # all weak changes together
SEEN, FAINT, FAINT_CELLS = 6, 2, 8  # as in snapshot.js: how far cells of a canvas must differ to be seen
_OWN_VALUE = ("check", "select", "slide", "type")  # the control's own value is the input, not its effect
_VALUE = re.compile(r"aria-(checked|pressed|valuenow|valuetext)=")
_PROMISE = re.compile(r"^(aria-(expanded|selected|current|hidden|controls|activedescendant)=[^;]*;?|less)+$")
_NATIVE_TICK = re.compile(r"^(checked=[^;]*;?)+$")
_PICTURE = (
    "img",
    "path",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "g",
    "svg",
    "use",
    "text",
)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two snapshots.

    ``key`` is the element's place in the tree, ``place`` where it stands to the operated element, ``area``
    its size in CSS pixels squared, ``control`` whether it is (in) a native or ARIA control, ``after`` a hash
    of the new value (of a canvas its picture), ``sample`` the first characters of it for a person.
    """

    key: str
    kind: str
    place: str
    area: int
    tag: str
    control: bool
    after: str
    sample: str

    @classmethod
    def read(cls, value: object) -> Change:
        """From what ``snapshot.js`` returns. Raises ``Rubbish``."""
        return read(cls, value)


class Drift:
    """What a page changes whatever is done to it.

    By itself, in our time (workers, chains of animations), or wherever it is ``touched`` (a counter of all
    clicks, sparks at the pointer). Where things come and go by themselves the places of what stands there are
    not to be trusted either; a touch adds one thing, and only the like of it is meant.
    """

    def __init__(self, *, touched: bool = False) -> None:
        self._touched = touched
        self._same: set[tuple[str, str]] = set()
        self._places: set[tuple[str, str]] = set()  # where things come and go, and the tags of those

    def add(self, changes: Iterable[Change]) -> None:
        """Changes that were seen without input, or by a touch that means nothing."""
        for change in changes:
            if self._touched and change.kind == "canvas":
                continue  # a drawing is touched anywhere on purpose
            comes_or_goes = change.kind in ("appeared", "vanished")
            if comes_or_goes:
                self._places.add(self._place(change))
            if not (self._touched and comes_or_goes):
                self._same.add((change.kind, change.key))

    def has(self, change: Change) -> bool:
        """Whether it is one of those, or stands where such things come and go."""
        if (change.kind, change.key) in self._same:
            return True
        if change.place == "page" or (self._touched and change.kind not in ("appeared", "vanished")):
            return False
        return self._place(change) in self._places

    def _place(self, change: Change) -> tuple[str, str]:
        return _parent(change.key), change.tag if self._touched else ""


def _parent(key: str) -> str:
    return re.sub(r"[.~!]\d*$", "", key)


def strength(change: Change, action: Action) -> Strength:
    """What one change is worth as a sign that ``action`` reached a script or a working native control."""
    if change.place == "page":
        return _of_page(change, action)
    if change.kind == "canvas":
        return "strong"
    if change.place == "own":
        return _of_own(change, action)
    if change.place == "peer":
        return _of_peer(change, action)
    return _elsewhere(change, action)


def _of_page(change: Change, action: Action) -> Strength:
    if change.kind in ("dialog", "title"):
        return "strong"
    if change.kind == "hash":
        return "strong" if action == "jump" else "none"
    if change.kind == "scroll":
        return "strong" if action in ("click", "jump") else "none"
    return "none"  # another document, a popup: refused, and nothing seen of it


def _of_own(change: Change, action: Action) -> Strength:
    kind = change.kind
    if kind == "text":
        return "none" if action == "type" else "strong"
    if kind == "state":
        if action in _OWN_VALUE:
            return "none"
        shown = change.tag in _PICTURE or "value=" in change.sample or _VALUE.search(change.sample)
        return "strong" if shown else "none"
    if kind in ("appeared", "vanished"):
        if action == "type" or not _seen(change) or (change.control and not _told(change)):
            return "none"  # a ripple, a spinner
        return "strong" if action == "hover" and not change.control and change.sample else "weak"
    if kind == "moved":
        return (
            "weak" if action in ("drag", "carry") or (not change.control and change.area >= 1600) else "none"
        )
    return "weak" if not change.control and action in ("click", "hover") else "none"


def _of_peer(change: Change, action: Action) -> Strength:
    kind = change.kind
    if kind in ("text", "appeared", "vanished"):
        return "strong" if _seen(change) else "none"
    if kind == "state":
        shown = change.tag in _PICTURE or "value=" in change.sample
        return "strong" if shown and action != "check" else "none"
    if action == "carry":
        return "weak" if kind == "moved" else "none"
    return "none" if change.control else "weak"


def _elsewhere(change: Change, action: Action) -> Strength:
    kind = change.kind
    if kind in ("text", "appeared", "vanished"):
        return "strong" if _seen(change) else "none"
    if kind == "state":
        if _PROMISE.match(change.sample):
            return "none"
        return "weak" if action == "check" and _NATIVE_TICK.match(change.sample) else "strong"
    # What is carried leaves pressed and hovered looks behind that no control repeats exactly.
    return "none" if action == "carry" and kind == "paint" else "weak"


def _told(change: Change) -> bool:
    """Whether the element says or draws something."""
    return bool(change.sample) or change.tag in _PICTURE


def _seen(change: Change) -> bool:
    return change.area >= SMALLEST_PX2 or bool(change.sample)


def beyond(live: Iterable[Change], control: Iterable[Change], *, moving: bool) -> list[Change]:
    """Changes that the muted control did not show, or showed otherwise.

    On a moving page also those that only the control showed: an input that stops something is an effect.
    """
    mine = {(change.kind, change.key): change for change in live}
    theirs = {(change.kind, change.key): change for change in control}
    found = [c for name, c in mine.items() if name not in theirs or differ(theirs[name], c)]
    if moving:
        found += [c for name, c in theirs.items() if name not in mine]
    return found


def alike(one: Iterable[Change], other: Iterable[Change]) -> bool:
    """Whether two lists tell of the same changes."""
    return not beyond(one, other, moving=True)


def differ(one: Change, other: Change) -> bool:
    """Whether what the same place changed to is not the same: for a canvas, as far as a person can see."""
    a, b = one.after, other.after
    if one.kind != "canvas" or len(a) != len(b):
        return a != b
    apart = [by for by in (abs(ord(x) - ord(y)) for x, y in zip(a, b, strict=True)) if by >= FAINT]
    return len(apart) >= FAINT_CELLS or any(by >= SEEN for by in apart)


def earned(changes: Sequence[Change], action: Action, *, controlled: bool) -> list[Change]:
    """The changes that make the interaction count, strongest first; empty where there are none.

    ``controlled`` says that ``changes`` are already those beyond the control, so weak ones count too.
    """
    if any(change.kind == "vanished" and change.tag == "body" for change in changes):
        return []  # an input that wipes the page is no working control
    strong = [change for change in changes if strength(change, action) == "strong"]
    if not controlled:
        # The browser by itself goes to the top for a link to "#": the muted control tells whose scroll it is.
        return [c for c in strong if not (c.kind == "scroll" and action == "click")]
    weak = [change for change in changes if strength(change, action) == "weak"]
    # A rating fills several of its stars; a highlight that only moves on takes it from one peer.
    peers = [c for c in changes if c.place == "peer" and c.kind == "paint" and c.control]
    if len({c.key for c in peers}) >= 2 and action == "click":
        weak += peers
    if sum(change.area for change in weak) < WEAK_PX2:
        weak = []
    return strong + weak
