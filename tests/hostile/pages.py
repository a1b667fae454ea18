# ruff: noqa: E501 (pages are data)
"""Hostile and broken pages, each with what must become of it.

``PORT`` in a document is a canary: a loopback port that must hear nothing, whatever protocol is spoken.
``cdn.test`` is an allowed host, ``down.test`` one that is allowed and does not answer, ``evil.test`` neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opendesign.rendering import Rendering

#: The canary's port, while a rendering is checked.
PORT = "PORT"
Check = Callable[[Rendering], bool]


@dataclass(frozen=True)
class Hostile:
    """``reason`` None: the page is rendered. ``check`` says what else must be true of it."""

    name: str
    document: str
    reason: str | None = None
    check: Check = lambda rendering: True
    heavy: bool = False  # costs seconds of processor time: left to the long test


def html(body: str, head: str = "") -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Hostile</title>'
        f"{head}</head><body><h1>Still here</h1>{body}</body></html>"
    )


def js(code: str) -> str:
    return html(f"<script>{code}</script>")


def text(rendering: Rendering) -> str:
    return rendering.facts.text if rendering.facts else ""


def here(rendering: Rendering) -> bool:
    """The page itself is on the picture, not an error page or another document."""
    return "Still here" in text(rendering) and rendering.facts is not None and not blank(rendering)


def blank(rendering: Rendering) -> bool:
    return bool(rendering.facts and rendering.facts.picture and rendering.facts.picture.blank)


def both(*checks: Check) -> Check:
    return lambda rendering: all(check(rendering) for check in checks)


def asked(kind: str, count: int = 1) -> Check:
    """At least so many dialogs of a kind were recorded."""
    return lambda r: here(r) and sum(d.kind == kind for d in (r.facts.dialogs if r.facts else ())) >= count


def refused(*parts: str) -> Check:
    """A request whose address holds each part was recorded, and none such was served."""

    def check(rendering: Rendering) -> bool:
        requests = rendering.facts.requests if rendering.facts else ()
        wanted = [part.replace("PORT", PORT) for part in parts]
        return here(rendering) and all(
            any(part in one.url and one.outcome in ("refused", "failed") for one in requests)
            and not any(part in one.url and one.outcome == "served" and not one.reason for one in requests)
            for part in wanted
        )

    return check


def note(start: str) -> Check:
    return lambda r: bool(r.facts) and any(n.startswith(start) for n in (r.facts.notes if r.facts else ()))


def height(low: int, high: int, true: int | None = None) -> Check:
    def check(rendering: Rendering) -> bool:
        whole = true is None or (rendering.true_height >= true and rendering.truncated)
        return low <= rendering.height <= high and whole

    return check


def says(sentence: str) -> Check:
    return lambda rendering: sentence in text(rendering)


def kept(rendering: Rendering) -> bool:
    """It tried to leave, and did not."""
    return here(rendering) and "Elsewhere" not in text(rendering)


_LOCAL = "http://127.0.0.1:PORT"
_LATER = "addEventListener('load', () => setTimeout(() => {%s}, 20));"

PAGES = (
    # --- that do not end -----------------------------------------------------------------------------------
    Hostile("loop-at-load", js("while (true);"), "page_hung", heavy=True),
    Hostile("loop-after-load", js(_LATER % "while (true);"), "page_hung", heavy=True),
    Hostile("loop-of-alerts", js("while (true) alert('again');"), "page_hung", heavy=True),
    Hostile(
        "loop-of-promises",
        js("const go = () => { Promise.resolve().then(go) }; go();"),
        "page_hung",
        heavy=True,
    ),
    Hostile(
        "allocates-without-end",
        js("const all = []; for (;;) all.push(new Uint8Array(4e6).fill(1));"),
        "page_out_of_memory",
        heavy=True,
    ),
    Hostile(
        "grows-without-end",
        js("const all = []; for (;;) all.push(Array.from({length: 1e5}, (_, i) => ({i})));"),
        "page_out_of_memory",
        heavy=True,
    ),
    Hostile(
        "logs-without-end",
        js("setInterval(() => { for (let i = 0; i < 1e4; i++) console.log(i); });"),
        None,
        here,
    ),
    Hostile("prints-without-end", js("setInterval(print, 1);"), None, asked("print")),
    Hostile("alert-storm", js("for (let i = 0; i < 3000; i++) alert(i);"), None, asked("alert", 20)),
    Hostile(
        "asks-everything",
        js("document.body.append(`<${confirm('ok?')}, ${prompt('who?', 'x')}>`)"),
        None,
        both(asked("confirm"), asked("prompt"), says("<false, null>")),
    ),
    Hostile("print", js("print()"), None, asked("print")),
    Hostile(
        "beforeunload",
        js("addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 1; });"),
        None,
        here,
    ),
    Hostile(
        "infinite-animation",
        html(
            "<p class=a>spinning</p>",
            "<style>@keyframes s { to { transform: rotate("
            "1turn) } } .a { animation: s 1s linear infinite; width: 5em }</style>",
        ),
        None,
        here,
    ),
    Hostile(
        "never-rests",
        js(
            "setInterval(() => { const p = document.createElement('p'); p.textContent = 'x';"
            "document.body.append(p); if (document.body.children.length > 9) p.previousSibling.remove(); }, 16)"
        ),
        None,
        both(here, note("settle:")),
    ),
    Hostile(
        "fetches-without-end",
        js("setInterval(() => fetch('/none?' + Math.random()).catch(() => 0), 4)"),
        None,
        here,
    ),
    # --- that go away --------------------------------------------------------------------------------------
    Hostile(
        "meta-refresh", html("", '<meta http-equiv="refresh" content="0;url=http://evil.test/">'), None, kept
    ),
    Hostile("location", js("location = 'http://evil.test/'"), None, both(kept, refused("evil.test"))),
    Hostile("location-later", js(_LATER % "location.replace('https://evil.test/')"), None, kept),
    Hostile("to-about-blank", js(_LATER % "location = 'about:blank'"), None, kept),
    Hostile(
        "to-a-blob",
        js(_LATER % "location = URL.createObjectURL(new Blob(['<h1>Elsewhere</h1>'], {type: 'text/html'}))"),
        None,
        kept,
    ),
    Hostile("reloads-without-end", js("addEventListener('load', () => location.reload())"), None, kept),
    Hostile("goes-back", js(_LATER % "history.back()"), None, kept),
    Hostile(
        "submits-itself",
        html(
            '<form action="http://evil.test/" method="post"><input name="a"></form>'
            "<script>document.forms[0].submit()</script>"
        ),
        None,
        kept,
    ),
    Hostile(
        "popups",
        js("for (let i = 0; i < 30; i++) open('http://evil.test/' + i)"),
        None,
        lambda r: here(r) and r.facts is not None and r.facts.popups >= 10,
    ),
    Hostile(
        "new-tabs",
        html(
            '<a target="_blank" rel="noopener" href="http://evil.test/">x</a>'
            "<script>for (let i = 0; i < 5; i++) document.querySelector('a').click()</script>"
        ),
        None,
        here,
    ),
    Hostile(
        "download",
        html(
            '<a download="x.bin" href="data:application/octet-stream,xx">x</a>'
            "<script>document.querySelector('a').click()</script>"
        ),
        None,
        lambda r: here(r) and r.facts is not None and r.facts.downloads == 1,
    ),
    # --- that reach out ------------------------------------------------------------------------------------
    Hostile(
        "file",
        html(
            '<iframe src="file:///etc/passwd"></iframe><img src="file:///etc/passwd" alt="">'
            "<script>fetch('file:///etc/passwd').then(r => r.text()).then(t => document.body.append(t), () => 0)"
            "</script>"
        ),
        None,
        lambda r: here(r) and "root:" not in text(r),
    ),
    Hostile(
        "private-network",
        html(
            f'<img src="{_LOCAL}/a.png" alt=""><iframe src="{_LOCAL}/b"></iframe>'
            f"<script>fetch('{_LOCAL}/c', {{method: 'POST', body: 'x'}}).catch(() => 0);"
            "fetch('http://169.254.169.254/latest').catch(() => 0); fetch('http://[::1]:PORT/').catch(() => 0);"
            f"navigator.sendBeacon('{_LOCAL}/d', 'x')</script>"
        ),
        None,
        refused("127.0.0.1:PORT/c", "169.254.169.254"),
    ),
    Hostile("redirect-to-private", html('<script src="https://cdn.test/inside.js"></script>'), None, here),
    Hostile(
        "name-of-private", js("fetch('https://inside.test/').catch(() => 0)"), None, refused("inside.test")
    ),
    Hostile(
        "websocket",
        js("for (const u of ['ws://127.0.0.1:PORT/', 'wss://evil.test/']) new WebSocket(u)"),
        None,
        refused("127.0.0.1:PORT", "evil.test"),
    ),
    Hostile(
        "webrtc",
        js(
            "const p = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:PORT'}, "
            "{urls: 'turn:127.0.0.1:PORT?transport=tcp', username: 'a', credential: 'b'}]});"
            "p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o))"
        ),
        None,
        here,
    ),
    Hostile(
        "prefetch",
        html(
            "",
            '<link rel="dns-prefetch" href="//127.0.0.1:PORT">'
            f'<link rel="preconnect" href="{_LOCAL}"><link rel="prefetch" href="{_LOCAL}/p">',
        ),
        None,
        here,
    ),
    Hostile(
        "service-worker",
        js(
            "navigator.serviceWorker.register('/?sw').then(() => document.body.append('registered'), () => 0)"
        ),
        None,
        here,
    ),
    Hostile(
        "permissions",
        js(
            "navigator.geolocation.getCurrentPosition(() => document.body.append('located'), "
            "() => 0); Notification.requestPermission().then(s => document.body.append(s));"
            "navigator.mediaDevices.getUserMedia({audio: true}).catch(() => document.body.append('|no mic'))"
        ),
        None,
        lambda r: here(r) and "located" not in text(r) and "granted" not in text(r),
    ),
    Hostile(
        "cdn-down",
        html("", '<link rel="stylesheet" href="https://down.test/style.css">'),
        "cdn_unreachable",
        here,
    ),
    Hostile(
        "fonts-never-come",
        html(
            "<p style='font-family: Slow, serif'>text in a slow font</p>",
            "<style>@font-face { font-family: Slow; src: url(https://cdn.test/slow.woff2) }</style>",
        ),
        None,
        both(here, note("fonts:")),
    ),
    Hostile(
        "pictures-never-come", html('<img src="https://cdn.test/slow.png" alt="slow" width="90">'), None, here
    ),
    # --- that are too much ---------------------------------------------------------------------------------
    Hostile(
        "million-nodes",
        js(
            "const f = document.createDocumentFragment(); for (let i = 0; i < 1e6; i++) "
            "f.append(document.createElement('i')); document.body.append(f)"
        ),
        "page_out_of_memory",  # Chromium lays them out in 2.8 GB
        heavy=True,
    ),
    Hostile(
        "hundred-thousand-nodes",
        js(
            "const f = document.createDocumentFragment(); for (let i = 0; i < 1e5; i++) "
            "f.append(document.createElement('i')); document.body.append(f)"
        ),
        None,
        here,
        heavy=True,
    ),
    Hostile(
        "tall",
        html("<div style='height:200000px'>tall</div>"),
        None,
        both(here, height(16_000, 16_000, 200_000), note("height:")),
    ),
    Hostile(
        "wide",
        html("<div style='width:90000px'>wide</div>"),
        None,
        lambda r: here(r) and r.width == 1280 and r.facts is not None and r.facts.width >= 90_000,
    ),
    Hostile(
        "scrolls-without-end",
        js(
            "const more = () => { const d = document.createElement('div'); d.style.height"
            " = '900px'; d.textContent = 'more'; document.body.append(d); }; more(); more(); addEventListener("
            "'scroll', more)"
        ),
        None,
        both(here, height(1000, 16_000)),
    ),
    Hostile(
        "large-data-url",
        js(
            "const i = new Image(); i.src = 'data:image/png;base64,' + 'A'.repeat(1e8); "
            "document.body.append(i)"
        ),
        None,
        here,
        heavy=True,
    ),
    Hostile(
        "crashes-the-browser",
        js(
            "let d = document.body; for (let i = 0; i < 2e4; i++) { const e = document."
            "createElement('div'); d.append(e); d = e; }"
        ),
        "browser_crash",
    ),
    Hostile(
        "deep",
        js(
            "let d = document.body; for (let i = 0; i < 500; i++) { const e = document.createElement("
            "'div'); d.append(e); d = e; }"
        ),
        None,
        here,
    ),
    Hostile(
        "many-frames",
        js(
            "for (let i = 0; i < 60; i++) { const f = document.createElement('iframe'); f.srcdoc ="
            " '<script>alert(1)<\\/script>'; f.width = 9; f.height = 9; document.body.append(f) }"
        ),
        None,
        here,
    ),
    Hostile(
        "errors-without-end",
        js("setInterval(() => { throw new Error('again') }, 1)"),
        None,
        lambda r: here(r) and r.facts is not None and 0 < len(r.facts.script_errors) <= 50,
    ),
    # --- that are broken, or only look so ------------------------------------------------------------------
    Hostile("empty", "", None, blank),
    Hostile("blank", '<!doctype html><html lang="en"><title>x</title><body></body></html>', None, blank),
    Hostile(
        "no-html",
        "<h1>Still here</h1><p>No doctype, no html",
        None,
        lambda r: here(r) and r.facts is not None and r.facts.quirks,
    ),
    Hostile("lone-surrogate", html("<p>caf\udce9 \x00 \ufffe end</p>"), None, both(here, says("end"))),
    Hostile(
        "canvas-only",
        '<!doctype html><html lang="en"><title>c</title><canvas width="300" height="200"></canvas>'
        "<script>const c = document.querySelector('canvas').getContext('2d'); c.fillStyle = 'red';"
        "c.fillRect(20, 20, 90, 90); c.fillStyle = 'blue'; c.fillRect(150, 60, 90, 90)</script>",
        None,
        lambda r: r.facts is not None and not blank(r) and r.facts.canvases[0].blank is False,
    ),
    Hostile(
        "webgl",
        html(
            '<canvas width="300" height="200"></canvas><script>const g = document.querySelector('
            "'canvas').getContext('webgl2'); const go = () => { g.enable(g.SCISSOR_TEST); for (let i = 0; i < 6; i++) "
            "{ g.scissor(i * 50, 0, 50, 200); g.clearColor(i / 6, 1 - i / 6, .5, 1); g.clear(g.COLOR_BUFFER_BIT) }"
            "requestAnimationFrame(go) }; go()</script>"
        ),
        None,
        lambda r: here(r) and r.facts is not None and r.facts.canvases[0].blank is False,
    ),
    Hostile(
        "storage-and-modules",
        html(
            "",
            "<script type='module'>localStorage.setItem('a', 'stored'); import("
            "'data:text/javascript,export default 7').then(m => document.body.append("
            "`${localStorage.getItem('a')} ${m.default} ${isSecureContext}`))</script>",
        ),
        None,
        both(here, says("stored 7 true")),
    ),
    Hostile(
        "replaces-builtins",
        js(
            "window.setTimeout = window.requestAnimationFrame = () => 0; Promise = null; "
            "JSON.stringify = () => { throw 1 }; Array.prototype.map = null; document.querySelectorAll = null"
        ),
        None,
        here,
    ),
    Hostile("destroys-itself", js(_LATER % "document.documentElement.remove()"), None, blank),
    Hostile(
        "loads-on-scroll",
        html(
            "<div style='height:3000px'></div><p id=p>-</p><script>new IntersectionObserver("
            "e => { if (e[0].isIntersecting) p.textContent = 'came on scroll' }).observe(p)</script>"
        ),
        None,
        both(here, says("came on scroll")),
    ),
    Hostile(
        "full-height",
        html("<div style='height:100vh;background:#fc0'>a</div><div style='height:100vh'>b</div>"),
        None,
        both(here, height(1960, 2100)),
    ),
)
