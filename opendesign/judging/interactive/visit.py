"""An agent's visit to one page: what it saw, what it did, what it said of it. The loops are built on it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.judging.change import Observer, PageLeft
from opendesign.judging.change.answers import listed, number, table
from opendesign.judging.interactive.deeds import AgentError, Deed, deed_of
from opendesign.judging.interactive.drawing import Picture, drawn
from opendesign.judging.interactive.marks import Mark, Numbers, list_text, marks_of
from opendesign.judging.interactive.proof import Done, Proof
from opendesign.judging.interactive.replies import Next, Planned, Word
from opendesign.judging.interactive.settings import Settings
from opendesign.judging.interactive.talk import Talk
from opendesign.judging.probe.actions import OutOfReach, aim

if TYPE_CHECKING:
    from opendesign.rendering.driver import Driver

__all__ = ["Look", "Step", "Visit"]

_SHOT_QUALITY = 90  # of what the browser hands over, before it is scaled
_MOST_CONTROLS = 400
_OUTSIDE = ("above", "below", "aside")  # of the window
_REPEATS = 3  # the same action for the same interaction so often in a row is enough


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the agent is shown: the list, the picture, and where the window is on the page."""

    marks: Mapping[int, Mark]
    list: str
    picture: Picture
    where: str
    keys: bool  # whether the page listens for keys


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """One action of the agent, as it is kept: ``word`` is None as long as the agent has not judged it."""

    done: Done
    why: str
    before: str  # names of pictures
    after: str = ""
    word: Word | None = None

    @property
    def deed(self) -> Deed:
        return self.done.deed

    @property
    def point(self) -> bool:
        """Both witnesses say that it worked."""
        return self.claimed and bool(self.done.changed)

    @property
    def claimed(self) -> bool:
        """The agent's word is that it worked, and it was an input that the page could react to."""
        acted = self.done.came == "performed" and self.deed.action is not None
        return acted and self.word is not None and self.word.worked

    def told(self, number: int) -> str:
        """One line for the agent: what it did and what came of it, with nothing that was measured."""
        came = {
            "performed": "performed",
            "refused": f"not possible: the element is {self.done.detail}",
            "left": "it led to another document; the page was loaded again",
        }[self.done.came]
        said = "".join(f'; a dialog said "{text}"' for text in self.done.dialogs)
        judged = f"; you judged: {'worked' if self.word.worked else 'did not work'}" if self.word else ""
        return f"{number}. for interaction {self.deed.interaction}: {self.deed.label}: {came}{said}{judged}"


@dataclass(slots=True, kw_only=True, eq=False)
class Visit:
    """Everything of one visit. Methods that touch the page may raise ``Unanswered``."""

    driver: Driver
    settings: Settings
    talk: Talk
    observer: Observer = field(init=False)
    proof: Proof = field(init=False)
    numbers: Numbers = field(default_factory=Numbers)
    plan: tuple[Planned, ...] = ()
    steps: list[Step] = field(default_factory=list)
    pictures: dict[str, Picture] = field(default_factory=dict)
    known: dict[int, Mark] = field(default_factory=dict)  # as each number was listed last
    finished: bool = False  # by the agent's own word
    now: Look | None = None  # None: the page has changed since the last look

    def __post_init__(self) -> None:
        settings = self.settings
        self.observer = Observer(
            self.driver,
            scripts=scripts(),
            answer_s=settings.answer_s,
            caused_ms=settings.caused_ms,
            own_ms=settings.own_ms,
        )
        self.proof = Proof(self.observer)

    async def look(self) -> Look:
        """The page as it stands; the same look as before where nothing was done since."""
        if self.now is None:
            try:
                self.now = await self._look()
            except PageLeft:  # it went on its own
                await self.observer.fresh()
                self.now = await self._look()
        return self.now

    async def act(self, wanted: Next) -> Step | None:
        """Do what the agent wants; None where that is an error of its own."""
        try:
            deed = await self._deed(wanted)
        except AgentError as problem:
            self.talk.wrong(str(problem))
            return None
        look, self.now = await self.look(), None
        step = Step(done=Done(deed), why=wanted.why, before=look.picture.name)
        self.steps.append(step)
        await self.proof.do(step.done)
        return step

    def judge(self, word: Word) -> None:
        """The agent's word on its last step. A wait or a scroll shows what the step before it brought."""
        last = self.steps[-1]
        last.word = word
        if last.deed.action is not None or not word.worked:
            return
        acted = next((step for step in reversed(self.steps) if step.deed.action is not None), None)
        if acted is not None and acted.deed.interaction == last.deed.interaction:
            acted.word = replace(word, why=f"{word.why} (seen after: {last.deed.label})")

    def history(self) -> str:
        """A line for each step so far."""
        lines = [step.told(i) for i, step in enumerate(self.steps, 1)]
        return "\n".join(lines) or "(nothing yet)"

    def planned(self) -> str:
        return "\n".join(f"{i}. {one}" for i, one in enumerate(self.plan, 1))

    def tried(self) -> set[int]:
        """Interactions for which something was done, waiting and scrolling apart."""
        return {step.deed.interaction for step in self.steps if step.deed.action is not None}

    def untried(self) -> list[int]:
        tried = self.tried()
        return [number for number in range(1, len(self.plan) + 1) if number not in tried]

    def _refuse_repeats(self, deed: Deed) -> None:
        last = [step.deed for step in self.steps[-_REPEATS:]]
        same = [one for one in last if (one.label, one.interaction) == (deed.label, deed.interaction)]
        if len(same) == _REPEATS:
            raise AgentError(
                f"You have done exactly this {_REPEATS} times: go on with another interaction, or finish."
            )

    async def _deed(self, wanted: Next) -> Deed:
        """What is to be done. Its element is brought into the window, so that before and after show it."""
        look = await self.look()
        # On a page that has nothing left, it is the page's failure that what it had is gone.
        deed = deed_of(wanted, look.marks or self.known)
        self._refuse_repeats(deed)
        if deed.mark is None or deed.mark.place not in _OUTSIDE:
            return deed
        with contextlib.suppress(OutOfReach):
            await aim(self.observer, deed.mark.key)
        self.now = None
        await self.look()
        return deed_of(wanted, self.known)

    async def _look(self) -> Look:
        settings, see = self.settings, self.observer
        survey = table(await see.ask("survey"))
        shot = await see.answer(self.driver.picture(_SHOT_QUALITY))
        listing = table(survey.get("listing"))
        see.read_motion(listing.get("motion"))
        keys = table(listing.get("keys"))
        described = listed(survey.get("marks"), _MOST_CONTROLS)
        marks = marks_of(listing, described, self.numbers, settings.most_listed)
        picture = await asyncio.to_thread(
            drawn,
            shot,
            marks,
            name=f"look-{len(self.pictures) + 1:02}.jpg",
            window=self.driver.width,
            width=settings.picture_width,
            quality=settings.picture_quality,
            most=settings.picture_bytes,
        )
        self.pictures[picture.name] = picture
        self.known |= {mark.number: mark for mark in marks}
        if self.steps and not self.steps[-1].after:
            self.steps[-1].after = picture.name
        return Look(
            marks={mark.number: mark for mark in marks},
            list=list_text(marks, keys),
            picture=picture,
            where=_where(table(survey.get("scroll"))),
            keys=bool(keys.get("listens")),
        )


def _where(scroll: Mapping[str, Any]) -> str:
    top, height, window = (round(number(scroll.get(name))) for name in ("y", "height", "window"))
    if height <= window:
        return "The picture shows the whole page."
    return f"The picture shows pixels {top} to {top + window} of a page {height} pixels high."


@cache
def scripts() -> tuple[str, ...]:
    """The scripts that list what can be operated: the probe's, then ours."""
    folder = Path(__file__).parent
    paths = (folder.parent / "probe" / "controls.js", folder / "marks.js")
    return tuple(path.read_text(encoding="utf-8") for path in paths)
