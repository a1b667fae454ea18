"""What the agent says, read strictly: a plan, a word on its last action, the action it wants. Pure.

Every function raises ``Malformed`` with one sentence for the agent; nothing is filled in by a default that
could earn or lose a point.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from opendesign.judging.asking import Malformed, json_in, text_of

__all__ = [
    "PLAN_SCHEMA",
    "TURN_SCHEMA",
    "VERBS",
    "Field",
    "Next",
    "Planned",
    "Turn",
    "Verb",
    "Word",
    "plan_in",
    "turn_in",
]

Verb = Literal["click", "type", "select", "set", "drag", "hover", "press", "wait", "back", "scroll", "finish"]
VERBS: tuple[Verb, ...] = get_args(Verb)
_NEEDS_MARK = ("click", "select", "set", "drag", "hover")
_MOST_KEYS, _MOST_FIELDS, _MOST_TEXT, _FARTHEST = 12, 12, 500, 4_000
_LONGEST_HOLD, _LONGEST_WAIT = 2.0, 10.0  # seconds of page time
_KEYS = {
    "left": "ArrowLeft", "right": "ArrowRight", "up": "ArrowUp", "down": "ArrowDown", "space": " ",
    "spacebar": " ", "": " ", "enter": "Enter", "return": "Enter", "escape": "Escape", "esc": "Escape",
    "tab": "Tab", "backspace": "Backspace", "delete": "Delete", "home": "Home", "end": "End",
    "pageup": "PageUp", "pagedown": "PageDown", "shift": "Shift",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One interaction that the agent wants to try."""

    what: str  # what to do, and on what
    expect: str  # what the page should do then

    def __str__(self) -> str:
        return f"{self.what} → {self.expect}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The agent's judgement of its last action."""

    worked: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field to fill, by its number, with a text."""

    on: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """The action the agent wants next. ``interaction``: the planned one that it serves, from 1.

    ``at`` is a place in the element, as shares of its width and height; ``by`` a way in CSS pixels;
    ``hold_s`` how long each key is held, or how long to wait, in seconds of page time.
    """

    do: Verb
    interaction: int
    on: int | None = None
    fields: tuple[Field, ...] = ()
    submit: int | None = None  # the number of a button; None: Enter
    to: str = ""
    onto: int | None = None
    by: tuple[float, float] | None = None
    at: tuple[float, float] | None = None
    keys: tuple[str, ...] = ()
    hold_s: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One reply: the word on the last action, where there is one, and what to do next."""

    word: Word | None
    next: Next


def plan_in(text: str, *, most: int, least: int = 1) -> tuple[Planned, ...]:
    """The planned interactions, best first: ``least`` or more are wanted, and the first ``most`` are kept."""
    values = json_in(text).get("interactions")
    if not isinstance(values, list) or not values:
        raise Malformed("'interactions' is missing: give a list with at least one interaction.")
    found = []
    for value in values[:most]:
        if not isinstance(value, Mapping):
            raise Malformed("Each of 'interactions' must be an object with 'what' and 'expect'.")
        what, expect = _said(value, "what", 300), _said(value, "expect", 300)
        if not what or not expect:
            raise Malformed("Each of 'interactions' needs the texts 'what' and 'expect'.")
        found.append(Planned(what=what, expect=expect))
    if len(found) < least:
        raise Malformed(f"The plan holds {len(found)} of {least} interactions: give exactly {least}.")
    return tuple(found)


def turn_in(text: str, *, judges: bool, planned: int) -> Turn:
    """One turn's reply. ``judges``: there is an action to judge; ``planned``: how many interactions."""
    values = json_in(text)
    word = _word(values.get("last")) if judges else None
    wanted = values.get("next")
    if not isinstance(wanted, Mapping):
        raise Malformed("'next' is missing: give an object with 'do' and 'for'.")
    return Turn(word=word, next=_next(wanted, planned))


def _word(value: object) -> Word:
    if not isinstance(value, Mapping):
        raise Malformed("'last' is missing: say whether your last action worked, in 'worked', and 'why'.")
    worked = value.get("worked")
    if isinstance(worked, str) and worked.strip().lower() in ("true", "false"):
        worked = worked.strip().lower() == "true"
    if not isinstance(worked, bool):
        raise Malformed("'last.worked' must be true or false.")
    return Word(worked=worked, why=_said(value, "why", 400))


def _next(value: Mapping[str, Any], planned: int) -> Next:
    do = str(value.get("do") or "").strip().lower()
    if do not in VERBS:
        raise Malformed(f"'next.do' must be one of {', '.join(VERBS)}.")
    verb: Verb = do
    on = _mark(value, "on")
    if verb in _NEEDS_MARK and on is None:
        raise Malformed(f"'{verb}' needs 'on': the number of an element in the list.")
    interaction = 0 if verb == "finish" else _interaction(value.get("for"), planned)
    keys = _keys(value.get("keys")) if verb == "press" else ()
    fields = _fields(value, on) if verb == "type" else ()
    to = value.get("to")
    told = _written(to) if isinstance(to, (str, int, float)) else ""
    if verb in ("select", "set") and not told:
        raise Malformed(f"'{verb}' needs 'to': the {'option' if verb == 'select' else 'value'} you want.")
    onto, by = _mark(value, "onto"), _pair(value, "by", -_FARTHEST, _FARTHEST)
    if verb == "drag" and (onto is None) == (by is None):
        raise Malformed("'drag' needs either 'by' ([right, down] in pixels) or 'onto' (a number).")
    return Next(
        do=verb,
        interaction=interaction,
        on=on,
        fields=fields,
        submit=None if str(value.get("submit")).lower() == "enter" else _mark(value, "submit"),
        to=told,
        onto=onto,
        by=by,
        at=_pair(value, "at", 0, 1),
        keys=keys,
        hold_s=_seconds(value, _LONGEST_WAIT if verb == "wait" else _LONGEST_HOLD),
        why=_said(value, "why", 300),
    )


def _said(value: Mapping[str, Any], name: str, most: int) -> str:
    return text_of(value, name, most).encode("utf-8", "replace").decode()


def _written(value: object) -> str:
    """Text for a field or of an option: one that can be typed and stored, half characters left out."""
    return str(value)[:_MOST_TEXT].encode("utf-8", "replace").decode().strip()


def _interaction(value: object, planned: int) -> int:
    number = _whole(value)
    if number is None or not 1 <= number <= planned:
        raise Malformed(f"'next.for' must be the number of a planned interaction, 1 to {planned}.")
    return number


def _mark(value: Mapping[str, Any], name: str) -> int | None:
    raw = value.get(name)
    if raw is None or raw == "":
        return None
    number = _whole(raw)
    if number is None:
        raise Malformed(f"'next.{name}' must be the number of an element in the list.")
    return number


def _whole(value: object) -> int | None:
    """A whole number, also as text: ``3``, ``"3"``, ``"[3]"``."""
    if isinstance(value, str) and (match := re.fullmatch(r"\s*\[?\s*(\d{1,6})\s*\]?\s*", value)):
        return int(match[1])
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        return None
    return int(value) if value == int(value) else None


def _keys(value: object) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not 1 <= len(names) <= _MOST_KEYS:
        raise Malformed(f"'press' needs 'keys': a list of 1 to {_MOST_KEYS} keys.")
    return tuple(_key(name) for name in names)


def _key(name: object) -> str:
    if isinstance(name, str):
        if len(name) == 1 and name.isprintable() and name.isascii():
            return name
        plain = re.sub(r"[\s_-]", "", name.lower()).removeprefix("arrow")
        if name and plain in _KEYS:
            return _KEYS[plain]
        if match := re.fullmatch(r"(?:key|digit)([a-z0-9])", plain):
            return match[1]
    raise Malformed(
        "A key must be a letter, a digit, or one of ArrowLeft, ArrowRight, ArrowUp, ArrowDown, Space, Enter, "
        "Escape, Tab, Backspace, Delete, Home, End, PageUp, PageDown."
    )


def _fields(value: Mapping[str, Any], on: int | None) -> tuple[Field, ...]:
    found = []
    if on is not None:
        text = value.get("text")
        if not isinstance(text, (str, int, float)) or isinstance(text, bool):
            raise Malformed("'type' needs 'text': what to write into the field.")
        found.append(Field(on=on, text=_written(text)))
    more = value.get("fields") or []
    if not isinstance(more, list) or len(more) > _MOST_FIELDS:
        raise Malformed(f"'fields' must be a list of at most {_MOST_FIELDS} objects with 'on' and 'text'.")
    for one in more:
        number = _whole(one.get("on")) if isinstance(one, Mapping) else None
        if number is None or not isinstance(one.get("text"), (str, int, float)):
            raise Malformed("Each of 'fields' needs 'on' (a number of the list) and 'text'.")
        found.append(Field(on=number, text=_written(one["text"])))
    if not found:
        raise Malformed("'type' needs 'on' and 'text', or 'fields' for several at once.")
    return tuple(found)


def _pair(value: Mapping[str, Any], name: str, low: float, high: float) -> tuple[float, float] | None:
    raw = value.get(name)
    if raw is None or raw == []:
        return None
    good = isinstance(raw, list) and len(raw) == 2
    if not good or not all(
        isinstance(n, (int, float)) and not isinstance(n, bool) and low <= n <= high for n in raw
    ):
        raise Malformed(f"'next.{name}' must be two numbers from {low:g} to {high:g}.")
    return float(raw[0]), float(raw[1])


def _seconds(value: Mapping[str, Any], most: float) -> float | None:
    raw = value.get("seconds")
    if raw is None:
        return None
    if isinstance(raw, bool) or not isinstance(raw, (int, float)) or not raw > 0:
        raise Malformed(f"'next.seconds' must be a number above 0, at most {most:g}.")
    return float(min(raw, most))


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_NUMBERS = {"type": ["array", "null"], "items": {"type": "number"}}
_WHOLE = {"type": ["integer", "null"]}
PLAN_SCHEMA = _object({"interactions": {"type": "array", "items": _object({"what": _TEXT, "expect": _TEXT})}})
TURN_SCHEMA = _object(
    {
        "last": {"anyOf": [_object({"why": _TEXT, "worked": {"type": "boolean"}}), {"type": "null"}]},
        "next": _object(
            {
                "why": _TEXT,
                "do": {"type": "string", "enum": list(VERBS)},
                "on": _WHOLE,
                "text": {"type": ["string", "null"]},
                "fields": {
                    "type": ["array", "null"],
                    "items": _object({"on": {"type": "integer"}, "text": _TEXT}),
                },
                "submit": _WHOLE,
                "to": {"type": ["string", "null"]},
                "onto": _WHOLE,
                "by": _NUMBERS,
                "at": _NUMBERS,
                "keys": {"type": ["array", "null"], "items": _TEXT},
                "seconds": {"type": ["number", "null"]},
                "for": _WHOLE,
            }
        ),
    }
)
