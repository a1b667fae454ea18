"""What one measure gives: a number and what to say about it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opendesign.rendering.facts import Box, Facts, TextBox

Settings = Mapping[str, Any]  # one measure's table in the card


@dataclass(frozen=True, slots=True)
class Reading:
    """A measure on one page: 0–100, sentences that say what to mend (worst first), numbers behind it."""

    score: float
    reasons: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


def seen(facts: Facts) -> list[TextBox]:
    """The texts a person can read, those in their background's colour included."""
    return [t for t in facts.texts if t.hidden in (None, "same_colour") and not t.covered]


def quote(text: str, length: int = 40) -> str:
    """An excerpt in quotes, for a sentence."""
    return f"“{text[: length - 1].rstrip()}…”" if len(text) > length else f"“{text}”"


def mean(values: Iterable[tuple[float, float]]) -> float:
    """Weighted mean of (value, weight) pairs; 0 where there is no weight."""
    total = weight = 0.0
    for value, part in values:
        total += value * part
        weight += part
    return total / weight if weight else 0.0


def saturating(amount: float, half: float) -> float:
    """0 for nothing, 1/2 for ``half``, towards 1 for ever; strictly rising."""
    return amount / (amount + half)


def per_fault(faults: float, things: float, share: float) -> float:
    """100 for no fault, 50 where ``faults`` are 1 + ``share`` of the ``things``, towards 0 for more.

    One fault is seen on a long page too, and a second one is worse than the first alone.
    """
    return 100.0 / (1.0 + faults / (1.0 + share * things))


def decay(amount: float, free: float, scale: float) -> float:
    """1 up to ``free``, then falling by a factor e each ``scale``."""
    return math.exp(-max(0.0, amount - free) / scale)


def crossing(one: Box, other: Box) -> tuple[float, float]:
    """Width and height of what two boxes share; not above 0 where they share nothing."""
    return (
        min(one.right, other.right) - max(one.x, other.x),
        min(one.bottom, other.bottom) - max(one.y, other.y),
    )
