"""What a page takes from its case: a seed, a short title, the language it is written in.

Everything is a function of the case alone, so that a control answers a case the same way everywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TypeVar

from opendesign.types import Case, Category

T = TypeVar("T")

TITLE_LENGTH = 44  # characters: one line of a heading on a wide screen, two or three on a telephone

_FALLBACK: dict[Category, str] = {
    "website": "A small studio",
    "3d": "A turning scene",
    "game": "A quick game",
    "component": "A component",
    "dataviz": "The figures at a glance",
}
_CALLED = re.compile(
    r"\b(?:called|named|titled|entitled)\s+[\"'“‘«]?([^\"'”’»,.;:!?()<>]{2,60})", re.IGNORECASE
)
_ASKING = re.compile(
    r"^(?:(?:(?:please|kindly|could|can|would|you|i['’]m|we['’]re|i|we|am|are|need|want|like|to|me|us|let's|help"
    r"|opening|starting|running|your task is|design|create|build|make|write|develop|generate|implement"
    r"|code|draw|render|show|produce|craft|set up)\b|请|帮我|设计|创建|制作|做|一个|صمم|أنشئ|اصنع)[\s,:]*)+",
    re.IGNORECASE,
)
_WHAT_FOR = re.compile(
    r"\b(?:pages?|(?:web)?sites?|apps?|applications?|games?|components?|widgets?|dashboards?|charts?|graphs?"
    r"|plots?|visuali[sz]ations?|scenes?|models?|stores?|shops?|portfolios?|form)\s+"
    r"(?:for|of|about|showing|on|that shows|to show|comparing|displaying|called)\s+(.+)",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"^(?:(?:a|an|the|my|our|your|some|simple|single|responsive|modern|interactive|beautiful|clean|html5?"
    r"|complete|single-page|one-page|self-contained|fully|functional)\s+)+",
    re.IGNORECASE,
)
_REST = re.compile(
    r"\s+(?:with|that|which|where|featuring|including|includes?|using|so that|whose|by|from|as|when"
    r"|and (?:i|we|would|want|need|let)|مع|التي|الذي|يحتوي)\b.*",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;:,()\[\]{}<>\n\"“”。！？；：，、（）؟،؛|]|\s[-–—]\s")
_SCRIPTS: tuple[tuple[str, str, str], ...] = (
    ("\u0590", "\u05ff", "he"),
    ("\u0600", "\u06ff", "ar"),
    ("\u0400", "\u04ff", "ru"),
    ("\u0370", "\u03ff", "el"),
    ("\u0900", "\u097f", "hi"),
    ("\u0e00", "\u0e7f", "th"),
    ("\u3040", "\u30ff", "ja"),
    ("\uac00", "\ud7af", "ko"),
    ("\u4e00", "\u9fff", "zh"),
)
_RIGHT_TO_LEFT = ("ar", "he", "fa", "ur", "yi", "ps", "sd", "ug", "dv")
_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_JOINERS = "\u200c\u200d"  # not printable, yet Persian and the scripts of India need them


class Seed:
    """A stream of choices drawn from SHA-256 of a text: the same in every version of Python."""

    def __init__(self, *parts: str) -> None:
        self._key = "\x1f".join(parts).encode("utf-8", "surrogatepass")
        self._drawn = 0

    def number(self, below: int) -> int:
        """An integer from 0 to ``below`` - 1."""
        self._drawn += 1
        block = hashlib.sha256(self._key + b"\x1f%d" % self._drawn).digest()
        return int.from_bytes(block[:8], "big") % below

    def between(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return low + self.number(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.number(len(options))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """``count`` different options in a drawn order."""
        left = list(options)
        return [left.pop(self.number(len(left))) for _ in range(min(count, len(left)))]


def mentions(case: Case, *words: str) -> bool:
    """Whether the case's topic, tags or prompt hold a word that begins with one of ``words``."""
    text = " ".join((case.topic, *case.tags, case.prompt[:2_000])).lower()
    return any(re.search(rf"(?<![^\W_]){re.escape(word)}", text) for word in words)


def title_of(case: Case) -> str:
    """A short title out of the prompt, else the topic, else the category's own: plain text, not escaped."""
    return _subject(_printable(case.prompt)) or _subject(_printable(case.topic)) or _FALLBACK[case.category]


def language_of(case: Case, title: str) -> str:
    """Language tag of the title: what the case says, else what its letters say, else English."""
    stated = case.language if _TAG.fullmatch(case.language) else "en"
    if stated.lower().split("-")[0] != "en":
        return stated
    for letter in title:
        for low, high, language in _SCRIPTS:
            if low <= letter <= high:
                return language
    return stated


def direction_of(language: str) -> str:
    """Writing direction of a language: ``ltr`` or ``rtl``."""
    return "rtl" if language.lower().split("-")[0] in _RIGHT_TO_LEFT else "ltr"


def _printable(text: str) -> str:
    kept = "".join(c if c.isprintable() or c in _JOINERS else " " for c in text[:4_000])
    return re.sub(r"<[^<>]{0,80}>", " ", kept).strip()


def _subject(text: str) -> str:
    text = " ".join(text.split())
    if called := _CALLED.search(text[:600]):
        return _shorten(called[1])
    found = ""
    for clause in _SENTENCE_END.split(text):
        wanted = _ASKING.sub("", clause.strip())
        if about := _WHAT_FOR.search(wanted):
            wanted = about[1]
        found = _shorten(_REST.sub("", _FORM.sub("", wanted)))
        if sum(letter.isalnum() for letter in found) >= 3 or (found and found[0] > "\u2e80"):
            break
    return found if any(letter.isalnum() for letter in found) else ""


def _shorten(text: str) -> str:
    words = text.strip(" \t'‘’`*_#-–—/\\").split(" ")
    kept = ""
    for word in words[:7]:
        if len(kept) + 1 + len(word) > TITLE_LENGTH:
            break
        kept = f"{kept} {word}".strip()
    if not kept and words:  # one long word, or a script that writes no spaces
        kept = words[0][: TITLE_LENGTH // 2]
    trailing = {"a", "an", "the", "and", "or", "of", "for", "to", "in", "on", "at", "&"}
    parts = kept.split(" ")
    while len(parts) > 1 and parts[-1].lower() in trailing:
        parts.pop()
    kept = " ".join(parts).strip(" '‘’`*_#-–—/\\")
    return kept[:1].upper() + kept[1:]
