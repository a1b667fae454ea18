"""Broken and awkward replies: what is taken for the page, or whose fault it is that there is none."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from opendesign.answering.models import Reply
from opendesign.answering.outcome import answer_of
from opendesign.types import Case

PAGE = '<!doctype html>\n<html lang="en"><title>t</title><body><p>mine</p></body></html>'
_CODE = PAGE.replace("<p>mine</p>", "<pre>\n```js\nlet a = 1;\n```\n</pre><p>mine</p>")
_CASE = Case(id="c", category="website", prompt="A page.")


@dataclass(frozen=True)
class Row:
    """``holds`` must be in the document and ``lacks`` must not; with a ``reason`` there may be none."""

    name: str
    text: str
    reason: str | None = None
    holds: str = "<p>mine</p>"
    lacks: str = "```\n\n"
    finish: str | None = "stop"


ROWS = (
    Row("nested-fences", f"Here:\n\n```html\n{_CODE}\n```\n\nEnjoy!", holds="let a = 1;", lacks="Enjoy"),
    Row("longer-fence", f"````html\n{_CODE}\n````\nDone.", holds="let a = 1;", lacks="Done"),
    Row("two-blocks", f"```css\np {{ color: red }}\n```\n\n```html\n{PAGE}\n```", lacks="```"),
    Row("prose-around", f"Sure! The page:\n{PAGE}\nTell me if you like it.", lacks="Tell me"),
    Row("no-fence", PAGE),
    Row("truncated-by-length", f"```html\n{PAGE[:60]}", "truncated", holds="", finish="length"),
    Row("truncated-in-thought", "<think>First I plan the header and", "truncated", holds=""),
    Row("empty", "", "empty", holds=""),
    Row("white-space", " \n\t\n", "empty", holds=""),
    Row("refusal", "I'm sorry, but I can't help with that request.", "refused", holds=""),
    Row("filtered", "", "content_filter", holds="", finish="content_filter"),
    Row("talk-only", "A good page has a header, a main part and a footer.", "no_document", holds=""),
    Row(
        "reasoning-first",
        f"<think>Maybe <html><p>draft</p></html>?</think>\n```html\n{PAGE}\n```",
        lacks="draft",
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_reply(row: Row) -> None:
    answer = answer_of(_CASE, 0, Reply(text=row.text, finish_reason=row.finish))
    assert (answer.failure.reason if answer.failure else None) == row.reason
    assert answer.text == row.text
    if row.reason is None:
        assert answer.document is not None
        assert row.holds in answer.document
        assert row.lacks not in answer.document
