"""What is wrong with the wording of a requirement, as far as its text alone can tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

SHORTEST, LONGEST = 20, 160  # characters

_DEGREE = re.compile(
    r"\b(very|really|extremely|quite|highly|fairly|rather(?! than)|too|somewhat|slightly|truly|incredibly|"
    r"especially|particularly|sufficiently|enough|greatly|strongly|deeply|completely|totally|utterly|perfectly|"
    r"reasonably|relatively|considerably|barely|hardly|nearly|almost)\b",
    re.I,
)
_TASTE = re.compile(
    r"\b(appropriate(?:ly)?|suitabl[ey]|nice(?:ly)?|beautiful(?:ly)?|attractive(?:ly)?|pleasant(?:ly)?|"
    r"appealing|intuitive(?:ly)?|user-friendly|professional(?:ly)?|elegant(?:ly)?|polished|engaging|"
    r"smooth(?:ly)?|clearly|easily|properly|correctly|visually|well-\w+|high-quality|aesthetic\w*)\b",
    re.I,
)
_HEDGE = re.compile(r"\b(should|must|could|might|ideally|optionally|possibly|etc|e\.g|if possible)\b", re.I)
_TWO_CLAIMS = re.compile(
    r"[;\n]|[.!?]\s+\S|\band/or\b|\bas well as\b|\band also\b|"
    r",? and (?:it|they|there|this|these|the page|the game|the component)\b",
    re.I,
)


def faults(text: str) -> Iterator[str]:
    """One phrase for every fault in a requirement's text."""
    if not SHORTEST <= len(text) <= LONGEST:
        yield f"has {len(text)} characters; write {SHORTEST} to {LONGEST}"
    if text != text.strip() or not text.endswith(".") or text[:1].islower():
        yield "is not one sentence from a capital letter to a full stop"
    for pattern, advice in (
        (_DEGREE, "an adverb of degree; say what can be counted or seen"),
        (_TASTE, "a matter of taste; say what can be counted or seen"),
        (_HEDGE, "a hedge; state what the page does"),
        (_TWO_CLAIMS, "a join of two claims; make them two requirements"),
    ):
        if match := pattern.search(text):
            yield f"contains '{match[0].strip()}', {advice}"
