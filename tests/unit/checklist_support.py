"""A scripted judge for the checklist: it says yes to what it sees, and tries what a goal names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opendesign.judging.cards import read_card
from opendesign.testing import ScriptedRequest
from opendesign.types import Card

from .interactive_support import judges_last, listed

_ITEM = re.compile(r"^(\d+)\. (.+)$", re.M)


def card() -> Card:
    return read_card(Path(__file__).parents[2] / "judges" / "checklist")


def is_look(request: ScriptedRequest) -> bool:
    return "The list to check:" in request.prompt


def items(request: ScriptedRequest) -> dict[int, str]:
    """Number → statement, of the list to check."""
    return {int(n): text for n, text in _ITEM.findall(request.prompt.split("The list to check:")[1])}


def answers(words: Mapping[int, str], **more: Any) -> str:
    rows = [
        {"number": number, "where": "in the header", "why": "It is there.", "answer": word, **more}
        for number, word in words.items()
    ]
    return json.dumps({"answers": rows})


def says_yes(request: ScriptedRequest) -> str:
    """Yes to all that can be seen; for the rest, one click on the control that a statement names."""
    if is_look(request):
        return answers(dict.fromkeys(items(request), "yes"))
    goals = re.findall(r"^(\d+)\. .*'(.+?)'.* →", request.prompt, re.M)
    done = {int(found) for found in re.findall(r"for interaction (\d+):", request.prompt)}
    last = {"why": "It came true.", "worked": True} if judges_last(request) else None
    for number, name in goals:
        if int(number) not in done:
            on = next(one.number for one in listed(request.prompt) if one.name == name)
            return json.dumps({"last": last, "next": {"do": "click", "on": on, "for": int(number)}})
    return json.dumps({"last": last, "next": {"do": "finish"}})
