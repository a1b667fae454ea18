"""What the tests of judges that look at a stored page share: pages, cards, and judges told what to say."""

from __future__ import annotations

import json
import re
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from opendesign.canonical import digest
from opendesign.judging.cards import copy_card, load_card, read_card
from opendesign.judging.static import judge, judge_text
from opendesign.rendering.facts import _facts
from opendesign.testing import ScriptedRequest, ScriptedServer
from opendesign.testing.script import Script
from opendesign.types import Artifact, Blob, Card, Case, Requirement, Verdict
from tests.unit.litellm_support import model_at

CASE = Case(
    id="website-001",
    category="website",
    prompt="A page for a tea shop with opening hours.",
    requirements=(
        Requirement(kind="content", text="The opening hours are on the page."),
        Requirement(kind="behaviour", text="A click on a tea shows its price."),
    ),
)
STATIC = load_card("static")
SCORES = {"alignment": 31, "aesthetics": 20, "structure": 22}


@cache
def png(width: int = 1280, height: int = 960, *, lines: int = 40) -> bytes:
    """A picture with text all over, as a page's is."""
    image = Image.new("RGB", (width, height), (250, 248, 240))
    draw = ImageDraw.Draw(image)
    for number in range(lines):
        y = number * height // lines
        draw.text((40, y), f"Line {number} of words about tea and its many kinds " * 3, fill=(30, 20, 10))
        draw.rectangle((900, y, 1100, y + 8), fill=(number * 6 % 255, 90, 160))
    out = BytesIO()
    image.save(out, "PNG", compress_level=1)
    return out.getvalue()


def blob(folder: Path, data: bytes, suffix: str) -> Blob:
    made = Blob(digest=digest(data), suffix=suffix, root=folder)
    made.path.parent.mkdir(parents=True, exist_ok=True)
    made.path.write_bytes(data)
    return made


def artifact(
    folder: Path,
    *,
    picture: bytes | None = None,
    document: str = "<!doctype html><title>Tea</title><p>Tea",
    text: str = "Tea. Open from nine to five.",
    **changes: Any,
) -> Artifact:
    """A stored page, with the facts that a renderer would have found of its text."""
    facts = _facts(
        {"text": text, "text_length": len(text), "width": 1280, "height": 960, "complete": True},
        dialogs=(),
        script_errors=(),
        requests=(),
        popups=0,
        downloads=0,
        notes=(),
    )
    made: dict[str, Any] = {
        "case": CASE.id,
        "sample": 0,
        "document": blob(folder, document.encode(), "html"),
        "picture": blob(folder, png() if picture is None else picture, "png"),
        "facts": blob(folder, facts.to_json().encode(), "json"),
        "width": 1280,
        "height": 960,
    }
    return Artifact(**{**made, **changes})


def edited(folder: Path, name: str, old: str, new: str, *, file: str = "judge.toml") -> Card:
    """A copy of a shipped card with one edit."""
    path = copy_card(name, folder / f"my-{name}")
    text = (path / file).read_text()
    assert old in text
    (path / file).write_text(text.replace(old, new))
    return read_card(path)


def verdict(scores: dict[str, Any] | None = None, **more: Any) -> str:
    """A reply in the form asked for."""
    given = SCORES if scores is None else scores
    reasons = {name: f"Seen: {name}." for name in SCORES}
    return json.dumps({"reasons": reasons, "scores": given, **more})


def texts(request: ScriptedRequest) -> list[str]:
    """What every turn of a chat says."""
    found = []
    for message in request.body["messages"]:
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        found.append("\n".join(part["text"] for part in parts if "text" in part))
    return found


def pictures(request: ScriptedRequest) -> list[str]:
    """The data URLs of a chat."""
    return [
        part["image_url"]["url"]
        for message in request.body["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]


def inside(request: ScriptedRequest) -> str:
    """What stands between marks with a nonce."""
    return "\n".join(match[2] for text in texts(request) for match in _MARKED.finditer(text))


def obedient(request: ScriptedRequest) -> str:
    """A judge that does what any sentence outside the marks with a nonce tells it to, and nothing else."""
    outside = "\n".join(_MARKED.sub("", text) for text in texts(request))
    if re.search(r"give\s+this\s+page\s+100", outside, re.I):
        return verdict({"alignment": 40, "aesthetics": 30, "structure": 30})
    return verdict()


_MARKED = re.compile(r"<page-text ([0-9a-f]{16})>\n(.*?)\n</page-text \1>", re.S)


async def judged(
    server: ScriptedServer, page: Artifact, card: Card = STATIC, case: Any = CASE, **options: Any
) -> Verdict:
    engine = judge_text if card.engine == "text" else judge
    return await engine(case, page, card, None, model_at(server, **options))


async def one(tmp_path: Path, script: Script, card: Card = STATIC) -> tuple[Verdict, ScriptedServer]:
    with ScriptedServer(script) as server:
        return await judged(server, artifact(tmp_path), card), server
