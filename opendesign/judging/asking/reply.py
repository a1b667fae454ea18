"""Reading a judge's reply, strictly: one JSON object, wherever it stands, and numbers in range."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["Malformed", "json_in", "number", "text_of"]

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.S | re.I)
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.S)


class Malformed(Exception):
    """A reply that cannot be used. Its text is one sentence for the model, to mend the reply by.

    ``reason`` is what the verdict's failure will be where no mended reply comes.
    """

    def __init__(self, told: str, reason: str = "unparsable") -> None:
        super().__init__(told)
        self.reason = reason


def json_in(text: str) -> dict[str, Any]:
    """The JSON object in a reply: the whole of it, else one in a fence, else the last in the prose.

    Raises ``Malformed`` where there is none. ``NaN`` and infinities are no JSON.
    """
    text = _THOUGHT.sub("", text).strip()
    if not text:
        raise Malformed("The reply is empty: answer with the JSON object only.")
    for candidate in (text, *reversed(_FENCE.findall(text))):
        found = _decode(candidate.strip())
        if isinstance(found, dict):
            return found
    last = _last_object(text)
    if last is None:
        raise Malformed("The reply holds no JSON object: answer with the JSON object only.")
    return last


def _refuse(name: str) -> float:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_MOST = 200  # places where an object may begin that are tried


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _last_object(text: str) -> dict[str, Any] | None:
    """The last object that is not inside another: in prose the verdict comes last."""
    found, at, tried = None, text.find("{"), 0
    while at >= 0 and tried < _MOST:
        tried += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found = value if isinstance(value, dict) and value else found
        at = text.find("{", end)
    return found


def number(values: Mapping[str, Any], name: str, low: float, high: float) -> float:
    """The number under ``name``, which may be written as text ("18", "18/30"). Raises ``Malformed``."""
    if name not in values or values[name] is None:
        raise Malformed(f"'{name}' is missing: give a number from {low:g} to {high:g}.")
    value = values[name]
    if isinstance(value, str):
        match = re.fullmatch(rf"\s*(-?\d{{1,9}}(?:\.\d{{1,9}})?)\s*(?:/\s*{high:g}(?:\.0+)?)?\s*", value)
        value = float(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Malformed(f"'{name}' is not a number: give one from {low:g} to {high:g}.")
    try:
        value = float(value)
    except OverflowError:
        value = math.inf
    if not low <= value <= high:  # NaN is in no range
        raise Malformed(f"'{name}' is {value:g}: it must be from {low:g} to {high:g}.", reason="out_of_range")
    return value


def text_of(values: Mapping[str, Any], name: str, most: int = 2_000) -> str:
    """The text under ``name``, one line, at most ``most`` characters; "" where it is missing."""
    value = values.get(name)
    line = " ".join(value.split()) if isinstance(value, str) else ""
    return line if len(line) <= most else line[: most - 1] + "…"
