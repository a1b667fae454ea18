"""Answers already on disk, in every shape that is taken, and what is said of the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opendesign.answering.disk import DiskModel, decode
from opendesign.answering.models import Model, resolve
from opendesign.errors import UsageError
from opendesign.types import Answer, Case, GenerationSettings

PAGE = "<!doctype html><html><body>{}</body></html>"


def page(text: str) -> str:
    return PAGE.format(text)


async def ask(model: Model, case: str, sample: int = 0) -> Answer:
    return await model.answer(Case(id=case, category="game", prompt="p"), sample, GenerationSettings())


def rows(path: Path, *values: object) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


async def test_a_folder_of_pages(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(page("a"))
    (tmp_path / "a-1.html").write_text(page("a1"))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text(page("b"))
    (tmp_path / "b" / "2.html").write_text(page("b2"))
    (tmp_path / "c-0.htm").write_text(page("c0"))
    (tmp_path / "d.md").write_text(f"Here:\n```html\n{page('d')}\n```\n")
    (tmp_path / "e.html").write_text(f"```html\n{page('e')}\n```")
    model = resolve(str(tmp_path))
    for case, sample, text in (
        ("a", 0, "a"),
        ("a", 1, "a1"),
        ("b", 0, "b"),
        ("b", 2, "b2"),
        ("c", 0, "c0"),
        ("d", 0, "d"),
    ):
        answer = await ask(model, case, sample)
        assert (answer.status, answer.document) == ("ok", page(text)), (case, sample)
    # A page is a page as it stands: nothing is searched for in it.
    assert (await ask(model, "e")).document == f"```html\n{page('e')}\n```"
    for case, sample in (("a", 2), ("b", 1), ("z", 0)):
        answer = await ask(model, case, sample)
        assert answer.failure is not None
        assert (answer.failure.status, answer.document) == ("instrument_failure", None)
        assert f"case {case}" in answer.failure.detail


async def test_an_empty_page_is_the_models_failure(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(" \n")
    answer = await ask(DiskModel(tmp_path), "a")
    assert answer.failure is not None
    assert answer.failure.reason == "empty"


@pytest.mark.parametrize(
    ("row", "document"),
    [
        ({"case": "a", "html": page("x")}, page("x")),
        ({"id": "a", "text": f"Sure\n```html\n{page('x')}\n```"}, page("x")),
        ({"case_id": "a", "response": page("x"), "document": "ab12.html"}, page("x")),
        ({"task_id": "a", "completion": page("x"), "html": page("y")}, page("y")),
        ({"id": "a", "document": page("x")}, page("x")),
        ({"id": 7, "reply": page("x")}, page("x")),
    ],
)
async def test_rows_of_json_lines(tmp_path: Path, row: dict[str, object], document: str) -> None:
    model = resolve(str(rows(tmp_path / "answers.jsonl", row)))
    assert (await ask(model, str(next(iter(row.values()))))).document == document


async def test_samples_finish_reason_and_reasoning_of_rows(tmp_path: Path) -> None:
    path = rows(
        tmp_path / "a.jsonl",
        {"case": "a", "html": page("0")},
        {"case": "b", "sample": 3, "html": page("3")},
        {"case": "a", "reply": "<html>cut", "finish_reason": "length", "reasoning": "long"},
        {"case": "c", "reply": None},
    )
    model = resolve(f"answers:{path}")
    assert (await ask(model, "a")).document == page("0")
    assert (await ask(model, "b", 3)).document == page("3")
    cut = await ask(model, "a", 1)
    assert cut.failure is not None
    assert (cut.failure.reason, cut.document, cut.reasoning) == ("truncated", "<html>cut", "long")
    empty = await ask(model, "c")
    assert empty.failure is not None
    assert empty.failure.reason == "empty"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"case": "a", "html": "x"}\n{"case": ', "Line 2 of .* is no JSON"),
        ("[1]\n", "Line 1 of .* is no JSON object"),
        ('{"html": "x"}\n', "names no case"),
        ('{"id": "a", "prompt": "x"}\n', "holds no answer: it needs 'html' or 'reply' .it has id, prompt"),
        ('{"id": "a", "html": "x", "sample": 0}\n{"id": "a", "html": "y", "sample": 0}\n', "a second time"),
        ("\n", "empty"),
        ("[" * 100_000, "no JSON"),
    ],
)
async def test_what_is_wrong_with_json_lines_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        await ask(DiskModel(path), "a")


def test_places_without_answers_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There are no answers at"):
        resolve(f"answers:{tmp_path / 'none'}")
    with pytest.raises(UsageError, match=r"<case>\.html"):
        _ = DiskModel(tmp_path).ids
    (tmp_path / "a.zip").write_bytes(b"PK")
    with pytest.raises(UsageError, match="holds no answers"):
        DiskModel(tmp_path / "a.zip")


def test_what_is_missing_and_what_is_unknown_is_counted(tmp_path: Path) -> None:
    for name in ("a", "a-1", "b", "odd", "b-2x"):
        (tmp_path / f"{name}.html").write_text(page(name))
    model = DiskModel(tmp_path)
    found = model.coverage(["a", "b", "c"])
    assert (found.answered, found.missing, found.unknown) == (("a", "b"), ("c",), ("b-2x", "odd"))
    assert found.sentence == "1 cases have no answer (c); 2 answers are for no case asked here (b-2x, odd)."
    assert model.coverage(["a", "b"], samples=2).missing == ("b",)
    assert model.coverage(["a", "b", "odd", "b-2x"]).sentence == ""


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("é".encode(), "é", ""),
        ("\ufeffé".encode(), "é", "utf-8, by its mark"),
        ("\ufeffé".encode("utf-16-le"), "é", "utf-16-le, by its mark"),
        (b"<meta charset=latin-1>\xe9", "<meta charset=latin-1>é", "iso8859-1, as it declares"),
        (b"<meta charset=utf-8>\xe9", "<meta charset=utf-8>\ufffd", "not valid UTF-8"),
        (b"<meta charset=none>\xe9", "<meta charset=none>\ufffd", "not valid UTF-8"),
        (b"<meta charset=hex>\xe9", "<meta charset=hex>\ufffd", "not valid UTF-8"),
        (b"\xff\xc0", "\ufffd\ufffd", "not valid UTF-8"),
    ],
)
def test_bytes_that_are_not_utf_8(data: bytes, text: str, note: str) -> None:
    got, how = decode(data)
    assert got == text
    assert note in how


async def test_a_page_that_was_repaired_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(page("é").encode("latin-1"))
    answer = await ask(DiskModel(tmp_path), "a")
    assert answer.document == page("\ufffd")
    assert "not valid UTF-8" in answer.varies["note"]


def test_a_changed_answer_is_another_configuration(tmp_path: Path) -> None:
    settings = GenerationSettings()
    (tmp_path / "a.html").write_text(page("1"))
    before = DiskModel(tmp_path).config(settings)
    assert DiskModel(tmp_path).config(settings) == before
    (tmp_path / "a.html").write_text(page("2"))
    assert DiskModel(tmp_path).config(settings) != before
    path = rows(tmp_path / "a.jsonl", {"id": "a", "html": "1"})
    before = DiskModel(path).config(settings)
    rows(path, {"id": "a", "html": "2"})
    assert DiskModel(path).config(settings) != before


async def test_answers_on_disk_cannot_chat(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("x")
    with pytest.raises(UsageError, match="cases only"):
        await DiskModel(tmp_path).chat([{"role": "user", "content": "hi"}])
