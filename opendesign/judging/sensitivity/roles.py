"""Which kinds of damage a judge is meant to see."""

from __future__ import annotations

from dataclasses import dataclass

from opendesign.judging.sensitivity.page import table
from opendesign.types import Card


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """``sees``: kinds at which its score is meant to fall; ``resists``: kinds at which not to rise."""

    sees: frozenset[str]
    resists: frozenset[str] = frozenset()


def role_of(card: Card) -> Role:
    """By the card's name, else by its engine, else the one of a judge that nobody described."""
    judges = table()["judges"]
    engine = {"rules": "execution"}.get(card.engine, card.engine)
    found = judges.get(card.name) or judges.get(engine) or table()["unknown"]
    return Role(sees=frozenset(found.get("sees", ())), resists=frozenset(found.get("resists", ())))
