"""What comes back from a page is data: it is read into nouns, or it is no answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")

LONGEST = 4000  # characters of a text
LARGEST = 1e9  # of a number
_KINDS: dict[str, tuple[type, ...]] = {"str": (str,), "bool": (bool,), "int": (int,), "float": (int, float)}


class Unanswered(Exception):
    """The page did not answer in time, or is gone: a hang, a crash, a closed page."""


class Rubbish(Unanswered):
    """The page's answer is not what our scripts return, whatever the page did to bring that about."""


class PageLeft(Exception):
    """The page went to another document in the middle of a step."""


def read(kind: type[T], value: object) -> T:
    """A flat dataclass of texts, numbers and truths out of a JSON object with exactly these fields."""
    names = fields(kind)  # type: ignore[arg-type]
    if not isinstance(value, Mapping) or len(value) != len(names):
        raise Rubbish(f"no {kind.__name__}: {str(value)[:80]}")
    for field in names:
        found = value.get(field.name)
        if not isinstance(found, _KINDS[str(field.type)]) or not _sound(found, str(field.type)):
            raise Rubbish(f"{kind.__name__}.{field.name} is {str(found)[:80]!r}")
    return kind(**value)


def number(value: object) -> float:
    """A finite number of a sane size."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _sound(value, "float"):
        raise Rubbish(f"no number: {str(value)[:80]!r}")
    return float(value)


def listed(value: object, most: int) -> list[Any]:
    """A list of at most so many."""
    if not isinstance(value, list) or len(value) > most:
        raise Rubbish(f"no list of at most {most}")
    return value


def table(value: object) -> Mapping[str, Any]:
    """A JSON object."""
    if not isinstance(value, Mapping):
        raise Rubbish(f"no object: {str(value)[:80]!r}")
    return value


def _sound(value: Any, kind: str) -> bool:
    if kind == "str":
        return len(value) <= LONGEST
    if isinstance(value, bool):
        return kind == "bool"
    return math.isfinite(value) and abs(value) <= LARGEST
