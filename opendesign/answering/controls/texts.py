"""Words and numbers of the control pages, from small lists and a seed. No dates of today, no randomness."""

from __future__ import annotations

from typing import Any

from opendesign.answering.controls.palettes import Palette
from opendesign.answering.controls.pictures import picture, portrait
from opendesign.answering.controls.words import Seed, mentions
from opendesign.types import Case

_PEOPLE = ("Amara Osei", "Jonas Lind", "Mei Tanaka", "Lucía Ramos", "Tomasz Nowak", "Priya Nair", "Elif Kaya")
_WORK = ("founder", "head of care", "workshop lead", "designer", "first point of call")
_OPENINGS = (
    "Made with care by people who answer the telephone themselves.",
    "Clear advice, fair prices and a team that remembers your name.",
    "A small team, a short list and the time to do each thing well.",
    "Everything you came for on one calm page, and a person when you need one.",
)
_PROMISES = (
    ("Simple from the start", "Choose, confirm and you are done. No account is needed."),
    ("Kind to change", "Plans move. Change or cancel until the day before, free of charge."),
    ("Looked after", "One person stays with you from the first question to the last."),
    ("Made to last", "We repair what we sell and keep parts for ten years."),
    ("Close to home", "We work with neighbours and suppliers within an hour's drive."),
)
_QUOTES = (
    "Exactly what was promised, a day earlier than promised.",
    "I came for one thing and found a team I now recommend to everyone.",
    "Friendly, precise and never in a hurry to sell me more.",
    "The whole thing took ten minutes, and most of that was choosing.",
)
_GOODS = (
    ("The starter set", "Sets", "All you need for a first try, with a short printed guide."),
    ("The weekend box", "Sets", "Enough for two days and two people, packed in card."),
    ("The classic", "Singles", "Our oldest line. It has hardly changed since the first batch."),
    ("The small edition", "Singles", "The classic at half the size, for a shelf or a bag."),
    ("The gift card", "Gifts", "Sent by post in a plain envelope, good for three years."),
    ("The host's choice", "Gifts", "Three favourites picked by the team and wrapped by hand."),
    ("The refill", "Singles", "Everything but the container, at a lower price."),
    ("The table set", "Sets", "Six matching pieces for when friends come round."),
)
_SERVICES = (
    ("First visit", "30 minutes", "Meet the team, ask your questions and leave with a plan."),
    ("Standard session", "60 minutes", "The one most people choose, with time to spare."),
    ("Half a day", "4 hours", "For bigger wishes: unhurried, with a break in the middle."),
    ("Full programme", "6 weeks", "One meeting a week, and notes after every one."),
    ("For groups", "2 hours", "Up to ten people who learn better together."),
)
_STORIES = (
    ("What our first year taught us", "Notes", "Three habits we kept, and the one plan we threw away."),
    ("A beginner's guide in nine steps", "Guides", "Start here if all of this is new to you."),
    ("Inside the workshop", "Visits", "A morning with the people who make it happen."),
    ("The case for doing less", "Notes", "Why a shorter list made for better work."),
    ("How to choose well", "Guides", "Four questions that settle most decisions."),
    ("An evening by the river", "Visits", "Photographs and voices from our summer meeting."),
)
_STREETS = ("Mill Lane", "Harbour Road", "Station Street", "Orchard Row")
_STORY_TEXT = (
    "We began with a list of forty things and crossed out all but six. We kept what people asked for.",
    "The rest of the year went into doing those six well. We measured and we wrote it down.",
    "If you take one thing away, take this: begin with the smallest version that someone will thank you for.",
)

_SERIES_BY_SUBJECT: tuple[tuple[tuple[str, ...], tuple[str, str, str, str], str], ...] = (
    (("energy", "electric", "power", "carbon", "solar"), ("Solar", "Wind", "Hydro", "Gas"), "Terawatt-hours"),
    (
        ("sale", "revenue", "shop", "retail", "commerce"),
        ("Online", "Retail", "Wholesale", "Partners"),
        "Thousand euros",
    ),
    (("weather", "temperature", "climate", "rain"), ("Coast", "Valley", "Hills", "City"), "Millimetres"),
    (
        ("population", "city", "cities", "census"),
        ("Harbour", "Old town", "Heights", "Meadows"),
        "Thousand people",
    ),
    (
        ("health", "hospital", "sleep", "fitness", "patient"),
        ("Walking", "Cycling", "Swimming", "Running"),
        "Minutes a week",
    ),
    (("traffic", "visitor", "user", "web"), ("Search", "Direct", "Social", "Email"), "Thousand visits"),
)
_SERIES = ("North", "East", "South", "West")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PLACES = ("Alderby", "Brackwell", "Castlemere", "Dunmore", "Eastholm", "Fairhaven", "Glenfold", "Hartley",
           "Ivywood", "Kestrel")  # fmt: skip


def website(case: Case, palette: Palette) -> dict[str, Any]:
    """Goods, services, stories, people and quotes of a site."""
    seed = Seed(case.id, "website")
    return {
        "opening": seed.pick(_OPENINGS),
        "hero": picture(palette, seed, 720, 540),
        "promises": seed.sample(_PROMISES, 3),
        "quotes": list(zip(seed.sample(_QUOTES, 2), seed.sample(_PEOPLE, 2), strict=True)),
        "people": [
            (n, w, portrait(palette, seed))
            for n, w in zip(seed.sample(_PEOPLE, 3), seed.sample(_WORK, 3), strict=True)
        ],
        "goods": [
            (*item, seed.between(9, 68), picture(palette, seed, 480, 320)) for item in seed.sample(_GOODS, 6)
        ],
        "services": [
            (*item, 20 * seed.between(1, 4) + 40 * place)
            for place, item in enumerate(seed.sample(_SERVICES, 3), 1)
        ],
        "stories": [(*item, picture(palette, seed, 480, 320)) for item in seed.sample(_STORIES, 6)],
        "story_text": _STORY_TEXT,
        "street": f"{seed.between(2, 96)} {seed.pick(_STREETS)}",
    }


def dataviz(case: Case) -> dict[str, Any]:
    """Series names, a unit and the numbers behind the three kinds of chart."""
    seed = Seed(case.id, "dataviz")
    names, unit = _SERIES, "Index points"
    for words, series, measured in _SERIES_BY_SUBJECT:
        if mentions(case, *words):
            names, unit = series, measured
            break
    bases = [seed.between(30, 80) for _ in names]
    years = {str(year): _months(seed, bases, 4 * place) for place, year in enumerate((2022, 2023, 2024))}
    places = [
        {
            "name": name,
            "group": names[seed.number(4)],
            "size": seed.between(12, 96),
            "change": seed.between(-18, 34),
        }
        for name in _PLACES
    ]
    for group, place in zip(names, places[:4], strict=True):
        place["group"] = group  # every group has a member
    return {"names": names, "unit": unit, "months": _MONTHS, "years": years, "places": places}


def _months(seed: Seed, bases: list[int], rise: int) -> list[list[int]]:
    """Twelve numbers a series: a base, a rise over the years, a season and a little noise."""
    season = (0, 1, 3, 6, 10, 13, 14, 12, 8, 5, 2, 0)
    rows = []
    for place, base in enumerate(bases):
        sign = 1 if place % 2 == 0 else -1
        rows.append([base + rise + sign * season[month] + seed.between(-4, 4) for month in range(12)])
    return rows
