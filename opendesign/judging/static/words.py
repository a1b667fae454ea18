"""What is said to the judge's model: the card's files, filled.

``system.md`` and the files that tell of pictures are left out where a card has none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opendesign.judging.asking import Prepared, fill, nonce_for, turn, untrusted
from opendesign.judging.static.rubric import Rubric
from opendesign.rendering.facts import Facts
from opendesign.types import Artifact, Card, Case

__all__ = ["Question", "about_page", "about_source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The turns of a chat, what to say below a bad reply, and what the evidence tells of the page."""

    messages: tuple[Mapping[str, Any], ...]
    repair: str | None
    told: Mapping[str, Any]


def about_page(
    case: Case,
    artifact: Artifact,
    card: Card,
    rubric: Rubric,
    pictures: Sequence[Prepared],
    facts: Facts | None,
) -> Question:
    """The question about a page as it looks; its visible text goes in as its own, up to the card's bound."""
    most = int(card.settings.get("page_characters", 0))
    text = facts.text if facts is not None and most else ""
    nonce = nonce_for(card, artifact)
    slots = {
        **_common(case, card, rubric, nonce),
        "pictures": _pictures_told(card, artifact, pictures, facts),
        "page": _optional(card, "page.md", {"text": untrusted(text, nonce, most=most), "nonce": nonce})
        if text
        else "",
    }
    told = {
        "blank": facts.picture.blank if facts is not None and facts.picture is not None else None,
        "truncated": artifact.truncated,
        "height": artifact.height,
        "text": {"characters": len(text), "sent": min(len(text), most)},
    }
    return _question(card, slots, pictures, told)


def about_source(case: Case, artifact: Artifact, card: Card, rubric: Rubric, source: str) -> Question:
    """The question about a page's source alone, cut at the card's ``most_characters``."""
    most = int(card.settings.get("most_characters", 200_000))
    nonce = nonce_for(card, artifact)
    slots = {**_common(case, card, rubric, nonce), "source": untrusted(source, nonce, most=most)}
    told = {"source": {"characters": len(source), "sent": min(len(source), most)}}
    return _question(card, slots, (), told)


def _question(
    card: Card, slots: Mapping[str, str], pictures: Sequence[Prepared], told: Mapping[str, Any]
) -> Question:
    system = _optional(card, "system.md", slots)
    asked = turn("user", fill(card, "user.md", slots), pictures)
    return Question(
        messages=(turn("system", system), asked) if system else (asked,),
        repair=card.files.get("repair.md"),
        told=told,
    )


def _common(case: Case, card: Card, rubric: Rubric, nonce: str) -> dict[str, str]:
    ranges = {name: f"{low:g} to {high:g}" for name, (low, high) in rubric.parts.items()}
    # What the page does cannot be seen in a picture of it.
    wanted = [f"- {r.text}" for r in case.requirements if r.kind != "behaviour"]
    return {
        **ranges,
        "category": case.category,
        "prompt": case.prompt,
        "requirements": "\n".join(wanted) or "- none beyond the request",
        "bands": rubric.bands_told(),
        "most": f"{rubric.most:g}",
        "nonce": nonce,
    }


def _pictures_told(card: Card, artifact: Artifact, pictures: Sequence[Prepared], facts: Facts | None) -> str:
    lines = []
    for number, picture in enumerate(pictures, 1):
        x, y, width, height = (str(value) for value in picture.region)
        about = {"x": x, "y": y, "width": width, "height": height, "percent": f"{100 * picture.seen:.0f}"}
        lines.append(_optional(card, f"{picture.kind}.md", {"number": str(number), **about}))
    if artifact.truncated:
        whole = f"{facts.height:.0f}" if facts is not None else "more"
        lines.append(_optional(card, "truncated.md", {"height": str(artifact.height), "whole": whole}))
    return "\n".join(line for line in lines if line)


def _optional(card: Card, name: str, slots: Mapping[str, str]) -> str:
    return fill(card, name, slots) if name in card.files else ""
