"""From a card's prompt file to the turns of a chat.

A prompt has named slots, ``{{case}}``, and no logic. What fills a slot is never looked at again, so that text
with ``{{…}}`` in it stays as it is. Text that the page wrote goes in through ``untrusted``: between two marks
with a nonce that the page cannot know, since the page is part of what the nonce is made from.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from opendesign.errors import UsageError

if TYPE_CHECKING:
    from opendesign.types import Artifact, Card

__all__ = ["fill", "nonce_for", "turn", "untrusted"]

_SLOT = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


class Encoded(Protocol):
    """A picture ready to be sent: its bytes and their media type, ``image/jpeg``."""

    @property
    def data(self) -> bytes: ...

    @property
    def media(self) -> str: ...


def fill(card: Card, name: str, slots: Mapping[str, str]) -> str:
    """The card's file of that name with its slots filled, once.

    Raises ``UsageError`` for a file the card lacks and for a slot that nothing fills.
    """
    if name not in card.files:
        raise UsageError(f"The judge card '{card.name}' lacks the file '{name}': copy it from the original.")

    def value(match: re.Match[str]) -> str:
        if match[1] not in slots:
            known = ", ".join(sorted(slots))
            raise UsageError(
                f"{card.path / name}: there is no slot '{match[1]}': the slots are {known or 'none'}."
            )
        return slots[match[1]]

    return _SLOT.sub(value, card.files[name]).strip()


def nonce_for(card: Card, artifact: Artifact, *more: object) -> str:
    """16 hex digits that the page cannot know: made from the card and from the page's own bytes."""
    page = artifact.document.digest if artifact.document else ""
    told = "\0".join((card.hash, page, artifact.case, str(artifact.sample), *map(str, more)))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def untrusted(text: str, nonce: str, *, most: int | None = None) -> str:
    """Text of the page, delimited; at most ``most`` characters of it, with a note of what was left out."""
    if most is not None and len(text) > most:
        text = f"{text[:most]}\n[{len(text) - most} more characters]"
    text = text.replace(nonce, "[…]")  # a page that guesses it cannot close its own mark
    return f"<page-text {nonce}>\n{text}\n</page-text {nonce}>"


def turn(
    role: Literal["system", "user", "assistant"], text: str, pictures: Iterable[Encoded] = ()
) -> dict[str, Any]:
    """One message in OpenAI's form; every picture follows the text as a data URL.

    Half a surrogate pair, which a page can hold and no request can, becomes a question mark.
    """
    text = text.encode("utf-8", "replace").decode("utf-8")
    shown = [
        {
            "type": "image_url",
            "image_url": {"url": f"data:{one.media};base64,{base64.b64encode(one.data).decode('ascii')}"},
        }
        for one in pictures
    ]
    if not shown:
        return {"role": role, "content": text}
    return {"role": role, "content": [{"type": "text", "text": text}, *shown]}
