"""The key of a ballot: which run is behind each page. It stays with whoever made the ballot.

<ballot>.key.json    ballot's id, runs, pages by their ids in the ballot, questions in order
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opendesign.balloting.sampling import Kind
from opendesign.canonical import hash_of, plain
from opendesign.errors import UsageError

__all__ = ["FORMAT", "Key", "Page", "Question", "key_path", "read_key"]

FORMAT = "opendesign-ballot-key"
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page's id stands for. ``spoilt``: its picture was made unreadable, for a check."""

    model: str
    case: str
    sample: int
    picture: str  # name of the stored picture
    spoilt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Two pages by their ids. A rater may see them the other way round; votes say which stood left."""

    id: str
    kind: Kind
    left: str
    right: str
    of: str = ""  # the question that a repeat repeats
    good: str = ""  # the page that a check expects


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Everything that the ballot itself does not say."""

    seed: int
    runs: Mapping[str, str]  # run → model
    benchmark: Mapping[str, str]
    categories: Mapping[str, str]  # case → category
    pages: Mapping[str, Page]
    questions: tuple[Question, ...]
    ballot: str = ""
    format: str = FORMAT
    v: int = SCHEMA

    def named(self) -> Key:
        """With the ballot's id, a hash of everything in the key."""
        return replace(self, ballot=hash_of(plain(replace(self, ballot=""))))

    def count(self, kind: Kind) -> int:
        return sum(question.kind == kind for question in self.questions)

    def to_json(self) -> str:
        return json.dumps(plain(self), indent=1) + "\n"


def key_path(ballot: Path) -> Path:
    """Where the key of a ballot lies: beside it."""
    return ballot.with_name(f"{ballot.name}.key.json")


def read_key(path: Path) -> Key:
    """Raises ``UsageError`` for what is no key, or one that was changed."""
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {(error.strerror or str(error)).lower()}.") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is no key of a ballot: it is not JSON.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UsageError(
            f"{path} is no key of a ballot: `opendesign ballot build` writes one beside the ballot."
        )
    if document.get("v") != SCHEMA:
        raise UsageError(f"{path} was written by another version of opendesign: use that one to tally it.")
    try:
        pages = {id: Page(**page) for id, page in document["pages"].items()}
        questions = tuple(Question(**question) for question in document["questions"])
        key = Key(**{**document, "pages": pages, "questions": questions})
        whole = key.named().ballot == key.ballot  # the hash stands for the type of every field
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise UsageError(f"{path} was changed after it was written, or is damaged: restore it.")
    return key
