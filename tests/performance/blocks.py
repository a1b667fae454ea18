"""Parts of the bench's pages: sections as models write them, with CSS, SVG, pictures and a little script."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path
from random import Random
from urllib.parse import quote

_WORDS = """
harbour lantern meadow signal copper orchard quiet river window granite velvet compass morning paper
thread summit garden marble ember willow station cedar market bridge silver pattern story season
kitchen engine atlas coral studio letter timber cloud hollow island mirror field journey craft
""".split()  # noqa: SIM905 - a list of forty strings would be a page long
STYLE = Path(__file__).with_name("pages.css").read_text(encoding="utf-8")
#: What makes the blocks work when they are operated.
SCRIPT = Path(__file__).with_name("pages.js").read_text(encoding="utf-8")
_HUES = (12, 28, 46, 96, 158, 190, 214, 242, 268, 318, 344)


def style(draw: Random) -> str:
    """The page's style sheet, in two hues of its own."""
    first, second = draw.sample(_HUES, 2)
    return STYLE.replace("HUE2", str(second)).replace("HUE", str(first))


def words(draw: Random, count: int) -> str:
    """So many words, the first with a capital."""
    return " ".join(draw.choices(_WORDS, k=count)).capitalize()


def prose(draw: Random, sentences: int) -> str:
    return " ".join(f"{words(draw, draw.randint(6, 14))}." for _ in range(sentences))


def drawing(draw: Random) -> str:
    """A drawn picture as a data URL: circles over a gradient."""
    hue = draw.choice(_HUES)
    shapes = "".join(
        f'<circle cx="{draw.randint(0, 480)}" cy="{draw.randint(0, 300)}" r="{draw.randint(10, 90)}" '
        f'fill="hsl({draw.choice(_HUES)} 60% 60%)" opacity="{draw.randint(30, 90) / 100}"/>'
        for _ in range(14)
    )
    gradient = (
        f'<linearGradient id="g"><stop stop-color="hsl({hue} 60% 80%)"/><stop offset="1" '
        f'stop-color="hsl({hue} 50% 50%)"/></linearGradient>'
    )
    svg = f'<rect width="480" height="300" fill="url(#g)"/>{shapes}'
    return "data:image/svg+xml," + quote(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 300"><defs>{gradient}</defs>{svg}</svg>'
    )


def photograph(draw: Random, width: int = 320, height: int = 200) -> str:
    """A PNG as a data URL: two gradients and grain, about as hard to pack as a photograph."""
    import numpy as np

    y, x = np.mgrid[0:height, 0:width]
    grain = np.frombuffer(draw.randbytes(height * width), np.uint8).reshape(height, width) & 15
    wave = (x + 2 * y) % 62 - 31
    red, green, blue = (draw.randint(40, 200) for _ in range(3))
    channels = [value + grain + abs(wave) for value in (red + x // 8, green + y // 5, blue - y // 6)]
    pixels = np.clip(np.stack(channels, axis=2), 0, 255).astype(np.uint8).reshape(height, -1)
    rows = np.hstack([np.zeros((height, 1), np.uint8), pixels]).tobytes()  # each row begins with "no filter"
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    )
    return "data:image/png;base64," + base64.b64encode(data).decode()


def hero(draw: Random) -> str:
    return (
        f'<section class="hero fade"><h1>{words(draw, 5)}</h1><p>{prose(draw, 3)}</p>'
        f'<a class="button" href="#more">{words(draw, 2)}</a></section>'
    )


def cards(draw: Random) -> str:
    """Two rows of cards, every second one with a picture."""
    first = drawing(draw) if draw.random() < 0.7 else photograph(draw)
    shown = [f'<img src="{url}" alt="{words(draw, 3)}">' for url in (first, drawing(draw), drawing(draw))]
    pictures = [shown[0], "", shown[1], "", shown[2], ""]
    made = "".join(
        f'<article class="card fade">{picture}<h3>{words(draw, 3)}</h3>'
        f"<p>{prose(draw, 2 if picture else 5)}</p><button>{words(draw, 1)}</button></article>"
        for picture in pictures
    )
    return f'<section id="more"><h2>{words(draw, 4)}</h2><div class="grid">{made}</div></section>'


def chart(draw: Random) -> str:
    """Bars in SVG whose values two buttons change."""
    values = [draw.randint(20, 200) for _ in range(12)]
    bars = "".join(
        f'<rect x="{40 + 78 * at}" y="{240 - value}" width="54" height="{value}" rx="6" '
        f'fill="hsl({(at * 24) % 360} 60% 55%)"><title>{value}</title></rect>'
        for at, value in enumerate(values)
    )
    lines = "".join(f'<path d="M30 {y}H980" stroke="#d8dde6"/>' for y in range(40, 241, 40))
    return (
        f'<section class="chart"><h2>{words(draw, 3)}</h2><button data-scale="1" aria-pressed="true">All'
        f'</button><button data-scale=".5" aria-pressed="false">Half</button>'
        f'<svg viewBox="0 0 1000 260" role="img" aria-label="{words(draw, 3)}">{lines}{bars}</svg></section>'
    )


def tabs(draw: Random) -> str:
    """Three tabs, one panel shown."""
    heads = "".join(
        f'<button role="tab" aria-selected="{"true" if at == 0 else "false"}" data-tab="{at}">'
        f"{words(draw, 2)}</button>"
        for at in range(3)
    )
    panels = "".join(
        f'<div class="card panel"{" hidden" if at else ""}>'
        f"<h3>{words(draw, 3)}</h3><p>{prose(draw, 4)}</p></div>"
        for at in range(3)
    )
    return (
        f'<section class="tabs"><h2>{words(draw, 3)}</h2><div role="tablist">{heads}</div>{panels}</section>'
    )


def table(draw: Random) -> str:
    rows = "".join(
        f"<tr><td>{words(draw, 2)}</td><td>{draw.randint(10, 9999)}</td><td>{words(draw, 4)}</td></tr>"
        for _ in range(draw.randint(8, 14))
    )
    return (
        f"<section><h2>{words(draw, 3)}</h2><table><thead><tr><th>Name</th><th>Count</th><th>Note</th></tr>"
        f"</thead><tbody>{rows}</tbody></table></section>"
    )


def answers(draw: Random) -> str:
    items = "".join(
        f"<details><summary>{words(draw, 6)}?</summary><p>{prose(draw, 3)}</p></details>" for _ in range(6)
    )
    return f"<section><h2>{words(draw, 3)}</h2>{items}</section>"


def article(draw: Random) -> str:
    return (
        f"<section><h2>{words(draw, 5)}</h2>"
        + "".join(f"<p>{prose(draw, 7)}</p>" for _ in range(4))
        + "</section>"
    )


def form(draw: Random) -> str:
    return (
        f'<section class="card"><h2>{words(draw, 3)}</h2><form>'
        '<label>Name<input name="name" required></label>'
        '<label>E-mail<input type="email" name="mail"></label>'
        '<label>Kind<select name="kind"><option>One</option><option>Two</option></select></label>'
        '<label>Message<textarea rows="4" name="message"></textarea></label>'
        '<button>Send</button><output role="status"></output></form></section>'
    )


def game(draw: Random) -> str:
    """A canvas that arrow keys and a button move."""
    return (
        f'<section class="card" style="text-align:center"><h2>{words(draw, 3)}</h2>'
        f'<canvas id="board" width="{draw.choice((640, 720, 800))}" height="420" tabindex="0" '
        f'data-hue="{draw.choice(_HUES)}"></canvas><p>Score <b id="score">0</b></p>'
        '<button id="start">Start</button></section>'
    )


def counter(draw: Random) -> str:
    return (
        f'<section class="card pulse"><h3>{words(draw, 2)}</h3><button data-add="-1">−</button>'
        '<b class="count">0</b> <button data-add="1">+</button></section>'
    )
