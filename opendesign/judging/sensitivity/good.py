"""Good pages: the builtin template for cases of all categories, and pages that somebody else made."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Sequence
from pathlib import Path

from opendesign.errors import UsageError
from opendesign.judging.sensitivity.page import Good
from opendesign.types import CATEGORIES, Case

_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)


def template_pages(cases: Sequence[Case], count: int, seed: int) -> list[Good]:
    """The template's answers to ``count`` cases drawn by ``seed``, the categories in turn.

    ``other`` is the answer to the next case, which is of another category.
    """
    from opendesign.answering.controls import document

    rng = random.Random(f"good {seed}")
    queues = [
        rng.sample(of, len(of)) for name in CATEGORIES if (of := [c for c in cases if c.category == name])
    ]
    drawn = [
        queue[at] for at in range(max(map(len, queues), default=0)) for queue in queues if at < len(queue)
    ]
    drawn = drawn[: max(count, 2)]
    pages = [document("template", case) for case in drawn]
    return [
        Good(case=case, document=pages[at], other=pages[(at + 1) % len(pages)])
        for at, case in enumerate(drawn[:count])
    ]


def given_pages(folder: Path, count: int, seed: int) -> list[Good]:
    """``count`` HTML files of a folder (and below), drawn by ``seed``; each is a case named by its title.

    Raises ``UsageError`` where there is none.
    """
    from opendesign.answering.disk import decode

    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".html", ".htm") and p.is_file())
    if not files:
        raise UsageError(f"There is no HTML file in {folder}: name a folder of good pages with --pages.")
    drawn = random.Random(f"given {seed}").sample(files, len(files))[: max(count, 2)]
    pages = [decode(file.read_bytes())[0] for file in drawn]
    names = _names(drawn, folder)
    return [
        Good(
            case=Case(id=names[at], category="website", prompt=_prompt(pages[at], file)),
            document=pages[at],
            other=pages[(at + 1) % len(pages)],
        )
        for at, file in enumerate(drawn[:count])
    ]


def _names(files: Sequence[Path], folder: Path) -> list[str]:
    """A name a file, no two alike, and none that a case of the benchmark has."""
    found: list[str] = []
    for file in files:
        path = file.relative_to(folder).with_suffix("").as_posix()
        name = "given-" + (re.sub(r"[^\w.]+", "-", path).strip("-") or "page")
        while name in found:
            name += "-"
        found.append(name)
    return found


def _prompt(document: str, file: Path) -> str:
    found = _TITLE.search(document)
    title = " ".join(html.unescape(found[1]).split()) if found else ""
    return f"A web page: {title or file.stem}"
