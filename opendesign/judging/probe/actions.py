"""Doing a step with real mouse and keyboard events; the page's clock moves between them only when asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opendesign.judging.change import Manner, Observer
from opendesign.judging.change.answers import listed, number, read, table
from opendesign.judging.probe.plan import Step

HOLD_MS, REST_MS, MOVE_MS = 160, 48, 48  # page time, on a page that moves by itself
MOST_FIELDS = 10
DRAGS = ((160, 40), (-60, 120), (120, -90))  # CSS pixels, by variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where to put the pointer, in CSS pixels of the viewport: a point that hits the control, its box there.

    ``part_x`` and ``part_y`` are a part of a large surface (a bar of a chart), or the point again;
    ``fraction`` is where a slider stands (0 to 1), ``last`` whether a select shows its last option.
    """

    x: float
    y: float
    left: float
    top: float
    width: float
    height: float
    part_x: float
    part_y: float
    fraction: float
    last: bool


class OutOfReach(Exception):
    """A listed control that cannot be operated: the page's own fault."""


async def perform(observer: Observer, step: Step, how: Manner) -> None:
    """Make ready, begin the measurement, and give the input.

    Raises ``OutOfReach`` where the control is gone, hidden, disabled or covered.
    """
    hand = _Hand(observer, step, how)
    if observer.hovering:  # what the pointer holds open would close on the way, and the page shift
        await hand.move(0, 0)
        observer.hovering = False
    if step.keys:
        await hand.press_keys()
        return
    assert step.control is not None
    spot = await aim(observer, step.control.key, select=step.kind == "button")
    await getattr(hand, f"do_{step.action}")(spot)


async def aim(observer: Observer, key: str, *, select: bool = False) -> Spot:
    """Where the control's visible part is in the viewport (CSS pixels), see ``Spot``; scrolls it into view.

    With ``select`` the page's editable text is selected first. Raises ``OutOfReach``.
    """
    found = table(await observer.ask("aim", key, select))
    if "problem" in found:
        by = f" by {str(found['by']).strip()}" if found.get("by") else ""
        raise OutOfReach(f"{str(found['problem'])[:100]}{by[:100]}")
    return read(Spot, found)


class _Hand:
    """The actions, one method each, after the name of the action."""

    def __init__(self, observer: Observer, step: Step, how: Manner) -> None:
        self.see, self.step, self.how = observer, step, how
        self.key = step.control.key if step.control else None
        self.driver = observer.driver

    async def rest(self, ms: int) -> None:
        if self.how.timed:
            await self.see.run(ms)

    async def move(self, x: float, y: float, steps: int = 1) -> None:
        await self.see.answer(self.driver.move(x, y, steps))

    async def press(self, key: str) -> None:
        await self.see.answer(self.driver.press(key))

    async def do_click(self, spot: Spot) -> None:
        x, y = self.point(spot)
        surface = self.step.kind == "click" and self.step.control is not None and self.step.control.pointed
        if not surface:  # a surface that also listens to the pointer may do on its way all that it does
            await self.move(x, y)
        await self.see.begin(self.key, self.how)
        double = self.step.control is not None and self.step.control.double
        await self.see.answer(self.driver.click(x, y, 2 if double else 1))

    do_link = do_jump = do_check = do_click

    def point(self, spot: Spot) -> tuple[float, float]:
        """Where to click: the middle or a part, or on a canvas another place for each variant."""
        if self.step.kind != "canvas" or not self.step.variant:
            return spot.part_x, spot.part_y
        share = (0.3, 0.7)[self.step.variant % 2]
        return spot.left + spot.width * share, spot.top + spot.height * share

    async def do_hover(self, spot: Spot) -> None:
        inside = spot.left <= 1 and spot.top <= 1
        await self.move(*(_far_corner(self.see) if inside else (0, 0)))
        await self.see.begin(self.key, self.how)
        self.see.hovering = True
        parted = (spot.part_x, spot.part_y) != (spot.x, spot.y)
        drawn = self.step.control is not None and self.step.control.tag == "canvas"
        if spot.width * spot.height > 20_000 and (drawn or not parted or self.step.variant):
            shift = 0.04 * self.step.variant  # a whole chart: look for a mark in it
            for fx, fy in ((0.15, 0.6), (0.3, 0.7), (0.5, 0.5), (0.62, 0.8), (0.8, 0.7)):
                await self.move(spot.left + spot.width * (fx + shift), spot.top + spot.height * fy, 2)
                await self.rest(MOVE_MS)
            if not drawn:
                return
        await self.move(spot.part_x, spot.part_y, 2)
        await self.rest(MOVE_MS)

    async def do_select(self, spot: Spot) -> None:
        await self.see.begin(self.key, self.how, focus=True)
        await self.press("ArrowUp" if spot.last else "ArrowDown")

    async def do_slide(self, spot: Spot) -> None:
        share = (0.85, 0.15, 0.6)[self.step.variant % 3]
        if spot.fraction > 0.7:
            share = 1 - share
        await self.move(spot.x, spot.y)
        await self.see.begin(self.key, self.how)
        await self.see.answer(self.driver.click(spot.left + spot.width * share, spot.y))
        await self.press("ArrowLeft" if share > 0.5 else "ArrowRight")

    async def do_type(self, spot: Spot) -> None:
        assert self.step.control is not None
        field = self.step.control
        await self.see.answer(self.driver.click(spot.x, spot.y))
        if field.tag in ("input", "textarea"):
            await self.see.ask("focusOn", self.key)
        else:
            await self.press("ControlOrMeta+A")
        await self.see.begin(self.key, self.how)
        await self.see.answer(self.driver.type(text_for(field.type, field.name, self.step.variant)))
        if field.tag == "input":
            await self.press("Enter")

    async def do_form(self, spot: Spot) -> None:
        assert self.step.control is not None
        fields = [table(f) for f in listed(await self.see.ask("fields", self.step.control.form), 200)]
        for field in [f for f in fields if f.get("kind") in ("type", "check", "select")][:MOST_FIELDS]:
            await self.fill(field)
        spot = await aim(self.see, self.step.control.key)
        await self.move(spot.x, spot.y)
        await self.see.begin(self.key, self.how)
        await self.see.answer(self.driver.click(spot.x, spot.y))

    async def fill(self, field: Mapping[str, Any]) -> None:
        if field["disabled"] or (field["filled"] and field["kind"] != "type"):
            return
        if field["kind"] == "check":
            if field["required"] or field["type"] == "radio":
                await self.see.ask("focusOn", field["key"])
                await self.press("Space")
            return
        await self.see.ask("focusOn", field["key"])
        if field["kind"] == "select":
            await self.press("ArrowDown")
        elif field["type"] in ("date", "time", "month", "week", "datetime-local"):
            await self.see.answer(self.driver.type(_DATES[field["type"]]))
        else:
            text = text_for(
                field["type"], f"{field['label']} {field['placeholder']}", self.step.variant, field
            )
            await self.see.answer(self.driver.insert(text))

    async def do_drag(self, spot: Spot) -> None:
        dx, dy = DRAGS[self.step.variant % len(DRAGS)]
        drawn = self.step.control is not None and self.step.control.tag == "canvas"
        x, y = (spot.part_x, spot.part_y) if drawn else (spot.x, spot.y)
        await self.move(x, y)
        await self.see.begin(self.key, self.how)
        await self.see.answer(self.driver.down())
        for part in (0.3, 0.7, 1.0):
            await self.move(x + dx * part, y + dy * part)
            await self.rest(MOVE_MS)
        await self.see.answer(self.driver.up())

    async def do_carry(self, spot: Spot) -> None:
        place = table(await self.see.ask("neighbour", self.key))
        x, y = number(place.get("x")), number(place.get("y"))
        await self.move(spot.x, spot.y)
        await self.see.begin(self.key, self.how)
        await self.see.answer(self.driver.down())
        await self.move(x, y, 4)
        await self.move(x + 2, y + 2, 2)
        await self.see.answer(self.driver.up())

    async def do_wheel(self, spot: Spot) -> None:
        await self.move(spot.x, spot.y)
        await self.see.begin(self.key, self.how)
        await self.see.answer(self.driver.wheel(0, -240 if self.step.variant % 2 == 0 else 240))
        await self.rest(MOVE_MS)

    async def press_keys(self) -> None:
        await self.see.begin(self.key, self.how, focus=True)
        for i, key in enumerate(self.step.keys):
            if i:
                await self.rest(REST_MS)
            await self.see.answer(self.driver.key_down(key))
            await self.rest(HOLD_MS)
            await self.see.answer(self.driver.key_up(key))


def _far_corner(observer: Observer) -> tuple[float, float]:
    return observer.driver.width - 1, observer.driver.height - 1


_DATES = {
    "date": "06152026",
    "time": "1030AM",
    "month": "June2026",
    "week": "242026",
    "datetime-local": "061520261030AM",
}
_TEXTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"e-?mail", ("ada@example.org", "alan@example.org", "grace@example.org")),
    (r"phone|\btel\b|mobile", ("5550123456", "5550987654", "5550111222")),
    (r"card.?n|credit", ("4242424242424242",)),
    (r"cvc|cvv", ("123",)),
    (r"expir|mm ?/ ?yy", ("12/29",)),
    (r"zip|postal|postcode", ("90210", "10115", "75001")),
    (r"\burl\b|website|https?:", ("https://example.org",)),
    (r"password|passphrase|\bpin\b", ("Secret!2026pass",)),
    (r"name", ("Ada Lovelace", "Alan Turing", "Grace Hopper")),
    (r"colou?r|hex", ("#3366cc", "#cc3366", "#33cc66")),
    (r"message|comment|feedback|bio|description", ("A sample message for a test of this form.",)),
)


def text_for(kind: str, label: str, variant: int, limits: Mapping[str, Any] | None = None) -> str:
    """A plausible value for a field of that input type and label; another one for each variant."""
    if kind == "number":
        return _number(variant, limits or {})
    for pattern, texts in _TEXTS:
        if re.search(pattern, f"{kind} {label}", re.IGNORECASE):
            return texts[variant % len(texts)]
    return ("Sample", "Another one", "Third")[variant % 3]


def _number(variant: int, limits: Mapping[str, Any]) -> str:
    try:
        low, high = float(limits.get("min") or 0), float(limits.get("max") or 0)
    except ValueError:
        low = high = 0.0
    value = (
        (7, 12, 23)[variant % 3] if high <= low else round(low + (high - low) * (0.7, 0.4, 0.9)[variant % 3])
    )
    return str(max(int(value), int(low)))
