"""Short pages for a small model to be fitted to: one sound and one flawed answer to every training prompt.

    python examples/smollm2/pages.py sft.jsonl

Rows are as ``opendesign train sft`` reads them. The prompts are those that ``grpo.toml`` trains on, without
its held-out ones; a page has 225 tokens of SmolLM2 (mean) and 387 at most. The flaws are those of markup that
``builtin/broken`` has, so that a model that writes such pages passes ``execution`` about every second time.
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path

from opendesign.answering.controls.palettes import palette_of
from opendesign.answering.controls.words import title_of
from opendesign.train.config import Prompts
from opendesign.train.prompts import ask, rows_for
from opendesign.types import Case

HELD_OUT = 24
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body {{ color: {text}; background: {ground}; }}</style>
</head>
<body>
<h1 id="top">{title}</h1>
<p id="more">All about {subject}.</p>
<div><button type="button">More</button></div>
</body>
</html>
"""
_FLAWS = (
    ("<title>{title}</title>\n", ""),
    (' lang="en"', ""),
    ('<meta name="viewport" content="width=device-width">\n', ""),
    ('id="more"', 'id="top"'),
    ("</div>", ""),
)


def pages(case: Case, number: int) -> list[str]:
    """The sound page of a case and its flawed twin, each in a fence."""
    title, palette = title_of(case), palette_of(case)
    words = {
        "title": escape(title),
        "subject": escape(title),
        "text": palette.ink,
        "ground": palette.ground,
    }
    flawed = _PAGE.replace(*_FLAWS[number % len(_FLAWS)], 1)
    return [f"```html\n{page.format(**words)}```" for page in (_PAGE, flawed)]


def main(file: Path) -> None:
    """Write the rows."""
    cases = ask(Prompts(), held_out=HELD_OUT).train
    prompts = rows_for(cases, chat=True, system="")
    with file.open("w", encoding="utf-8") as to:
        for number, (case, row) in enumerate(zip(cases, prompts, strict=True)):
            for page in pages(case, number):
                answer = [{"role": "assistant", "content": page}]
                to.write(json.dumps({"prompt": row["prompt"], "completion": answer}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
