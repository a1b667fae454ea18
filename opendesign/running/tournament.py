"""Tournaments: the pairwise judge over several stored runs, sampled to a budget.

    plan = plan_tournament([run, run, run], card, model, matches=600, seed=0)
    tournament = await play(plan)        # the same call again resumes, or goes on where there is more to play
    print(tournament)

A match is a pair of runs on one sample of one case. A page that its model failed loses to a sound one without
a call, and two of them tie; where an instrument failed the match is unscored. Every match is stored as it
ends, and asked for once.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

from opendesign.canonical import hash_of
from opendesign.errors import Failed, OpenDesignError, UsageError
from opendesign.judging.pairwise import Match, Outcome, compare
from opendesign.running.execute import CONCURRENCY, first_of, log_error
from opendesign.running.report import Report, Tally
from opendesign.running.tournament_plan import Page, TournamentPlan, plan_tournament
from opendesign.running.tournament_schedule import Fixture
from opendesign.running.tournament_store import TournamentStore
from opendesign.running.tournament_summary import Tournament, summarize_tournament
from opendesign.types import Artifact, Failure, Verdict

__all__ = ["Tournament", "TournamentPlan", "load_tournament", "plan_tournament", "play"]


def load_tournament(folder: Path) -> Tournament:
    """A stored tournament. Raises ``StoreError`` where it cannot be read."""
    return summarize_tournament(TournamentStore(folder))


async def play(
    plan: TournamentPlan, *, report: Report | None = None, concurrency: int = CONCURRENCY
) -> Tournament:
    """Play what is not stored yet of ``plan``; returns the tournament with all that is stored.

    Raises ``OpenDesignError`` for what cannot be done; a match that fails is counted and never raises.
    """
    if concurrency < 1:
        raise UsageError(f"--concurrency is {concurrency}: at least one match has to be in flight.")
    from opendesign.answering.models import close_models

    listener = report or Tally()
    with TournamentStore(plan.folder, write=True) as store:
        _open(store, plan)
        sitting = _Sitting(plan, store, listener)
        listener.begin(len(plan.fixtures), [plan.seat.card.name])
        try:
            await _all(sitting, concurrency)
        finally:
            await close_models()
        if store.cut:
            listener.note(
                f"{store.cut} records were cut short when a process was ended: they were made again."
            )
        if sitting.broken:
            listener.note(
                f"{len(sitting.broken)} matches met an unexpected error ({sitting.broken[0]}) and are not "
                f"played: {plan.folder / 'errors.log'} has it in full; the same command tries them again."
            )
        if sitting.penniless:
            listener.note(
                f"The budget is spent after {sitting.played} of {len(plan.fixtures)} matches: the same "
                "command with a larger --budget plays on."
            )
    return summarize_tournament(store, planned=len(plan.fixtures))


def _open(store: TournamentStore, plan: TournamentPlan) -> None:
    if not store.manifest_path.exists():
        store.create(plan.manifest())
    elif store.manifest().get("identity") != hash_of(plan.identity()):
        raise UsageError(
            f"{plan.folder} holds a tournament of other runs, of another judge or seed: name another folder."
        )


async def _all(sitting: _Sitting, concurrency: int) -> None:
    room = asyncio.Semaphore(concurrency)

    async def one(fixture: Fixture) -> None:
        try:
            await sitting.play(fixture)
        except OpenDesignError:
            raise  # the store or what was asked for: every other match would fail alike
        except Exception as error:
            sitting.broken.append(f"{type(error).__name__}: {error}"[:200])
            log_error(sitting.store.folder / "errors.log", fixture.case, fixture.sample)
        finally:
            room.release()

    try:
        async with asyncio.TaskGroup() as group:
            for fixture in sitting.plan.fixtures:
                await room.acquire()
                if sitting.penniless:
                    break
                group.create_task(one(fixture))
    except* OpenDesignError as errors:
        raise first_of(errors) from None


class _Sitting:
    """One sitting at a tournament."""

    def __init__(self, plan: TournamentPlan, store: TournamentStore, report: Report) -> None:
        self.plan, self.store, self.report = plan, store, report
        self.penniless = False  # whether the budget has run out
        self.played = 0
        self.broken: list[str] = []  # errors that nobody expects

    async def play(self, fixture: Fixture) -> None:
        """Play a match, or take it from the store."""
        seat, input = self.plan.seat, self.plan.input(fixture)
        stored = self.store.match(fixture, seat.config, input)
        fresh = stored is None or stored.failure is not None
        if stored is not None and not fresh:
            match = stored
        else:
            started = time.monotonic()
            match = await self._match(fixture, stored)
            times = {"at": round(time.time(), 3), "seconds": round(time.monotonic() - started, 3)}
            match = replace(match, varies={**match.varies, **times})
            self.store.keep(fixture, match, seat.config, input, seat.made)
        if match.failure is not None and match.failure.reason == "budget_exhausted":
            self.penniless = True
        else:
            self.played += 1
        self._tell(match, fresh)

    async def _match(self, fixture: Fixture, stored: Match | None) -> Match:
        first, second = self.plan.pages(fixture)
        seat, case = self.plan.seat, self.plan.cases[fixture.case]
        if not (isinstance(first, Artifact) and isinstance(second, Artifact)):
            return _walkover(fixture, first, second)
        assert seat.model is not None
        known = stored.looks if stored else ()
        try:
            return await compare(case, first, second, seat.card, seat.model, known=known)
        except Failed as error:  # before anything was asked
            return Match(case=case.id, sample=fixture.sample, looks=known, failure=error.failure)

    def _tell(self, match: Match, fresh: bool) -> None:
        name = self.plan.seat.card.name
        told = Verdict(
            case=match.case, sample=match.sample, judge=name, failure=match.failure, usage=match.usage
        )
        self.report.step(f"verdict-{name}", told, fresh=fresh)
        self.report.finished()


def _walkover(fixture: Fixture, first: Page, second: Page) -> Match:
    """The match of pages at least one of which is missing: nobody is asked."""
    failures = [page for page in (first, second) if isinstance(page, Failure)]
    blameless = next((one for one in failures if one.status != "model_failure"), None)
    outcome: Outcome | None = None
    if blameless is None:
        outcome = "tie" if len(failures) == 2 else "second" if isinstance(first, Failure) else "first"
    return Match(
        case=fixture.case,
        sample=fixture.sample,
        outcome=outcome,
        evidence={
            "walkover": [page.reason if isinstance(page, Failure) else None for page in (first, second)]
        },
        failure=blameless,
    )
