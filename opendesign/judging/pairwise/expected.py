"""What a match is likely to take, before any is played."""

from __future__ import annotations

from opendesign.judging.asking.pictures import PictureRule
from opendesign.types import Card, Case

__all__ = ["expected"]

_TOKENS_A_PICTURE = 1_500  # of about 1.1 million pixels, at the providers that say how they count
_TOKENS_A_REPLY = 400
_LETTERS_A_TOKEN = 4


def expected(card: Card, case: Case) -> dict[str, int]:
    """Calls, tokens and pictures of one match on a case: two orders, every page with all of its tiles.

    A page of one screen has no tiles, and a repair turn is a call more.
    """
    rule = PictureRule.of(card)
    pictures = 2 * (1 + rule.tiles if rule.rule == "tiles" else 1)
    letters = sum(map(len, card.files.values())) + len(case.prompt)
    letters += sum(len(requirement.text) for requirement in case.requirements)
    return {
        "calls": 2,
        "prompt_tokens": 2 * (letters // _LETTERS_A_TOKEN + pictures * _TOKENS_A_PICTURE),
        "completion_tokens": 2 * _TOKENS_A_REPLY,
        "pictures": 2 * pictures,
    }
