"""What to operate: ranks the page's controls for a case and picks N interactions. Pure and deterministic.

Rank follows what a person asked to try the page would reach for first: what the case's behaviour
requirements name, then what starts things, then kinds of control in the order of ``BASE``; the second of a
kind or of a row counts less than the first of another, so that the plan is spread over the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from opendesign.judging.change import Action
from opendesign.judging.probe.keys import key_steps
from opendesign.judging.probe.steps import Control, Step, read_controls
from opendesign.types import Case

__all__ = ["Control", "Step", "plan", "read_controls"]

BASE: dict[str, float] = {
    "form": 8, "button": 7, "tab": 7, "select": 7, "slider": 7, "check": 6, "details": 6, "type": 6,
    "click": 6, "drag": 6, "carry": 6, "hover": 6, "canvas": 5, "link": 4, "mark": 1,
}  # fmt: skip
_ACTIONS: dict[str, Action] = {
    "tab": "click", "button": "click", "details": "click", "click": "click", "check": "check",
    "select": "select", "slider": "slide", "type": "type", "drag": "drag", "carry": "carry",
    "hover": "hover", "mark": "hover",
}  # fmt: skip
START = re.compile(
    r"^\W*(start|play|begin|new game|launch|let'?s go|go)\b|\b(start|play) (the )?(game|now)\b", re.I
)
#: Starting anew or taking back shows nothing before something was done.
_ANEW = re.compile(
    r"\b(new (game|round|match|board)|play again|rematch|re ?start|reset|clear|undo|redo|take back)\b", re.I
)
_WEAK_NAME = re.compile(
    r"\b(close|cancel|delete|remove|prev|previous|back|decrease|minus|log ?out|stop|"
    r"pause|download|export|print|share|full ?screen|mute|sound|sign in with)\b|^[-−‹«<←×✕x]$"
    r"|^([.,=%±÷*/⌫]|0+|\+/[-−]|AC?|CE|DEL)$",  # of a calculator: nothing to see before a number is there
    re.I,
)
_HINTS: tuple[tuple[re.Pattern[str], tuple[str, ...], float], ...] = (
    (re.compile(r"hover|tooltip|pointing at", re.I), ("hover", "mark"), 4),
    (re.compile(r"drag|rotat|orbit|spin|turn", re.I), ("drag",), 3),
    (re.compile(r"reorder|drag and drop|drag-and-drop", re.I), ("carry",), 3),
    (re.compile(r"filter|sort|select|dropdown|drop-down", re.I), ("select",), 2),
    (re.compile(r"slider|range", re.I), ("slider",), 3),
    (re.compile(r"\bform\b|submit|subscribe|contact|sign ?up|register", re.I), ("form",), 3),
    (re.compile(r"search|type|enter", re.I), ("type",), 2),
    (re.compile(r"\btabs?\b", re.I), ("tab",), 2),
    (re.compile(r"accordion|expand|collapse|faq", re.I), ("details",), 2),
    (re.compile(r"\bkeys?\b|keyboard|arrow", re.I), ("keys",), 2),
    (re.compile(r"zoom|wheel|scroll", re.I), ("wheel",), 2),
)
_STOP = frozenset(
    re.findall(
        r"\w+",
        "the a an and or of to in on for with when that this its it is are be by as at from page user click "
        "clicking clicked press pressing pressed button shows show should must can into each every all one",
    )
)


def plan(listing: Mapping[str, Any], case: Case, count: int) -> list[Step]:
    """At most ``count`` steps in the order in which to take them; empty where nothing can be operated."""
    controls = read_controls(listing)
    options = _of_controls(controls, case) + key_steps(listing, controls, case)
    wanted = _wanted(case)
    options = [replace(option, score=_score(option, case, wanted)) for option in options]
    options = _not_the_first(_without_idle_links(options, case))
    chosen: list[Step] = []
    left = list(options)
    while len(chosen) < count and left:
        best = max(left, key=lambda option: (_worth(option, chosen), -left.index(option)))
        left.remove(best)
        chosen.append(best)
    for variant in range(1, count):  # fewer controls than interactions: operate them again, another way
        for step in sorted((s for s in chosen if s.variant == 0), key=lambda s: -s.score):
            if len(chosen) < count and chosen:
                chosen.append(_again(step, variant))
    return sorted(chosen, key=lambda step: (not step.opens, step.variant, _is_anew(step), -step.score))


def _of_controls(controls: Sequence[Control], case: Case) -> list[Step]:
    usable = [c for c in controls if not c.disabled and c.link != "outside"]
    forms = {c.form for c in usable if c.form and (c.kind == "type" or c.type == "radio")}
    buttons = {c.form for c in usable if c.form in forms and c.submit}
    rows = Counter(c.group for c in usable if c.kind in ("button", "click"))
    board = any(many >= 9 for many in rows.values())  # is played as it lies there
    options = []
    for control in usable:
        base = BASE[control.kind]
        if control.form in forms and control.submit:
            options.append(Step(action="form", kind="form", score=BASE["form"], control=control))
        elif control.kind == "link":
            script = control.link in ("nowhere", "missing") and control.clicked
            base = 6 if script else base if control.link in ("section", "view") else 3
            action: Action = "jump" if control.link == "section" else "link"
            options.append(
                Step(action="click" if script else action, kind="link", score=base, control=control)
            )
        elif control.kind == "canvas":
            options += _of_canvas(control, case)
        else:
            if (
                control.form in buttons
                and not control.near
                and control.kind in ("type", "check", "select", "slider")
            ):
                base = 1  # part of the form, which is filled as a whole
            opens = (
                control.kind in ("button", "click")
                and case.category == "game"
                and bool(START.search(control.name))
                and not (board and _ANEW.search(control.name))
            )
            options.append(
                Step(
                    action=_ACTIONS[control.kind],
                    kind=control.kind,
                    score=base + 6 * opens,
                    control=control,
                    opens=opens,
                )
            )
    return options


def _of_canvas(control: Control, case: Case) -> list[Step]:
    if control.width * control.height < 10_000:
        return []
    options = []
    if case.category == "3d" or control.dragged:
        options.append(
            Step(action="drag", kind="drag", score=9 if case.category == "3d" else 6, control=control)
        )
    if control.wheel:
        options.append(Step(action="wheel", kind="wheel", score=5, control=control))
    if case.category == "dataviz" or control.pointed:
        options.append(
            Step(action="hover", kind="hover", score=7 if case.category == "dataviz" else 4, control=control)
        )
    if control.clicked or (case.category == "game" and control.heard):
        options.append(Step(action="click", kind="canvas", score=6, control=control))
    return options


def _wanted(case: Case) -> tuple[frozenset[str], frozenset[str]]:
    """Words of the behaviour requirements, and words of the prompt."""
    required = " ".join(r.text for r in case.requirements if r.kind == "behaviour")
    return _words(required), _words(case.prompt)


def _words(text: str) -> frozenset[str]:
    return frozenset(
        w.rstrip("s")
        for w in re.findall(r"\w{2,}", text.lower())
        if w.rstrip("s") not in _STOP and w not in _STOP
    )


def _score(step: Step, case: Case, wanted: tuple[frozenset[str], frozenset[str]]) -> float:
    score = step.score
    required = " ".join(r.text for r in case.requirements if r.kind == "behaviour")
    for pattern, kinds, bonus in _HINTS:
        if step.kind in kinds and pattern.search(required or case.prompt):
            score += bonus
    if case.category == "dataviz" and step.kind in ("hover", "mark"):
        score += 2
    control = step.control
    if control is None or step.keys:
        return score
    name = _words(control.name)
    score += min(4, 2 * len(name & wanted[0])) + min(1, len(name & wanted[1]))
    score += min(1.0, control.width * control.height / 20_000)
    weak = _WEAK_NAME.search(control.name) or _is_anew(step)
    if weak and step.action not in ("form", "check", "drag", "wheel", "hover"):
        score -= 4
    if not control.name and step.action == "click":
        score -= 1
    if control.active and not step.opens:
        score -= 6
    if control.nav and step.kind == "link":
        score -= 1
    if control.y > 960:
        score -= 1
    return score


def _is_anew(step: Step) -> bool:
    """Whether it starts anew or takes back, which shows nothing before something was done."""
    return not step.opens and step.control is not None and bool(_ANEW.search(step.control.name))


def _without_idle_links(options: Sequence[Step], case: Case) -> list[Step]:
    """Links that lead nowhere are left out where there is more to try and the case asks for no navigation."""
    required = " ".join(r.text for r in case.requirements if r.kind == "behaviour")
    others = [option for option in options if option.action != "link"]
    if not others or re.search(r"\bnav|link|section|anchor|menu", required, re.IGNORECASE):
        return list(options)
    return others


def _not_the_first(options: Sequence[Step]) -> list[Step]:
    """The first of a row is often what is shown already (a tab, a colour, an open answer): a little less."""
    rows: dict[str, int] = {}
    for option in options:
        if option.control and option.action == "click":
            rows[option.control.group] = rows.get(option.control.group, 0) + 1
    found, seen = [], set()
    for option in options:
        row = option.control.group if option.control and option.action == "click" else ""
        first = bool(row) and rows[row] > 1 and row not in seen and not option.opens
        seen.add(row)
        found.append(replace(option, score=option.score - 0.4) if first else option)
    return found


def _worth(step: Step, chosen: Sequence[Step]) -> float:
    """Score of a step beside those chosen: the second of a row, of a kind, of a control counts less."""
    worth = step.score
    for other in chosen:
        worth -= 8 if step.opens and other.opens else 0  # what runs already is not started again
        if step.kind == other.kind:
            worth -= 1 if step.keys else 1.5
        if step.control and other.control and not step.keys and not other.keys:
            worth -= 3 if step.control.group == other.control.group else 0
            worth -= 2 if step.control.key == other.control.key else 0
    return worth


def _again(step: Step, variant: int) -> Step:
    keys = step.keys * (variant + 1) if len(step.keys) == 1 else step.keys[:: -1 if variant % 2 else 1]
    return replace(step, variant=variant, keys=keys, opens=False)
