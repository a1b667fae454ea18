"""What a trainer hands over, read: prompts, completions and dataset columns → cases and replies.

Trainers differ, and a training run must not end for an odd row: what cannot be read of a column counts as
absent, and is said once. Only prompts and completions that do not pair up are an error.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast, get_args

from opendesign.canonical import digest, hash_of, plain
from opendesign.errors import UnknownName, UsageError
from opendesign.types import Case, Category, Requirement, RequirementKind

__all__ = ["COLUMNS", "Row", "about", "rows_of"]

log = logging.getLogger("opendesign.train")
#: Columns of a data set that are used; all others are the trainer's own.
COLUMNS = ("category", "case_id", "requirements", "finish_reason")
_SPEAKERS = ("assistant", "model")  # whose turns of a conversation are the completion's


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One completion and the case that it answers. ``key`` is equal for rows that have to score equally."""

    case: Case
    text: str
    finish_reason: str | None

    @property
    def key(self) -> str:
        return hash_of([about(self.case), digest(self.text), self.finish_reason])


def about(case: Case) -> list[Any]:
    """What of a case decides a verdict: not its id."""
    return [case.category, case.prompt, plain(case.requirements)]


def rows_of(prompts: Any, completions: Any, columns: Mapping[str, Any]) -> list[Row]:
    """One row a completion. Raises ``UsageError`` where prompts and completions are no lists of one length.

    Of ``columns`` those in ``COLUMNS`` are used; ``requirements`` are objects with kind and text, or texts.
    """
    for name, value in (("prompts", prompts), ("completions", completions)):
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
            raise UsageError(f"{name} is a list with one entry a completion, not {type(value).__name__}.")
    if len(prompts) != len(completions):
        raise UsageError(f"There are {len(prompts)} prompts for {len(completions)} completions.")
    used = {name: _column(name, columns.get(name), len(completions)) for name in COLUMNS}
    return [
        Row(
            case=_case(
                _prompt(prompts[at]), used["category"][at], used["case_id"][at], used["requirements"][at]
            ),
            text=_completion(completions[at]),
            finish_reason=_optional(used["finish_reason"][at]),
        )
        for at in range(len(completions))
    ]


def _column(name: str, value: Any, count: int) -> Sequence[Any]:
    if value is None:
        return [None] * count
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence) or len(value) != count:
        _once(f"The column '{name}' is no list with one entry a completion and is not used.")
        return [None] * count
    return value


def _case(prompt: str, category: Any, case_id: Any, requirements: Any) -> Case:
    return Case(
        id=_optional(case_id) or f"prompt-{digest(prompt)[:12]}",
        category=_category(category),
        prompt=prompt,
        requirements=tuple(_requirements(requirements)),
    )


def _category(name: Any) -> Category:
    from opendesign.cases.categories import category_of

    if name is None:
        return "website"
    try:
        return category_of(str(name))
    except UnknownName as error:
        _once(f"{error} Such rows count as 'website'.")
        return "website"


def _requirements(value: Any) -> list[Requirement]:
    if isinstance(value, str):
        try:
            value = json.loads(value)  # as columns of nested values are often stored
        except (ValueError, RecursionError):
            value = None if not value.strip() else [value]
    if value is None:
        return []
    if isinstance(value, (str, Mapping)) or not isinstance(value, Sequence):
        _once("The column 'requirements' holds something else than lists, which is not used.")
        return []
    found = []
    for one in value:
        kind, text = (one.get("kind"), one.get("text")) if isinstance(one, Mapping) else ("content", one)
        if kind in get_args(RequirementKind) and isinstance(text, str):
            found.append(Requirement(kind=cast("RequirementKind", kind), text=_clean(text)))
        else:
            _once("The column 'requirements' holds entries without a kind and a text, which are not used.")
    return found


def _prompt(value: Any) -> str:
    """A prompt's text; of a conversation what the user said, several turns one below the other."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        said = [_text(turn.get("content")) for turn in value if _is_turn(turn, ("user",))]
        return "\n\n".join(filter(None, said))
    return _text(value)


def _completion(value: Any) -> str:
    """A completion's text; of a conversation the model's last words."""
    if isinstance(value, Mapping):
        value = [value]
    if isinstance(value, Sequence) and not isinstance(value, str):
        said = [_text(turn.get("content")) for turn in value if _is_turn(turn, _SPEAKERS)]
        return said[-1] if said else ""
    return _text(value)


def _is_turn(value: Any, roles: Sequence[str]) -> bool:
    return isinstance(value, Mapping) and value.get("role", roles[0]) in roles


def _text(value: Any) -> str:
    """Text, also of content in parts; "" for anything else."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        parts = (part.get("text") for part in value if isinstance(part, Mapping))
        return "".join(_clean(part) for part in parts if isinstance(part, str))
    return ""


def _clean(text: str) -> str:
    """The text as UTF-8 can hold it: half a surrogate pair cannot be served, hashed or stored."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _optional(value: Any) -> str | None:
    return _clean(str(value)) if isinstance(value, (str, int)) and str(value).strip() else None


@lru_cache(maxsize=256)
def _once(sentence: str) -> None:
    log.warning(sentence)
