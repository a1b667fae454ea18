"""A model, a renderer and judges that do as they are told, for tests of what goes on between them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from opendesign.canonical import hash_of
from opendesign.rendering import Rendering
from opendesign.running.execute import run_sync
from opendesign.running.journey import Seat, Setup, journey
from opendesign.running.plan import Plan, check_same, plan_run
from opendesign.running.report import Tally
from opendesign.running.store import Store
from opendesign.types import (
    Answer,
    Artifact,
    Benchmark,
    Card,
    Case,
    Failure,
    GenerationSettings,
    Measure,
    Protocol,
    RenderSettings,
    Usage,
    Verdict,
)

CASES = tuple(
    Case(id=f"{category}-{number}", category=category, prompt=f"{category} {number}", difficulty=difficulty)
    for category in ("website", "game")
    for number, difficulty in enumerate(("easy", "medium", "hard", "easy"))
)
PROTOCOL = Protocol(
    name="test",
    version="1",
    generation=GenerationSettings(),
    render=RenderSettings(),
    judges=("looks",),
    stand_ins={},
    resamples=500,
    hash="p1",
)


class FakeModel:
    """Answers with ``say(case, sample)``: a document, or a reason for failing."""

    def __init__(self, say: Callable[[Case, int], str], name: str = "fake/one") -> None:
        self.name, self._say, self.asked = name, say, list[tuple[str, int]]()

    async def answer(self, case: Case, sample: int, settings: GenerationSettings) -> Answer:
        self.asked.append((case.id, sample))
        said = self._say(case, sample)
        usage = Usage(calls=1, prompt_tokens=10, completion_tokens=100, cost_usd=0.5)
        if said.startswith("<"):
            return Answer(case=case.id, sample=sample, text=said, document=said, usage=usage)
        failure = Failure(reason=said, detail=f"It was {said}.")
        return Answer(case=case.id, sample=sample, text="", failure=failure, usage=usage)

    async def chat(self, messages: Any, **options: Any) -> Any:
        raise NotImplementedError

    def config(self, settings: GenerationSettings) -> dict[str, Any]:
        return {"model": self.name}


class FakeRenderer:
    """``render(document)`` is what ``draw`` returns: None for a good page, or a reason for failing."""

    engine, fonts = "fake-browser 1.2", "fonts1"

    def __init__(self, draw: Callable[[str], str | None] = lambda _: None) -> None:
        self._draw, self.rendered = draw, list[str]()
        self.opened_as: list[Mapping[str, object]] = []  # how each session was asked for

    async def get(self) -> FakeRenderer:
        return self

    async def render(self, document: str) -> Rendering:
        self.rendered.append(document)
        reason = self._draw(document)
        if reason:
            return Rendering(failure=Failure(reason=reason, detail="Drawn badly."))
        return Rendering(picture=document.encode(), width=1280, height=960, requests={"served": 1})

    @contextlib.asynccontextmanager
    async def session(self, document: str, **how: object) -> AsyncIterator[object]:
        self.opened_as.append(how)
        yield object()


def seat(score: Callable[[Case, Artifact], Mapping[str, float]], *, name: str = "looks", **card: Any) -> Seat:
    """A judge with a total from 0 to 100 and a rate of good ones."""
    measures = {
        "total": Measure(low=0, high=100, headline=True),
        "good": Measure(low=0, high=1, kind="rate"),
    }
    made = Card(
        name=name,
        version="1",
        engine="fake",
        about="x",
        measures=measures,
        settings=card.pop("settings", {}),
        files={},
        **card,
    )

    async def engine(case: Case, artifact: Artifact, card: Card, page: Any, model: Any) -> Verdict:
        return Verdict(case=case.id, sample=artifact.sample, judge=name, scores=score(case, artifact))

    return Seat(card=replace(made, hash=hash_of([name, card])), engine=engine)


def planned(folder: Path, model: FakeModel, *seats: Seat, **changes: Any) -> Plan:
    """A plan over ``CASES`` in ``folder``."""
    benchmark = Benchmark(
        name="bench", version="1", title="Bench", cases=CASES, splits={}, path=Path(), hash="b1"
    )
    protocol = changes.pop("protocol", PROTOCOL)
    return plan_run(model, benchmark, protocol, tuple(seats), CASES, folder=folder, **changes)


def carry_out(plan: Plan, renderer: FakeRenderer, *, model: Any = ...) -> Tally:
    """All journeys of a plan, one after the other, as ``execute`` would take them."""
    tally = Tally()

    async def all_of_them() -> None:
        with Store(plan.folder, write=True) as store:
            if store.manifest_path.exists():
                check_same(store, plan)
            else:
                store.create(plan.manifest())
            setup = Setup(
                model=plan.model if model is ... else model,
                protocol=plan.protocol,
                renderer=renderer,  # type: ignore[arg-type]
                seats=plan.seats,
            )
            for case in plan.cases:
                for sample in range(plan.samples):
                    await journey(case, sample, setup, store, tally)
                    tally.finished()

    run_sync(all_of_them)
    return tally
