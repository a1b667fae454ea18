"""Reading a judge's reply, strictly: one JSON object, wherever it stands, and numbers in range."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["Malformed", "json_in", "number", "text_of"]

_THOUGHTS = ("think", "thinking", "reasoning")
_BEGIN = re.compile(r'\{\s*["}]')  # an object of JSON; the rules of a style sheet begin otherwise
#: What stands before an object that is a part of another: of a broken one such a part is no verdict.
_WITHIN = re.compile(r'(?:"\s*:|\[|["}\]\w]\s*,)\s*\Z')
_MOST = 500  # places where an object may begin that are tried


class Malformed(Exception):
    """A reply that cannot be used. Its text is one sentence for the model, to mend the reply by.

    ``reason`` is what the verdict's failure will be where no mended reply comes.
    """

    def __init__(self, told: str, reason: str = "unparsable") -> None:
        super().__init__(told)
        self.reason = reason


class _NotFinite(ValueError):
    """``NaN`` or an infinity, which Python's decoder would take."""


def json_in(text: str) -> dict[str, Any]:
    """The JSON object in a reply: the whole of it, else the last one in the prose, in a fence or not.

    What a model thinks aloud between ``<think>`` marks is no part of its reply. Raises ``Malformed`` where
    there is no object, or the last one is cut off. ``NaN`` and infinities are no JSON; line breaks within a
    text are let pass.
    """
    text = _spoken(text).strip()
    if not text:
        raise Malformed("The reply is empty: answer with the JSON object only.")
    if text.startswith("{"):
        try:
            whole: dict[str, Any] = _DECODER.decode(text)
        except _NotFinite as error:
            raise Malformed(f"The reply holds {error}: give numbers only.") from None
        except (ValueError, RecursionError):
            pass
        else:
            return whole
    return _last_object(text)


def _spoken(text: str) -> str:
    """The text without thoughts; one that is never closed is left, since the reply may be in it."""
    for name in _THOUGHTS:
        begin, end = f"<{name}>", f"</{name}>"
        kept, at = [], 0
        while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start)) >= 0:
            kept.append(text[at:start])
            at = stop + len(end)
        text = "".join((*kept, text[at:]))
    return text


def _refuse(name: str) -> float:
    raise _NotFinite(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse, strict=False)


def _last_object(text: str) -> dict[str, Any]:
    """The last object that is not inside another: in prose the verdict comes last."""
    found: dict[str, Any] | None = None
    match, tried, broken = _BEGIN.search(text), 0, False
    while match and tried < _MOST:
        tried += 1
        try:
            value, end = _DECODER.raw_decode(text, match.start())
            inside = broken and _WITHIN.search(text[max(0, match.start() - 40) : match.start()])
            found = found if inside else value or found
        except _NotFinite as error:
            raise Malformed(f"The reply holds {error}: give numbers only.") from None
        except json.JSONDecodeError as error:
            if _cut(error, text):
                raise Malformed("The JSON object of the reply is cut off: answer with all of it.") from None
            end, broken = match.start() + 1, True
        except (ValueError, RecursionError):
            end, broken = match.start() + 1, True
        match = _BEGIN.search(text, end)
    if found is None:
        raise Malformed("The reply holds no sound JSON object: answer with the JSON object only.")
    return found


def _cut(error: json.JSONDecodeError, text: str) -> bool:
    """Whether the text ended before the object did: what is inside it then is no verdict."""
    return error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip())


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
