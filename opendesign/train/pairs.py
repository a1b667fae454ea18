"""Prompts and answers that a model is fitted to, strictly: what a chat template would drop is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from opendesign.cases.reading import read_jsonl, shown
from opendesign.errors import UsageError

__all__ = ["checked", "checked_pair", "read_pairs", "refuse_mixed", "silent"]

_ROLES = {"prompt": ("system", "user", "assistant"), "completion": ("assistant",)}


def read_pairs(file: Path) -> list[dict[str, Any]]:
    """``prompt`` and ``completion`` of every row: in all of them texts, or in all of them conversations."""
    found = []
    for number, row in read_jsonl(file, Mapping[str, Any]):  # type: ignore[type-abstract]
        where = f"{shown(file)}, line {number}"
        found.append((where, *checked_pair(row.get("prompt"), row.get("completion"), where)))
    if not found:
        raise UsageError(f"{shown(file)} has no rows: give one JSON object a line.")
    refuse_mixed((where, prompt) for where, prompt, _ in found)
    return [{"prompt": prompt, "completion": completion} for _, prompt, completion in found]


def checked_pair(prompt: Any, completion: Any, where: str) -> tuple[Any, Any]:
    """Both as ``checked`` returns them. Raises ``UsageError`` also where one is a text and one is not."""
    asked, said = checked(prompt, "prompt", where), checked(completion, "completion", where)
    if type(asked) is not type(said):
        raise UsageError(f"{where}: 'prompt' and 'completion' are no two texts or two conversations.")
    return asked, said


def checked(value: Any, name: str, where: str) -> Any:
    """A text as it is, or a conversation with nothing in its turns but role and content.

    Raises ``UsageError`` for everything else; of a ``completion`` all turns are the assistant's.
    """
    where = f"{where}: '{name}'"
    if isinstance(value, str):
        return _said(value, where)
    if not isinstance(value, list) or not value:
        raise UsageError(f"{where} is no text and no conversation.")
    turns = [_turn(turn, _ROLES[name], f"{where}, turn {at}") for at, turn in enumerate(value, start=1)]
    if name == "prompt" and not any(turn["role"] == "user" for turn in turns):
        raise UsageError(f"{where} has no turn of the user.")
    return turns


def _turn(turn: Any, roles: tuple[str, ...], where: str) -> dict[str, str]:
    if not isinstance(turn, dict):
        raise UsageError(f"{where} is no object with role and content.")
    if (role := turn.get("role")) not in roles:
        found = f"is '{role}'" if role else "is missing"
        raise UsageError(f"{where}: the role {found}; it has to be {' or '.join(roles)}.")
    if more := [name for name, value in turn.items() if name not in ("role", "content") and value]:
        raise UsageError(f"{where} has '{more[0]}', which is not learned: take it out, or leave out the row.")
    if not isinstance(turn.get("content"), str):
        raise UsageError(f"{where}: the content is no text.")
    return {"role": turn["role"], "content": _said(turn["content"], f"{where}: the content")}


def _said(text: str, what: str) -> str:
    if not text.strip():
        raise UsageError(f"{what} is empty.")
    return text


def refuse_mixed(prompts: Iterable[tuple[str, Any]]) -> None:
    """Raise ``UsageError`` at the first (where, prompt) of another kind than those before."""
    first = None
    for where, prompt in prompts:
        first = first or type(prompt)
        if type(prompt) is not first:
            raise UsageError(f"{where}: rows of texts and rows of conversations are mixed: give one kind.")


def silent(completion: Any) -> bool:
    """Whether a model said nothing at all: an answer like others, but nothing to learn."""
    turns = completion if isinstance(completion, list) else [{"content": completion}]
    return all(
        isinstance(turn, dict)
        and not any(str(value or "").strip() for name, value in turn.items() if name != "role")
        for turn in turns
    )
