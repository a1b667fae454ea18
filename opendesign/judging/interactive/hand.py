"""Doing a deed with real mouse and keyboard events; the page's clock moves between them only when asked."""

from __future__ import annotations

import re

from opendesign.judging.change import Manner, Observer
from opendesign.judging.change.answers import number, table
from opendesign.judging.interactive.deeds import Deed, Entry
from opendesign.judging.interactive.marks import Mark
from opendesign.judging.probe.actions import OutOfReach, Spot, aim

__all__ = ["OutOfReach", "perform"]

HOLD_MS, REST_MS, MOVE_MS = 160, 48, 48  # page time, on a page that moves by itself
_HANDLE_PX = 60  # how far a handle is dragged
_OFF = ("", "off", "no", "false", "unchecked")
_DATE = re.compile(r"(?:(\d{4})-(\d\d)(?:-(\d\d))?)?[T ]?(?:(\d\d):(\d\d)(?::\d\d)?)?")
_LARGE_PX2 = 20_000  # above it a hover passes over several places
_DATED = ("date", "time", "month", "week", "datetime-local")


async def perform(observer: Observer, deed: Deed, how: Manner) -> None:
    """Make ready, begin the measurement, and give the input.

    Raises ``OutOfReach`` where an element that it needs is gone, hidden, disabled or covered.
    """
    hand = _Hand(observer, deed, how)
    if observer.hovering:  # what the pointer holds open would close on the way, and the page shift
        await hand.move(0, 0)
        observer.hovering = False
    await getattr(hand, f"do_{deed.do}")()


class _Hand:
    """The verbs, one method each. Every ``aim`` comes before ``begin``: a refusal leaves nothing begun."""

    def __init__(self, observer: Observer, deed: Deed, how: Manner) -> None:
        self.see, self.deed, self.how = observer, deed, how
        self.driver = observer.driver

    async def rest(self, ms: int) -> None:
        if self.how.timed:
            await self.see.run(ms)

    async def begin(self, *, focus: bool = False) -> None:
        await self.see.begin(self.deed.key, self.how, focus=focus)

    async def move(self, x: float, y: float, steps: int = 1) -> None:
        await self.see.answer(self.driver.move(x, y, steps))

    async def click(self, x: float, y: float, count: int = 1) -> None:
        await self.see.answer(self.driver.click(x, y, count))

    async def press(self, key: str, times: int = 1) -> None:
        for _ in range(times):
            await self.see.answer(self.driver.press(key))

    async def spot(self, mark: Mark | None = None, *, select: bool = False) -> Spot:
        """Where the element is, scrolled into the window. ``select``: the page's editable text, too."""
        on = mark or self.deed.mark
        assert on is not None
        return await aim(self.see, on.key, select=select)

    def place(self, spot: Spot) -> tuple[float, float]:
        """The place in the element that the agent named, else where it is free."""
        if self.deed.at is None:
            return spot.part_x, spot.part_y
        across, down = self.deed.at
        return spot.left + spot.width * across, spot.top + spot.height * down

    async def do_click(self) -> None:
        control = self.deed.mark.control if self.deed.mark else None
        spot = await self.spot(select=control is not None and control.kind == "button")
        x, y = self.place(spot)
        await self.move(x, y)
        await self.begin()
        await self.click(x, y, 2 if control is not None and control.double else 1)

    async def do_hover(self) -> None:
        spot = await self.spot()
        inside = spot.left <= 1 and spot.top <= 1
        await self.move(*((self.driver.width - 1, self.driver.height - 1) if inside else (0, 0)))
        await self.begin()
        self.see.hovering = True
        for x, y in self._way(spot):
            await self.move(x, y, 2)
            await self.rest(MOVE_MS)

    def _way(self, spot: Spot) -> list[tuple[float, float]]:
        """Where the pointer goes: over a large area, which may be a whole chart, to several places."""
        parted = (spot.part_x, spot.part_y) != (spot.x, spot.y)
        if self.deed.at is not None or parted or spot.width * spot.height <= _LARGE_PX2:
            return [self.place(spot)]
        shares = ((0.15, 0.6), (0.3, 0.7), (0.5, 0.5), (0.62, 0.8), (0.8, 0.7))
        return [(spot.left + spot.width * x, spot.top + spot.height * y) for x, y in shares]

    async def do_select(self) -> None:
        await self.spot()
        await self.begin(focus=True)
        await self._choose(self.deed.entries[0].moves)

    async def _choose(self, moves: int) -> None:
        for _ in range(abs(moves)):
            await self.press("ArrowDown" if moves > 0 else "ArrowUp")

    async def do_set(self) -> None:
        (entry,) = self.deed.entries
        spot = await self.spot()
        if entry.mark.control.kind != "slider":  # a slider made of script: its handle is dragged
            await self._drag_handle(entry, spot)
            return
        await self.move(spot.x, spot.y)
        await self.begin()
        await self._slide(spot, entry.share)

    async def _slide(self, spot: Spot, share: float) -> None:
        await self.click(spot.left + 1 + (spot.width - 2) * share, spot.y)
        await self.press("ArrowLeft" if share > 0.5 else "ArrowRight")

    async def _drag_handle(self, entry: Entry, spot: Spot) -> None:
        mark = entry.mark
        try:
            now = (float(mark.value) - mark.low) / (mark.high - mark.low)
        except ValueError:
            now = 0.5
        way = _HANDLE_PX if entry.share >= now else -_HANDLE_PX
        await self.move(spot.x, spot.y)
        await self.begin()
        await self._drag((spot.x, spot.y), (spot.x + way, spot.y))
        await self.press("ArrowRight" if way > 0 else "ArrowLeft")

    async def do_type(self) -> None:
        *others, last = self.deed.entries
        for entry in others:
            await self._ready(entry)
            await self._write(entry)
        await self._ready(last)
        if self.deed.submit is None:
            await self.begin()
            await self._write(last)
            if last.mark.control.tag == "input":
                await self.press("Enter")
            return
        await self._write(last)
        spot = await self.spot(self.deed.submit)
        await self.move(spot.x, spot.y)
        await self.begin()
        await self.click(spot.x, spot.y)

    async def _ready(self, entry: Entry) -> None:
        """Focus the field; in a text field the caret is over all that stands there."""
        mark = entry.mark
        spot = await self.spot(mark)
        if mark.control.kind == "type":
            await self.click(spot.x, spot.y)
        if mark.control.kind == "type" and mark.control.tag not in ("input", "textarea"):
            await self.press("ControlOrMeta+A")
        else:
            await self.see.ask("focusOn", mark.key)

    async def _write(self, entry: Entry) -> None:
        mark = entry.mark
        if mark.control.kind == "type":
            text = dated(entry.text) if mark.control.type in _DATED else entry.text
            await self.see.answer(self.driver.type(text))
        elif mark.control.kind == "select":
            await self._choose(entry.moves)
        elif mark.control.kind == "check":
            if (entry.text.lower() not in _OFF) != ("checked" in mark.states):
                await self.press("Space")
        else:
            await self._slide(await self.spot(mark), entry.share)

    async def do_drag(self) -> None:
        start = self.place(await self.spot())
        if self.deed.onto is not None:
            there = await self.see.ask("whereIs", self.deed.onto.key)
            if there is None:
                raise OutOfReach("gone")
            goal = number(table(there).get("x")), number(table(there).get("y"))
        else:
            assert self.deed.by is not None
            goal = start[0] + self.deed.by[0], start[1] + self.deed.by[1]
        await self.move(*start)
        await self.begin()
        await self._drag(start, goal)

    async def _drag(self, start: tuple[float, float], goal: tuple[float, float]) -> None:
        await self.see.answer(self.driver.down())
        for part in (0.1, 0.4, 0.7, 1.0):
            x, y = (start[i] + (goal[i] - start[i]) * part for i in (0, 1))
            await self.move(x, y, 2)
            await self.rest(MOVE_MS)
        await self.see.answer(self.driver.up())

    async def do_press(self) -> None:
        await self.begin(focus=True)  # without an element the focus is taken from all
        held = round((self.deed.hold_s or 0) * 1000) or HOLD_MS
        for key in self.deed.keys:
            await self.see.answer(self.driver.key_down(key))
            await self.rest(held)
            await self.see.answer(self.driver.key_up(key))
            await self.rest(REST_MS)

    async def do_scroll(self) -> None:
        up = self.deed.to.lower() == "up"
        if self.deed.mark is None:
            await self.see.ask("scrollPage", -0.8 if up else 0.8)
            await self.begin()
            return
        spot = await self.spot()
        await self.move(*self.place(spot))
        await self.begin()
        await self.see.answer(self.driver.wheel(0, -240 if up else 240))
        await self.rest(MOVE_MS)

    async def do_wait(self) -> None:
        await self.begin()

    async def do_back(self) -> None:
        await self.begin()
        await self.see.answer(self.driver.back())


def dated(text: str) -> str:
    """A date or time as it is typed into its field: ``2026-06-15T14:30`` is 06152026 and 0230PM."""
    if match := _DATE.fullmatch(text.strip()):
        year, month, day, hour, minute = match.groups()
        date = f"{month}{day or ''}{year}" if year else ""
        clock = f"{(int(hour) - 1) % 12 + 1:02}{minute}{'PM' if int(hour) >= 12 else 'AM'}" if hour else ""
        return date + clock
    return "".join(c for c in text if c.isalnum())
