"""What a run would ask for and could cost, before anything is sent.

For the answering model the most it can cost: its prompts are known, and a reply ends at its limit of tokens.
For a judge what its engine expects of one case, times the cases: a page that is not there yet has no size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opendesign.canonical import hash_of, plain
from opendesign.running.plan import Plan
from opendesign.running.store import Key, Store
from opendesign.types import Answer

if TYPE_CHECKING:
    from opendesign.running.journey import Seat


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Calls to one model: ``role`` is ``answer``, or the judge's name. Money is in USD, None where unknown.

    ``most`` says that tokens and money are an upper bound; without it they are what is to be expected.
    """

    role: str
    model: str
    calls: int
    stored: int  # answers or verdicts that are there already
    prompt_tokens: int | None
    completion_tokens: int | None
    pictures: int = 0
    usd: float | None
    most: bool = False

    def __str__(self) -> str:
        about = "at most" if self.most else "about"
        tokens = [
            f"{about} {count:,} tokens {what}"
            for count, what in ((self.prompt_tokens, "read"), (self.completion_tokens, "written"))
            if count
        ]
        pictures = [f"{self.pictures:,} pictures"] if self.pictures else []
        money = "at a price that is not known" if self.usd is None else f"for {about} ${self.usd:.2f}"
        told = ", ".join([f"{self.calls:,} calls ({self.stored} stored)", *tokens, *pictures, money])
        return f"{self.role}: {self.model}: {told}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Every model of a run. ``usd`` is None where the price of one is not known."""

    parts: tuple[Expected, ...]

    @property
    def usd(self) -> float | None:
        prices = [part.usd for part in self.parts]
        return None if None in prices else sum(price for price in prices if price is not None)

    def to_dict(self) -> dict[str, Any]:
        return {"parts": plain(self.parts), "usd": self.usd}

    def __str__(self) -> str:
        total = "not known" if self.usd is None else f"${self.usd:.2f}"
        return "\n".join([*map(str, self.parts), f"Together: {total}. Nothing was sent."])


def estimate_plan(plan: Plan) -> Forecast:
    """Nothing is sent: prices and token limits are those of the models' descriptions or LiteLLM's list."""
    store = Store(plan.folder)
    judges = tuple(_judge(plan, seat, store) for seat in plan.seats if seat.model is not None)
    return Forecast(parts=(_answers(plan, store), *judges))


def _answers(plan: Plan, store: Store) -> Expected:
    from opendesign.answering.litellm_model import LiteLLMModel

    generation, config = plan.protocol.generation, hash_of(dict(plan.model_config))
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
        role="answer",
        model=plan.model.name,
        calls=len(pending),
        stored=len(plan.cases) * plan.samples - len(pending),
        prompt_tokens=None,
        completion_tokens=tokens,
        usd=usd,
        most=True,
    )


def _judge(plan: Plan, seat: Seat, store: Store) -> Expected:
    """What the engine expects of the answers that have no verdict of this judge and model yet."""
    from opendesign.judging.cards import trait

    assert seat.model is not None
    expected = trait(seat.card, "EXPECTED")
    records = store.records(f"verdicts-{seat.card.name}.jsonl")
    stored, sums = 0, {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "pictures": 0}
    for case in plan.cases:
        for sample in range(plan.samples):
            record = records.get((case.id, sample))
            if record is not None and record.get("config") == seat.config and not record["value"]["failure"]:
                stored += 1
                continue
            told = expected(seat.card, case) if expected else {"calls": 1}
            for name in sums:
                sums[name] += int(told.get(name, 0))
    price = getattr(seat.model, "price", None)
    usd = price(sums["prompt_tokens"], sums["completion_tokens"]) if price and expected else None
    return Expected(
        role=seat.card.name,
        model=seat.model.name,
        calls=sums["calls"],
        stored=stored,
        prompt_tokens=sums["prompt_tokens"] or None,
        completion_tokens=sums["completion_tokens"] or None,
        pictures=sums["pictures"],
        usd=usd,
    )


def _key(case: str, sample: int, config: str, input: str) -> Key:
    return Key(case=case, sample=sample, step="answer", config=config, input=input)
