"""Published results of any size, made up: models of known strength, with pictures."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opendesign.canonical import digest, hash_of, to_json
from opendesign.running.summary import summarize
from opendesign.types import CATEGORIES

DIFFICULTIES = ("easy", "medium", "hard")
RENDERED = {"browser": "chromium 150.0.1", "fonts": "f1"}
PARTS = {"alignment": 0.40, "aesthetics": 0.30, "structure": 0.30}


def measure(high: float, *, kind: str = "mean", headline: bool = False) -> dict[str, Any]:
    return {"low": 0, "high": high, "kind": kind, "headline": headline, "about": f"0 to {high:g}."}


JUDGES: dict[str, dict[str, Any]] = {
    "execution": {"model": None, "measures": {"passed": measure(1, kind="rate", headline=True)}},
    "static": {
        "model": "openai/judge",
        "measures": {
            "total": measure(100, headline=True),
            **{part: measure(share * 100) for part, share in PARTS.items()},
            "good": measure(1, kind="rate"),
        },
    },
    "interactive": {
        "model": "openai/agent",
        "measures": {"rate": measure(1, headline=True), "points": measure(3)},
    },
}
#: The judges that need no model, in the places of the others.
KEY_FREE: dict[str, dict[str, Any]] = {
    "execution": JUDGES["execution"],
    "computed": {
        "model": None,
        "stands_in_for": "static",
        "measures": {"total": measure(100, headline=True), "alignment": measure(100)},
    },
    "probe": {
        "model": None,
        "stands_in_for": "interactive",
        "measures": JUDGES["interactive"]["measures"],
    },
}


def cases(count: int, *, prompt: str = "A page about {}, with a form that works") -> list[dict[str, Any]]:
    return [
        {
            "id": f"{CATEGORIES[at % 5]}-{at:03}",
            "category": CATEGORIES[at % 5],
            "difficulty": DIFFICULTIES[at % 3],
            "prompt": prompt.format(at),
            "topic": "",
            "language": "en",
            "tags": [],
            "requirements": [{"kind": "behaviour", "text": "The form can be sent."}],
        }
        for at in range(count)
    ]


def pictures(count: int, first: int = 0) -> list[bytes]:
    """Distinct thumbnails of the size that a page's has."""
    from PIL import Image, ImageDraw

    made = []
    for at in range(first, first + count):
        draw = random.Random(at)
        image = Image.new("RGB", (480, 360), (246, 244, 240))
        pen = ImageDraw.Draw(image)
        tone = tuple(draw.randrange(30, 220) for _ in range(3))
        pen.rectangle((0, 0, 480, 60 + draw.randrange(60)), fill=tone)
        for row in range(4):
            for column in range(3):
                x, y = 20 + column * 152, 140 + row * 54
                pen.rectangle((x, y, x + draw.randrange(60, 138), y + 34), fill=(220, 218, 212))
        out = io.BytesIO()
        image.save(out, "WEBP", quality=30, method=0)
        made.append(out.getvalue())
    return made


def publish_made_up(
    results: Path,
    model: str,
    *,
    strength: float,
    of: Sequence[dict[str, Any]],
    thumbnails: Sequence[bytes] = (),
    seed: int = 0,
    said: str = "The layout is calm and the form is where one looks for it.",
    resamples: int = 500,
    judge_model: str = "openai/judge",
    scored: float = 1.0,
    cost_usd: float | None = 0.01,
    name: str | None = None,
    key_free: bool = False,
    failed: str | None = None,
) -> Path:
    """One run under ``results`` whose mean total is near ``strength``; ``scored``: share the judge scores.

    ``failed`` is what the model's failure on the first case says.
    Its summary is computed from its records as for any run. Equal arguments make equal files.
    """
    draw = random.Random(f"{model} {seed}".encode("utf-8", "replace"))
    folder = results / (name or f"{''.join(c if c.isalnum() else '-' for c in model.lower())[:40]}-{seed}")
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    names = []
    for data in thumbnails:
        names.append(f"{digest(data)}.webp")
        (folder / "pictures" / names[-1]).write_bytes(data)
    judges = KEY_FREE if key_free else {**JUDGES, "static": {**JUDGES["static"], "model": judge_model}}
    manifest = _manifest(model, of, judges, 200)
    (folder / "run.json").write_text(json.dumps(manifest), encoding="utf-8", errors="replace")
    lines: dict[str, list[str]] = {}
    for at, case in enumerate(of):
        hard = (at * 7919 % 100) / 100 - 0.5  # equal for all models, so that pairs are correlated
        total = min(100.0, max(0.0, strength + 22 * hard + draw.gauss(0, 7)))
        thumbnail = names[draw.randrange(len(names))] if names else None
        for file, record in _records(case["id"], total, thumbnail, draw, said, judges, cost_usd):
            if failed is not None and at == 0:
                fail(record, failed)
            elif draw.random() > scored and file == "verdicts-static.jsonl":
                record["value"] |= {"scores": {}, "failure": {"reason": "unparsable", "detail": "No JSON."}}
            lines.setdefault(file, []).append(to_json(record))
    for file, found in lines.items():
        text = "".join(f"{line}\n" for line in found)
        (folder / file).write_text(text, encoding="utf-8", errors="replace")
    summary = {**summarize(folder).to_dict(), "run": folder.name}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8", errors="replace")
    manifest["protocol"]["resamples"] = resamples
    (folder / "run.json").write_text(json.dumps(manifest), encoding="utf-8", errors="replace")
    return folder


def _manifest(
    model: str, of: Sequence[dict[str, Any]], judges: dict[str, dict[str, Any]], resamples: int
) -> dict[str, Any]:
    planned = {
        judge: {
            "version": "1",
            "hash": hash_of(judge),
            "config": "c",
            "stands_in_for": None,
            "asked": {"model": about["model"]} if about["model"] else None,
            **about,
        }
        for judge, about in judges.items()
    }
    return {
        "v": 1,
        "identity": hash_of(model),
        "benchmark": {"name": "made-up", "version": "1", "title": "Made up", "hash": hash_of(list(of))},
        "cases": list(of),
        "model": {"name": model, "config": {"model": model}},
        "protocol": {"name": "test", "version": "1", "hash": "p1", "resamples": resamples},
        "judges": planned,
        "samples": 1,
        "made": {"opendesign": "0.1.0"},
        "varies": {},
    }


def _records(
    case: str,
    total: float,
    thumbnail: str | None,
    draw: random.Random,
    said: str,
    judges: dict[str, dict[str, Any]],
    cost_usd: float | None,
) -> list[tuple[str, dict[str, Any]]]:
    def record(step: str, value: dict[str, Any], **made: str) -> dict[str, Any]:
        whole = {"case": case, "sample": 0, "failure": None, **value}
        base = {"v": 1, "case": case, "sample": 0, "step": step, "config": "c", "input": "i"}
        varies = {"at": 1_000.0 + draw.random(), "seconds": round(2 + 8 * draw.random(), 3)}
        return {**base, "value": whole, "made": {"opendesign": "0.1.0", **made}, "varies": varies}

    def verdict(role: str, scores: dict[str, float], **more: Any) -> tuple[str, dict[str, Any]]:
        judge = next((j for j, about in judges.items() if about.get("stands_in_for") == role), role)
        about = judges[judge]
        scores = {name: score for name, score in scores.items() if name in about["measures"]}
        model = {"judge_model": about["model"]} if about["model"] else {}
        value = {"judge": judge, "scores": scores, "reasons": [said], "evidence": {}, **more}
        made = {"judge_hash": hash_of(judge), "judge_version": "1", **model}
        return f"verdicts-{judge}.jsonl", record(f"verdict-{judge}", value, **made)

    usage = {"calls": 1, "prompt_tokens": 300, "completion_tokens": 4_000, "cost_usd": cost_usd}
    points = sum(draw.random() < total / 110 for _ in range(3))
    steps = [
        {
            "did": f"click button {n}",
            "worked": n < points,
            "why": "changed the page" if n < points else said,
            "after": "after.png",
        }
        for n in range(3)
    ]
    files = {"after.png": thumbnail} if thumbnail else {}
    static = {"total": total, **{part: total * share for part, share in PARTS.items()}}
    return [
        ("answers.jsonl", record("answer", {"text": "", "usage": usage})),
        (
            "artifacts.jsonl",
            record(
                "artifact", {"thumbnail": thumbnail, "requests": {}}, browser="chromium 150.0.1", fonts="f1"
            ),
        ),
        verdict("execution", {"passed": float(draw.random() < 0.8)}),
        verdict("static", {**static, "good": float(total >= 75)}),
        verdict(
            "interactive",
            {"points": float(points), "rate": points / 3},
            evidence={"steps": steps, "files": files},
        ),
    ]


def fail(record: dict[str, Any], detail: str) -> None:
    """Turn a record into that of an answer the model failed on."""
    value = record["value"]
    value["failure"] = {"reason": "no_document", "detail": detail}
    value |= {"thumbnail": None} if record["step"] == "artifact" else {}
    if "scores" in value:
        value |= {"scores": dict.fromkeys(value["scores"], 0.0), "reasons": [detail]}


def made_up_board(
    results: Path, *, models: int = 6, count: int = 60, distinct: int = 24, resamples: int = 500
) -> list[Path]:
    """``models`` runs of ``count`` cases, from strong to weak."""
    shots, asked = pictures(distinct), cases(count)
    each = max(1, distinct // models)
    return [
        publish_made_up(
            results,
            f"lab-{at % 7}/model-{at:02}",
            strength=82 - 30 * at / models,
            of=asked,
            thumbnails=shots[at * each : (at + 1) * each],
            seed=at,
            resamples=resamples,
            cost_usd=round(0.05 / (1 + at), 6),
        )
        for at in range(models)
    ]
