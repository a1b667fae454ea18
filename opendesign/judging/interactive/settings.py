"""``[settings]`` of an interactive card, checked before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal

from opendesign.errors import UsageError
from opendesign.types import Card

__all__ = ["Settings", "check"]

_OF_OTHERS = ("driver", "temperature", "max_tokens", "timeout_s")  # checked where they are used
_BOUNDS: dict[str, tuple[float, float]] = {
    "interactions": (1, 50),
    "max_turns": (2, 500),
    "most_pictures": (2, 2_000),
    "most_listed": (5, 400),
    "picture_width": (200, 4_000),
    "picture_quality": (20, 95),
    "picture_bytes": (5_000, 20_000_000),
    "answer_s": (0.1, 600),
    "caused_ms": (0, 60_000),
    "own_ms": (0, 60_000),
    "width": (200, 4_000),
    "height": (200, 4_000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the card's README says of each, under the same name."""

    loop: Literal["standard", "paper"] = "standard"
    interactions: int = 3
    max_turns: int = 9
    most_pictures: int = 12
    most_listed: int = 60
    picture_width: int = 1024
    picture_quality: int = 60
    picture_bytes: int = 60_000
    answer_s: float = 15.0
    caused_ms: int = 1200
    own_ms: int = 300
    width: int = 1280  # of the window; where the card does not say, the protocol's
    height: int = 960

    @classmethod
    def of(cls, card: Card) -> Settings:
        """The card's settings. Raises ``UsageError`` in one sentence for a value that makes no sense."""
        toml = card.path / "judge.toml"
        where = f"{toml}: [settings]"
        if not (card.live and card.needs_model):
            raise UsageError(f"{toml}: this engine operates a page: set live = true and needs_model = true.")
        known = {field.name: field.default for field in fields(cls) if field.default is not MISSING}
        values = {name: value for name, value in card.settings.items() if name not in _OF_OTHERS}
        for name, value in values.items():
            if name not in known:
                raise UsageError(
                    f"{where} has no '{name}': the settings are {', '.join((*known, *_OF_OTHERS))}."
                )
            if wrong := _wrong(name, value, known):
                raise UsageError(f"{where} {name} must be {wrong}, not {value!r}.")
        made = cls(**values)
        points = card.measures.get("points")
        if points is not None and points.high != made.interactions:
            raise UsageError(
                f"{where} interactions is {made.interactions} and measures.points.high {points.high:g}: give "
                "both the same number."
            )
        return made


def check(card: Card) -> None:
    """Raise ``UsageError`` for a card that could not be operated with, before anything is paid for."""
    made, toml = Settings.of(card), card.path / "judge.toml"
    asked = ["system.md", "actions.md", "plan.md", "first.md", "turn.md", "error.md"]
    asked += ["rank.md"] if made.loop == "paper" else []
    if missing := [name for name in asked if name not in card.files]:
        raise UsageError(f"{card.path} lacks the file '{missing[0]}': copy it from judges/interactive.")
    least = made.interactions + 2  # one to plan, one to say how the last one went
    if made.loop == "standard" and made.max_turns < least:
        raise UsageError(
            f"{toml}: [settings] max_turns is {made.max_turns}, and {made.interactions} interactions take "
            f"{least} turns at least."
        )


def _wrong(name: str, value: object, known: Mapping[str, Any]) -> str:
    """What the value should be instead; "" where it is sound."""
    if name == "loop":
        return "" if value in ("standard", "paper") else '"standard" or "paper"'
    low, high = _BOUNDS[name]
    whole = isinstance(known[name], int)
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
        return f"a {'whole ' if whole else ''}number from {low:g} to {high:g}"
    return ""
