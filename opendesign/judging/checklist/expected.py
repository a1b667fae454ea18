"""What one case will cost, before anything is sent."""

from __future__ import annotations

from opendesign.judging import interactive
from opendesign.judging.asking.pictures import PictureRule
from opendesign.judging.checklist.operating import agent_card
from opendesign.types import Card, Case

__all__ = ["expected"]

_TOKENS_A_PICTURE = 1_500  # of about 1.1 million pixels
_TOKENS_AN_ANSWER = 80
_LETTERS_A_TOKEN = 4


def expected(card: Card, case: Case) -> dict[str, int]:
    """``calls``, ``prompt_tokens``, ``completion_tokens``, ``pictures`` of one verdict, without repairs.

    The page is taken to be tall enough for all of the card's tiles.
    """
    total = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "pictures": 0}
    seen = [one for one in case.requirements if one.kind != "behaviour"]
    tried = len(case.requirements) - len(seen)
    if seen:
        rule = PictureRule.of(card)
        pictures = 1 + rule.tiles if rule.rule == "tiles" else 1
        letters = len(case.prompt) + sum(len(one.text) for one in seen)
        letters += sum(len(text) for name, text in card.files.items() if "/" not in name)
        letters += int(card.settings.get("page_characters", 0)) // 2
        total["calls"] += 1
        total["prompt_tokens"] += letters // _LETTERS_A_TOKEN + pictures * _TOKENS_A_PICTURE
        total["completion_tokens"] += len(seen) * _TOKENS_AN_ANSWER
        total["pictures"] += pictures
    if tried:
        for name, amount in interactive.expected(agent_card(card, tried), case).items():
            total[name] += amount
        total["calls"] -= 1  # the plan is given
    return total
