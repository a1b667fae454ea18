"""Whose score is whose: model names of two boards brought together, shown, and open to correction.

Two names are the same where they are equal, or equal once case, punctuation and the provider's name before a
slash or colon are left out. Nothing else is guessed: a near name is shown, and a match file
(``"our name" = "their name"``, or ``"our name" = ""`` for none) decides.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opendesign.errors import UnknownName, UsageError
from opendesign.studying.boards import Board


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One of our models: what it is called there, how that was found, and the nearest name if it was not."""

    ours: str
    theirs: str | None
    how: str  # "equal", "alike", "given" or "none"
    near: str | None = None


def read_matches(path: Path) -> dict[str, str]:
    """Our name → their name. Raises ``UsageError`` for a file that is not of that form."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {(error.strerror or str(error)).lower()}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} is not TOML ({error}).") from None
    if not all(isinstance(theirs, str) for theirs in given.values()):
        raise UsageError(f'{path} holds lines of the form "our name" = "their name" and nothing else.')
    return given


def match_names(ours: Board, theirs: Board, given: Mapping[str, str] | None = None) -> tuple[Match, ...]:
    """One match a model of ours, in our order.

    Raises ``UsageError`` where two of ours would be one of theirs, or one of ours could be two of theirs.
    """
    given = given or {}
    known = theirs.models
    for our, their in given.items():
        if our not in ours.models:
            raise UnknownName("model on our side", our, ours.models)
        if their and their not in known:
            raise UnknownName(f"model of {theirs.name}", their, known)
    spellings: dict[str, list[str]] = {}
    for their in known:
        for name in dict.fromkeys(s for n in (their, theirs.labels.get(their, "")) for s in _keys(n)):
            spellings.setdefault(name, []).append(their)
    found = tuple(_match(our, known, spellings, given) for our in ours.models)
    taken: dict[str, str] = {}
    for match in found:
        if match.theirs is not None and taken.setdefault(match.theirs, match.ours) != match.ours:
            raise UsageError(
                f"'{taken[match.theirs][:60]}' and '{match.ours[:60]}' would both be '{match.theirs[:60]}': "
                "say which one is with --match."
            )
    return found


def _match(
    our: str, known: Sequence[str], spellings: Mapping[str, list[str]], given: Mapping[str, str]
) -> Match:
    if our in given:
        return Match(ours=our, theirs=given[our] or None, how="given")
    if our in known:
        return Match(ours=our, theirs=our, how="equal")
    alike = list(dict.fromkeys(their for key in _keys(our) for their in spellings.get(key, ())))
    if len(alike) > 1:
        names = " or ".join(repr(name[:60]) for name in alike[:3])
        raise UsageError(f"'{our[:60]}' could be {names}: say which with --match.")
    if alike:
        return Match(ours=our, theirs=alike[0], how="alike")
    return Match(ours=our, theirs=None, how="none", near=_near(our, spellings))


def _near(our: str, spellings: Mapping[str, list[str]]) -> str | None:
    """The name that a person may mean: what is left without a remark in brackets, else a similar spelling."""
    bare = _plain(re.sub(r"\(.*?\)", "", our))
    near = [bare] if bare in spellings else difflib.get_close_matches(bare, list(spellings), n=1, cutoff=0.75)
    return spellings[near[0]][0] if near else None


def _keys(name: str) -> list[str]:
    """The ways a name is compared: whole, and without what stands before its last slash or its colon."""
    parts = [name, name.rsplit("/", 1)[-1], name.split(": ", 1)[-1]]
    return [key for key in dict.fromkeys(_plain(part) for part in parts) if key]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())
