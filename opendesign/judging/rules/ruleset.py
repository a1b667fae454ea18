"""``rules.toml`` of a card: which rules stand for which intent.

[intents.ids]
about = "Ids are unique"
rules = ["id-unique"]

[intents.lower-case]
about = "Tag names are in lower case"
rules = ["tagname-lowercase"]
names = ["MyTag"]                      # names that its rules on names let pass

[intents.language]
about = "html names its language"
without_effect = ["lang-require"]      # a name that was meant, and that HTMLHint does not have
"""

from __future__ import annotations

import difflib
import functools
import tomllib
from dataclasses import dataclass
from typing import Any

from opendesign.errors import UnknownName, UsageError
from opendesign.judging.rules.checks import CHECKS, WITH_NAMES
from opendesign.types import Card

FILE = "rules.toml"
_KEYS = ("about", "rules", "names", "without_effect")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule switched on: its name, the sentence it stands for, and the names it lets pass."""

    name: str
    intent: str
    allow: frozenset[str] = frozenset()


def rule_set(card: Card) -> tuple[Rule, ...]:
    """The rules a card switches on, in its order. Raises ``UsageError`` naming the file and the field."""
    if FILE not in card.files:
        raise UsageError(f"{card.path}: the engine 'rules' needs a file '{FILE}' in the card's folder.")
    return _parse(card.files[FILE], (card.path / FILE).as_posix())


@functools.lru_cache(maxsize=64)
def _parse(text: str, where: str) -> tuple[Rule, ...]:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where} is not TOML: {error}.") from None
    intents = values.get("intents")
    if not isinstance(intents, dict) or not intents:
        raise UsageError(f"{where}: there is no [intents.…] table.")
    _only_known(values, ("intents",), where, "")
    rules = [rule for key, intent in intents.items() for rule in _intent(intent, where, f"intents.{key}")]
    names = [rule.name for rule in rules]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{where}: the rule '{twice[0]}' is listed twice.")
    if not rules:
        raise UsageError(f"{where}: no rule is switched on, so that every page would pass.")
    return tuple(rules)


def _intent(intent: Any, where: str, field: str) -> list[Rule]:
    if not isinstance(intent, dict):
        raise UsageError(f"{where}: '{field}' must be a table with 'about' and 'rules'.")
    _only_known(intent, _KEYS, where, f"{field}.")
    about = intent.get("about")
    if not isinstance(about, str) or not about.strip():
        raise UsageError(f"{where}: '{field}.about' must say in a few words what is asked of the page.")
    lists = {key: intent.get(key, []) for key in _KEYS[1:]}
    for key, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise UsageError(f"{where}: '{field}.{key}' must be a list of names.")
    for name in lists["rules"]:
        if name not in CHECKS:
            raise UnknownName(f"rule ({where}, '{field}.rules')", name, CHECKS)
    for name in lists["without_effect"]:
        if name in CHECKS:
            raise UsageError(f"{where}: '{field}.without_effect': '{name}' is a rule: list it under 'rules'.")
    if lists["names"] and not any(name in WITH_NAMES for name in lists["rules"]):
        raise UsageError(f"{where}: '{field}.names' has a meaning only beside {' or '.join(WITH_NAMES)}.")
    allow = frozenset(lists["names"])
    return [
        Rule(name, about.strip(), allow if name in WITH_NAMES else frozenset()) for name in lists["rules"]
    ]


def _only_known(table: dict[str, Any], known: tuple[str, ...], where: str, prefix: str) -> None:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=3, cutoff=0.5) or known
            raise UsageError(f"{where}: unknown key '{prefix}{key}': did you mean {' or '.join(near)}?")
