"""The talk with the agent's model: prompts out of the card, a bounded number of calls and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from opendesign.errors import Failed
from opendesign.judging.asking import Ledger, Malformed, ask, fill, nonce_for, turn, untrusted
from opendesign.judging.interactive.drawing import Picture
from opendesign.types import Artifact, Card, Case

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["Talk"]

T = TypeVar("T")
_MENDABLE = ("unparsable", "out_of_range")


class Talk:
    """Calls of one visit. ``remembers``: every call repeats all turns before it, with their pictures.

    ``errors`` are the agent's own, in order: each is told to it in the next call, and none is the page's.
    """

    def __init__(
        self,
        case: Case,
        artifact: Artifact,
        card: Card,
        model: Model,
        *,
        calls: int,
        interactions: int,
        remembers: bool = False,
    ) -> None:
        self.card, self.model, self.calls_left = card, model, calls
        self.ledger = Ledger()
        self.errors: list[str] = []
        self.pictures = 0
        self.bytes = 0  # of the pictures sent, as encoded for the request
        self._nonce = nonce_for(card, artifact)
        self._key = (case.id, artifact.sample, card.name)
        self._remembers = remembers
        self._turns: list[dict[str, Any]] = []
        self._problem = ""
        self._case = {
            "case": case.prompt,
            "category": case.category,
            "requirements": "\n".join(f"- {r.text}" for r in case.requirements if r.kind == "behaviour")
            or "- none stated",
            "interactions": str(interactions),
            "nonce": self._nonce,
            "actions": fill(card, "actions.md", {}),
        }

    def quoted(self, text: str) -> str:
        """Text that the page wrote, or that somebody wrote who has read the page: delimited."""
        return untrusted(text, self._nonce, most=12_000)

    def wrong(self, problem: str) -> None:
        """Count an error of the agent's own; ``problem`` is told to it, and holds no text of the page."""
        self.errors.append(problem)
        self._problem = problem

    async def ask(
        self,
        prompt: str,
        slots: Mapping[str, str],
        pictures: Sequence[Picture],
        parse: Callable[[str], T],
        schema: Mapping[str, Any],
    ) -> T | None:
        """What the reply to the card's ``prompt`` says; None where it cannot be read, an agent's error.

        Raises ``Failed`` for every other failure of the call.
        """
        self.calls_left -= 1
        problem = fill(self.card, "error.md", {"problem": self._problem}) if self._problem else ""
        self._problem = ""
        text = fill(self.card, prompt, {**self._case, **slots, "problem": problem})
        system = turn("system", fill(self.card, "system.md", self._case))
        asked = turn("user", text, pictures)
        messages = [system, *self._turns, asked]
        self._count(messages)
        number = self.ledger.calls
        try:
            reply = await ask(
                self.model, messages, parse, ledger=self.ledger, settings=self.card.settings,
                key=(*self._key, number), schema=schema,
            )  # fmt: skip
        except Failed as error:
            if not isinstance(error.__cause__, Malformed) or error.failure.reason not in _MENDABLE:
                raise
            self.wrong(str(error.__cause__))
            self._remember(asked, "(a reply that could not be read)")
            return None
        self._remember(asked, reply.text)
        return reply.value

    def _remember(self, asked: dict[str, Any], said: str) -> None:
        if self._remembers:
            # Its own words quote the page's, and would otherwise come back outside of the slot.
            self._turns += [asked, turn("assistant", self.quoted(said))]

    def _count(self, messages: Sequence[Mapping[str, Any]]) -> None:
        for message in messages:
            for part in message["content"] if isinstance(message["content"], list) else []:
                if part["type"] == "image_url":
                    self.pictures += 1
                    self.bytes += len(part["image_url"]["url"])
