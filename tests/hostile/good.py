"""Twenty ordinary pages, so that it shows when a hostile one harms another."""

from __future__ import annotations

_STYLE = """
*{box-sizing:border-box}body{margin:0;font-family:sans-serif;color:#222;background:#fafafa}
header{position:sticky;top:0;background:#234;color:#fff;padding:1rem 2rem}
main{max-width:60rem;margin:2rem auto;padding:0 1rem;display:grid;grid-template-columns:1fr 1fr;gap:1rem}
.card{background:#fff;border:1px solid #ddd;border-radius:8px;padding:1rem;animation:in .4s both}
@keyframes in{from{opacity:0;transform:translateY(8px)}}button{padding:.5rem 1rem}
"""


def good_page(number: int) -> str:
    """A page with a sticky header, cards that fade in, a control, a drawing, random and a clock."""
    cards = "".join(
        f'<section class="card"><h2>Part {i}</h2>'
        f"<p>{'Plain words about it. ' * (3 + (number + i) % 5)}</p></section>"
        for i in range(2 + number % 9)
    )
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page {number}</title>
<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>
<header>Page {number} <button id="more">More</button></header><main>{cards}</main>
<canvas id="chart" width="300" height="120"></canvas><p id="out"></p><script>
const draw = document.getElementById("chart").getContext("2d");
draw.fillStyle = "#47a";
for (let i = 0; i < 10; i++) {{ draw.fillRect(i * 30, 0, 20, 20 + Math.random() * 90); }}
document.getElementById("out").textContent = new Date().toString() + " " + Math.random();
document.getElementById("more").onclick = () => document.querySelector("main").append("more");
</script></body></html>"""


GOOD = tuple(good_page(number) for number in range(20))
