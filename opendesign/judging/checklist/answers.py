"""What a reply says of each requirement. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from opendesign.judging.asking import Malformed, json_in, text_of
from opendesign.types import Requirement

__all__ = ["SCHEMA", "Answer", "Item", "Word", "answers_in"]

Word = Literal["yes", "no", "unclear"]
_WORDS: Mapping[str, Word] = {"yes": "yes", "no": "no", "unclear": "unclear"}

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "answers": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"},
                    "where": {"type": "string"},
                    "why": {"type": "string"},
                    "answer": {"type": "string", "enum": list(_WORDS)},
                },
                "required": ["number", "where", "why", "answer"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["answers"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Item:
    """A requirement with its number in the case, from 1."""

    number: int
    requirement: Requirement

    def __str__(self) -> str:
        return f"{self.number}. {self.requirement.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Whether a requirement is met, where that shows, and why. Only a plain yes is a pass."""

    number: int
    answer: Word
    where: str
    why: str

    @property
    def passed(self) -> bool:
        return self.answer == "yes"


def answers_in(text: str, items: Sequence[Item]) -> tuple[Answer, ...]:
    """One answer for each item, in their order. Raises ``Malformed`` where one is missing or there twice."""
    rows = json_in(text).get("answers")
    if not isinstance(rows, list):
        raise Malformed("'answers' is missing: give a list with one object for each number.")
    found: dict[int, Answer] = {}
    numbers = [item.number for item in items]
    for row in rows:
        answer = _answer(row, numbers)
        if answer.number in found:
            raise Malformed(f"Number {answer.number} is answered twice: answer each number once.")
        found[answer.number] = answer
    if missing := [str(number) for number in numbers if number not in found]:
        raise Malformed(f"There is no answer for {', '.join(missing)}: answer every number of the list.")
    return tuple(found[number] for number in numbers)


def _answer(row: object, numbers: Sequence[int]) -> Answer:
    if not isinstance(row, Mapping):
        raise Malformed("Each of 'answers' must be an object with number, where, why and answer.")
    said = row.get("number")
    number = int(said) if isinstance(said, str) and said.isdecimal() and len(said) < 6 else said
    if type(number) is not int or number not in numbers:
        raise Malformed(f"'number' must be one of the list's: {', '.join(map(str, numbers))}.")
    word = str(row.get("answer")).strip(" .\"'").lower()
    if word not in _WORDS:
        raise Malformed(f'The answer for {number} must be "yes", "no" or "unclear".')
    where, why = text_of(row, "where", 500), text_of(row, "why", 500)
    if word == "yes" and not where:
        raise Malformed(f"For {number} you answer yes and do not say where: name the place on the page.")
    return Answer(number=number, answer=_WORDS[word], where=where, why=why)
