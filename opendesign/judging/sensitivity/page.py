"""A good page, and what can be done to it."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.types import Case

if TYPE_CHECKING:
    from opendesign.rendering.facts import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Good:
    """A page that is good as it is. ``other`` is a good page that answers another case."""

    case: Case
    document: str
    other: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A page as it was rendered: its text, what was measured, and its picture (PNG).

    ``moves``: rendered a second time it had another picture, as where something turns or plays.
    """

    document: str
    facts: Facts
    picture: bytes
    moves: bool = False


#: The changed document, or None where the page has nothing that this can happen to; pure, the seed given.
Change = Callable[[Good, random.Random], str | None]
#: Whether the change can be seen as it was meant, between the page before and after.
Seen = Callable[[Shown, Shown], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One way to change a page. ``harmless`` ones leave the picture as it was."""

    name: str
    about: str
    harmless: bool
    change: Change
    seen: Seen

    def of(self, page: Good, seed: int) -> str | None:
        """The changed document of ``page``, or None where this cannot happen to it."""
        changed = self.change(page, random.Random(f"{self.name} {page.case.id} {seed}"))
        return None if changed == page.document else changed


@cache
def table() -> Mapping[str, Any]:
    """``kinds.toml``: what is done, and who is meant to see it."""
    return tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))
