"""What one case will cost, before anything is sent."""

from __future__ import annotations

from opendesign.judging.interactive.paper import CALLS
from opendesign.judging.interactive.settings import Settings
from opendesign.types import Card, Case

__all__ = ["expected"]

_CHARACTERS_A_TOKEN = 4
_LIST_TOKENS, _REPLY_TOKENS = 600, 150
_PIXELS_A_TOKEN = 750  # of a picture, as vision models count them, roughly


def expected(card: Card, case: Case) -> dict[str, int]:
    """``calls``, ``prompt_tokens``, ``completion_tokens``, ``pictures`` of an agent without errors.

    Raises ``UsageError`` for a card that makes no sense.
    """
    settings = Settings.of(card)
    shown = min(settings.width, settings.picture_width)
    picture = round(shown * shown * settings.height / settings.width / _PIXELS_A_TOKEN)
    asked = sum(len(card.files.get(name, "")) for name in ("system.md", "turn.md")) + len(case.prompt)
    text = asked // _CHARACTERS_A_TOKEN + _LIST_TOKENS
    if settings.loop == "paper":
        calls = CALLS
        pictures = 2 + sum(range(2, CALLS))  # one in each turn but the second, and all of them again
        turns = calls * (calls + 1) // 2
    else:
        count = settings.interactions
        calls, pictures, turns = count + 2, 2 + 2 * count, count + 2
    return {
        "calls": calls,
        "prompt_tokens": turns * text + pictures * picture,
        "completion_tokens": calls * _REPLY_TOKENS,
        "pictures": pictures,
    }
