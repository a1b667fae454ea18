"""What a run would ask for and could cost at most, before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from opendesign.canonical import hash_of, plain
from opendesign.running.plan import Plan
from opendesign.running.store import Key, Store
from opendesign.types import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Calls of the answering model that are not stored yet. Money is the most they can cost, in USD."""

    model: str
    answers: int
    stored: int
    most_completion_tokens: int | None
    most_usd: float | None

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = plain(self)
        return document

    def __str__(self) -> str:
        tokens = (
            f", at most {self.most_completion_tokens:,} tokens written" if self.most_completion_tokens else ""
        )
        money = (
            "at a price that is not known" if self.most_usd is None else f"for at most ${self.most_usd:.2f}"
        )
        return f"{self.model}: {self.answers} answers to ask for ({self.stored} are stored){tokens}, {money}."


def estimate_plan(plan: Plan) -> Expected:
    """Nothing is sent: prices and token limits are those of the model's description or LiteLLM's list."""
    from opendesign.answering.litellm_model import LiteLLMModel

    store = Store(plan.folder)
    generation = plan.protocol.generation
    config = hash_of(dict(plan.model_config))
    pending = [
        case
        for case in plan.cases
        for sample in range(plan.samples)
        if not store.find(_key(case.id, sample, config, hash_of([case.category, case.prompt])), Answer)
    ]
    tokens, usd = None, 0.0 if not isinstance(plan.model, LiteLLMModel) else None
    if isinstance(plan.model, LiteLLMModel):
        tokens = plan.model.max_tokens(generation) * len(pending)
        costs = [plan.model.worst_case_usd(case, generation) for case in pending]
        known = [cost for cost in costs if cost is not None]
        usd = sum(known) if len(known) == len(costs) else None
    return Expected(
        model=plan.model.name,
        answers=len(pending),
        stored=len(plan.cases) * plan.samples - len(pending),
        most_completion_tokens=tokens,
        most_usd=usd,
    )


def _key(case: str, sample: int, config: str, input: str) -> Key:
    return Key(case=case, sample=sample, step="answer", config=config, input=input)
