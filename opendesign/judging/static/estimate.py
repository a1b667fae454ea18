"""What a verdict will cost, before anything is sent."""

from __future__ import annotations

from typing import Any

from opendesign.judging.asking import PictureRule
from opendesign.judging.asking.limits import Limits, limits_of
from opendesign.judging.asking.pictures import plan_of
from opendesign.judging.static.rubric import Rubric
from opendesign.types import Card, Case

__all__ = ["expected"]

_WIDTH, _HEIGHT = 1280, 1920  # of a page whose height is not known: two screens
_PIXELS_A_TOKEN = 750  # Anthropic's figure; OpenAI bills about the same for pictures of these sizes
_CHARACTERS_A_TOKEN = 4
_SOURCE = 20_000  # characters of a page's source
_REPLY = 500  # tokens, where the card says nothing


def expected(
    card: Card, case: Case, artifact_height: int | None = None, *, model: str = ""
) -> dict[str, Any]:
    """Calls, tokens and pictures of one verdict, repairs left out.

    ``artifact_height`` in CSS pixels, where it is known; ``model`` is the judge's LiteLLM name. An estimate:
    four characters a token, 750 pixels of a picture a token. Raises ``UsageError`` for a card that makes no
    sense.
    """
    rubric, settings = Rubric.of(card), card.settings
    said = sum(len(card.files.get(name, "")) for name in ("system.md", "user.md"))
    said += len(rubric.bands_told()) + len(case.prompt) + sum(len(r.text) for r in case.requirements)
    sizes: list[tuple[float, float]] = []
    if "pictures" in settings:
        sizes = _sizes(PictureRule.of(card), artifact_height or _HEIGHT, limits_of(model))
        said += int(settings.get("page_characters", 0)) // 2
    else:
        said += min(_SOURCE, int(settings.get("most_characters", _SOURCE)))
    seen = sum(width * height for width, height in sizes)
    prompt = said // _CHARACTERS_A_TOKEN + round(seen / _PIXELS_A_TOKEN)
    return {
        "calls": rubric.repeats,
        "prompt_tokens": rubric.repeats * prompt,
        "completion_tokens": rubric.repeats * int(settings.get("reply_tokens", _REPLY)),
        "pictures": rubric.repeats * len(sizes),
    }


def _sizes(rule: PictureRule, height: int, limits: Limits) -> list[tuple[float, float]]:
    """Sizes at which the pictures of a page that tall are looked at."""
    sizes = []
    for _, (_, _, width, tall), scale in plan_of((_WIDTH, height), rule, limits):
        seen = scale * limits.seen_scale(round(width * scale), round(tall * scale))
        sizes.append((width * seen, tall * seen))
    return sizes
