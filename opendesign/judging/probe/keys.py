"""Which keys to press: what the page says, and what its scripts listen for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opendesign.judging.probe.steps import Control, Step
from opendesign.types import Case

_PRESS_TO_START = re.compile(
    r"(press|hit|use)\s+(the\s+)?(space|enter|any key).{0,30}(start|begin|play|launch|serve)", re.I
)
_CLICK_TO_START = re.compile(r"(click|tap).{0,30}(start|begin|play)", re.I)
_NAMED = re.compile(
    r"\b([A-Z]) ?(?:and|or|[/,&]) ?([A-Z])\b|\b(?:[Pp]ress(?:ing)?|[Kk]eys?) ([A-Z])\b|\b([A-Z])[ -]key\b"
)
_ARROWS = (("ArrowLeft", "ArrowUp"), ("ArrowRight", "ArrowDown"), ("ArrowUp", "ArrowRight"))
_LETTERS = (("a", "w"), ("d", "s"), ("w", "d"))
_IN_A_LIST = (("ArrowDown", "Enter"), ("ArrowDown", "ArrowDown", "Enter"))  # what a search field offers


def key_steps(listing: Mapping[str, Any], controls: Sequence[Control], case: Case) -> list[Step]:
    """Steps that press keys, and what else starts a game that is played with them."""
    heard, page_says = listing["keys"], str(listing["text"])
    said = f"{page_says} {case.prompt} {' '.join(r.text for r in case.requirements)}"
    game = case.category == "game"
    target = next((c for c in controls if c.key == heard["target"]), None) if heard["target"] else None

    def keys(*pressed: str, score: float, opens: bool = False) -> Step:
        return Step(action="keys", kind="keys", score=score, keys=pressed, control=target, opens=opens)

    arrows = heard["arrows"] or bool(re.search(r"\barrow(s| keys?)\b|←|⬅", said, re.I))
    wasd = game and (heard["wasd"] or bool(re.search(r"\bwasd\b", said, re.I)))
    space = heard["space"] or bool(re.search(r"\bspace ?(bar|key)?\b", said if game else page_says, re.I))
    press = _PRESS_TO_START.search(page_says)
    enter = press is not None and "enter" in press.group(0).lower()
    if not game:
        arrows = heard["listens"] and heard["arrows"] and bool(re.search(r"\barrow|←|keyboard", said, re.I))
        space = False
    elif not (arrows or wasd or space) and any(c.kind == "canvas" for c in controls):
        arrows = space = True
    options = []
    if heard["listens"] and re.search(r"press (any|a) ?key|any key", page_says, re.IGNORECASE):
        options.append(keys("a", "b", score=6))
    in_a_list = target is not None and target.kind == "type" and not game
    if arrows:
        rows = _IN_A_LIST if in_a_list else _ARROWS
        options += [keys(*row, score=(9 if game else 4) - i * 0.5) for i, row in enumerate(rows)]
    if wasd:
        options += [keys(*row, score=(5 if arrows else 9) - i * 0.5) for i, row in enumerate(_LETTERS)]
    else:
        letters, asked = str(heard.get("letters") or ""), " ".join(r.text for r in case.requirements)
        wanted = set(_named(asked, letters))
        options += [keys(key, score=7 if key in wanted else 5) for key in _named(said, letters)]
    if space or (press and not enter):
        starts = press is not None and not enter
        options.append(keys(" ", score=13 if starts else 7, opens=starts))
    if enter:
        options.append(keys("Enter", score=13, opens=True))
    canvas = next((c for c in controls if c.kind == "canvas"), None)
    if game and canvas and _CLICK_TO_START.search(page_says):
        options.append(Step(action="click", kind="canvas", score=12, control=canvas, opens=True))
    return options


def _named(said: str, letters: str) -> Iterator[str]:
    """At most two letters that are named as keys ("Q and E turn it") and that the scripts listen for."""
    found = [key.lower() for names in _NAMED.findall(said) for key in names if key]
    yield from list(dict.fromkeys(key for key in found if key in letters))[:2]
