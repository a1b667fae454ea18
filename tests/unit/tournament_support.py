"""Stored runs whose pages have known heights, and scripted judges that look at the pictures they are sent."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from opendesign.judging.cards import read_card
from opendesign.rendering import Rendering
from opendesign.running.journey import Seat
from opendesign.testing import ScriptedRequest
from opendesign.types import Card, Failure

from .running_support import CASES, FakeModel, FakeRenderer, carry_out, planned

WIDTH = 320
PAIRWISE = Path(__file__).parents[2] / "judges" / "pairwise"


def card() -> Card:
    return read_card(PAIRWISE)


def png(height: int, width: int = WIDTH) -> bytes:
    """A page's picture of that height, with something on it."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).rectangle((10, 10, width - 10, height - 10), outline="black")
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


class Drawing(FakeRenderer):
    """Draws a document ``<p 640>`` as a picture 640 pixels high; ``<p browser_crash>`` fails so."""

    async def render(self, document: str) -> Rendering:
        self.rendered.append(document)
        said = document.removeprefix("<p ").partition(">")[0]
        if not said.isdigit():
            return Rendering(failure=Failure(reason=said, detail="It was drawn badly."))
        return Rendering(picture=png(int(said)), width=WIDTH, height=int(said))


Page = int | str  # height of a page, or the reason for which there is none


def stored_run(
    root: Path, name: str, page: Page | Callable[[str], Page], *seats: Seat, **changes: Any
) -> Path:
    """A finished run in ``root/name``: one height for all of its pages, or one by case id."""

    def say(case: Any, sample: int) -> str:
        made = page(case.id) if callable(page) else page
        instruments = ("browser_crash", "page_hung")
        return f"<p {made}>{name}" if isinstance(made, int) or made in instruments else made

    carry_out(planned(root / name, FakeModel(say, f"fake/{name}"), *seats, **changes), Drawing())
    return root / name


def shown(request: ScriptedRequest) -> dict[str, list[tuple[int, int]]]:
    """Place → size of every picture that stands below that place's line."""
    from PIL import Image

    places: dict[str, list[tuple[int, int]]] = {}
    place = ""
    for part in last_turn(request):
        if part["type"] == "text":
            if line := re.search(r"^Page ([AB]),", part["text"], re.M):
                place = line[1]
            continue
        data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
        with Image.open(io.BytesIO(data)) as image:
            places.setdefault(place, []).append(image.size)
    return places


def last_turn(request: ScriptedRequest) -> list[dict[str, Any]]:
    """Parts of the first user turn, the one with the pictures."""
    turn = next(m for m in request.body["messages"] if m["role"] == "user")
    parts: list[dict[str, Any]] = turn["content"]
    return parts


def ratio(sizes: list[tuple[int, int]]) -> float:
    """How tall the page of these pictures is for its width, by its overview."""
    width, height = sizes[0]
    return height / width


def reply(better: str, **more: Any) -> str:
    said: Mapping[str, Any] = {"a": "Tidy.", "b": "Plain.", "reason": "It shows more.", "better": better}
    return json.dumps({**said, **more})


def prefers_longer(request: ScriptedRequest) -> str:
    pages = shown(request)
    a, b = ratio(pages["A"]), ratio(pages["B"])
    return reply("tie" if abs(a - b) < 0.02 * a else "A" if a > b else "B")


CASE_IDS = tuple(case.id for case in CASES)
