"""The visit to the page: each behaviour requirement is a goal of the interactive agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from opendesign.errors import UsageError
from opendesign.judging import interactive
from opendesign.judging.checklist.answers import Answer, Item
from opendesign.judging.interactive.replies import Planned
from opendesign.types import Artifact, Card, Case, Verdict

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["agent_card", "answers_of", "operate"]

_FOLDER = "agent/"


async def operate(
    case: Case, artifact: Artifact, card: Card, page: Any, items: Sequence[Item], model: Model
) -> Verdict:
    """The agent's own verdict on the visit: ``evidence["points_for"]`` has the goals that were reached.

    A goal is reached where an action worked by the agent's word and by a measured change. Raises ``Failed``
    and ``PageHung`` as the interactive judge does.
    """
    goals = [Planned(what=item.requirement.text, expect="it comes true") for item in items]
    return await interactive.judge(case, artifact, agent_card(card, len(items)), page, model, goals=goals)


def agent_card(card: Card, goals: int) -> Card:
    """The card of the agent inside a checklist card: its prompts are in ``agent/``, its settings too."""
    settings = card.settings.get("agent")
    if not isinstance(settings, dict):
        raise UsageError(
            f"{card.path / 'judge.toml'}: [settings.agent] is missing: copy it from 'checklist'."
        )
    files = {n.removeprefix(_FOLDER): text for n, text in card.files.items() if n.startswith(_FOLDER)}
    bounds = {
        "interactions": goals,
        "max_turns": int(settings.get("turns_each", 3)) * goals + 2,
        "most_pictures": int(settings.get("pictures_each", 5)) * goals,
    }
    kept = {name: value for name, value in settings.items() if name not in ("turns_each", "pictures_each")}
    return replace(card, files=files, settings={**kept, **bounds})


def answers_of(visit: Verdict, items: Sequence[Item]) -> tuple[Answer, ...]:
    """An answer for each goal, with the steps that were taken for it."""
    reached = visit.evidence.get("points_for", [])
    steps = visit.evidence.get("steps", [])
    answers = []
    for goal, item in enumerate(items, 1):
        did = [step["did"] for step in steps if step["for"] == goal]
        said = visit.reasons[min(goal, len(visit.reasons)) - 1]  # one for all: there is nothing to operate
        answers.append(
            Answer(
                number=item.number,
                answer="yes" if goal in reached else "no",
                where="; ".join(did) or "(not tried)",
                why=said,
            )
        )
    return tuple(answers)
