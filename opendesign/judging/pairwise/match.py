"""What comes of two pages for one case: a look at them in each order, and the match that the looks decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from opendesign.types import Failure, Status, Usage

__all__ = ["Look", "Match", "Outcome", "Side", "decided"]

Side = Literal["first", "second"]
Outcome = Literal["first", "second", "tie"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One question about the pair. ``shown_first`` is the page that stood at place A."""

    shown_first: Side
    better: Outcome
    reasons: tuple[str, ...] = ()
    repaired: str = ""  # what was wrong with the reply before the one that counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Two pages for one case. An unscored match has a failure and no outcome.

    ``looks`` may hold a sound one also where the other failed: it is not asked for again. ``usage`` is of
    this sitting alone.
    """

    case: str
    sample: int
    outcome: Outcome | None = None
    looks: tuple[Look, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    failure: Failure | None = None
    usage: Usage = field(default_factory=Usage)
    varies: Mapping[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        return self.failure.status if self.failure else "ok"

    @property
    def consistent(self) -> bool | None:
        """Whether both orders named the same page (or both a tie); None where they were not both asked."""
        if len(self.looks) != 2:
            return None
        return self.looks[0].better == self.looks[1].better


def decided(looks: Sequence[Look]) -> Outcome:
    """The page that every order names; a tie where they disagree."""
    named = {look.better for look in looks}
    return named.pop() if len(named) == 1 else "tie"
