"""From the action an agent asks for to one that can be done, again and again: a deed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from opendesign.judging.change import Action
from opendesign.judging.interactive.marks import Mark
from opendesign.judging.interactive.replies import Next, Verb

__all__ = ["AgentError", "Deed", "Entry", "deed_of"]

_SUBMITS = ("button", "click", "link", "tab")


class AgentError(Exception):
    """The agent asked for what cannot be: one sentence for the agent, without text of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A value for a field: ``moves`` options down in a select (up, where negative), ``share`` of a slider."""

    mark: Mark
    text: str
    moves: int = 0
    share: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """One action on the page. The same page in the same state reacts to it the same way.

    ``entries`` are the values that ``type``, ``select`` and ``set`` give; other fields as in ``Next``.
    """

    do: Verb
    interaction: int = 0
    mark: Mark | None = None
    entries: tuple[Entry, ...] = ()
    submit: Mark | None = None
    onto: Mark | None = None
    to: str = ""
    by: tuple[float, float] | None = None
    at: tuple[float, float] | None = None
    keys: tuple[str, ...] = ()
    hold_s: float | None = None

    @property
    def action(self) -> Action | None:
        """What it counts as where changes are judged; None for what only moves the window or the clock."""
        control = self.mark.control if self.mark else None
        if self.do == "scroll":
            return "wheel" if control else None
        if self.do == "click" and control is not None:
            if control.kind == "check":
                return "check"
            return "jump" if control.link == "section" else "link" if _leads_on(self.mark) else "click"
        if self.do == "type":
            return "form" if self.submit else "type"
        if self.do == "drag":
            carried = self.onto is not None or (control is not None and control.kind == "carry")
            return "carry" if carried else "drag"
        if self.do == "set" and control is not None and control.kind != "slider":
            return "drag"  # a slider made of script: nothing moves by itself
        known: dict[Verb, Action] = {"select": "select", "set": "slide", "hover": "hover", "press": "keys"}
        return "link" if self.do == "back" else known.get(self.do)

    @property
    def key(self) -> str | None:
        """The element that the changes are seen from."""
        on = self.submit or self.mark
        return on.key if on else None

    @property
    def label(self) -> str:
        """For a person: ``click [3] button 'Add'``."""
        on = f" [{self.mark.number}] {self.mark.label}" if self.mark else ""
        if self.do == "type":
            written = ", ".join(f"'{e.text}' into [{e.mark.number}] {e.mark.label}" for e in self.entries)
            how = f"press [{self.submit.number}] {self.submit.label}" if self.submit else "press Enter"
            return f"type {written} and {how}"
        if self.do == "drag":
            where = f"onto [{self.onto.number}] {self.onto.label}" if self.onto else f"by {self.by}"
            return f"drag{on} {where}"
        if self.do == "press":
            keys = ", ".join("Space" if key == " " else key for key in self.keys)
            return f"press {keys}{' on' + on if on else ''}"
        if self.do == "wait":
            return f"wait {self.hold_s or 1:g} s"
        place = f" at {self.at}" if self.at else ""
        return f"{self.do}{on}{place}{' to ' + repr(self.to) if self.to else ''}"


def deed_of(wanted: Next, marks: Mapping[int, Mark]) -> Deed:
    """The deed for an action that fits what is listed. Raises ``AgentError`` for one that does not."""
    mark = _listed(wanted.on, marks) if wanted.on is not None else None
    submit = _listed(wanted.submit, marks) if wanted.submit is not None and wanted.do == "type" else None
    deed = Deed(
        do=wanted.do,
        interaction=wanted.interaction,
        mark=mark,
        submit=submit,
        onto=_listed(wanted.onto, marks) if wanted.onto is not None else None,
        to=wanted.to,
        by=wanted.by,
        at=wanted.at,
        keys=wanted.keys,
        hold_s=wanted.hold_s,
    )
    if wanted.do == "type":
        return _typed(deed, [(_listed(field.on, marks), field.text) for field in wanted.fields])
    return deed if mark is None else _fitting(deed, mark)


def _number_in(text: str) -> float | None:
    """The number a person wrote for a slider, with or without a unit: ``40``, ``40 %``, ``$40``."""
    kept = "".join(c for c in text if c.isdigit() or c in ".-")
    try:
        return float(kept)
    except ValueError:
        return None


def _listed(number: int, marks: Mapping[int, Mark]) -> Mark:
    if number not in marks:
        raise AgentError(f"There is no [{number}] in the list now: name an element by a number of the list.")
    return marks[number]


def _leads_on(mark: Mark | None) -> bool:
    """A link that would lead to another document, or nowhere, and no script of its own."""
    assert mark is not None
    control = mark.control
    return bool(control.link) and not (control.link in ("nowhere", "missing") and control.clicked)


def _fitting(deed: Deed, mark: Mark) -> Deed:
    kind = mark.control.kind
    if deed.do == "click" and kind == "select":
        raise AgentError(f"[{mark.number}] is a list of options: use 'select' with the option in 'to'.")
    if deed.do == "select":
        if kind != "select":
            raise AgentError(f"[{mark.number}] is a {mark.role} and has no options to select: click it.")
        return replace(deed, entries=(_entry(mark, deed.to, again=False),))
    if deed.do == "set":
        if kind == "type":
            return _typed(replace(deed, do="type"), [(mark, deed.to)])
        if mark.role != "slider":
            raise AgentError(f"[{mark.number}] is a {mark.role} and cannot be set to a value.")
        return replace(deed, entries=(_entry(mark, deed.to),))
    return deed


def _typed(deed: Deed, values: list[tuple[Mark, str]]) -> Deed:
    if deed.submit is not None and deed.submit.control.kind not in _SUBMITS:
        raise AgentError(f"[{deed.submit.number}] is a {deed.submit.role} and submits nothing.")
    return replace(deed, mark=values[-1][0], entries=tuple(_entry(mark, text) for mark, text in values))


def _entry(mark: Mark, text: str, *, again: bool = True) -> Entry:
    """``again``: whether it may have that value already."""
    kind = mark.control.kind
    if kind == "select":
        return Entry(mark=mark, text=text, moves=_moves(mark, text, again))
    if mark.role == "slider":
        return Entry(mark=mark, text=text, share=_share(mark, text))
    if kind not in ("type", "check"):
        raise AgentError(f"[{mark.number}] is a {mark.role} and takes no text: click it instead.")
    return Entry(mark=mark, text=text)


def _moves(mark: Mark, option: str, again: bool) -> int:
    """How many options to go down to the wanted one."""
    wanted = option.casefold().strip()
    names = [name.casefold() for name in mark.options]
    found = [i for i, name in enumerate(names) if name == wanted] or [
        i for i, name in enumerate(names) if wanted and name.startswith(wanted)
    ]
    if not found:
        raise AgentError(f"[{mark.number}] has no such option: name one of the options in the list.")
    if found[0] == mark.chosen and not again:
        raise AgentError(f"[{mark.number}] shows that option already: select another one.")
    return found[0] - mark.chosen if mark.chosen >= 0 else found[0] + 1


def _share(mark: Mark, value: str) -> float:
    wanted = _number_in(value)
    if wanted is None or mark.high <= mark.low:
        raise AgentError(f"[{mark.number}] needs a number in 'to', {mark.low:g} to {mark.high:g}.")
    return min(1.0, max(0.0, (wanted - mark.low) / (mark.high - mark.low)))
