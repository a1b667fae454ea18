"""Scripted agents for the interactive judge, and how to run it against one over real HTTP.

``claims_success(request)`` reads the list out of the request, plans from it, uses the right verb for each
role, and says of every action that it worked. What a page then earns is what was measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from opendesign.answering.models import close_models, resolve
from opendesign.answering.retry import RetryPolicy
from opendesign.judging.cards import read_card
from opendesign.judging.interactive import judge
from opendesign.rendering import Renderer
from opendesign.testing import ScriptedReply, ScriptedRequest, ScriptedServer
from opendesign.types import Artifact, Blob, Card, Case, Verdict

JUDGES = Path(__file__).parents[2] / "judges"
CARD = read_card(JUDGES / "interactive")
QUICK = RetryPolicy(attempts=2, first_s=0.01, longest_s=0.05, total_s=60)
_LINE = re.compile(r'^\[(\d+)\] ([a-z ]+?) "((?:[^"\\]|\\.)*)"( .*)?$', re.M)
_WEAK = re.compile(
    r"\b(reset|clear|close|cancel|delete|remove|prev|previous|back|log ?out|stop|pause)\b|^\W$", re.I
)
_START = re.compile(r"\b(start|play|begin|new game|launch|go)\b", re.I)
_TURNED = re.compile(r"drag|rotat|orbit|\bturn|look around|拖|旋转", re.I)
_CLICKED = re.compile(r"\bclick|\btap|点击", re.I)
_POINTED = re.compile(r"hover|\bpoint|mouse|moving over|tooltip|crosshair", re.I)
_LETTERS = re.compile(r"\b([A-Z]) and [A-Z]\b")
FIELDS = (
    "text field",
    "search field",
    "number field",
    "password field",
    "date field",
    "time field",
    "month field",
)


@dataclass(frozen=True)
class Listed:
    """A line of the list that the agent is shown."""

    number: int
    role: str
    name: str
    rest: str

    @property
    def options(self) -> list[str]:
        found = re.search(r"options ((?:\"(?:[^\"\\]|\\.)*\"(?: \| )?)+)", self.rest)
        return [str(json.loads(part)) for part in re.findall(r'"(?:[^"\\]|\\.)*"', found[1])] if found else []

    @property
    def value(self) -> str:
        found = re.search(r'value ("(?:[^"\\]|\\.)*")', self.rest)
        return str(json.loads(found[1])) if found else ""

    def says(self, *states: str) -> bool:
        notes = re.search(r"\(([^()]*)\)$", self.rest)
        return bool(notes and set(states) & set(notes[1].split(", ")))


def listed(prompt: str) -> list[Listed]:
    return [Listed(int(m[1]), m[2], json.loads(f'"{m[3]}"'), m[4] or "") for m in _LINE.finditer(prompt)]


def is_plan(request: ScriptedRequest) -> bool:
    return '{"interactions"' in request.prompt


def judges_last(request: ScriptedRequest) -> bool:
    return "Your last action:" in request.prompt


def steps_done(request: ScriptedRequest) -> int:
    """How many actions the prompt says were done."""
    return max((int(n) for n in re.findall(r"^(\d+)\. for interaction", request.prompt, re.M)), default=0)


def turn(do: str, number: int = 1, *, worked: bool | None = True, **more: Any) -> str:
    """A reply; ``worked`` None leaves the word on the last action out."""
    last = None if worked is None else {"why": "It did.", "worked": worked}
    return json.dumps({"last": last, "next": {"do": do, "for": number, **more}})


def plan(count: int = 3, what: str = "operate it") -> str:
    one = {"what": what, "expect": "it reacts"}
    return json.dumps({"interactions": [one] * count})


def claims_success(request: ScriptedRequest) -> str:
    """Plans the N most promising elements, takes one action for each, and claims that each worked."""
    if is_plan(request):
        return json.dumps({"interactions": [_planned(action) for action in _actions(request)]})
    wanted = [json.loads(found) for found in re.findall(r"^\d+\. (\{.*?\}) →", request.prompt, re.M)]
    done = [int(found) for found in re.findall(r"for interaction (\d+):", request.prompt)]
    return _acts(request, wanted, max(done, default=0) + 1)


def claims_success_on_paper(request: ScriptedRequest) -> str:
    """The same for the paper's loop, where plan and actions stand in the turns before, not in the prompt."""
    turns = [turn["content"] for turn in request.body["messages"] if turn["role"] == "assistant"]
    said = [text.split("\n")[1] for text in turns]  # each stands between two marks
    plans = [reply for reply in said if reply.startswith('{"interactions"')]
    if is_plan(request):
        return plans[-1] if plans else json.dumps({"interactions": [*map(_planned, _actions(request))]})
    wanted = [json.loads(one["what"]) for one in json.loads(plans[-1])["interactions"]]
    return _acts(request, wanted, len(said) - len(plans) + 1)


def _acts(request: ScriptedRequest, wanted: list[dict[str, Any]], number: int) -> str:
    """The action for that interaction, or the end where there is none."""
    last = {"why": "It reacted as expected.", "worked": True} if judges_last(request) else None
    if number > len(wanted):
        return json.dumps({"last": last, "next": {"do": "finish"}})
    return json.dumps({"last": last, "next": {**_now(wanted[number - 1], request), "for": number}})


def _now(action: dict[str, Any], request: ScriptedRequest) -> dict[str, Any]:
    """The planned action, or another one where what it needs is not there any more."""
    here = {one.number for one in listed(request.prompt) if not one.says("disabled", "covered by something")}
    needed = {action["on"]} if "on" in action else {field["on"] for field in action.get("fields", [])}
    if action["do"] == "set" and needed <= here:  # it may stand there already
        slider = next(one for one in listed(request.prompt) if one.number == action["on"])
        return {**action, "to": _far_value(slider)} if slider.role == "slider" else action
    if needed <= here:
        return action
    used = {int(found) for found in re.findall(r"for interaction \d+: [^\n]*?\[(\d+)\]", request.prompt)}
    others = [other for other in _actions(request) if other.get("on") not in used]
    return (others or [action])[0]


def _planned(action: dict[str, Any]) -> dict[str, str]:
    return {"what": json.dumps(action), "expect": "the page reacts"}


Option = tuple[float, dict[str, Any]]


def _actions(request: ScriptedRequest) -> list[dict[str, Any]]:
    """N actions, the most promising first; the second of a kind counts less than the first of another."""
    prompt = request.prompt
    category = (re.search(r"made for \((\w+)\)", prompt) or ["", ""])[1]
    wish = prompt.partition("made for (")[2].partition("What can be operated")[0]
    found = _of_list(listed(prompt), category, wish) + _of_keys(prompt, category, wish)
    chosen: list[Option] = []
    while found and len(chosen) < 3:
        best = max(found, key=lambda o: o[0] - 1.5 * sum(o[1]["do"] == c["do"] for _, c in chosen))
        found.remove(best)
        chosen.append(best)
    again = [option for option in chosen if option[1]["do"] not in ("select", "type")] or chosen
    while again and len(chosen) < 3:
        chosen.append(again[len(chosen) % len(again)])
    # What starts things goes first; what narrows the page down (a search, an option) goes last.
    chosen.sort(key=lambda o: (not o[1].get("opens"), o[1]["do"] in ("type", "select")))
    return [{name: value for name, value in action.items() if name != "opens"} for _, action in chosen]


def _of_list(lines: list[Listed], category: str, wish: str) -> list[Option]:
    found: list[Option] = []
    taken: set[int] = set()  # parts of a form
    rows = [one.role for one in lines]
    for index, one in enumerate(lines):
        if one.says("disabled", "covered by something", "read only") or one.number in taken:
            continue
        on = {"on": one.number}
        if one.role in FIELDS:
            form, submit = _form(lines, index)
            taken |= {field.number for field in form} | ({submit} if submit else set())
            fields = [{"on": field.number, "text": _text(field)} for field in form]
            action: dict[str, Any] = {
                "do": "type",
                "fields": fields,
                **({"submit": submit} if submit else {}),
            }
            found.append((8 if submit else 6, action))
        elif one.role == "select":
            others = [option for option in one.options if option != one.value]
            found += [(7, {"do": "select", **on, "to": others[-1]})] if others else []
        elif one.role == "slider":
            found.append((7, {"do": "set", **on, "to": _far_value(one)}))
        elif one.role == "draggable":
            found.append((6, {"do": "drag", **on, "by": [160, 40]}))
        elif one.role == "movable item":
            mates = [o.number for o in lines if o.role == one.role and o.number != one.number]
            found.append((6, {"do": "drag", **on, **({"onto": mates[0]} if mates else {"by": [0, 120]})}))
        elif one.role in ("hover area", "chart mark"):
            found.append((6 if one.role == "hover area" else 4, {"do": "hover", **on}))
        elif one.role == "canvas":
            found += _of_canvas(one, category, wish)
        else:
            first = one.role not in rows[:index] and rows.count(one.role) > 1  # shown already, often
            found.append(_of_click(one, category, first))
    return found


def _of_click(one: Listed, category: str, first: bool) -> Option:
    # What is ticked in a game often shows in its next round; a button without a name says nothing.
    ticked = {"checkbox": 3.5 if category == "game" else 6, "radio button": 6}
    opens = category == "game" and one.role not in ticked and bool(_START.search(one.name))
    score = {"link": 4, **ticked}.get(one.role, 7.0) + 6 * opens - 0.4 * first - 2 * (not one.name)
    score -= 4 * bool(_WEAK.search(one.name)) + 6 * one.says("selected", "checked", "current", "shown now")
    return score, {"do": "click", "on": one.number, **({"opens": True} if opens else {})}


def _far_value(slider: Listed) -> str:
    low, high = (float(n) for n in re.search(r"from (\S+) to (\S+)", slider.rest).groups())  # type: ignore[union-attr]
    now = float(slider.value or low)
    return f"{low + (high - low) * (0.15 if now > (low + high) / 2 else 0.85):g}"


def _of_canvas(one: Listed, category: str, wish: str) -> list[Option]:
    """What the request says is done to a picture goes first."""
    on = {"on": one.number}
    drag: dict[str, Any] = {"do": "drag", **on, "by": [160, 40]}
    clicked = [(6, {"do": "click", **on})] if _CLICKED.search(wish) else []
    if category == "3d":
        return [
            (9 if _TURNED.search(wish) else 5, drag),
            *clicked,
            (5, {**drag, "by": [-60, 120]}),
            (5, {"do": "scroll", **on, "to": "up"}),
        ]
    if category == "dataviz":
        read = 8 if _POINTED.search(wish) else 5
        return [(read, {"do": "hover", **on}), (5, {"do": "hover", **on, "at": [0.3, 0.7]})]
    return [(4, {"do": "click", **on}), (3, drag)]


def _of_keys(prompt: str, category: str, wish: str) -> list[Option]:
    lines = listed(prompt)
    heard = re.search(r"^The page listens for keys:? ?(.*)\.$", prompt, re.M)
    names = heard[1].split(", ") if heard and heard[1] else []
    canvas_only = category == "game" and not heard and (not lines or "] canvas " in prompt)
    written = any(one.role in FIELDS for one in lines)  # then Enter may be that field's alone
    found: list[Option] = []
    if heard and not names and (letters := _LETTERS.search(wish)):
        found.append((8, {"do": "press", "keys": [letters[1].lower()]}))  # the other may undo it
    if category == "game" and "enter" in names and not written:
        found.append((14, {"do": "press", "keys": ["Enter"], "opens": True}))
    if category == "game" and "space" in names:
        found.append((8, {"do": "press", "keys": ["Space"]}))
    if "wasd" in names:
        found.append((7, {"do": "press", "keys": ["a", "w"]}))
    if "arrows" in names or canvas_only:
        ways = (["ArrowLeft", "ArrowUp"], ["ArrowRight", "ArrowDown"], ["ArrowUp", "ArrowRight"])
        found += [
            ((9.0 if category == "game" else 5.0) - i / 2, {"do": "press", "keys": w})
            for i, w in enumerate(ways)
        ]
    return found


def _form(lines: list[Listed], start: int) -> tuple[list[Listed], int | None]:
    """The text fields from ``start`` on, with what is chosen between them, and the button that follows."""
    form = [lines[start]]
    following = [] if form[0].role == "search field" else lines[start + 1 :]  # what is searched as one types
    for one in following:
        if one.role in FIELDS:
            form.append(one)
        elif one.role == "button" and not _WEAK.search(one.name):
            return form, one.number
        elif one.role not in ("select", "checkbox", "radio button", "slider"):
            break
    return form[:1], None


def _text(field: Listed) -> str:
    about = f"{field.name} {field.rest}".lower()
    if field.role == "number field":
        return "7"
    if field.role == "date field":
        return "2026-06-15"
    for word, text in (("mail", "ada@example.org"), ("phone", "5550123456"), ("url", "https://example.org")):
        if word in about:
            return text
    return "Ada Lovelace" if "name" in about else "Sample"


# -- running it --------------------------------------------------------------------------------------------


async def verdict_on(
    renderer: Renderer,
    document: str,
    case: Case,
    script: Callable[[ScriptedRequest], ScriptedReply | str] | str | list[str],
    *,
    card: Card = CARD,
) -> tuple[Verdict, list[ScriptedRequest]]:
    """The verdict of a scripted agent on a page, and the requests that it took."""
    with ScriptedServer(script) as server:
        model = resolve("openai/agent", base_url=server.base_url, retry=QUICK)
        blob = Blob(
            digest=sha256(document.encode("utf-8", "replace")).hexdigest(), suffix="html", root=Path()
        )
        artifact = Artifact(case=case.id, sample=0, document=blob)
        settings = card.settings
        how = {name: settings[name] for name in ("width", "height", "driver") if name in settings}
        try:
            async with renderer.session(document, **how) as page:
                return await judge(case, artifact, card, page, model), server.requests
        finally:
            await close_models()
