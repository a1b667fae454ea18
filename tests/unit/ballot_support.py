"""Stored runs with pictures of their own, and votes on a ballot over them."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from opendesign.balloting import Key
from opendesign.balloting.key import Question
from opendesign.running.blobs import Blobs
from tests.unit.site_support import cases, publish_made_up

RATER = "00aa00aa00aa00aa"
Choose = Callable[[Question], dict[str, Any]]


def drawing(name: str, *, width: int = 320, height: int = 400) -> bytes:
    """A page with blocks of its own; equal names make equal pictures."""
    draw = random.Random(name.encode("utf-8", "replace"))
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    for _ in range(12):
        x, y = draw.randrange(width), draw.randrange(height)
        colour = tuple(draw.randrange(200) for _ in range(3))
        pen.rectangle((x, y, x + width // 4, y + height // 12), fill=colour)
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    return out.getvalue()


def make_run(
    root: Path,
    model: str,
    of: Sequence[dict[str, Any]],
    *,
    strength: float = 70,
    name: str | None = None,
    draw: Callable[[str, str], bytes | None] = lambda model, case: drawing(f"{model} {case}"),
) -> Path:
    """A run whose pictures are what ``draw`` makes of model and case; None for a page without one."""
    folder = publish_made_up(root, model, strength=strength, of=of, resamples=10, name=name)
    blobs, lines = Blobs(root / "blobs"), []
    for line in (folder / "artifacts.jsonl").read_text().splitlines():
        record = json.loads(line)
        data = draw(model, record["case"])
        record["value"]["picture"] = blobs.put(data, "png").name if data else None
        lines.append(json.dumps(record))
    (folder / "artifacts.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def make_runs(
    root: Path, models: Sequence[str] = ("lab/one", "lab/two", "lab/three"), n: int = 10
) -> list[str]:
    return [str(make_run(root, model, cases(n), strength=80 - 9 * at)) for at, model in enumerate(models)]


def prefer_left(question: Question) -> dict[str, Any]:
    """Left, but for checks, which are passed."""
    return {"choice": "left" if question.good in ("", question.left) else "right"}


def sheet(key: Key, choose: Choose = prefer_left, *, rater: str = RATER, **changes: Any) -> dict[str, Any]:
    """A whole file of votes; what ``choose`` returns is written over each vote."""
    votes = [
        {"question": q.id, "left": q.left, "right": q.right, "choice": "tie", "seconds": 5.0} | choose(q)
        for q in key.questions
    ]
    document = {"format": "opendesign-votes", "v": 1, "ballot": key.ballot, "rater": rater, "votes": votes}
    return document | changes


def saved(path: Path, document: Any) -> Path:
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path
