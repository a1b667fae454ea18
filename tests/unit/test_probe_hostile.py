"""Pages that go for the instrument itself: none earns a point that it should not, and none breaks it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from opendesign.judging.change import Change, Observer, Rubbish
from opendesign.judging.change.answers import number, read
from tests.unit.probe_pairs import Browser, case_for, verdict

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PAGES = Path(__file__).parent / "probe_forgers"
HEAD = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>t</title>"
DEAD = "<body><p id=p>still</p><button>One</button><button>Two</button><select><option>1<option>2</select>"
LIVE = (
    "<button onclick=\"o.textContent+='a'\">One</button><button onclick=\"o.textContent+='b'\">Two</button>"
    "<select onchange=\"o.textContent+='c'\"><option>1<option>2</select><p id=o>-</p>"
)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with Browser() as one:
        yield one


#: What a page may do from its first script on.
FORGERS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.js"))}
#: What leaves the page's own scripts able to work.
HARMLESS = ("lies-about-everything", "patches-all-it-can", "replaces-what-it-finds", "sends-events-at-random")
CLOBBERING = (PAGES / "clobbers-names.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FORGERS)
async def test_a_page_that_forges_changes_earns_nothing(browser: Browser, name: str) -> None:
    found = await verdict(browser, f"{HEAD}<script>{FORGERS[name]}</script>{DEAD}", case_for("website-x"))
    assert found.status == "ok"
    assert found.scores == {"points": 0.0, "rate": 0.0}, found.reasons


@pytest.mark.parametrize("name", HARMLESS)
async def test_what_a_working_page_forges_costs_it_nothing(browser: Browser, name: str) -> None:
    document = f"{HEAD}<script>{FORGERS[name]}</script><body>{LIVE}"
    found = await verdict(browser, document, case_for("website-x"))
    assert found.scores["points"] == 3, found.reasons


async def test_a_page_sees_nothing_of_ours(browser: Browser) -> None:
    look = (PAGES / "looks-for-us.html").read_text(encoding="utf-8")
    async with browser.session(f"{HEAD}{look}{DEAD}<p id=deep></p>") as session:
        see = Observer(session.driver)
        await see.fresh()
        await see.run(200)
        assert await session.driver.evaluate("report()", "page") == "undefinedundefined"


async def test_names_that_hide_the_documents_own_break_nothing(browser: Browser) -> None:
    case = case_for("website-x", behaviour="One, two and the select work.")
    live = await verdict(browser, f"{HEAD}<body>{LIVE}{CLOBBERING}", case)
    assert live.scores["points"] == 3, live.reasons
    dead = await verdict(browser, f"{HEAD}{DEAD}{CLOBBERING}", case)
    assert dead.scores["points"] == 0, dead.reasons


async def test_what_is_patched_by_a_working_page_costs_it_nothing(browser: Browser) -> None:
    patches = "<script>Array.prototype.extra = 1; Object.prototype.more = () => 2; const s = setTimeout;"
    patches += "window.setTimeout = (f, t) => s(f, t); EventTarget.prototype.on = setTimeout</script>"
    found = await verdict(browser, f"{HEAD}{patches}<body>{LIVE}", case_for("website-x"))
    assert found.scores["points"] == 3, found.reasons


async def test_a_closed_shadow_root_is_seen_and_its_listeners_are_noted(browser: Browser) -> None:
    body = (
        "<body><x-y></x-y><script>customElements.define('x-y', class extends HTMLElement { constructor() {"
        "super(); const r = this.attachShadow({ mode: 'closed' });"
        "r.innerHTML = '<div class=a>One</div><div class=b>Two</div><p>-</p>'; const p = r.lastChild;"
        "for (const d of r.querySelectorAll('div')) d.addEventListener('click', () => { p.textContent += 1 })"
        "} })</script>"
    )
    found = await verdict(browser, HEAD + body, case_for("component-x"))
    assert found.scores["points"] == 3, found.reasons
    assert found.evidence["controls"] == {"click": 2}


@pytest.mark.parametrize(
    "said", ["null", "[]", "7", '{"changes": 3}', '{"changes": [{"kind": 1}], "motion": {}}', "{"]
)
async def test_rubbish_is_the_pages_silence_and_no_crash(browser: Browser, said: str) -> None:
    async with browser.session(HEAD + DEAD) as session:
        see = Observer(session.driver)
        await see.fresh()
        await session.driver.evaluate(f"__probe.call = async () => {said!r}", "apart")
        with pytest.raises(Rubbish):
            await see.finish()


@pytest.mark.parametrize("value", [None, True, "7", float("nan"), float("inf"), 1e300, []])
async def test_what_is_no_number(value: object) -> None:
    with pytest.raises(Rubbish):
        number(value)


async def test_a_change_is_read_whole_or_not_at_all() -> None:
    sound: dict[str, object] = dict.fromkeys(("key", "kind", "place", "tag", "after", "sample"), "x")
    sound |= {"area": 3, "control": False}
    assert read(Change, sound).area == 3
    for name, wrong in [
        ("area", "3"),
        ("key", None),
        ("control", 1),
        ("sample", "y" * 10_000),
        ("area", True),
    ]:
        with pytest.raises(Rubbish):
            read(Change, {**sound, name: wrong})
    with pytest.raises(Rubbish):
        read(Change, {**sound, "more": 1})
