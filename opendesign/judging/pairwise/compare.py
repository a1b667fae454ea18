"""Asking a model which of two pages is better, once in each order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opendesign.canonical import plain
from opendesign.errors import Failed
from opendesign.judging.asking import Ledger, ask
from opendesign.judging.asking.pictures import pictures_of
from opendesign.judging.pairwise.match import Look, Match, Outcome, Side, decided
from opendesign.judging.pairwise.question import SCHEMA, Shown, question, read_preference
from opendesign.types import Artifact, Card, Case, Failure

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["compare"]

_SIDES: tuple[Side, Side] = ("first", "second")


async def compare(
    case: Case,
    first: Artifact,
    second: Artifact,
    card: Card,
    model: Model,
    *,
    known: Sequence[Look] = (),
) -> Match:
    """The match of two pages that both rendered. Orders that ``known`` has looks for are not asked again.

    The outcome is what both orders agree on, else a tie. Where an order has no usable reply the match is
    unscored, with the failure of that order. Raises ``Failed`` where a page has no picture.
    """
    pages = {
        side: Shown(page, await pictures_of(page, card, model))
        for side, page in zip(_SIDES, (first, second), strict=True)
    }
    ledger = Ledger()

    async def look(shown_first: Side) -> Look:
        order = _SIDES if shown_first == "first" else _SIDES[::-1]
        asked = await ask(
            model,
            question(case, card, (pages[order[0]], pages[order[1]])),
            read_preference,
            ledger=ledger,
            settings=card.settings,
            key=(case.id, first.sample, plain(first.picture), plain(second.picture), shown_first),
            schema=SCHEMA,
            repair=card.files.get("repair.md"),
        )
        place, reasons = asked.value
        better: Outcome = "tie" if place == "tie" else order["AB".index(place)]
        return Look(shown_first=shown_first, better=better, reasons=reasons, repaired=asked.repaired)

    there = {look.shown_first for look in known}
    found = await asyncio.gather(
        *(look(side) for side in _SIDES if side not in there), return_exceptions=True
    )
    looks, failure = _sorted_out([*known, *found])
    return Match(
        case=case.id,
        sample=first.sample,
        outcome=None if failure else decided(looks),
        looks=looks,
        failure=failure,
        usage=ledger.usage,
        evidence={
            "heights": [first.height, second.height],
            "pictures": {side: [one.told() for one in page.pictures] for side, page in pages.items()},
            "model_returned": sorted(ledger.returned),
        },
    )


def _sorted_out(found: Sequence[Look | BaseException]) -> tuple[tuple[Look, ...], Failure | None]:
    """The sound looks, in order, and the first failure. What is no failure of a step is raised.

    Both orders are asked to their end, so that what one of them has cost is kept when the other fails.
    """
    looks: dict[Side, Look] = {}
    failures = []
    for one in found:
        if isinstance(one, Failed):
            failures.append(one.failure)
        elif isinstance(one, BaseException):
            raise one
        else:
            looks[one.shown_first] = one
    return tuple(looks[side] for side in _SIDES if side in looks), next(iter(failures), None)
