"""The pages of the bench: a hundred of mixed size, always the same, with nothing to load from anywhere.

Half fill one screen of 960 px, a tenth are about ten screens tall, as with pages that models write. Seven of
eight are built from ``blocks`` by a seeded generator; the rest are the builtin controls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Literal

from opendesign.types import CATEGORIES, Case, Category, Requirement
from tests.performance import blocks

PAGES = 100
_CONTROLS = ("template", "plain", "broken")
_DIFFICULTIES: tuple[Literal["easy", "medium", "hard"], ...] = ("easy", "medium", "hard")
_TALL = (blocks.cards, blocks.article, blocks.chart, blocks.tabs, blocks.table, blocks.answers)
#: What a page of each category shows on its first screen; a taller one goes on with sections.
_FIRST: dict[Category, tuple[Callable[[Random], str], ...]] = {
    "website": (blocks.hero, blocks.tabs),
    "3d": (blocks.game,),
    "game": (blocks.game, blocks.counter),
    "component": (blocks.form,),
    "dataviz": (blocks.chart, blocks.tabs),
}
#: How many sections follow: none for most pages, up to ten screens of them for a few.
_SECTIONS = (0, 0, 0, 0, 0, 0, 1, 3, 6, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A document and the case it answers."""

    case: Case
    document: str


@cache
def pages(count: int = PAGES) -> tuple[Page, ...]:
    """The first ``count`` pages; any beginning of the list is a mixture like the whole."""
    return tuple(_page(number) for number in range(count))


def _page(number: int) -> Page:
    category = CATEGORIES[number % len(CATEGORIES)]
    draw = Random(f"opendesign bench {number}")
    case = Case(
        id=f"bench-{number:04}",
        category=category,
        prompt=f"Make a page named “{blocks.words(draw, 3)}” with a few things that can be operated.",
        requirements=(Requirement(kind="behaviour", text="Its buttons change what the page shows."),),
    )
    if number % 8 == 7:
        from opendesign.answering.controls import document

        return Page(case=case, document=document(_CONTROLS[number // 8 % len(_CONTROLS)], case))
    return Page(case=case, document=_written(draw, category, _sections(number)))


def _sections(number: int) -> int:
    """Each ten pages have every entry of ``_SECTIONS`` once, in an order of their own."""
    ten, at = divmod(number, len(_SECTIONS))
    return Random(f"opendesign bench, ten {ten}").sample(_SECTIONS, len(_SECTIONS))[at]


def _written(draw: Random, category: Category, sections: int) -> str:
    title = blocks.words(draw, 3)
    first = _FIRST[category]
    body = "".join(make(draw) for make in first)
    body += "".join(draw.choice(_TALL)(draw) for _ in range(sections))
    foot = f"<footer>{blocks.words(draw, 8)}</footer>" if sections else ""
    links = "".join(f'<a href="#more">{blocks.words(draw, 1)}</a>' for _ in range(4))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{blocks.style(draw)}</style></head>\n"
        f"<body><header><strong>{title}</strong><nav>{links}</nav></header>\n<main>{body}</main>\n{foot}"
        f"<script>{blocks.SCRIPT}</script></body></html>\n"
    )


def many(count: int) -> tuple[Page, ...]:
    """So many pages with ids of their own: the hundred again and again, no two the same document."""
    made = []
    for number in range(count):
        page = pages()[number % PAGES]
        case = Case(
            id=f"bench-{number:04}",
            category=page.case.category,
            prompt=page.case.prompt,
            requirements=page.case.requirements,
            difficulty=_DIFFICULTIES[number // PAGES % 3],
        )
        made.append(Page(case=case, document=f"{page.document}<!-- {number} -->\n"))
    return tuple(made)
