"""The look at the page: one call for all requirements that a picture can settle."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from opendesign.judging.asking import Ledger, Prepared, ask, fill, nonce_for, pictures_of, turn, untrusted
from opendesign.judging.checklist.answers import SCHEMA, Answer, Item, answers_in
from opendesign.rendering.facts import Facts
from opendesign.types import Artifact, Card, Case

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["look"]


async def look(
    case: Case, artifact: Artifact, card: Card, items: Sequence[Item], model: Model, ledger: Ledger
) -> tuple[tuple[Answer, ...], dict[str, Any]]:
    """An answer for each item, and the evidence of how it came about. Raises ``Failed``."""
    pictures = await pictures_of(artifact, card, model)
    asked = await ask(
        model,
        _question(case, artifact, card, items, pictures, await _text(artifact)),
        lambda text: answers_in(text, items),
        ledger=ledger,
        settings=card.settings,
        key=(case.id, artifact.sample, card.name),
        schema=SCHEMA,
        repair=card.files.get("repair.md"),
    )
    return asked.value, {
        "model": list(ledger.returned),
        "pictures": [picture.told() for picture in pictures],
        "repaired": asked.repaired,
    }


async def _text(artifact: Artifact) -> str:
    """What can be read on the page; "" where its facts are not there."""
    facts = artifact.facts
    if facts is None:
        return ""
    return (await asyncio.to_thread(lambda: Facts.from_json(facts.read_bytes()))).text


def _question(
    case: Case,
    artifact: Artifact,
    card: Card,
    items: Sequence[Item],
    pictures: Sequence[Prepared],
    text: str,
) -> list[dict[str, Any]]:
    most, nonce = int(card.settings.get("page_characters", 0)), nonce_for(card, artifact)
    page = fill(card, "page.md", {"text": untrusted(text, nonce, most=most)}) if text and most else ""
    slots = {
        "category": case.category,
        "prompt": case.prompt,
        "requirements": "\n".join(map(str, items)),
        "pictures": "\n".join(_told(card, artifact, pictures)),
        "page": page,
        "nonce": nonce,
    }
    return [
        turn("system", fill(card, "system.md", slots)),
        turn("user", fill(card, "user.md", slots), pictures),
    ]


def _told(card: Card, artifact: Artifact, pictures: Sequence[Prepared]) -> list[str]:
    """A line for each picture: what it shows, and how large."""
    lines = []
    for number, picture in enumerate(pictures, 1):
        x, y, width, height = map(str, picture.region)
        slots = {"number": str(number), "x": x, "y": y, "width": width, "height": height}
        lines.append(fill(card, f"{picture.kind}.md", {**slots, "percent": f"{100 * picture.scale:.0f}"}))
    return [*lines, fill(card, "truncated.md", {})] if artifact.truncated else lines
