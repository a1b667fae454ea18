"""One page on trial: takes steps, and decides for each whether it earned its point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opendesign.judging.change import Change, Observer, PageLeft, beyond, earned, strength
from opendesign.judging.probe.actions import OutOfReach, perform
from opendesign.judging.probe.plan import Step

TIMED = ("keys", "drag", "wheel")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one step. ``controlled``: the decision needed the muted control."""

    step: Step
    worked: bool
    why: str
    changes: tuple[Change, ...] = ()
    controlled: bool = False


@dataclass(frozen=True, slots=True)
class _Done:
    """A step in the page's history since it was loaded: enough to do it again."""

    step: Step
    muted: bool
    timed: bool
    extended: bool


class Trial:
    """Steps on one page. The page is as a person left it after the step before, unless that blocks the next."""

    def __init__(self, observer: Observer) -> None:
        self._see = observer
        self._history: list[_Done] = []
        self._restore = False
        self._repeatable: bool | None = None  # whether the page moves alike after each load; None: not tried

    async def take(self, step: Step) -> Outcome:
        """Do the step and judge it. May raise ``Unanswered``."""
        try:
            if self._restore:
                await self._replay()
            return await self._take(step)
        except PageLeft:
            await self._start_over()
            return Outcome(step, False, "went to another document")

    async def _take(self, step: Step) -> Outcome:
        timed = self._timed(step)
        try:
            live = await self._do(_Done(step, muted=False, timed=timed, extended=False))
        except OutOfReach as first:
            if not self._history:
                return Outcome(step, False, f"the control is {first}")
            await self._start_over()  # an earlier step put something in the way
            try:
                live = await self._do(_Done(step, muted=False, timed=timed, extended=False))
            except OutOfReach as second:
                return Outcome(step, False, f"the control is {second}")
        if not timed:
            strong = earned(live, step.action, controlled=False)
            if strong:
                self._history.append(_Done(step, False, False, False))
                return Outcome(step, True, "changed the page", tuple(strong))
        extended = not timed and self._see.moves_fast and step.action not in ("jump", "link")
        if extended:
            live = [*live, *await self._see.finish(own=True)]
        if not timed and not extended and all(strength(c, step.action) == "none" for c in live):
            self._history.append(_Done(step, False, timed, extended))
            return Outcome(step, False, "nothing changed but what an inert element shows")
        return await self._against_control(step, live, timed, extended)

    async def _against_control(self, step: Step, live: list[Change], timed: bool, extended: bool) -> Outcome:
        moving = timed or extended
        control = await self._control(step, timed, extended)
        found = earned(beyond(live, control, moving=moving), step.action, controlled=True)
        if found and moving and self._repeatable is None:
            again = await self._control(step, timed, extended)
            self._repeatable = {(c.kind, c.key, c.after) for c in control} == {
                (c.kind, c.key, c.after) for c in again
            }
        worked = bool(found) and not (moving and self._repeatable is False)
        # The page now stands where the muted input left it.
        self._history.append(_Done(step, muted=not (worked and step.opens), timed=timed, extended=extended))
        self._restore = worked and step.opens
        if worked:
            return Outcome(step, True, "changed the page beyond the muted control", tuple(found), True)
        if found:
            return Outcome(step, False, "the page moves differently at each load", controlled=True)
        return Outcome(step, False, "the muted control changed alike", controlled=True)

    async def _control(self, step: Step, timed: bool, extended: bool) -> list[Change]:
        await self._replay()
        try:
            return await self._do(_Done(step, muted=True, timed=timed, extended=extended))
        except OutOfReach:
            return []

    async def _do(self, done: _Done) -> list[Change]:
        await perform(self._see, done.step, muted=done.muted, timed=done.timed)
        changes = await self._see.finish(own=done.timed)
        if done.extended:
            changes = [*changes, *await self._see.finish(own=True)]
        return changes

    async def _replay(self) -> None:
        """Bring a fresh load to where the page stood."""
        await self._see.fresh()
        self._restore = False
        for done in self._history:
            await self._do(done)

    async def _start_over(self) -> None:
        await self._see.fresh()
        self._history.clear()
        self._restore = False

    def _timed(self, step: Step) -> bool:
        """Whether the page must run during the input for it to show."""
        pictured = step.control is not None and step.control.kind == "canvas"
        if step.action in TIMED:
            return self._see.moves if step.action == "keys" else self._see.moves_fast
        return pictured and self._see.moves_fast


def unique(changes: Sequence[Change], most: int) -> list[Change]:
    """The first ``most`` changes that differ in kind, place and sample."""
    seen: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        seen.setdefault((change.kind, change.place, change.sample), change)
    return list(seen.values())[:most]
