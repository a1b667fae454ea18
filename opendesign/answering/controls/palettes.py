"""Colours of the control pages. Every pair that carries text reaches 4.5:1, every series colour 3:1."""

from __future__ import annotations

from dataclasses import dataclass

from opendesign.answering.controls.words import Seed, mentions
from opendesign.types import Case


@dataclass(frozen=True, slots=True)
class Palette:
    """Hex colours: ``ink`` and ``muted`` are text, ``on_accent`` is text on ``accent``, ``soft`` a tint."""

    name: str
    ground: str
    surface: str
    ink: str
    muted: str
    line: str
    accent: str
    on_accent: str
    soft: str
    series: tuple[str, str, str, str]
    words: tuple[str, ...] = ()  # words of a prompt that ask for it


PALETTES: tuple[Palette, ...] = (
    Palette("harbour", "#f5f8fc", "#ffffff", "#14213d", "#4a5a75", "#d5dde8", "#1f5fbf", "#ffffff", "#e3edfb",
            ("#1f5fbf", "#bb5216", "#1e7f5c", "#7a4fb5"), ("blue", "corporate", "bank", "travel", "airline")),
    Palette("forest", "#f4f8f4", "#ffffff", "#16302b", "#48605a", "#d3e0d6", "#1d6b4f", "#ffffff", "#dff0e6",
            ("#1d6b4f", "#b4561b", "#2f5fa8", "#8a3f77"), ("green", "garden", "forest", "plant", "eco")),
    Palette("clay", "#fbf6f1", "#ffffff", "#33211a", "#6b5347", "#e8dacd", "#a8431f", "#ffffff", "#f8e3d8",
            ("#a8431f", "#2b6777", "#7b6a12", "#6a4c93"), ("warm", "bak", "coffee", "earth", "restaurant")),
    Palette("plum", "#faf6fb", "#ffffff", "#2b1a33", "#60506b", "#e3d8e8", "#7a2f86", "#ffffff", "#f1e2f4",
            ("#7a2f86", "#b0561f", "#23708a", "#4b7a2b"), ("purple", "pink", "fashion", "beauty", "wedding")),
    Palette("lagoon", "#f2f9fa", "#ffffff", "#0f2f36", "#456066", "#cfe2e5", "#0b6e7f", "#ffffff", "#d9f0f3",
            ("#0b6e7f", "#b5521c", "#5b57a6", "#3f7a2e"), ("teal", "sea", "ocean", "water", "health")),
    Palette("graphite", "#12161d", "#1b212b", "#f2f5f9", "#aab6c6", "#323c4a", "#6cb6ff", "#0b1a2b",
            "#20344b", ("#6cb6ff", "#ffb066", "#7fd6a4", "#d0a2ff"), ("dark", "night", "neon", "space")),
)  # fmt: skip


def palette_of(case: Case) -> Palette:
    """The palette that words of the prompt ask for, else one drawn from the case's id."""
    asked = [palette for palette in PALETTES if mentions(case, *palette.words)]
    return Seed(case.id, "palette").pick(asked or PALETTES)


def mix(first: str, second: str, share: float) -> str:
    """``share`` (0 to 1) of ``second`` in ``first``, in sRGB."""
    pairs = zip(_channels(first), _channels(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, relative luminance)."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (v / 255 for v in _channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
