"""What a provider takes of a picture, and what its models look at: ``providers.toml``."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Limits", "limits_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Pixels and bytes of one picture; see ``providers.toml`` for each."""

    names: tuple[str, ...]
    source: str
    longest: int
    bytes: int
    request_bytes: int
    many: int | None = None
    longest_many: int | None = None
    seen_long: int | None = None
    seen_short: int | None = None
    seen_pixels: int | None = None

    def longest_of(self, count: int) -> int:
        """Longest side of a picture that is one of ``count`` in a request."""
        if self.many is not None and self.longest_many is not None and count > self.many:
            return self.longest_many
        return self.longest

    def bytes_of(self, count: int) -> int:
        """Size of a picture that is one of ``count`` in a request, before base64."""
        return min(self.bytes, self.request_bytes // max(1, count))

    def seen_scale(self, width: int, height: int) -> float:
        """By how much a picture of that size is scaled down before the model looks at it; 1: not at all."""
        scales = [1.0]
        if self.seen_long is not None:
            scales.append(self.seen_long / max(width, height))
        if self.seen_short is not None:
            scales.append(self.seen_short / min(width, height))
        if self.seen_pixels is not None:
            scales.append(math.sqrt(self.seen_pixels / (width * height)))
        return min(scales)


def limits_of(model: str) -> Limits:
    """Limits for a model by its LiteLLM name: ``anthropic/claude-x``, ``openrouter/openai/gpt-x``."""
    name = model.lower()
    rows = _rows()
    return next((row for row in rows if any(part in name for part in row.names)), rows[-1])


@cache
def _rows() -> tuple[Limits, ...]:
    text = Path(__file__).with_name("providers.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)["provider"]
    return tuple(Limits(**{**table, "names": tuple(table["names"])}) for table in tables)
