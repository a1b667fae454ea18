"""What is scored, from the card, and how a reply is read by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opendesign.errors import UsageError
from opendesign.judging.asking import Malformed, json_in, number, text_of
from opendesign.types import Card

__all__ = ["Band", "Reading", "Rubric"]

_APART = 0.01  # a total that the model adds up is another one from here on


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What a total from ``low`` on, up to the next band, means."""

    low: float
    name: str
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One reply, read: a score and a reason for each part. ``said``: the model's own total, if another."""

    scores: Mapping[str, float]
    reasons: Mapping[str, str]
    said: float | None = None
    repaired: str = field(default="", compare=False)

    @property
    def total(self) -> float:
        return sum(self.scores.values())


_SETTINGS = {
    "bands",
    "good",
    "max_tokens",
    "most_characters",
    "page_characters",
    "parts",
    "pictures",
    "repeats",
    "reply_tokens",
    "temperature",
    "timeout_s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """The parts of a total with their ranges, the bands of the total, and what counts as good."""

    parts: Mapping[str, tuple[float, float]]
    bands: tuple[Band, ...]  # highest first
    good: float
    repeats: int

    @classmethod
    def of(cls, card: Card) -> Rubric:
        """The card's rubric. Raises ``UsageError`` in one sentence for a card that makes no sense."""
        where, settings = str(card.path / "judge.toml"), card.settings
        if unknown := sorted(set(settings) - _SETTINGS):
            known = ", ".join(sorted(_SETTINGS))
            raise UsageError(f"{where}: [settings] has no '{unknown[0]}': the settings are {known}.")
        parts = settings.get("parts")
        if not isinstance(parts, list) or not parts or not all(isinstance(p, str) for p in parts):
            raise UsageError(f"{where}: settings.parts must list the measures that make up the total.")
        for name in (*parts, "total"):
            if name not in card.measures:
                raise UsageError(f"{where}: there is no [measures.{name}]: the total and its parts need one.")
        ranges = {name: (card.measures[name].low, card.measures[name].high) for name in parts}
        low, high = (sum(bounds[end] for bounds in ranges.values()) for end in (0, 1))
        total = card.measures["total"]
        if (total.low, total.high) != (low, high):
            raise UsageError(
                f"{where}: measures.total is from {total.low:g} to {total.high:g}, and its parts add up to "
                f"{low:g} to {high:g}: make them equal."
            )
        good, repeats = settings.get("good", high), settings.get("repeats", 1)
        if not isinstance(good, (int, float)) or isinstance(good, bool):
            raise UsageError(f"{where}: settings.good must be the total from which a page is good.")
        if not low <= good <= high:
            raise UsageError(
                f"{where}: settings.good is {good:g}, and the total goes from {low:g} to {high:g}."
            )
        if type(repeats) is not int or not 1 <= repeats <= 100:
            raise UsageError(f"{where}: settings.repeats must be a whole number from 1 to 100.")
        return cls(parts=ranges, bands=_bands(where, settings, low), good=good, repeats=repeats)

    @property
    def most(self) -> float:
        """The highest total."""
        return sum(high for _, high in self.parts.values())

    def band(self, total: float) -> str:
        """Name of the band that a total is in."""
        return next(band.name for band in self.bands if total >= band.low)

    def bands_told(self) -> str:
        """The bands as lines of a prompt: ``- 90 to 100, outstanding: …``."""
        lines, top = [], self.most
        for band in self.bands:
            lines.append(
                f"- {band.low:g} to {top:g}, {band.name}" + (f": {band.about}" if band.about else "")
            )
            top = band.low - 1
        return "\n".join(lines)

    def read(self, text: str) -> Reading:
        """A reply as asked for, or with the scores at the top; ``alignment_score`` counts as ``alignment``.

        Raises ``Malformed`` for a part that is missing or out of range. A missing reason is "".
        """
        values = json_in(text)
        scores = _plain_names(_inner(values, "scores"))
        found = {name: number(scores, name, *bounds) for name, bounds in self.parts.items()}
        reasons = _inner(values, "reasons")
        told = {name: text_of(reasons, name) for name in self.parts} if reasons is not values else {}
        if not any(told.values()):
            whole = next(
                (said for key in ("reasons", "reason", "feedback") if (said := text_of(values, key))), ""
            )
            told = {"total": whole} if whole else {}
        return Reading(scores=found, reasons=told, said=self._said(values, scores, sum(found.values())))

    def _said(self, values: Mapping[str, Any], scores: Mapping[str, Any], total: float) -> float | None:
        for holder in (_plain_names(values), scores):
            for low, high in ((0, self.most), (-1e6, 1e6)):  # "81/100" is read by the first
                try:
                    said = number(holder, "total", low, high)
                except Malformed:
                    continue
                return said if abs(said - total) >= _APART else None
        return None

    def schema(self) -> dict[str, Any]:
        """The JSON schema of a reply; no bounds in it, which some providers refuse: ``read`` checks them."""
        return _object(
            {
                "reasons": _object({name: {"type": "string"} for name in self.parts}),
                "scores": _object({name: {"type": "number"} for name in self.parts}),
                "total": {"type": "number"},
            }
        )


def _bands(where: str, settings: Mapping[str, Any], lowest: float) -> tuple[Band, ...]:
    rows = settings.get("bands")
    wrong = f"{where}: settings.bands must be tables with low (a total) and name, the lowest from {lowest:g}."
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
        raise UsageError(wrong)
    try:
        bands = sorted((Band(**row) for row in rows), key=lambda band: -band.low)
    except TypeError:
        raise UsageError(wrong) from None
    if bands[-1].low != lowest or not all(isinstance(band.name, str) for band in bands):
        raise UsageError(wrong)
    return tuple(bands)


def _inner(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = values.get(name)
    return inner if isinstance(inner, dict) else values


def _plain_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """``alignment_score`` as ``alignment``, unless that is there too."""
    return {**{name.removesuffix("_score"): value for name, value in values.items()}, **values}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
