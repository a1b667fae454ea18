"""A judge's sensitivity without a human label: good pages, each changed in one known way, all of them judged.

Every page goes through the steps of a run (``journey``): rendered, kept, judged; what is stored is used
again. A change that does not show as it was meant is left out before it is judged, and counted.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from opendesign.canonical import hash_of
from opendesign.errors import OpenDesignError, UnknownName, UsageError
from opendesign.judging.sensitivity import KINDS, Good, Kind, Role, Shown, role_of, same_picture
from opendesign.running.check_result import Check, Pair, kind_result, tolerances
from opendesign.running.execute import CONCURRENCY, cache_folder, check_engine, first_of, log_error, unheard
from opendesign.running.journey import Seat, Setup, artifact_of, verdict_of
from opendesign.running.lazy import Lazy
from opendesign.running.plan import RUNS, seats_for
from opendesign.running.report import Report
from opendesign.running.statistics import rate
from opendesign.running.store import Store
from opendesign.types import Answer, Artifact, Case, Protocol, Verdict

if TYPE_CHECKING:
    from opendesign.rendering import Renderer

LIMIT = 20  # good pages
_BENCHMARK = "opendesign"  # whose cases the template answers
Source = Literal["template", "given"]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class CheckPlan:
    """What a check will do: which judge, on which good pages, changed in which ways."""

    seat: Seat
    role: Role
    protocol: Protocol
    pages: tuple[tuple[Source, Good], ...]
    kinds: tuple[Kind, ...]
    seed: int
    folder: Path

    @property
    def headline(self) -> str:
        return next(name for name, measure in self.seat.card.measures.items() if measure.headline)


def plan_check(
    judge: str,
    *,
    limit: int = LIMIT,
    seed: int = 0,
    pages: Path | None = None,
    kinds: Sequence[str] = (),
    judge_models: Mapping[str, str] | None = None,
    budget: float | None = None,
    folder: Path | None = None,
) -> CheckPlan:
    """The plan of ``judges check``. ``limit`` is the number of good pages; with a folder of ``pages`` half of
    them come from there. ``kinds``: by default what the judge is meant to see or resist, and the harmless
    edits; "all" is every kind.

    Raises ``UsageError`` for a judge that needs a model and has none, ``UnknownName`` for an unknown kind.
    """
    from opendesign.answering.budget import Budget
    from opendesign.cases.benchmark import load_benchmark, load_card, load_protocol
    from opendesign.judging.cards import load_card as judge_card
    from opendesign.judging.sensitivity.good import given_pages, template_pages

    card = judge_card(judge)
    models = dict(judge_models or {})
    if card.needs_model and judge not in models:
        raise UsageError(f"The judge '{judge}' needs a model: add --judge-model {judge}=PROVIDER/MODEL.")
    rules = load_protocol(_BENCHMARK, load_card(_BENCHMARK).protocol)
    money = Budget(budget) if budget is not None else None
    (seat,), _ = seats_for(rules, (judge,), models, budget=money)
    given = given_pages(pages, limit // 2, seed) if pages is not None else []
    made = template_pages(load_benchmark(_BENCHMARK).cases, limit - len(given), seed)
    plan = CheckPlan(
        seat=seat,
        role=role_of(card),
        protocol=rules,
        pages=(*(("template", page) for page in made), *(("given", page) for page in given)),
        kinds=_chosen(kinds, role_of(card)),
        seed=seed,
        folder=folder or RUNS / f"check-{judge}-{hash_of([seat.config, seed])[:8]}",
    )
    if money is not None:
        money.carry_over(Store(plan.folder).spent_usd())
    return plan


def _chosen(names: Sequence[str], role: Role) -> tuple[Kind, ...]:
    if not names:
        return tuple(k for k in KINDS.values() if k.harmless or k.name in role.sees | role.resists)
    if "all" in names:
        return tuple(KINDS.values())
    for name in names:
        if name not in KINDS:
            raise UnknownName("kind of change", name, KINDS)
    return tuple(kind for kind in KINDS.values() if kind.name in names)


async def carry_out_check(
    plan: CheckPlan, report: Report, *, concurrency: int = CONCURRENCY, browser: str | None = None
) -> Check:
    """Judge the good pages and their changed copies, and say what the judge can tell apart."""
    from opendesign.answering.models import close_models

    started = time.monotonic()
    asyncio.get_running_loop().set_exception_handler(unheard)
    report.begin(len(plan.pages) * (1 + len(plan.kinds)), [plan.seat.card.name])

    def make() -> Renderer:
        from opendesign.rendering import Renderer

        return Renderer(plan.protocol.render, browser=browser, cache=cache_folder() / "network")

    with Store(plan.folder, write=True) as store:
        try:
            async with Lazy(make, lambda renderer: check_engine(store, renderer)) as renderer:
                setup = Setup(model=None, protocol=plan.protocol, renderer=renderer, seats=(plan.seat,))
                work = _Work(plan, setup, store, report, asyncio.Semaphore(concurrency))
                async with asyncio.TaskGroup() as group:
                    for source, page in plan.pages:
                        group.create_task(work.page(source, page))
        except* OpenDesignError as errors:
            raise first_of(errors) from None
        finally:
            await close_models()
        check = _result(plan, work, time.monotonic() - started)
        text = json.dumps(check.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        (plan.folder / "check.json").write_text(text + "\n", encoding="utf-8")
    return check


@dataclass(frozen=True)
class _Before:
    """A good page as it was rendered and judged; ``moves``: a second time it had another picture."""

    artifact: Artifact
    verdict: Verdict | None = None
    moves: bool = False


@dataclass
class _Work:
    """The pairs of one check, as they are made."""

    plan: CheckPlan
    setup: Setup
    store: Store
    report: Report
    room: asyncio.Semaphore
    pairs: list[Pair] = field(default_factory=list)
    differences: dict[str, float] = field(default_factory=dict)  # page -> between two looks at it
    verdicts: list[Verdict] = field(default_factory=list)

    async def page(self, source: Source, good: Good) -> None:
        """One good page, then its changed copies, many at once."""
        async with self.room:
            before = await self._guarded(good.case, self._good(good))
            self.report.finished()
        async with asyncio.TaskGroup() as group:
            for kind in self.plan.kinds:
                group.create_task(self._kind(source, good, kind, before))

    async def _good(self, good: Good) -> _Before:
        artifact = await self._artifact(good.case, good.document)
        if artifact.failure is not None:
            return _Before(artifact)
        verdict = await self._verdict(good.case, artifact)
        return _Before(artifact, verdict, await self._again(good, artifact, verdict))

    async def _guarded(self, case: Case, work: Awaitable[T]) -> T | str:
        """The outcome of ``work``, or what went wrong in it that nobody foresaw; the other pages go on."""
        try:
            return await work
        except OpenDesignError:
            raise
        except Exception as error:
            log_error(self.store.folder / "errors.log", case.id, 0)
            return f"{type(error).__name__}: {error}"[:200]

    async def _again(self, good: Good, artifact: Artifact, first: Verdict) -> bool:
        """The same page rendered and judged once more: how far apart the two scores are is noise, of the page
        that moves or of the judge. Whether the picture is another one."""
        case = replace(good.case, id=f"{good.case.id}~again")
        second = await self._artifact(case, good.document)
        if second.failure is not None:
            return False
        verdict = await self._verdict(case, second)
        name = self.plan.headline
        if first.status == verdict.status == "ok" and name in first.scores and name in verdict.scores:
            self.differences[good.case.id] = first.scores[name] - verdict.scores[name]
        return not await asyncio.to_thread(same_picture, _shown(artifact), _shown(second))

    async def _kind(self, source: Source, good: Good, kind: Kind, before: _Before | str) -> None:
        empty = Pair(page=good.case.id, kind=kind.name, source=source, status="unscored")
        async with self.room:
            if isinstance(before, str):
                found: Pair | str = f"The good page: {before}"
            else:
                found = await self._guarded(good.case, self._compare(empty, good, kind, before))
        self.pairs.append(replace(empty, detail=found) if isinstance(found, str) else found)
        self.report.finished()

    async def _compare(self, pair: Pair, good: Good, kind: Kind, before: _Before) -> Pair:
        """``pair`` with what came of it."""
        verdict = before.verdict
        failure = before.artifact.failure or (verdict.failure if verdict else None)
        if verdict is None or failure is not None:
            return replace(pair, detail=f"The good page: {failure.detail if failure else 'no verdict'}")
        low = self.plan.seat.card.measures[self.plan.headline].low
        pair = replace(pair, good=verdict.scores.get(self.plan.headline))
        if pair.good is None or pair.good <= low:
            return replace(pair, status="floor")
        document = await asyncio.to_thread(kind.of, good, self.plan.seed)
        if document is None:
            return replace(pair, status="absent")
        case = replace(good.case, id=f"{good.case.id}~{kind.name}")
        changed = await self._artifact(case, document)
        if changed.failure is not None:
            return replace(pair, detail=f"The changed page: {changed.failure.detail}")
        if not await asyncio.to_thread(_seen, kind, before, changed):
            return replace(pair, status="unseen")
        found = await self._verdict(case, changed)
        if found.failure is not None and found.failure.status != "model_failure":
            return replace(pair, detail=f"The changed page: {found.failure.detail}")
        # A page on which nothing is left to score has lost all of it.
        score = found.scores.get(self.plan.headline, low)
        return replace(pair, status="compared", changed=score, detail=" ".join(found.reasons[:1]))

    async def _artifact(self, case: Case, document: str) -> Artifact:
        answer = Answer(case=case.id, sample=0, text="", document=document)
        return await artifact_of(case, answer, self.setup, self.store, self.report)

    async def _verdict(self, case: Case, artifact: Artifact) -> Verdict:
        own = replace(artifact, case=case.id)
        verdict = await verdict_of(case, own, self.plan.seat, self.setup, self.store, self.report)
        self.verdicts.append(verdict)
        return verdict


def _seen(kind: Kind, before: _Before, after: Artifact) -> bool:
    return kind.seen(replace(_shown(before.artifact), moves=before.moves), _shown(after))


def _shown(artifact: Artifact) -> Shown:
    """What there is to see of a page that was rendered. Raises ``StoreError`` for a file that is gone."""
    from opendesign.rendering.facts import Facts

    assert artifact.document is not None
    assert artifact.facts is not None
    assert artifact.picture is not None
    return Shown(
        document=artifact.document.read_text(),
        facts=Facts.from_json(artifact.facts.read_bytes()),
        picture=artifact.picture.read_bytes(),
    )


def _result(plan: CheckPlan, work: _Work, seconds: float) -> Check:
    order = {page.case.id: at for at, (_, page) in enumerate(plan.pages)}
    measure = plan.seat.card.measures[plan.headline]
    tolerance, own = tolerances(
        work.differences, measure.high - measure.low, with_model=plan.seat.model is not None
    )
    pairs = [
        replace(pair, tolerance=own.get(pair.page, tolerance))
        for pair in sorted(work.pairs, key=lambda p: (list(KINDS).index(p.kind), order[p.page]))
    ]
    kinds = tuple(
        kind_result(
            kind.name,
            kind.about,
            _role(plan.role, kind),
            [pair for pair in pairs if pair.kind == kind.name],
        )
        for kind in plan.kinds
    )
    edits = [pair for pair in pairs if KINDS[pair.kind].harmless and pair.status == "compared"]
    costs = [verdict.usage.cost_usd for verdict in work.verdicts]
    return Check(
        judge=plan.seat.card.name,
        judge_hash=plan.seat.card.hash,
        judge_model=plan.seat.model.name if plan.seat.model else None,
        measure=plan.headline,
        seed=plan.seed,
        good_pages=dict(Counter(source for source, _ in plan.pages)),
        tolerance=tolerance,
        kinds=kinds,
        harmless=rate([[float(pair.fall > pair.tolerance)] for pair in edits]),
        unscored=sum(pair.status == "unscored" for pair in pairs),
        calls=sum(verdict.usage.calls for verdict in work.verdicts),
        cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        seconds=round(seconds, 1),
        run=str(plan.folder),
        pairs=tuple(pairs),
    )


def _role(role: Role, kind: Kind) -> Literal["sees", "resists", "other", "harmless"]:
    if kind.harmless:
        return "harmless"
    if kind.name in role.sees:
        return "sees"
    return "resists" if kind.name in role.resists else "other"
