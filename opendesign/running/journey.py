"""The whole journey of one case: answer → page or plot → verdicts.

One function of a case and a setup, with nothing shared but the store it reports to, so that it can run on
any machine. What is stored is used again; what fails is data with an owner, and this is the one place that
turns a ``Failed`` into it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from opendesign.canonical import digest, hash_of, plain
from opendesign.errors import Failed, failed
from opendesign.running.keep import keep_page, keep_plot, source_of
from opendesign.running.repair import repair
from opendesign.running.report import Report
from opendesign.running.store import Key, Store
from opendesign.types import Answer, Artifact, Card, Case, Failure, GenerationSettings, Verdict

if TYPE_CHECKING:
    from opendesign.answering.models import Model
    from opendesign.judging.cards import Engine
    from opendesign.plotting import Plotter
    from opendesign.rendering import Renderer
    from opendesign.running.blobs import Blobs
    from opendesign.running.lazy import Lazy
    from opendesign.types import Protocol

Outcome = TypeVar("Outcome", Answer, Artifact, Verdict)


@dataclass(frozen=True, kw_only=True)
class Seat:
    """A judge with all that it needs to sit: its card, its engine, and a model where the card wants one."""

    card: Card
    engine: Engine
    model: Model | None = None

    @cached_property
    def config(self) -> str:
        """Hash of what decides a verdict beside the artifact: the card, and how its model is asked."""
        return hash_of({"card": self.card.hash, "model": self.asked})

    @cached_property
    def asked(self) -> dict[str, Any] | None:
        """How the judge's model is asked, as JSON and without a key; None for a judge without one."""
        if self.model is None:
            return None
        wanted = {n: self.card.settings[n] for n in ("temperature", "max_tokens") if n in self.card.settings}
        return self.model.config(GenerationSettings(**wanted))

    @property
    def made(self) -> dict[str, str]:
        """What a verdict's record says of the judge."""
        model = {"judge_model": self.model.name} if self.model else {}
        return {"judge_version": self.card.version, "judge_hash": self.card.hash, **model}


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What every journey of a run shares, all of it read only. Without a model nothing is generated."""

    model: Model | None
    protocol: Protocol
    renderer: Lazy[Renderer]
    plotter: Lazy[Plotter] | None = None  # where answers become plots
    seats: tuple[Seat, ...]

    @cached_property
    def answer_config(self) -> str:
        """Hash of what decides an answer beside the case."""
        assert self.model is not None
        return hash_of(self.model.config(self.protocol.generation))

    @cached_property
    def artifact_config(self) -> str:
        """Hash of what decides an artifact beside the document."""
        plots = self.protocol.plots
        if plots is None:
            return hash_of(plain(self.protocol.render))
        return hash_of(plain(replace(plots, data="none", instructions={}, repairs=0)))


async def journey(case: Case, sample: int, setup: Setup, store: Store, report: Report) -> None:
    """Take one sample of one case through every step that is not done yet."""
    answer = await answer_of(case, sample, setup, store, report)
    if answer is None:
        return
    failure = answer.failure
    artifact = None
    if failure is None:
        if setup.model is None:  # re-judging writes no artifact
            artifact = _stored_artifact(case, sample, store)
        else:
            artifact = await artifact_of(case, answer, setup, store, report)
        if artifact is None:
            return
        failure = artifact.failure
    await repair(case, answer, failure, setup, store, report)
    if failure is not None and failure.status != "model_failure":
        return  # nothing to judge: unscored, and tried again when the run is resumed
    for seat in setup.seats:
        if artifact is None or failure is not None:
            await _fail(case, sample, seat, failure, store, report)
        else:
            await verdict_of(case, artifact, seat, setup, store, report)


async def answer_of(
    case: Case, sample: int, setup: Setup, store: Store, report: Report, step: str = "answer"
) -> Answer | None:
    """The model's answer, asked for and kept; or the stored one. None where re-judging finds none."""
    model = setup.model
    if model is None:  # re-judging: the last stored answer counts, whatever settings made it
        record = store.records("answers.jsonl").get((case.id, sample))
        return store.decode(record, Answer) if record else None
    generation = setup.protocol.generation
    key = Key(
        case=case.id,
        sample=sample,
        step=step,
        config=setup.answer_config,
        input=hash_of([case.category, case.prompt]),
    )

    async def ask() -> Answer:
        return await model.answer(case, sample, generation)

    def unanswered(failure: Failure) -> Answer:
        return Answer(case=case.id, sample=sample, text="", failure=failure)

    return await _step(store, key, Answer, ask, unanswered, report)


def _stored_artifact(case: Case, sample: int, store: Store) -> Artifact | None:
    record = store.records("artifacts.jsonl").get((case.id, sample))
    return store.decode(record, Artifact) if record else None


async def artifact_of(
    case: Case, answer: Answer, setup: Setup, store: Store, report: Report, step: str = "artifact"
) -> Artifact:
    """The page or plot of an answer, made and kept; or the stored one, where nothing changed."""
    document = answer.document or ""
    made: dict[str, str] = {}
    key = Key(
        case=case.id,
        sample=answer.sample,
        step=step,
        config=setup.artifact_config,
        input=_input(case, document),
    )

    async def make() -> Artifact:
        if case.task is not None:
            assert setup.plotter is not None
            plotter = await setup.plotter.get()
            made["plots"], made["isolation"] = plotter.engine, plotter.isolation
            return keep_plot(
                answer, document, await plotter.plot(document, case.task), plotter.engine, store.blobs
            )
        renderer = await setup.renderer.get()
        made["browser"], made["fonts"] = renderer.engine, renderer.fonts
        return keep_page(answer, document, await renderer.render(document), renderer.engine, store.blobs)

    def unmade(failure: Failure) -> Artifact:
        source = source_of(document, case, store.blobs)
        return Artifact(case=case.id, sample=answer.sample, document=source, failure=failure)

    return await _step(store, key, Artifact, make, unmade, report, made)


def _input(case: Case, document: str) -> str:
    """Hash of what an artifact is made from: a page, or code and what it is run with."""
    if case.task is None:
        return digest(document)[:16]
    return hash_of([document, case.task.library, case.task.setup, case.task.data.digest])


def verdict_key(case: Case, sample: int, seat: Seat, judged: Any) -> Key:
    """The key of a verdict on ``judged``: an artifact, or the failure that stands in its place."""
    if isinstance(judged, Artifact):
        judged = [blob and blob.digest for blob in (judged.document, judged.picture, judged.facts)]
    about = [case.category, case.prompt, plain(case.requirements), plain(judged)]
    if case.task is not None:
        about.append(plain(case.task))
    return Key(
        case=case.id,
        sample=sample,
        step=f"verdict-{seat.card.name}",
        config=seat.config,
        input=hash_of(about),
    )


async def verdict_of(
    case: Case, artifact: Artifact, seat: Seat, setup: Setup, store: Store, report: Report
) -> Verdict:
    """The verdict of one judge on a page that was rendered; or the stored one, where nothing changed."""
    from opendesign.judging.cards import verdict_of_model_failure

    made = seat.made

    async def judge() -> Verdict:
        if seat.card.live:
            made["browser"] = (await setup.renderer.get()).engine
        return await judged(case, artifact, seat, setup.renderer, store.blobs)

    def unjudged(failure: Failure) -> Verdict:
        if failure.status == "model_failure":
            return verdict_of_model_failure(seat.card, case, artifact.sample, failure)
        return Verdict(case=case.id, sample=artifact.sample, judge=seat.card.name, failure=failure)

    key = verdict_key(case, artifact.sample, seat, artifact)
    return await _step(store, key, Verdict, judge, unjudged, report, made)


async def judged(
    case: Case, artifact: Artifact, seat: Seat, renderer: Lazy[Renderer], blobs: Blobs
) -> Verdict:
    """The verdict of one judge on a page that was rendered, given now and stored nowhere but in ``blobs``.

    Raises ``Failed``.
    """
    if seat.card.live:
        verdict = await _live(case, artifact, seat, await renderer.get())
    else:
        verdict = await seat.engine(case, artifact, seat.card, None, seat.model)
    return _kept(verdict, seat.card, blobs)


def _kept(verdict: Verdict, card: Card, blobs: Blobs) -> Verdict:
    """The verdict with its attachments put among the blobs, where evidence names them.

    Raises ``Failed`` for a score that the card does not have or that is outside its range.
    """
    for name, score in verdict.scores.items():
        measure = card.measures.get(name)
        if measure is None or not measure.low <= score <= measure.high:
            raise failed(
                "out_of_range", f"The engine '{card.engine}' gave {name} = {score}, against its card."
            )
    if not verdict.attachments:
        return verdict
    files = {
        name: blobs.put(data, name.rpartition(".")[2]).name for name, data in verdict.attachments.items()
    }
    return replace(verdict, evidence={**verdict.evidence, "files": files}, attachments={})


async def _live(case: Case, artifact: Artifact, seat: Seat, renderer: Renderer) -> Verdict:
    """The verdict of a live judge. A page that falls silent gets a second session before it is blamed."""
    from opendesign.rendering import PageHung

    assert artifact.document is not None
    document = artifact.document.read_text()
    settings = seat.card.settings
    how = {name: settings[name] for name in ("width", "height", "driver") if name in settings}
    detail = ""
    silent: Verdict | None = None
    for _ in range(2):
        verdict = None
        try:
            async with renderer.session(document, **how) as page:
                verdict = await seat.engine(case, artifact, seat.card, page, seat.model)
        except PageHung as error:
            detail = str(error)
        if verdict is not None and not verdict.evidence.get("hung"):
            return verdict  # also where the page hung after that, on its way out
        silent = verdict or silent
    if os.getloadavg()[0] > 2 * (os.cpu_count() or 1):
        raise failed(
            "deadline_under_load",
            f"{detail or 'The page fell silent.'} The machine was too busy to tell why.",
        )
    if silent is not None:
        return silent  # it fell silent twice: what it had earned until then stands
    raise failed("page_hung", f"{detail} It was opened twice.")


async def _fail(
    case: Case, sample: int, seat: Seat, failure: Failure | None, store: Store, report: Report
) -> None:
    """The lowest score of every measure, for a model's failure."""
    from opendesign.judging.cards import verdict_of_model_failure

    assert failure is not None
    lowest = verdict_of_model_failure(seat.card, case, sample, failure)

    async def judge() -> Verdict:
        return lowest

    key = verdict_key(case, sample, seat, failure)
    await _step(store, key, Verdict, judge, lambda _: lowest, report, seat.made)


async def _step(
    store: Store,
    key: Key,
    kind: type[Outcome],
    work: Callable[[], Awaitable[Outcome]],
    unfinished: Callable[[Failure], Outcome],
    report: Report,
    made: dict[str, str] | None = None,
) -> Outcome:
    """The stored outcome of a step, or the outcome of doing it now. A ``Failed`` becomes data here."""
    stored = store.find(key, kind)
    if stored is not None:
        report.step(key.step, stored, fresh=False)
        return stored
    started = time.monotonic()
    try:
        outcome = await work()
    except Failed as error:
        outcome = unfinished(error.failure)
    times = {"at": round(time.time(), 3), "seconds": round(time.monotonic() - started, 3)}
    outcome = replace(outcome, varies={**outcome.varies, **times})
    store.put(key, outcome, **(made or {}))
    report.step(key.step, outcome, fresh=True)
    return outcome
