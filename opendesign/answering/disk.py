"""Answers already on disk, as a model: a folder of pages or replies, or JSON lines.

A folder holds, for each case and sample (samples count from 0)::

    <case>.html    <case>/index.html    <case>-<sample>.html    <case>/<sample>.html

A page (``.html``, ``.htm``, ``.xhtml``) or a plot's code (``.py``) is a document as it stands; in a reply
(``.md``, ``.txt``) one is searched for.
A row of JSON lines names its case (``case`` or ``id``), may name its ``sample`` (else rows of one case are
its samples in order), and holds a page or code (``html``, ``code`` or ``document``) or a reply (``reply``,
``text``, …).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from opendesign.answering.models import Reply
from opendesign.answering.outcome import answer_of
from opendesign.canonical import digest, hash_of
from opendesign.errors import UsageError
from opendesign.types import Answer, Case, Failure, GenerationSettings

__all__ = ["Coverage", "DiskModel", "decode"]

_PAGES = (".html", ".htm", ".xhtml", ".py")  # what is a document as it stands
_REPLIES = (".md", ".txt")
_CASE_KEYS = ("case", "case_id", "id", "task_id", "question_id")
_PAGE_KEYS = ("document", "html", "page", "code")
_REPLY_KEYS = ("reply", "response", "text", "output", "completion", "answer", "content", "generation", "raw")
_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?([A-Za-z0-9_-]{2,40})""", re.I)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One answer as it lies on disk. ``note`` says what was done to read it."""

    text: str
    is_page: bool
    finish_reason: str | None = None
    reasoning: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How answers on disk and cases of a benchmark fit together. All are names of cases, sorted."""

    answered: tuple[str, ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What to tell a person; "" where everything fits."""
        parts = []
        if self.missing:
            parts.append(f"{len(self.missing)} cases have no answer ({_some(self.missing)})")
        if self.unknown:
            parts.append(f"{len(self.unknown)} answers are for no case asked here ({_some(self.unknown)})")
        return "; ".join(parts) + "." if parts else ""


class DiskModel:
    """A model whose answers are on disk already. Nothing is read until an answer is asked for."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._path, self._name = path, name or f"answers:{path}"
        if not path.exists():
            raise UsageError(f"There are no answers at {path}: give a folder of pages or a JSONL file.")
        if path.is_file() and path.suffix.lower() not in (".jsonl", ".ndjson", *_PAGES, *_REPLIES):
            raise UsageError(f"{path} holds no answers: give a folder of pages, a page, or a JSONL file.")

    @property
    def name(self) -> str:
        return self._name

    @property
    def ids(self) -> list[str]:
        """Cases that have an answer here, sorted. In a folder ``a-1`` may also be sample 1 of ``a``."""
        return sorted({case for case, _ in self._stored})

    @property
    def repeats(self) -> int:
        """Answers beyond the first of a case."""
        return len(self._stored) - len({case for case, _ in self._stored})

    def coverage(self, cases: Iterable[str], samples: int = 1) -> Coverage:
        """What is answered, missing, and answered without being asked."""
        asked = list(dict.fromkeys(cases))
        found = {case: [self._find(case, sample) for sample in range(samples)] for case in asked}
        used = {key for keys in found.values() for key in keys if key}
        left = {case for case, sample in self._stored if (case, sample) not in used}
        return Coverage(
            answered=tuple(sorted(case for case, keys in found.items() if all(keys))),
            missing=tuple(sorted(case for case, keys in found.items() if not all(keys))),
            unknown=tuple(sorted(name for name in left if not self._is_sample(name, asked))),
        )

    async def answer(self, case: Case, sample: int, settings: GenerationSettings) -> Answer:
        key = self._find(case.id, sample)
        if key is None:
            which = f"case {case.id}" + (f", sample {sample}" if sample else "")
            # Nobody knows whether the model had failed there: unscored, never a zero.
            failure = Failure(
                reason="provider_error", detail=f"There is no answer for {which} in {self._path}."
            )
            return Answer(case=case.id, sample=sample, text="", failure=failure)
        stored = self._read(key)
        reply = Reply(
            text=stored.text,
            finish_reason=stored.finish_reason,
            reasoning=stored.reasoning,
            varies={"note": stored.note} if stored.note else {},
        )
        return answer_of(case, sample, reply, document=stored.text if stored.is_page else None)

    async def chat(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Reply:
        raise UsageError(f"'{self.name}' answers cases only: name a LiteLLM model where a judge needs one.")

    def config(self, settings: GenerationSettings) -> dict[str, Any]:
        return {"model": self.name, "answers": self._digest}

    # -- what is there ------------------------------------------------------------------------------------

    @cached_property
    def _stored(self) -> Mapping[tuple[str, int], Path | Stored]:
        if self._path.is_dir():
            return _files(self._path)
        if self._path.suffix.lower() in (*_PAGES, *_REPLIES):
            return {(self._path.stem, 0): self._path}
        return _rows(self._path)

    def _find(self, case: str, sample: int) -> tuple[str, int] | None:
        """Under which name an answer lies: the case's own, or ``<case>-<sample>``."""
        for key in ((case, sample), (f"{case}-{sample}", 0)):
            if key in self._stored:
                return key
        return None

    def _is_sample(self, name: str, cases: Sequence[str]) -> bool:
        base, _, number = name.rpartition("-")
        return name in cases or (number.isdecimal() and base in cases)

    def _read(self, key: tuple[str, int]) -> Stored:
        stored = self._stored[key]
        if isinstance(stored, Stored):
            return stored
        text, note = decode(_bytes(stored))
        return Stored(text=text, is_page=stored.suffix.lower() in _PAGES, note=note)

    @cached_property
    def _digest(self) -> str:
        """Of all answers: one that changed is a new answer."""
        if self._path.is_file():
            return digest(_bytes(self._path))[:16]
        rows = [[*key, digest(_bytes(path))] for key, path in self._stored.items() if isinstance(path, Path)]
        return hash_of(sorted(rows))


def decode(data: bytes) -> tuple[str, str]:
    """Text of a page, and how it was read where that was not plain UTF-8: by mark, declaration or repair."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace"), f"read as {encoding}, by its mark"
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        declared = _CHARSET.search(data[:4_096])
    if declared:
        name = declared[1].decode("ascii")
        try:
            codec = codecs.lookup(name)
            # A page that says UTF-8 and is not is repaired below; other codecs of Python are no text.
            if codec.name != "utf-8" and codec._is_text_encoding:
                return data.decode(name), f"read as {codec.name}, as it declares"
        except (LookupError, UnicodeDecodeError):
            pass
    return data.decode("utf-8", "replace"), "not valid UTF-8: bytes that are none were replaced"


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"The answer {path} cannot be read: {error.strerror or error}.") from error


def _files(folder: Path) -> dict[tuple[str, int], Path]:
    found: dict[tuple[str, int], Path] = {}
    for suffix in (*_PAGES, *_REPLIES):  # a page goes before a reply of the same case
        for path in sorted(folder.glob(f"*{suffix}")):
            found.setdefault((path.stem, 0), path)
        for path in sorted(folder.glob(f"*/*{suffix}")):
            if path.stem == "index":
                found.setdefault((path.parent.name, 0), path)
            elif path.stem.isdecimal():
                found.setdefault((path.parent.name, int(path.stem)), path)
    if not found:
        raise UsageError(f"There are no answers in {folder}: name them <case>.html or <case>/index.html.")
    return found


def _rows(path: Path) -> dict[tuple[str, int], Stored]:
    text, note = decode(_bytes(path))
    found: dict[tuple[str, int], Stored] = {}
    next_sample: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        case, sample, stored = _row(f"Line {number} of {path}", line, note)
        sample = next_sample.get(case, 0) if sample is None else sample
        next_sample[case] = max(next_sample.get(case, 0), sample + 1)
        if (case, sample) in found:
            raise UsageError(f"Line {number} of {path} answers case {case}, sample {sample} a second time.")
        found[case, sample] = stored
    if not found:
        raise UsageError(f"{path} holds no answers: it is empty.")
    return found


def _row(where: str, line: str, note: str) -> tuple[str, int | None, Stored]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is no JSON: {error}.") from error
    if not isinstance(row, dict):
        raise UsageError(f"{where} is no JSON object.")
    case = next((row[key] for key in _CASE_KEYS if isinstance(row.get(key), (str, int))), None)
    if case is None:
        raise UsageError(f"{where} names no case: it needs 'case' or 'id' (it has {_some(row)}).")
    page = next((key for key in _PAGE_KEYS if isinstance(row.get(key), str)), None)
    reply = next((key for key in _REPLY_KEYS if isinstance(row.get(key), str)), None)
    if page is None and reply is None:
        if any(key in row and row[key] is None for key in (*_PAGE_KEYS, *_REPLY_KEYS)):
            page, row = None, {**row, "reply": ""}
            reply = "reply"  # a reply that was null is an empty answer, not a broken file
        else:
            raise UsageError(f"{where} holds no answer: it needs 'html' or 'reply' (it has {_some(row)}).")
    # A reply says more than the document that somebody has cut from it; "html" is meant as the page.
    key = page if page in ("html", "page", "code") else reply or page
    sample = row.get("sample")
    stored = Stored(
        text=row[str(key)],
        is_page=key == page,
        finish_reason=row["finish_reason"] if isinstance(row.get("finish_reason"), str) else None,
        reasoning=row["reasoning"] if isinstance(row.get("reasoning"), str) else "",
        note=note,
    )
    return str(case), sample if isinstance(sample, int) and sample >= 0 else None, stored


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:5]) + (", …" if len(listed) > 5 else "")
