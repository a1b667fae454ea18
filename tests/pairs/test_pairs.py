"""The pairs are what they are said to be, and the judges that operate pages tell one from the other.

An agent that claims success at every step drives them: what a page then earns is what was measured of it.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from opendesign.judging.probe import judge as probe
from opendesign.rendering import Renderer
from opendesign.rendering.browser import browsers
from opendesign.types import CATEGORIES, Artifact, RenderSettings, Verdict
from tests.pairs import case, document, names, source
from tests.pairs.steps import STEPS, Step
from tests.unit import interactive_support, probe_pairs
from tests.unit.selenium_support import no_selenium

#: How long a dead page is watched, and how long a live one may take.
QUIET_S = 0.4
REACTS_S = 5.0
SETTINGS = RenderSettings(network="offline", deadline_s=120)
AT_ONCE = 2


def some(seed: int, count: int) -> list[str]:
    """So many pages, of as many categories as there are."""
    mixed = random.Random(seed).sample(names(), len(names()))
    rank = {name: [n for n in mixed if case(n).category == case(name).category].index(name) for name in mixed}
    return sorted(mixed, key=rank.__getitem__)[:count]


def all_but(chosen: list[str]) -> list[Any]:
    """Every page; those that are not among the chosen only where there is time."""
    return [pytest.param(name, marks=() if name in chosen else pytest.mark.long) for name in names()]


#: Everything a person could see of one element: its markup (shadow roots too), place, look and pixels. The
#: colours are left out of the element under the pointer, where a style sheet's ``:hover`` changes them.
LOOK = """(el, touched) => {
  const own = getComputedStyle(el), box = el.getBoundingClientRect();
  if (own.opacity === '0' || own.visibility === 'hidden' || own.display === 'none') return 'nothing';
  const deep = [...el.querySelectorAll('*')].map(one => one.shadowRoot ? one.shadowRoot.innerHTML : '');
  return JSON.stringify([el.outerHTML, deep, touched ? '' : [own.backgroundColor, own.color], own.fontSize,
    own.transform === 'none' ? '' : own.transform, box.width, box.height, el.open === true,
    el.tagName === 'CANVAS' ? el.toDataURL() : '']);
}"""


def test_the_set_has_every_category_and_every_way_to_operate_a_page() -> None:
    assert len(names()) == 30 == len(set(names()))
    assert set(STEPS) == set(names())
    assert Counter(case(name).category for name in names()) == dict.fromkeys(CATEGORIES, 6)
    kinds = {step.kind for steps in STEPS.values() for step in steps}
    assert kinds == {"click", "type", "submit", "select", "slide", "drag", "hover", "keys"}
    keys = {key for steps in STEPS.values() for step in steps if step.kind == "keys" for key in step.value}
    assert {"ArrowLeft", "ArrowDown", "Space", "Enter"} <= keys


@pytest.mark.parametrize("name", names())
def test_a_pair_is_one_page_and_differs_in_its_scripts_alone(name: str) -> None:
    live, dead = document(name, True), document(name, False)
    assert live != dead
    assert 60 <= source(name).count("\n") <= 250
    assert not re.search(r"/\*(live|or|end)\*/", live + dead), "a mark that has no partner"
    script = re.compile(r"<script.*?</script>", re.DOTALL)
    inside = [found.group() for found in script.finditer(source(name))]
    assert sum(part.count("/*live*/") for part in inside) == source(name).count("/*live*/")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", live), "it needs the network"
    assert len(STEPS[name]) >= 3
    assert 2 <= len(case(name).requirements) <= 4


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def renderer() -> AsyncIterator[Renderer]:
    if not any(True for _ in browsers()):
        pytest.skip("there is no browser here")
    async with Renderer(SETTINGS, pages_at_once=1, sessions_at_once=AT_ONCE) as one:
        yield one


def find(page: Any, selector: str) -> Any:
    frame, _, rest = selector.rpartition(" | ")
    return page.frame_locator(frame).locator(rest) if frame else page.locator(selector)


async def operate(page: Any, step: Step) -> None:
    target = find(page, step.at)
    box = None if step.at == "body" else await target.bounding_box()
    at = (box["x"] + box["width"] * step.spot[0], box["y"] + box["height"] * step.spot[1]) if box else (0, 0)
    match step.kind:
        case "click":
            await page.mouse.click(*at)
        case "hover":
            await page.mouse.move(*at, steps=3)
        case "type" | "submit":
            await target.fill("")
            await target.press_sequentially(step.value)
            if step.kind == "submit":
                await page.keyboard.press("Enter")
        case "select":
            await target.select_option(step.value)
        case "slide":
            await target.fill(str(step.value))
        case "keys":
            if step.at != "body":
                await target.focus()
            for key in step.value:
                await page.keyboard.press(key)
        case "drag":
            end = step.value
            over = await find(page, end).bounding_box() if isinstance(end, str) else box
            part = (0.5, 0.5) if isinstance(end, str) else end
            await page.mouse.move(*at)
            await page.mouse.down()
            await page.mouse.move(
                over["x"] + over["width"] * part[0], over["y"] + over["height"] * part[1], steps=8
            )
            await page.mouse.up()


async def reacts(page: Any, step: Step, within: float) -> bool:
    """Whether what is seen of the page changes after the step, and not already before it."""
    seen, touched = find(page, step.seen), step.seen == step.at
    before = await seen.evaluate(LOOK, touched)
    await operate(page, step)
    end = asyncio.get_running_loop().time() + within
    while asyncio.get_running_loop().time() < end:
        if await seen.evaluate(LOOK, touched) != before:
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", all_but(some(1, 6)))
async def test_the_live_page_reacts_and_its_twin_does_not(renderer: Renderer, name: str) -> None:
    text: dict[bool, str] = {}
    for live in (True, False):
        async with renderer.session(document(name, live)) as session:
            page = session.page
            text[live] = re.sub(r"\d+", "0", await page.evaluate("document.body.innerText"))
            for step in STEPS[name]:
                found = await reacts(page, step, REACTS_S if live else QUIET_S)
                assert found == live, f"{'live' if live else 'dead'} {name}: {step}"
            assert session.events.script_errors == []
    assert text[True] == text[False], "the twins do not look the same"


async def by_interactive(renderer: Renderer, name: str, live: bool, driver: str) -> Verdict:
    card = interactive_support.CARD
    card = replace(card, settings={**card.settings, "driver": driver})
    script = interactive_support.claims_success
    verdict, _ = await interactive_support.verdict_on(
        renderer, document(name, live), case(name), script, card=card
    )
    return verdict


async def by_probe(renderer: Renderer, name: str, live: bool, driver: Any) -> Verdict:
    async with renderer.session(document(name, live), driver=driver) as session:
        artifact = Artifact(case=case(name).id, sample=0, document=None)
        return await probe(case(name), artifact, probe_pairs.CARD, session)


JUDGES = {"interactive": by_interactive, "probe": by_probe}


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("judge", "driver", "pages", "live_missed", "dead_missed"),
    [
        pytest.param("interactive", "playwright", some(2, 6), 0, 0, id="interactive-some"),
        pytest.param("probe", "playwright", some(3, 6), 0, 0, id="probe-some"),
        pytest.param("interactive", "selenium", some(4, 2), 0, 0, id="selenium-some"),
        pytest.param("interactive", "playwright", names(), 1, 1, id="interactive", marks=pytest.mark.long),
        pytest.param("probe", "playwright", names(), 3, 2, id="probe", marks=pytest.mark.long),
        pytest.param("interactive", "selenium", some(4, 10), 0, 0, id="selenium", marks=pytest.mark.long),
    ],
)
async def test_a_live_page_gets_full_marks_and_its_twin_none(
    renderer: Renderer, judge: str, driver: str, pages: list[str], live_missed: int, dead_missed: int
) -> None:
    if driver == "selenium" and no_selenium():
        pytest.skip(no_selenium())
    missed: dict[bool, list[str]] = {True: [], False: []}
    enough = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, live: bool) -> None:
        async with enough:
            verdict = await JUDGES[judge](renderer, name, live, driver)
        if verdict.scores.get("points") != (3 if live else 0):
            missed[live].append(f"{name}: {verdict.failure or verdict.reasons}")

    await asyncio.gather(*(one(name, live) for name in pages for live in (True, False)))
    assert len(missed[True]) <= live_missed, missed[True]
    assert len(missed[False]) <= dead_missed, missed[False]
