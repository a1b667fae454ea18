"""A small sound benchmark to be spoiled, one field at a time, by the tests of cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CATEGORIES = ("website", "3d", "game", "component", "dataviz")

PROMPTS = {
    "website-001": "A page for a lighthouse keeper who sells knitted socks to passing sailors",
    "website-002": "Sign-up form of a village chess club, with a map of how to get there by bus",
    "3d-001": "Show a windmill in 3D whose sails I can speed up",
    "game-001": "Catch falling apples in a basket before the worm does",
    "component-001": "Thermostat dial that goes from 5 to 30 degrees",
    "dataviz-001": "Line chart of how many letters a post office handled each month, with a year switch",
}


def case(id_: str, **changes: Any) -> dict[str, Any]:
    """The JSON object of a sound case."""
    category = id_.rsplit("-", 1)[0]
    return {
        "id": id_,
        "category": category,
        "prompt": PROMPTS.get(id_, f"An unheard of request with the number {id_}"),
        "topic": f"{category}-topic",
        "difficulty": "easy",
        "language": "en",
        "tags": [],
        "requirements": [
            {"kind": "content", "text": "The thing that was asked for is on the page."},
            {"kind": "behaviour", "text": "Pressing the red button turns the thing around."},
        ],
        **changes,
    }


CARD = """name = "mine"
version = "1"
title = "Mine"

[difficulty]
easy = "Little to do."

[tags]
static = "Nothing to operate."

[splits]
few = ["website-001", "3d-001", "game-001", "component-001", "dataviz-001"]
"""


def write(folder: Path, cases: list[dict[str, Any]] | None = None, card: str = CARD) -> Path:
    """Write a benchmark: card, cases by category, and a vocabulary of topics."""
    (folder / "cases").mkdir(parents=True, exist_ok=True)
    (folder / "benchmark.toml").write_text(card, encoding="utf-8")
    for category in CATEGORIES:
        rows = [c for c in (cases or [case(name) for name in PROMPTS]) if c["category"] == category]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / "cases" / f"{category}.jsonl").write_text(text, encoding="utf-8")
    topics = "".join(
        f'[{category}]\n{category}-topic = "Any."\n'
        + "".join(f'{category}-{number} = "Another."\n' for number in range(15))
        for category in CATEGORIES
    )
    (folder / "topics.toml").write_text(topics, encoding="utf-8")
    return folder
