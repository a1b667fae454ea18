"""Votes as a ballot exports them: read with suspicion, each complaint with its reason.

{"format": "opendesign-votes", "v": 1, "ballot": …, "rater": …,
 "votes": [{"question": "q1", "left": <page>, "right": <page>, "choice": …, "seconds": 4.2, "comment": …}]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opendesign.balloting.key import Key, Question
from opendesign.errors import UsageError

__all__ = ["CHOICES", "REASONS", "Cast", "Dropped", "Sheet", "read_sheet"]

FORMAT = "opendesign-votes"
CHOICES = ("left", "right", "tie", "both_bad")
LARGEST = 5_000_000  # bytes of a file; the longest ballot with every comment full has a sixth of that
COMMENT = 500  # characters
_RATER = re.compile(r"[0-9a-f]{16}")

#: Everything a file, a rater or a vote can be dropped for.
REASONS = {
    "unreadable": "the file is not what a ballot exports",
    "other_ballot": "the file is of another ballot",
    "failed_checks": "the rater failed too many attention checks",
    "unchecked": "the rater answered no attention check",
    "hasty": "too many of the rater's votes are too fast",
    "malformed": "the vote is not as a ballot writes it",
    "unknown_question": "the ballot has no such question",
    "wrong_pages": "the vote names other pages than its question",
    "duplicate": "the rater's vote on this question is there already",
    "too_fast": "the vote came too fast",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """What is not counted, and why. ``votes``: how many votes went with it."""

    reason: str  # out of ``REASONS``
    file: str
    rater: str = ""
    question: str = ""
    votes: int = 1
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """One vote that fits a question. ``winner`` is a page's id, or "" for a tie."""

    file: str
    rater: str
    question: Question
    left: str
    right: str
    choice: str
    seconds: float
    comment: str

    @property
    def winner(self) -> str:
        return {"left": self.left, "right": self.right}.get(self.choice, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One file: the rater's votes that fit the ballot, and what does not."""

    file: str
    rater: str
    votes: tuple[Cast, ...]
    dropped: tuple[Dropped, ...]


def read_sheet(path: Path, key: Key) -> Sheet:
    """Never fails on what is inside a file. Raises ``UsageError`` for one that is not there."""
    document, problem = _document(path)
    if problem is None:
        problem = _problem(document, key)
    if problem is not None:
        count = len(document["votes"]) if _has_votes(document) else 0
        lost = Dropped(reason=problem[0], file=path.name, votes=count, detail=problem[1])
        return Sheet(file=path.name, rater="", votes=(), dropped=(lost,))
    questions = {question.id: question for question in key.questions}
    kept: dict[str, Cast] = {}
    dropped = []
    for value in document["votes"]:
        vote = _vote(value, path.name, document["rater"], questions)
        if isinstance(vote, Cast) and vote.question.id not in kept:
            kept[vote.question.id] = vote
        else:
            dropped.append(vote if isinstance(vote, Dropped) else duplicate(vote))
    return Sheet(file=path.name, rater=document["rater"], votes=tuple(kept.values()), dropped=tuple(dropped))


def duplicate(vote: Cast) -> Dropped:
    return Dropped(reason="duplicate", file=vote.file, rater=vote.rater, question=vote.question.id)


def _document(path: Path) -> tuple[Any, tuple[str, str] | None]:
    try:
        if path.stat().st_size > LARGEST:
            return None, ("unreadable", f"It has more than {LARGEST // 1_000_000} MB.")
        return json.loads(path.read_text(encoding="utf-8-sig")), None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"Cannot read {path}: {reason}.") from None
    except (ValueError, RecursionError):
        return None, ("unreadable", "It is not JSON; half of it may be missing.")


def _has_votes(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("votes"), list)


def _problem(document: Any, key: Key) -> tuple[str, str] | None:
    if not _has_votes(document) or document.get("format") != FORMAT:
        return "unreadable", "It is no file of votes."
    if document.get("v") != 1:
        return "unreadable", "It was made by a ballot of another version."
    rater = document.get("rater")
    if not isinstance(rater, str) or not _RATER.fullmatch(rater):
        return "unreadable", "Its rater is not the number that a ballot draws."
    if document.get("ballot") != key.ballot:
        return "other_ballot", f"It is of the ballot {str(document.get('ballot'))[:40]}."
    return None


def _vote(value: Any, file: str, rater: str, questions: Mapping[str, Question]) -> Cast | Dropped:
    """The vote, or why it is none."""
    fields = value if isinstance(value, dict) else {}
    id = fields.get("question")

    def lost(reason: str, detail: str = "") -> Dropped:
        named = id[:40] if isinstance(id, str) else ""
        return Dropped(reason=reason, file=file, rater=rater, question=named, detail=detail)

    seconds, comment = fields.get("seconds"), fields.get("comment", "")
    if not isinstance(id, str):
        return lost("malformed", "It names no question.")
    if fields.get("choice") not in CHOICES:
        return lost("malformed", f"Its choice is {str(fields.get('choice'))[:40]}.")
    # A bool is an int, and JSON as Python reads it knows NaN.
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e9:
        return lost("malformed", "Its seconds are no time.")
    if not isinstance(comment, str):
        return lost("malformed", "Its comment is no text.")
    if id not in questions:
        return lost("unknown_question")
    asked, left, right = questions[id], fields.get("left"), fields.get("right")
    if (left, right) not in ((asked.left, asked.right), (asked.right, asked.left)):
        return lost("wrong_pages")
    return Cast(
        file=file,
        rater=rater,
        question=asked,
        left=str(left),
        right=str(right),
        choice=fields["choice"],
        seconds=float(seconds),
        comment=comment[:COMMENT],
    )
