"""The interactive judge's verdict: two witnesses, both loops, and enough kept to audit it by eye."""

from __future__ import annotations

import io
import json
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image

from opendesign.canonical import to_json
from opendesign.errors import UsageError
from opendesign.judging.cards import copy_card, read_card
from opendesign.judging.interactive import expected
from opendesign.judging.interactive.drawing import drawn
from opendesign.judging.interactive.settings import Settings, check
from opendesign.rendering import Renderer
from opendesign.testing import ScriptedRequest
from opendesign.types import Case, RenderSettings, Requirement, Verdict
from tests.unit.interactive_support import (
    CARD,
    JUDGES,
    claims_success,
    claims_success_on_paper,
    listed,
    plan,
    steps_done,
    turn,
    verdict_on,
)
from tests.unit.probe_pairs import case_for, page_text

PAPER = read_card(JUDGES / "interactive-paper")
CASE = Case(
    id="page",
    category="component",
    prompt="Make a page with controls.",
    requirements=(Requirement(kind="behaviour", text="The controls react."),),
)
DOCUMENT = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>t</title><body>"
THREE = "".join(f'<p><button onclick="this.after({n})">Go {n}</button>' for n in (1, 2, 3))
DEAD = THREE.replace("onclick", "data-was")
TYPING = (
    "<form onsubmit=\"event.preventDefault();o.textContent='Hello '+n.value\"><input id=n aria-label=Name>"
    "<button>Send</button></form><p id=o></p><textarea aria-label=Notes></textarea>"
)

browser = pytest.mark.browser
module_loop = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def renderer() -> AsyncIterator[Renderer]:
    async with Renderer(RenderSettings(network="offline", deadline_s=120)) as one:
        yield one


def card_of(interactions: int = 3, **settings: Any) -> Any:
    measures = {**CARD.measures, "points": replace(CARD.measures["points"], high=interactions)}
    return replace(
        CARD, settings={**CARD.settings, "interactions": interactions, **settings}, measures=measures
    )


def clicks(*words: bool) -> list[str]:
    """Plans as many interactions, clicks [1], [2], … and gives these words on them."""
    told = (None, *words)
    acts = [turn("click", n, on=n, worked=told[n - 1]) for n in range(1, len(words) + 1)]
    return [plan(len(words)), *acts, turn("finish", worked=words[-1])]


def picture(verdict: Verdict, name: str) -> Image.Image:
    return Image.open(io.BytesIO(verdict.attachments[name]))


# -- two witnesses -----------------------------------------------------------------------------------------


@browser
@module_loop
@pytest.mark.parametrize(
    ("body", "word", "points", "agent_only", "measured_only"),
    [
        (THREE, True, 3, 0, 0),
        (DEAD, True, 0, 3, 0),
        (THREE, False, 0, 0, 3),
        (DEAD, False, 0, 0, 0),
    ],
)
async def test_a_point_needs_the_agents_word_and_a_measured_change(
    renderer: Renderer, body: str, word: bool, points: int, agent_only: int, measured_only: int
) -> None:
    verdict, _ = await verdict_on(renderer, DOCUMENT + body, CASE, clicks(word, word, word))
    evidence = verdict.evidence
    assert verdict.scores == {"points": points, "rate": round(points / 3, 4)}
    assert (evidence["agent_only"], evidence["measured_only"]) == (agent_only, measured_only)
    assert len(evidence["points_for"]) == points


@browser
@module_loop
async def test_text_earns_nothing_and_its_submission_does(renderer: Renderer) -> None:
    replies = [
        plan(2),
        turn("type", 1, on=3, text="Some notes", worked=None),
        turn("type", 2, on=1, text="Ada", submit=2),
        turn("finish"),
    ]
    verdict, _ = await verdict_on(renderer, DOCUMENT + TYPING, CASE, replies, card=card_of(2))
    notes, form = verdict.evidence["steps"]
    assert (notes["measured"], notes["point"]) == (False, False)
    assert (form["measured"], form["point"]) == (True, True)
    assert "Hello Ada" in [change["sample"] for change in form["changed"]]
    assert verdict.evidence["points_for"] == [2]


@browser
@module_loop
@pytest.mark.parametrize("looks", [("wait", {"seconds": 2}), ("scroll", {"to": "down"})])
async def test_the_word_after_a_look_is_on_what_was_done(
    renderer: Renderer, looks: tuple[str, dict[str, Any]]
) -> None:
    verb, more = looks
    replies = [
        plan(1),
        turn("click", 1, on=1, worked=None),
        turn(verb, 1, worked=False, **more),
        turn("finish", worked=True),
    ]
    body = "<button onclick=\"setTimeout(()=>o.textContent='Here',900)\">Load</button><p id=o>"
    tall = "<p style='height:2000px'>"
    verdict, _ = await verdict_on(renderer, DOCUMENT + body + tall, CASE, replies, card=card_of(1))
    assert verdict.scores["points"] == 1, verdict.reasons
    click, look = verdict.evidence["steps"]
    assert (click["word"], look["measured"]) == (True, None)
    assert verb in click["word_why"]


@browser
@module_loop
async def test_a_pop_up_is_closed_again(renderer: Renderer) -> None:
    body = (
        '<dialog id=d><p>Sure?</p><button onclick="d.close()">Cancel</button></dialog>'
        '<button onclick="d.showModal()">Open</button>'
        '<a href="#there" target=_blank>Elsewhere</a>'
        '<button onclick="open(location.href)">Window</button><p id=there>There'
    )

    def script(request: ScriptedRequest) -> str:
        here = {one.name: one for one in listed(request.prompt)}
        if '{"interactions"' in request.prompt:
            return plan()
        done = steps_done(request)
        wanted = ("Open", "Cancel", "Elsewhere", "Window")
        if done == len(wanted):
            return turn("finish")
        if done == 1:
            assert here["Window"].says("covered by something"), "what is behind a modal is listed so"
        return turn("click", max(1, done), on=here[wanted[done]].number)

    verdict, _ = await verdict_on(renderer, DOCUMENT + body, CASE, script)
    opened, closed, elsewhere, window = verdict.evidence["steps"]
    assert (opened["point"], closed["point"]) == (True, True)
    assert (elsewhere["measured"], window["measured"]) == (False, False), "a window of its own earns nothing"
    assert verdict.evidence["page_failures"] == 0, "the next interaction found the page free"


# -- what is kept ------------------------------------------------------------------------------------------


@browser
@module_loop
async def test_every_step_can_be_audited(renderer: Renderer) -> None:
    below = (
        f"<h1>Top</h1><p style='height:2500px'></p>{THREE}<button onclick=\"alert('Saved it')\">Save</button>"
    )
    verdict, requests = await verdict_on(renderer, DOCUMENT + below, CASE, claims_success)
    evidence = verdict.evidence
    width, height = evidence["window"]
    assert len(evidence["plan"]) == len(evidence["steps"]) == 3
    for step in evidence["steps"]:
        assert step["before"] != step["after"]
        for name in (step["before"], step["after"]):
            shown = picture(verdict, name)
            assert (shown.format, shown.width) == ("JPEG", 1024)
        x, y, wide, high = step["at"]
        assert 0 <= x <= width - wide, "before shows the element, which was below the window"
        assert 0 <= y <= height - high
        assert step["point"]
        assert step["did"].startswith("click [")
        assert step["word_why"]
        assert step["measured_why"]
        assert step["changed"]
    assert len(verdict.reasons) == 3
    assert "worked by the agent's word, and by measurement" in verdict.reasons[0]
    assert {*evidence["model"]} == {"agent fp_scripted"}
    assert verdict.usage.calls == len(requests) == evidence["sent"]["calls"]


@browser
@module_loop
async def test_a_dialog_is_told_to_the_agent_and_kept(renderer: Renderer) -> None:
    body = "<button onclick=\"alert('Saved it')\">Save</button>"
    verdict, requests = await verdict_on(renderer, DOCUMENT + body, CASE, clicks(True), card=card_of(1))
    assert verdict.scores["points"] == 1
    assert verdict.evidence["steps"][0]["dialogs"] == ["Saved it"]
    assert 'a dialog said "Saved it"' in requests[2].prompt


@browser
@module_loop
@pytest.mark.parametrize("name", ["component-kanban", "game-snake"])
async def test_the_same_page_gives_the_same_verdict(renderer: Renderer, name: str) -> None:
    document, case = page_text(name, live=True), case_for(name)
    first, second = [(await verdict_on(renderer, document, case, claims_success))[0] for _ in range(2)]
    assert first.scores["points"] == 3
    assert first == second
    assert first.attachments == second.attachments
    assert len(to_json(first.evidence)) < 20_000


@browser
@module_loop
@pytest.mark.parametrize("behaviour", [True, False])
async def test_a_page_with_nothing_to_operate_costs_no_call(renderer: Renderer, behaviour: bool) -> None:
    case = CASE if behaviour else replace(CASE, requirements=())
    body = "<h1>Words</h1><button disabled>Off</button>"
    verdict, requests = await verdict_on(renderer, DOCUMENT + body, case, claims_success)
    assert verdict.scores == ({"points": 0.0, "rate": 0.0} if behaviour else {})
    assert (verdict.failure, requests) == (None, [])
    assert len(verdict.attachments) == 1, "what was seen is kept"


# -- the loop of the paper ---------------------------------------------------------------------------------


def pictures_in(request: ScriptedRequest) -> int:
    contents = [message["content"] for message in request.body["messages"]]
    return sum(part["type"] == "image_url" for c in contents if isinstance(c, list) for part in c)


@browser
@module_loop
async def test_the_papers_loop_has_six_calls_and_keeps_every_picture(renderer: Renderer) -> None:
    verdict, requests = await verdict_on(renderer, DOCUMENT + DEAD, CASE, claims_success_on_paper, card=PAPER)
    assert [pictures_in(request) for request in requests] == [1, 1, 2, 3, 4, 5]
    assert [len(request.body["messages"]) for request in requests] == [2, 4, 6, 8, 10, 12]
    assert verdict.scores == {"points": 3.0, "rate": 1.0}, "by the agent's word alone"
    assert [step["point"] for step in verdict.evidence["steps"]] == [True, True, True]
    assert picture(verdict, "look-01.jpg").size == (1920, 1200)
    assert CASE.prompt in requests[0].prompt


@browser
@module_loop
@pytest.mark.parametrize(
    ("action", "points"),
    [
        ({"do": "click", "on": 1}, 3),  # four actions, the last of them not judged
        ({"do": "wait", "seconds": 1}, 0),  # it never touched the page
        ({"do": "click", "on": 9}, 0),  # nor here
        ({"do": "click", "on": 4}, 0),  # the page does not let it
    ],
)
async def test_on_paper_three_points_at_most_and_none_for_what_was_not_done(
    renderer: Renderer, action: dict[str, Any], points: int
) -> None:
    acts = [turn(number=n, **action) for n in (1, 2, 3, 4)]
    body = THREE + "<button disabled>Off</button>"
    verdict, requests = await verdict_on(
        renderer, DOCUMENT + body, CASE, [plan(4), plan(4), *acts], card=PAPER
    )
    assert len(requests) == 6
    if action.get("on") in (1, 4):
        assert verdict.scores["points"] == points
        assert [step["word"] for step in verdict.evidence["steps"]] == [True, True, True, None]
        assert all(step["after"] for step in verdict.evidence["steps"])
    else:
        assert (verdict.status, verdict.scores) == ("judge_failure", {})


# -- pure --------------------------------------------------------------------------------------------------


@browser
@module_loop
@pytest.mark.parametrize(("card", "script"), [(CARD, claims_success), (PAPER, claims_success_on_paper)])
async def test_what_it_costs_is_what_was_expected(renderer: Renderer, card: Any, script: Any) -> None:
    verdict, _ = await verdict_on(renderer, DOCUMENT + THREE * 2, CASE, script, card=card)
    sent, told = verdict.evidence["sent"], expected(card, CASE)
    assert (sent["calls"], sent["pictures"]) == (told["calls"], told["pictures"])
    if card is CARD:
        assert sent["pictures"] <= 12
        assert sent["picture_bytes"] <= 1_000_000


def test_a_picture_is_of_bounded_size_whatever_it_shows() -> None:
    noise = Image.frombytes("RGB", (640, 480), random.Random(1).randbytes(640 * 480 * 3))
    shot = io.BytesIO()
    noise.save(shot, "PNG")
    made = drawn(shot.getvalue(), [], name="x.jpg", window=640, width=320, quality=60, most=20_000)
    assert len(made.data) <= 20_000
    assert Image.open(io.BytesIO(made.data)).width == 320
    tiny = drawn(shot.getvalue(), [], name="x.jpg", window=640, width=640, quality=60, most=4_000)
    assert len(tiny.data) <= 4_000


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("interactions = 0", "interactions must be a whole number from 1 to 50, not 0"),
        ('interactions = "three"', "interactions must be a whole number"),
        ("interactions = 5", "interactions is 5 and measures.points.high 3: give both the same number"),
        ('loop = "free"', 'loop must be "standard" or "paper"'),
        ("picture_quality = 101", "picture_quality must be a whole number from 20 to 95"),
        ("answer_s = true", "answer_s must be a number"),
        ("live = false", "this engine operates a page: set live = true and needs_model = true"),
        ("pictures = 3", "has no 'pictures': the settings are loop, interactions,"),
    ],
)
def test_a_card_that_makes_no_sense_is_one_sentence(tmp_path: Path, line: str, said: str) -> None:
    toml = copy_card("interactive", tmp_path / "mine") / "judge.toml"
    name = line.partition(" ")[0]
    kept = [old for old in toml.read_text(encoding="utf-8").split("\n") if not old.startswith(f"{name} =")]
    toml.write_text("\n".join([*kept, line]), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        Settings.of(read_card(tmp_path / "mine"))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("card", [CARD, PAPER], ids=["standard", "paper"])
def test_what_cannot_be_operated_with_is_told_before_it_costs(card: Any) -> None:
    check(card)
    for name in card.files:
        lacking = {other: text for other, text in card.files.items() if other != name}
        with pytest.raises(UsageError, match=f"lacks the file '{name}'"):
            check(replace(card, files=lacking))
    if card is CARD:
        with pytest.raises(UsageError, match="3 interactions take 5 turns at least"):
            check(replace(card, settings={**card.settings, "max_turns": 4}))


@pytest.mark.parametrize("card", [CARD, PAPER], ids=["standard", "paper"])
def test_the_cards_say_all_that_their_engine_reads(card: Any) -> None:
    made = Settings.of(card)
    assert made.interactions == card.measures["points"].high
    readme = (card.path / "README.md").read_text(encoding="utf-8")
    for name in (*card.files, *card.settings):
        assert f"`{name}`" in readme, f"{name} is not in the card's README"
    assert json.loads(to_json(card.settings)) == card.settings
