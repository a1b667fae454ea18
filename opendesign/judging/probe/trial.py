"""One page on trial: takes the steps as a person would, then decides which of them earned their point.

All steps are taken on one load of the page, live. A step whose changes no inert element could show is decided
at once. For the others the page is loaded again, brought to where it stood before that step, and given the
same input muted (see ``judging.change``). Where the muted step left the page as the live one did, the next
control goes on from there, so a page with dead controls costs one more load, not three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opendesign.judging.change import (
    Change,
    Manner,
    Observer,
    PageLeft,
    Unanswered,
    alike,
    beyond,
    earned,
    strength,
)
from opendesign.judging.probe.actions import OutOfReach, perform
from opendesign.judging.probe.plan import Step

OWN_VALUE = ("check", "select", "slide", "type")  # gives a field a value
TIMED = ("keys", "drag", "wheel")
_INERT = "nothing changed but what an inert element shows"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one step. ``controlled``: the decision needed the muted control."""

    step: Step
    worked: bool
    why: str
    changes: tuple[Change, ...] = ()
    controlled: bool = False


@dataclass(slots=True)
class _Taken:
    """A step that was taken: how, what it changed, and its outcome once that is known.

    ``timed``: the page ran on during the input. ``extended``: it was watched on for ``own_ms``.
    """

    step: Step
    timed: bool = False
    extended: bool = False
    own_ms: int = 0
    live: tuple[Change, ...] = ()
    outcome: Outcome | None = None

    @property
    def worked(self) -> bool:
        return self.outcome is not None and self.outcome.worked

    @property
    def points(self) -> bool:
        """Whether it is meant for one control: a drawing is touched anywhere, and keys have no place."""
        return self.step.kind != "canvas" and self.step.action not in ("keys", "select", "jump")

    @property
    def moving(self) -> bool:
        return self.timed or self.extended


class Trial:
    """Call ``take`` for each step, then ``outcomes``. Both may raise ``Unanswered``."""

    def __init__(self, observer: Observer) -> None:
        self._see = observer
        self._all: list[_Taken] = []
        self._loads: list[list[_Taken]] = [[]]  # the steps taken on each load of the page
        self._repeatable: bool | None = None  # whether the page moves alike after each load; None: not tried

    async def take(self, step: Step) -> None:
        """Do the step on the page as the steps before have left it, or on a fresh one where they block it."""
        taken = _Taken(step)
        self._all.append(taken)
        try:
            await self._take(taken)
        except PageLeft:
            taken.outcome = Outcome(step, False, "went to another document")
            await self._load()
        except Unanswered:
            taken.outcome = Outcome(step, False, "the page stopped answering")
            raise

    async def outcomes(self) -> list[Outcome]:
        """What came of each step that was taken, in order."""
        if any(taken.worked for taken in self._all):
            await self._see.watch()
        for load in self._loads:
            await self._decide(load)
        if any(taken.worked and taken.points for taken in self._all):
            await self._see.touch()
        if any(taken.worked and self._drifts(taken, pointing=True) for taken in self._all):
            await self._see.fresh()  # where no step has opened what a touch closes
            await self._see.touch()
        for taken in self._all:
            if taken.worked and self._drifts(taken):
                taken.outcome = Outcome(taken.step, False, "the page changes so by itself")
            elif taken.worked and self._drifts(taken, pointing=True):
                taken.outcome = Outcome(taken.step, False, "the page changes so wherever it is touched")
        for taken in self._all:
            if self._repeatable is False and taken.moving and taken.outcome and taken.outcome.controlled:
                taken.outcome = Outcome(
                    taken.step, False, "the page moves differently at each load", (), True
                )
        return self.known()

    def known(self) -> list[Outcome]:
        """The outcomes so far; a step that was not decided earns nothing."""
        return [t.outcome or Outcome(t.step, False, "could not be decided") for t in self._all]

    def _drifts(self, taken: _Taken, *, pointing: bool = False) -> bool:
        """Whether nothing is left of a step without what the page does by itself, or at any touch."""
        changes = taken.outcome.changes if taken.outcome else ()
        return all(self._see.drifts(change, pointing=pointing and taken.points) for change in changes)

    async def _take(self, taken: _Taken) -> None:
        step = taken.step
        self._set_time(taken)
        try:
            live = await self._do(taken)
        except OutOfReach as first:
            if not self._loads[-1]:
                taken.outcome = Outcome(step, False, f"the control is {first}")
                return
            await self._load()  # an earlier step put something in the way
            self._set_time(taken)
            try:
                live = await self._do(taken)
            except OutOfReach as second:
                taken.outcome = Outcome(step, False, f"the control is {second}")
                return
        self._loads[-1].append(taken)
        taken.live = tuple(live)
        if not taken.timed:
            live = _without_undoing(live, step, self._loads[-1][:-1])
            strong = earned(live, step.action, controlled=False)
            if strong:
                taken.outcome = Outcome(step, True, "changed the page", tuple(strong))
                return
            if self._see.moves_fast and step.action not in ("jump", "link"):
                taken.extended, taken.own_ms = True, self._see.window_ms
                taken.live = (*taken.live, *await self._see.finish(own_ms=taken.own_ms))
            elif all(strength(change, step.action) == "none" for change in live):
                taken.outcome = Outcome(step, False, _INERT)

    async def _decide(self, load: Sequence[_Taken]) -> None:
        """Run the muted controls of the steps of one load that need one."""
        at: int | None = None  # how many steps the page has behind it, as it stood then; None: load it anew
        for index, taken in enumerate(load):
            if taken.outcome is not None:
                continue
            at = await self._bring_to(load, index, at)
            try:
                control = await self._do(taken, muted=True)
            except (OutOfReach, PageLeft):
                control = []
            live = _without_undoing(taken.live, taken.step, load[:index])
            found = earned(beyond(live, control, moving=taken.moving), taken.step.action, controlled=True)
            if found:
                why = "changed the page beyond the muted control"
                taken.outcome = Outcome(taken.step, True, why, tuple(found), True)
                at = None
            else:
                taken.outcome = Outcome(taken.step, False, "the muted control changed alike", (), True)
                at = index + 1
        await self._prove(load)

    async def _prove(self, load: Sequence[_Taken]) -> None:
        """Take one step of a moving page again: what differs without a cause proves nothing."""
        for index, taken in enumerate(load):
            worked = taken.outcome is not None and taken.worked and taken.outcome.controlled
            if worked and taken.moving and self._repeatable is None:
                await self._bring_to(load, index + 1, None)

    async def _bring_to(self, load: Sequence[_Taken], index: int, at: int | None) -> int:
        """Bring the page to where it stood before step ``index``, which may prove that it repeats."""
        if at is None:
            await self._see.fresh()
            at = 0
        for taken in load[at:index]:
            prove = self._repeatable is None and taken.moving and taken.worked
            seen = await self._do(taken, again=not prove)
            if prove:
                self._repeatable = alike(seen, taken.live)
        return index

    async def _do(self, taken: _Taken, *, muted: bool = False, again: bool = False) -> list[Change]:
        await perform(self._see, taken.step, Manner(muted=muted, timed=taken.timed, again=again))
        changes = await self._see.finish(own_ms=taken.own_ms if taken.timed else 0)
        if taken.extended:
            changes = [*changes, *await self._see.finish(own_ms=taken.own_ms)]
        return changes

    async def _load(self) -> None:
        await self._see.fresh()
        self._loads.append([])

    def _set_time(self, taken: _Taken) -> None:
        """Whether the page must run during the input for it to show, and how long after it."""
        step = taken.step
        pictured = step.control is not None and step.control.kind == "canvas"
        moves = self._see.moves if step.action == "keys" else self._see.moves_fast
        taken.timed = moves and (step.action in TIMED or pictured)
        taken.own_ms = self._see.window_ms if taken.timed else 0


def _without_undoing(all_of_it: Sequence[Change], step: Step, before: Sequence[_Taken]) -> list[Change]:
    """What a step changed besides taking back what earlier steps did.

    A page that only draws itself anew shows a field's first value again, and a click anywhere may close what
    was open: that is none of a dead link's doing.
    """
    given = {t.step.control.key for t in before if t.step.control and t.step.action in OWN_VALUE}
    live = [c for c in all_of_it if not (c.kind == "state" and c.key in given)]
    earlier = {(change.kind, change.key) for taken in before for change in taken.live}
    closed = {c.key for c in live if c.kind == "vanished" and ("appeared", c.key) in earlier}
    if step.kind != "link" or not closed:
        return live
    return [c for c in live if c.key not in closed and (c.kind, c.key) not in earlier]


def unique(changes: Sequence[Change], most: int) -> list[Change]:
    """The first ``most`` changes that differ in kind, place and sample."""
    seen: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        seen.setdefault((change.kind, change.place, change.sample), change)
    return list(seen.values())[:most]
