"""The numbered list of what can be operated, as the agent reads it. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from opendesign.judging.probe.plan import Control, read_controls

__all__ = ["Mark", "Numbers", "list_text", "marks_of"]

Place = Literal["here", "above", "below", "aside", "covered"]
_PLACES: dict[str, str] = {
    "above": "above the picture",
    "below": "below the picture",
    "aside": "beside the picture",
    "covered": "covered by something",
}
_ROLES: dict[str, str] = {
    "tab": "tab", "select": "select", "slider": "slider", "details": "disclosure", "link": "link",
    "click": "clickable", "drag": "draggable", "carry": "movable item", "hover": "hover area",
    "canvas": "canvas", "mark": "chart mark",
}  # fmt: skip
_FIELDS: dict[str, str] = {
    "password": "password field", "number": "number field", "search": "search field",
    "date": "date field", "time": "time field", "datetime-local": "date field", "month": "month field",
}  # fmt: skip
_CHART_MARKS = 8  # of a chart's bars and points, so many are listed
_SHOWN_OPTIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One control with its number. ``box``: x, y, width, height in CSS pixels of the viewport."""

    number: int
    control: Control
    role: str
    states: tuple[str, ...] = ()
    value: str = ""
    hint: str = ""
    options: tuple[str, ...] = ()
    chosen: int = -1  # which of the options is selected
    low: float = 0.0
    high: float = 100.0
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    place: Place = "here"

    @property
    def key(self) -> str:
        return self.control.key

    @property
    def label(self) -> str:
        """For a person: ``button 'Add'``."""
        return f"{self.role} '{self.control.name}'" if self.control.name else self.role

    @property
    def line(self) -> str:
        """For the agent, on one line: page text stands in JSON quotes, so that it cannot start another."""
        parts = [f"[{self.number}] {self.role}", _quoted(self.control.name)]
        if self.hint and self.hint != self.control.name:
            parts.append(f"hint {_quoted(self.hint)}")
        if self.value and (self.value != self.control.name or self.role == "slider"):
            parts.append(f"value {_quoted(self.value)}")
        if self.role == "slider":
            parts.append(f"from {self.low:g} to {self.high:g}")
        if self.options:
            more = ["…"] if len(self.options) > _SHOWN_OPTIONS else []
            parts.append(f"options {' | '.join([*map(_quoted, self.options[:_SHOWN_OPTIONS]), *more])}")
        notes = [*self.states, *([_PLACES[self.place]] if self.place != "here" else [])]
        if notes:
            parts.append(f"({', '.join(notes)})")
        return " ".join(parts)


@dataclass(slots=True)
class Numbers:
    """Gives a control the same number each time it is listed, also where the page has drawn it anew.

    It is the same by its role, its name and the how manyth of that name it is; else by its place in the tree,
    for a name that changes as a slider's does that shows its value.
    """

    by_name: dict[tuple[str, str, int], int] = field(default_factory=dict)
    by_place: dict[tuple[str, str], int] = field(default_factory=dict)
    last: int = 0

    def give(self, controls: Sequence[tuple[str, str, str]]) -> list[int]:
        """A number for each (role, name, key) of one look."""
        seen: dict[tuple[str, str], int] = {}
        names = []
        for role, name, _ in controls:
            nth = seen[role, name] = seen.get((role, name), -1) + 1
            names.append((role, name, nth))
        numbers = [self.by_name.get(name) for name in names]
        for index, (role, _, key) in enumerate(controls):
            if numbers[index] is None:
                known = self.by_place.get((role, key))
                numbers[index] = known if known is not None and known not in numbers else self._next()
        given = [number for number in numbers if number is not None]
        self.by_name |= dict(zip(names, given, strict=True))
        self.by_place |= {(role, key): number for (role, _, key), number in zip(controls, given, strict=True)}
        return given

    def _next(self) -> int:
        self.last += 1
        return self.last


def marks_of(
    listing: Mapping[str, Any], described: Sequence[object], numbers: Numbers, most: int
) -> list[Mark]:
    """At most ``most`` marks in document order; what is in the window goes before what is not.

    ``listing`` is the probe's, ``described`` what ``marks.js`` says of each of its controls, in its order.
    """
    kept: list[tuple[Control, str, Mapping[str, Any]]] = []
    charts = 0
    for control, said in zip(read_controls(listing), described, strict=False):
        charts += control.kind == "mark"
        if not isinstance(said, Mapping) or control.link == "outside":
            continue
        if control.kind != "mark" or charts <= _CHART_MARKS:
            kept.append((control, _role(control, str(said.get("role", ""))), said))
    given = numbers.give([(role, control.name, control.key) for control, role, _ in kept])
    found = [_mark(number, *one) for number, one in zip(given, kept, strict=True)]
    near = [mark for mark in found if mark.place in ("here", "covered")][:most]
    far = [mark for mark in found if mark.place not in ("here", "covered")][: most - len(near)]
    shown = {mark.number for mark in (*near, *far)}
    return [mark for mark in found if mark.number in shown]


def list_text(marks: Sequence[Mark], keys: Mapping[str, Any]) -> str:
    """The list, a line for each mark, and which keys the page's scripts seem to wait for."""
    lines = [mark.line for mark in marks]
    names = [name for name in ("arrows", "wasd", "space", "enter") if keys.get(name)]
    if keys.get("listens"):
        lines.append(f"The page listens for keys{': ' + ', '.join(names) if names else ''}.")
    return "\n".join(lines) or "(nothing)"


def _mark(number: int, control: Control, role: str, said: Mapping[str, Any]) -> Mark:
    box = [_number(part) for part in _list(said.get("box"))[:4]]
    place = said.get("place")
    return Mark(
        number=number,
        control=control,
        role=role,
        states=_states(control, [str(state)[:20] for state in _list(said.get("states"))[:8]]),
        value=str(said.get("value") or "")[:60],
        hint=str(said.get("hint") or "")[:60],
        options=tuple(str(option)[:60] for option in _list(said.get("options"))),
        chosen=int(_number(said.get("chosen"), -1)),
        low=_number(said.get("low")),
        high=_number(said.get("high"), 100.0),
        box=(box[0], box[1], box[2], box[3]) if len(box) == 4 else (0.0, 0.0, 0.0, 0.0),
        place=place if place in ("here", *_PLACES) else "here",
    )


def _states(control: Control, said: list[str]) -> tuple[str, ...]:
    """``shown now``: by its looks it is the one of its row that is chosen already."""
    chosen = control.active and not {"selected", "checked", "current"} & set(said)
    return (*said, "shown now") if chosen else tuple(said)


def _role(control: Control, written: str) -> str:
    """One plain word for what it is."""
    if control.kind == "type":
        return _FIELDS.get(control.type, "text field")
    if control.kind == "check":
        return "radio button" if control.type == "radio" else "checkbox"
    if written == "slider":
        return "slider"
    if control.kind == "button":
        return written if written.isalpha() and written != "none" else "button"
    return _ROLES.get(control.kind, "clickable")


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: object, default: float = 0.0) -> float:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else default  # type: ignore[arg-type]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
