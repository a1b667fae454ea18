"""Judging: Artifact → Verdict. Cards (data) run by engines (code).

card = load_card("execution")
verdict = await engine(card)(case, artifact, card, None, None)
"""

from opendesign.judging.cards import (
    Engine,
    cards,
    copy_card,
    engine,
    load_card,
    read_card,
    verdict_of_model_failure,
)

__all__ = ["Engine", "cards", "copy_card", "engine", "load_card", "read_card", "verdict_of_model_failure"]
