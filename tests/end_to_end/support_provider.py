"""What the scripted provider says: for each case a reply that its prompt alone decides, of several kinds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from opendesign.cases.benchmark import load_benchmark, select
from opendesign.testing import Fault, ScriptedReply, ScriptedRequest

#: Kind of reply → the reason it has to end with; None is a page that is judged.
KINDS: Mapping[str, str | None] = {
    "page": None,
    "fenced": None,
    "long": None,
    "cut": "truncated",
    "refusal": "refused",
    "prose": "no_document",
}
_STYLE = "body{margin:2rem auto;max-width:48rem;font:16px/1.5 sans-serif;color:#222}h1{color:#135}"


def cases(limit: int) -> dict[str, str]:
    """Prompt → id of the cases that ``--limit`` takes."""
    return {case.prompt: case.id for case in select(load_benchmark("opendesign"), limit=limit)}


def chance(prompt: str, about: str) -> float:
    """A number in [0, 1) that is the same for a prompt every time."""
    return int.from_bytes(hashlib.sha256(f"{about}:{prompt}".encode()).digest()[:6], "big") / 2**48


def kind_of(prompt: str) -> str:
    """Two thirds of the replies hold a page; the others are the model's own failures."""
    if chance(prompt, "whole") < 2 / 3:
        return ("page", "fenced", "long")[int(chance(prompt, "kind") * 3)]
    return ("cut", "refusal", "prose")[int(chance(prompt, "kind") * 3)]


def page(prompt: str) -> str:
    """A small page whose button works."""
    number = int(chance(prompt, "page") * 1_000)
    rows = "".join(f"<li>Part {i} of {number}</li>" for i in range(3 + number % 7))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Page {number}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>Page {number}</h1><p>Plain words about number {number}.</p><ul>{rows}</ul>"
        '<button id="more">More</button><p id="out">Nothing yet.</p>'
        '<script>document.getElementById("more").onclick='
        '()=>{document.getElementById("out").textContent="More of it."}</script></body></html>'
    )


def reply(prompt: str) -> ScriptedReply:
    """What the provider says when nothing is wrong, after 50 to 300 ms."""
    latency = 0.05 + 0.25 * chance(prompt, "latency")
    kind, document = kind_of(prompt), page(prompt)
    if kind == "cut":
        return ScriptedReply(text=document[: len(document) // 2], finish_reason="length", latency_s=latency)
    text = {
        "page": document,
        "fenced": f"Here it is:\n\n```html\n{document}\n```\n\nEnjoy!",
        "long": document.replace("</ul>", "</ul>" + "<p>Another paragraph of plain words.</p>" * 60),
        "refusal": "I'm sorry, but I can't help with that.",
        "prose": "A page like that would have a heading, a list and a button.",
    }[kind]
    return ScriptedReply(text=text, latency_s=latency)


class Provider:
    """A script whose answers a test changes while the server runs.

    ``instead`` is prompt → what it gets in place of its reply; ``held`` are prompts whose answer never comes.
    """

    def __init__(self) -> None:
        self.held: set[str] = set()
        self.instead: dict[str, Callable[[], ScriptedReply | Fault]] = {}

    def __call__(self, request: ScriptedRequest) -> ScriptedReply | Fault:
        if request.prompt in self.held:
            return Fault("stall")
        other = self.instead.get(request.prompt)
        return other() if other else reply(request.prompt)
