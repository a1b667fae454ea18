"""A benchmark and answers to it on disk, made of the bench's pages, so that the real journey can run."""

from __future__ import annotations

import json
from pathlib import Path

from opendesign.types import CATEGORIES

NAME = "bench"
JUDGES = ("execution", "computed", "probe")


def make(pages: Path, folder: Path) -> Path:
    """Put benchmark and answers of a file of pages into ``folder``, which is for ``$OPENDESIGN_HOME``."""
    made = json.loads(pages.read_text(encoding="utf-8"))
    benchmark, answers = folder / "benchmarks" / NAME, folder / "answers"
    (benchmark / "cases").mkdir(parents=True)
    answers.mkdir()
    cases = [page["case"] for page in made]
    for category in CATEGORIES:
        lines = "".join(json.dumps(case) + "\n" for case in cases if case["category"] == category)
        if lines:
            (benchmark / "cases" / f"{category}.jsonl").write_text(lines, encoding="utf-8")
    card = f'name = "{NAME}"\nversion = "1"\ntitle = "Pages of the bench"\nprotocols = "opendesign"\n'
    (benchmark / "benchmark.toml").write_text(card, encoding="utf-8")
    for page in made:
        (answers / f"{page['case']['id']}.html").write_text(page["document"], encoding="utf-8")
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Variables under which ``folder`` is looked into."""
    return {"OPENDESIGN_HOME": str(folder), "OPENDESIGN_CACHE": str(folder / "cache")}
