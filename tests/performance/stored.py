"""A finished run of many cases on disk, made in seconds: the real journey, with one real page's outcome.

One page is rendered and judged as always. Then every case takes the real journey, whose renderer and judges
hand out that outcome again, with scores that differ from case to case. So the records have the keys, the form
and the size of a real run's, whatever those will be.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from tests.performance import home

if TYPE_CHECKING:
    from opendesign.rendering import Rendering
    from opendesign.running.journey import Seat
    from opendesign.running.plan import Plan
    from opendesign.types import Artifact, Card, Case, Verdict


def make(answers: str, run: str) -> dict[str, Any]:
    """Store the whole run. Returns how many cases it has."""
    from opendesign import api

    plan = api.plan(answers, benchmark=home.NAME, judges=home.JUDGES, folder=run)
    asyncio.run(_make(plan))
    return {"cases": len(plan.cases)}


async def _make(plan: Plan) -> None:
    from opendesign.running.journey import Setup, journey
    from opendesign.running.report import Tally
    from opendesign.running.store import Store

    renderer = await _Known.of(plan)
    with Store(plan.folder, write=True) as store:
        store.create(plan.manifest())
        seats = tuple(_seat(seat) for seat in plan.seats)
        setup: Any = Setup(model=plan.model, protocol=plan.protocol, renderer=renderer, seats=seats)  # type: ignore[arg-type]
        tally = Tally()
        for case in plan.cases:
            await journey(case, 0, setup, store, tally)
    if tally.failures:
        raise ValueError(f"cases of the stored run failed: {dict(tally.failures)}")


class _Known:
    """A renderer that has rendered already."""

    def __init__(self, rendering: Rendering, engine: str, fonts: str) -> None:
        self._rendering, self.engine, self.fonts = rendering, engine, fonts

    @classmethod
    async def of(cls, plan: Plan) -> _Known:
        from opendesign.rendering import Renderer

        answer = await plan.model.answer(plan.cases[0], 0, plan.protocol.generation)
        async with Renderer(plan.protocol.render) as renderer:
            return cls(await renderer.render(answer.document or ""), renderer.engine, renderer.fonts)

    async def get(self) -> _Known:
        return self

    async def render(self, document: str) -> Rendering:
        # Pages differ, and so do their pictures: a run of real pages shares none of its files.
        from opendesign.canonical import digest

        assert self._rendering.picture is not None
        return replace(self._rendering, picture=self._rendering.picture + digest(document).encode())


def _seat(seat: Seat) -> Seat:
    """The same judge to the store, since its card is the same; it gives scores within the card's bounds."""

    async def judge(case: Case, artifact: Artifact, card: Card, page: Any, model: Any) -> Verdict:
        from opendesign.types import Verdict

        draw = Random(f"{card.name} {case.id}")
        scores = {
            name: draw.choice((measure.low, measure.high))
            if measure.kind == "rate"
            else round(draw.uniform(measure.low, measure.high), 4)
            for name, measure in card.measures.items()
        }
        reasons = tuple(f"A sentence about what was found on the page, number {n}." for n in range(8))
        evidence = {f"measured {n}": [round(draw.random(), 4) for _ in range(10)] for n in range(12)}
        return Verdict(
            case=case.id, sample=0, judge=card.name, scores=scores, reasons=reasons, evidence=evidence
        )

    return replace(seat, card=replace(seat.card, live=False), engine=judge)
