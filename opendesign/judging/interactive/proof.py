"""What the deeds of one visit changed: each is done once, live; then it is decided which changes were theirs.

The method is that of ``judging.change``. A deed whose changes no inert element could show is decided at once.
For the others the page is loaded again, brought to where it stood before that deed, and given the same input
muted. Nothing here is shown to the agent: its word and this measurement are two witnesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from opendesign.judging.change import Change, Manner, Observer, PageLeft, alike, beyond, earned, strength
from opendesign.judging.interactive.deeds import Deed
from opendesign.judging.interactive.hand import OutOfReach, perform

__all__ = ["Done", "Proof"]

_TIMED = ("keys", "drag", "wheel")
_INERT = "nothing changed but what an inert element shows"
_RETRY = Deed(do="wait", hold_s=0.5)  # before a second try at an element that is out of reach


@dataclass(slots=True, eq=False)
class Done:
    """A deed that was done, or tried.

    ``came``: ``refused`` by the page (``detail`` is the hit test), ``left`` for another document.
    ``changed`` is None until it is decided, and for deeds that are no input (wait, scroll).
    ``timed``: the page ran on during the input. ``extended``: it was watched on for ``own_ms``.
    """

    deed: Deed
    came: Literal["performed", "refused", "left"] = "performed"
    detail: str = ""
    dialogs: tuple[str, ...] = ()
    changed: bool | None = None
    why: str = ""
    changes: tuple[Change, ...] = ()
    controlled: bool = False
    timed: bool = False
    extended: bool = False
    own_ms: int = 0
    live: tuple[Change, ...] = ()

    @property
    def moving(self) -> bool:
        return self.timed or self.extended

    def settle(self, changes: Sequence[Change], why: str, *, controlled: bool = False) -> None:
        """Decide it: the changes that count, none where it did nothing."""
        self.changed, self.why, self.changes = bool(changes), why, tuple(changes)
        self.controlled = controlled

    @property
    def decided(self) -> bool:
        return self.changed is not None or self.deed.action is None


class Proof:
    """Call ``do`` for each deed, then ``decide``. Both may raise ``Unanswered``."""

    def __init__(self, observer: Observer) -> None:
        self._see = observer
        self._loads: list[list[Done]] = [[]]  # what was done on each load of the page
        self._repeatable: bool | None = None  # whether the page moves alike after each load; None: not tried

    async def do(self, done: Done) -> None:
        """Do it on the page as it stands. An element out of reach is tried once more after a while."""
        try:
            try:
                await self._live(done)
            except OutOfReach:
                waited = Done(_RETRY)
                await self._live(waited)
                await self._live(done)
        except OutOfReach as problem:
            done.came, done.detail = "refused", str(problem)
            done.settle((), f"the element is {problem}")
        except PageLeft:
            done.came = "left"
            done.settle((), "the page went to another document")
            await self._see.fresh()
            self._loads.append([])

    async def decide(self) -> None:
        """Decide every deed that is not decided yet."""
        everything = [done for load in self._loads for done in load]
        if any(done.changed for done in everything):
            await self._see.watch()
        for load in self._loads:
            await self._decide(load)
        for done in everything:
            if done.changed and all(map(self._see.drifts, done.changes)):
                done.settle((), "the page changes so by itself")
            if self._repeatable is False and done.moving and done.controlled and done.changed:
                done.settle((), "the page moves differently at each load", controlled=True)

    async def _live(self, done: Done) -> None:
        self._set_time(done)
        live = await self._give(done)
        self._loads[-1].append(done)
        done.dialogs = tuple(c.sample for c in live if c.kind == "dialog")[:3]
        action = done.deed.action
        if action is None:
            return
        if not done.timed:
            strong = earned(live, action, controlled=False)
            if strong:
                done.settle(strong, "changed the page")
                return
            if self._see.moves_fast and action not in ("jump", "link"):
                done.extended, done.own_ms = True, self._see.window_ms
                live = [*live, *await self._see.finish(own_ms=done.own_ms)]
            elif all(strength(change, action) == "none" for change in live):
                done.settle((), _INERT)
                return
        done.live = tuple(live)

    async def _decide(self, load: Sequence[Done]) -> None:
        at: int | None = None  # how many deeds the page has behind it, as it stood then; None: load it anew
        for index, done in enumerate(load):
            action = done.deed.action
            if done.decided or action is None:
                continue
            at = await self._bring_to(load, index, at)
            try:
                control = await self._give(done, muted=True)
            except (OutOfReach, PageLeft):
                control = []
            found = earned(beyond(done.live, control, moving=done.moving), action, controlled=True)
            if found:
                done.settle(found, "changed the page beyond the muted control", controlled=True)
                at = None
            else:
                done.settle((), "the muted control changed alike", controlled=True)
                at = index + 1
        for index, done in enumerate(load):  # what differs without a cause proves nothing
            if done.changed and done.controlled and done.moving and self._repeatable is None:
                await self._bring_to(load, index + 1, None)

    async def _bring_to(self, load: Sequence[Done], index: int, at: int | None) -> int:
        """Bring the page to where it stood before deed ``index``, which may prove that it repeats."""
        if at is None:
            await self._see.fresh()
            at = 0
        for done in load[at:index]:
            prove = self._repeatable is None and done.moving and bool(done.changed)
            try:
                seen = await self._give(done, again=not prove)
            except OutOfReach:
                seen = []
            if prove:
                self._repeatable = alike(seen, done.live)
        return index

    async def _give(self, done: Done, *, muted: bool = False, again: bool = False) -> list[Change]:
        await perform(self._see, done.deed, Manner(muted=muted, timed=done.timed, again=again))
        changes = await self._see.finish(own_ms=done.own_ms if not done.extended else 0)
        if done.extended:
            changes = [*changes, *await self._see.finish(own_ms=done.own_ms)]
        return changes

    def _set_time(self, done: Done) -> None:
        """Whether the page must run during the input for it to show, and how long after it."""
        deed = done.deed
        if deed.do == "wait":
            done.own_ms = round((deed.hold_s or 1.0) * 1000)
            return
        pictured = deed.mark is not None and deed.mark.control.kind == "canvas"
        moves = self._see.moves if deed.action == "keys" else self._see.moves_fast
        done.timed = moves and (deed.action in _TIMED or pictured)
        done.own_ms = self._see.window_ms if done.timed else 0
