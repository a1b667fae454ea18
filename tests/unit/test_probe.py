"""The probe on real pages: controls that work earn full marks, their dead twins nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from opendesign.canonical import to_json
from opendesign.errors import Failed
from opendesign.judging.cards import read_card
from opendesign.judging.probe import judge
from opendesign.types import Artifact
from tests.unit.probe_pairs import CARD, PAIRS, Browser, case_for, page_text, verdict

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
PAGE = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>t</title><body>"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with Browser() as one:
        yield one


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


SPARKS = (
    "<h1>Head</h1><script>onclick=e=>{const s=document.createElement('b');s.textContent='*';s.style.cssText="
    "`position:fixed;left:${e.clientX}px;top:${e.clientY}px`;document.body.append(s)}</script>"
)

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
    "links to what is not shown": (
        '<nav><a href="#a">A</a> <a href="#b">B</a> <a href="#c">C</a></nav><main>Words</main>'
        "<section id=a hidden>A</section><section id=b style=display:none>B</section><meta name=c>",
        0,
    ),
    "links that show a section": (
        '<nav><a href="#a">A</a> <a href="#b">B</a> <a href="#c">C</a></nav>'
        "<section id=a hidden>AA</section><section id=b hidden>BB</section><section id=c hidden>CC</section>"
        "<script>onhashchange=()=>{for(const s of document.querySelectorAll('section'))"
        "s.hidden=s.id!==location.hash.slice(1)}</script>",
        3,
    ),
    "chart with a listener for all its bars": (
        '<div id=c style="width:600px;height:300px;position:relative">'
        + "".join(
            f'<i data-v={i} style="position:absolute;bottom:0;left:{i * 90 + 4}px;width:40px;'
            f'height:{i * 20 + 30}px;background:teal"></i>'
            for i in range(6)
        )
        + "</div><p id=o></p><script>c.addEventListener('click',e=>{if(e.target.dataset.v)"
        "o.textContent+=e.target.dataset.v})</script>",
        3,
    ),
    "chart that tells of its bars": (
        '<div id=c><svg viewBox="0 0 600 300" width=600 height=300>'
        + "".join(
            f"<rect class=b x={i * 90} y={200 - i * 20} width=40 height={i * 20 + 30} fill=teal />"
            for i in range(6)
        )
        + "</svg></div><p id=o hidden></p><script>const on=e=>{if(e.target.matches('.b')){o.hidden=false;"
        "o.textContent=e.target.getAttribute('x')}};for(const t of ['pointerover','click'])"
        "c.addEventListener(t,on);"
        "c.addEventListener('pointerout',()=>{o.hidden=true})</script>",
        3,
    ),
    "drawing that moves by itself": (
        "<button>One</button><button>Two</button><svg width=300 height=100><rect width=40 height=40 fill=red>"
        "<animate attributeName=x from=0 to=260 dur=.7s repeatCount=indefinite /></rect></svg>",
        0,
    ),
    "covered": ('<button onclick="this.after(1)">Go</button><div style="position:fixed;inset:0"></div>', 0),
    "sparks at every click": (SPARKS + "<button>One</button><button>Two</button>", 0),
    "sparks and controls": (SPARKS + "<button onclick=o.textContent+=1>One</button><p id=o>-</p>", 3),
    "counts all clicks": (
        "<h1>Head</h1><button>One</button><button>Two</button><p id=n>0</p>"
        "<script>onclick=()=>{n.textContent++}</script>",
        0,
    ),
    "mark that follows the pointer": (
        "<h1>Head</h1><div onmouseover='' style='width:300px;height:90px'>Dead</div><i id=f style='"
        "position:fixed;width:30px;height:30px;background:red;pointer-events:none'></i><script>onmousemove=e=>{"
        "f.style.left=e.clientX+'px';f.style.top=e.clientY+'px'}</script>",
        0,
    ),
    "what a click beside it takes back": (
        "<h1>Head</h1><button onclick=\"event.stopPropagation();p.textContent='open'\">More</button>"
        "<p id=p>shut</p><script>onclick=()=>{p.textContent='shut'}</script>",
        1,  # and is open already when it is pressed again
    ),
    "drawing moved by nothing to see": (
        "<button onclick=t+=.001>Dead</button><canvas id=c width=400 height=300></canvas><script>let t=0;"
        "const g=c.getContext('2d');(function f(){t+=.02;g.clearRect(0,0,400,300);g.beginPath();"
        "g.arc(200+90*Math.sin(t),150,26,0,7);g.fill();requestAnimationFrame(f)})()</script>",
        0,
    ),
    "cards that turn over": (
        "<style>button{width:90px;height:120px;position:relative;transform-style:preserve-3d;transition:.3s}"
        "i{position:absolute;inset:0;backface-visibility:hidden}.b,.up{transform:rotateY(180deg)}</style>"
        + "".join(
            f"<button onclick=classList.toggle('up')><i>?</i><i class=b>{word}</i></button>" for word in "ABC"
        ),
        3,
    ),
    "redraw that forgets a choice": (
        "<div id=d></div><script>const draw=()=>{d.innerHTML='<select><option>1<option>2</select>"
        "<button onclick=draw()>Draw</button>'};draw()</script>",
        0,
    ),
    "what is put before a control": (
        "<div id=d><button onclick=\"d.prepend(document.createElement('hr'))\">Add</button>"
        "<button>Dead</button></div>",
        1,
    ),
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


async def test_a_dead_link_that_closes_a_menu_earns_nothing(browser: Browser) -> None:
    body = (
        "<button id=b aria-expanded=false>Menu</button><ul id=m hidden><li>One<li>Two</ul>"
        "<nav><a href='#'>Home</a> <a href='#none'>About</a></nav><script>b.onclick=e=>{m.hidden=false;"
        "e.stopPropagation()};onclick=()=>{m.hidden=true}</script>"
    )
    case = case_for("website-x", behaviour="The menu opens, and the links work.")
    found = await verdict(browser, PAGE + body, case)
    assert len(found.evidence["steps"]) == 3
    assert {step["did"]: step["worked"] for step in found.evidence["steps"]} == {
        "button button 'Menu'": True,
        "link a 'Home'": False,
        "link a 'About'": False,
    }, found.reasons


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
        browser_itself = session.page.context.browser
        assert browser_itself is not None
        await browser_itself.close()
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
