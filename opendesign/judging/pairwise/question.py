"""What the model is shown and asked, and how its reply is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from opendesign.judging.asking import Malformed, fill, json_in, text_of, turn
from opendesign.types import Artifact, Card, Case

if TYPE_CHECKING:
    from opendesign.judging.asking.pictures import Prepared

__all__ = ["SCHEMA", "Place", "Shown", "question", "read_preference"]

Place = Literal["A", "B", "tie"]
_PLACES: dict[str, Place] = {"a": "A", "b": "B", "tie": "tie", "draw": "tie"}

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": "string"},
        "reason": {"type": "string"},
        "better": {"type": "string", "enum": ["A", "B", "tie"]},
    },
    "required": ["a", "b", "reason", "better"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A page and the pictures of it that are sent."""

    artifact: Artifact
    pictures: Sequence[Prepared]


def question(case: Case, card: Card, pages: tuple[Shown, Shown]) -> list[dict[str, Any]]:
    """The turns of one look: ``pages`` stand at places A and B."""
    parts = _parts(fill(card, "case.md", _case_slots(case, card)))
    for label, page in zip("AB", pages, strict=True):
        slots = {
            "label": label,
            "width": str(page.artifact.width),
            "height": str(page.artifact.height),
            "cut": ", cut off at the bottom" if page.artifact.truncated else "",
        }
        parts += _parts(fill(card, "page.md", slots), page.pictures)
    parts += _parts(fill(card, "decide.md", {}))
    return [turn("system", fill(card, "system.md", {})), {"role": "user", "content": parts}]


def _parts(text: str, pictures: Sequence[Prepared] = ()) -> list[dict[str, Any]]:
    """A text and the pictures that follow it, so that each picture stands below its own page's line."""
    content = turn("user", text, pictures)["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _case_slots(case: Case, card: Card) -> dict[str, str]:
    most = int(card.settings.get("most_requirements", 20))
    lines = [f"- {one.text}" for one in case.requirements if one.kind != "behaviour"][:most]
    return {
        "category": case.category,
        "prompt": case.prompt or "(not known: judge the page by what it sets out to be)",
        "requirements": "\n".join(lines) or "- (nothing beyond the request itself)",
    }


def read_preference(text: str) -> tuple[Place, tuple[str, ...]]:
    """The place named in a reply, and the reasons given. Raises ``Malformed``."""
    values = json_in(text)
    said = values.get("better")
    word = said.casefold().strip(" .\"'").removeprefix("page ").strip() if isinstance(said, str) else ""
    if word not in _PLACES:
        raise Malformed('\'better\' is missing or is not one of "A", "B" and "tie".')
    given = [("A", text_of(values, "a")), ("B", text_of(values, "b")), ("", text_of(values, "reason"))]
    reasons = tuple(f"{place}: {reason}" if place else reason for place, reason in given if reason)
    if not reasons:
        raise Malformed("There is no reason: say what you see of both pages before the decision.")
    return _PLACES[word], reasons
