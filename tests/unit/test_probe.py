"""The probe on real pages: controls that work earn full marks, their dead twins nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from opendesign.canonical import to_json
from opendesign.errors import Failed
from opendesign.judging.cards import read_card
from opendesign.judging.probe import judge
from opendesign.types import Artifact, Case, Verdict
from tests.unit.probe_pairs import PAIRS, Browser, case_for, page_text

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
CARD = read_card(Path(__file__).parents[2] / "judges" / "probe")
PAGE = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>t</title><body>"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with Browser() as one:
        yield one


async def verdict(browser: Browser, document: str, case: Case) -> Verdict:
    async with browser.session(document) as session:
        artifact: Any = Artifact(case=case.id, sample=0, document=None)
        found = await judge(case, artifact, CARD, session)
    assert "Error" not in str(found.evidence.get("hung")), found.evidence["hung"]
    return found


@pytest.mark.parametrize("name", PAIRS)
async def test_live_page_and_dead_twin(browser: Browser, name: str) -> None:
    live = await verdict(browser, page_text(name, live=True), case_for(name))
    dead = await verdict(browser, page_text(name, live=False), case_for(name))
    assert live.scores == {"points": 3.0, "rate": 1.0}, live.reasons
    assert dead.scores == {"points": 0.0, "rate": 0.0}, dead.reasons


@pytest.mark.parametrize("name", ["game-paddle", "website-carousel-shop", "3d-css-cube"])
async def test_the_same_page_gives_the_same_verdict(browser: Browser, name: str) -> None:
    first, second = [await verdict(browser, page_text(name, live=True), case_for(name)) for _ in range(2)]
    assert to_json(first) == to_json(second)
    assert len(to_json(first.evidence)) < 20_000


#: name -> (body, points): effects that no working control has, and some that look like none.
SINGLE = {
    "same list drawn again": (
        '<div id=r></div><script>function d(){r.innerHTML="<button onclick=d()>Refresh</button>"+'
        '[1,2].map(i=>"<p>"+i).join("")}d()</script>',
        0,
    ),
    "wipes the page": ("<button onclick=\"document.body.innerHTML=''\">Wipe</button>", 0),
    "goes away": ("<button onclick=\"location.href='https://example.com/'\">Away</button>", 0),
    "popup": ("<button onclick=\"open('https://example.com/')\">Pop</button>", 0),
    "form without script": ("<form><input name=a required><button>Send</button></form>", 0),
    "dead links": ('<p><a href="#">Top</a> <a href="#none">None</a></p><div style="height:3000px"></div>', 0),
    "dead links that look like buttons": (
        '<div style="height:3000px"></div><a href="#" role=button>One</a> '
        '<a href="#" aria-expanded=false>Two</a>',
        0,
    ),
    "button that scrolls": (
        '<button onclick="window.scrollTo(0,2000)">Down</button><div style="height:3000px"></div>'
        '<button onclick="window.scrollTo(0,0)">Up</button>',
        3,
    ),
    "title as tooltip": ('<button title="A tip">Tip</button><textarea>text</textarea>', 0),
    "native number": ("<input type=number value=1><input type=range><select><option>1<option>2</select>", 0),
    "waits by the clock": (
        "<button id=b>Wait</button><p id=p></p><script>b.onclick=()=>{const t=Date.now();"
        "while(Date.now()-t<400);p.textContent+='x'}</script>",
        3,
    ),
    "storm of alerts": ('<button onclick="for(let i=0;i<2000;i++)alert(i)">Storm</button>', 3),
    "details": ("<details><summary>More</summary><p>Words</p></details>", 3),
    "links to sections": (
        '<nav><a href="#a">A</a> <a href="#b">B</a> <a href="#c">C</a></nav>'
        + "".join(f'<h2 id={i} style="margin-top:1500px">{i}</h2>' for i in "abc"),
        3,
    ),
    "shifting own motion": (
        "<p id=p></p><button>Dead</button><script>setInterval(()=>{p.textContent+='.'},50);"
        "(function f(){document.title=Math.random();requestAnimationFrame(f)})()</script>",
        0,
    ),
    "panel beside the page": (
        '<button onclick="this.after(1)">Go</button><aside style="position:fixed;right:-400px;width:300px">'
        "<button>Dead</button><button>Dead too</button></aside>",
        3,
    ),
    "panel that scrolls": (
        '<aside style="position:fixed;top:0;height:200px;overflow:auto"><div style="height:3000px"></div>'
        '<button onclick="this.after(1)">Go</button></aside>',
        3,
    ),
    "menu that a link opens": (
        '<ul><li><a href="#" aria-expanded=false>Menu</a><ul hidden><li>One<li>Two</ul></ul><script>'
        "document.addEventListener('click',e=>{let a=e.target.closest('a');if(a){a.nextSibling.hidden^=1;"
        "e.preventDefault()}})</script>",
        3,
    ),
    "covered": ('<button onclick="this.after(1)">Go</button><div style="position:fixed;inset:0"></div>', 0),
    "chance outside our hands": (
        "<button>Dead</button><p id=p></p><script>setInterval(()=>{p.textContent="
        "crypto.getRandomValues(new Uint32Array(1))[0]},30)</script>",
        0,
    ),
}


@pytest.mark.parametrize("name", SINGLE)
async def test_single_pages(browser: Browser, name: str) -> None:
    body, points = SINGLE[name]
    found = await verdict(browser, PAGE + body, case_for("website-one"))
    assert found.scores["points"] == points, found.reasons


async def test_nothing_to_operate(browser: Browser) -> None:
    asked = await verdict(browser, PAGE + "<h1>Words</h1>", case_for("website-x"))
    assert asked.scores == {"points": 0.0, "rate": 0.0}
    not_asked = await verdict(browser, PAGE + "<h1>Words</h1>", case_for("website-x", behaviour=""))
    assert not_asked.scores == {}
    assert not_asked.status == "ok"


async def test_partly_dead_page_gets_part_of_the_marks(browser: Browser) -> None:
    body = "<button onclick=\"o.textContent='a'\">One</button><select><option>1<option>2</select><p id=o></p>"
    found = await verdict(browser, PAGE + body + "<input type=range>", case_for("website-x"))
    assert found.scores == {"points": 1.0, "rate": 0.3333}


async def test_a_browser_that_ends_is_not_the_pages_fault() -> None:
    async with Browser() as browser, browser.session(PAGE + "<button>Go</button>") as session:
        await browser.browser.close()
        with pytest.raises(Failed, match="browser_crash"):
            await judge(case_for("website-x"), Artifact(case="x", sample=0, document=None), CARD, session)


async def test_a_page_that_hangs_earns_nothing_from_there_on() -> None:
    body = (
        '<button onclick="while(1){}">Go</button><select onchange="this.after(1)"><option>1<option>2</select>'
    )
    async with Browser() as browser, browser.session(PAGE + body) as session:
        card = read_card(Path(__file__).parents[2] / "judges" / "probe")
        object.__setattr__(card, "settings", {**card.settings, "answer_s": 2.0})
        case = case_for("website-x", behaviour="Pressing go works.")
        found = await judge(case, Artifact(case="x", sample=0, document=None), card, session)
    assert found.status == "ok"
    assert found.scores["points"] == 0
    assert found.evidence["hung"]
    assert "stopped answering" in found.reasons[-1]
