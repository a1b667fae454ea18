"""Thirty pages whose controls work, and their twins, which look the same but do not react.

A page is written once. Where the two differ it says ``/*live*/…/*or*/…/*end*/``; everything else, the look,
the markup, the page's own motion and what a browser does by itself, is common to both.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from opendesign.types import Case, Requirement

HERE = Path(__file__).parent
_CHOICE = re.compile(r"/\*live\*/(.*?)/\*or\*/(.*?)/\*end\*/", re.DOTALL)


@cache
def _cases() -> dict[str, dict[str, Any]]:
    return tomllib.loads((HERE / "cases.toml").read_text(encoding="utf-8"))


def names() -> list[str]:
    """The names of the pages, by category as ``cases.toml`` lists them."""
    return list(_cases())


def source(name: str) -> str:
    """The page as it was written, with both sides of every difference."""
    return (HERE / "pages" / f"{name}.html").read_text(encoding="utf-8")


def document(name: str, live: bool) -> str:
    """The page that works, or the one whose controls are dead."""
    return _CHOICE.sub(lambda found: found.group(1 if live else 2), source(name))


def case(name: str) -> Case:
    """What a user asked for. Every requirement is about behaviour."""
    made = _cases()[name]
    return Case(
        id=f"pair-{name}",
        category=made["category"],
        prompt=made["prompt"],
        language=made.get("language", "en"),
        requirements=tuple(Requirement(kind="behaviour", text=text) for text in made["behaviour"]),
    )
