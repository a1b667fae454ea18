"""The competent page of a case: which kind and variant, with what words, and its rendering."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from opendesign.answering.controls import texts
from opendesign.answering.controls.palettes import palette_of
from opendesign.answering.controls.pictures import mark
from opendesign.answering.controls.words import Seed, direction_of, language_of, mentions, title_of
from opendesign.types import Case, Category

if TYPE_CHECKING:
    from jinja2 import Environment

#: Category -> its variants, each with the words of a prompt that ask for it: a file each in templates/.
VARIANTS: dict[Category, dict[str, tuple[str, ...]]] = {
    "website": {
        "shop": ("shop", "store", "product", "cart", "sell", "buy", "commerce"),
        "booking": (
            "book",
            "appointment",
            "reserv",
            "clinic",
            "restaurant",
            "hotel",
            "salon",
            "contact form",
        ),
        "journal": ("blog", "magazine", "news", "journal", "article", "portfolio", "stories"),
    },
    "3d": {
        "solid": ("crystal", "cube", "polyhed", "gem", "shape", "dice", "product"),
        "city": ("city", "building", "house", "street", "room", "terrain", "landscape", "tower"),
        "orbit": ("planet", "solar", "orbit", "globe", "earth", "space", "atom", "molecule", "star"),
    },
    "game": {
        "dodge": ("dodge", "avoid", "runner", "space", "asteroid", "racing", "car"),
        "snake": ("snake", "eat", "maze", "worm"),
        "breakout": ("breakout", "brick", "pong", "paddle", "ball"),
    },
    "component": {
        "tabs": ("tab", "tabs", "pricing", "profile"),
        "accordion": ("accordion", "faq", "collaps", "disclosure"),
        "settings": ("toggle", "switch", "setting", "stepper", "slider", "modal", "dialog"),
        "calendar": ("date", "calendar", "schedule", "picker"),
        "rating": ("rating", "star", "review", "feedback"),
    },
    "dataviz": {
        "bars": ("bar", "histogram", "compar", "quarter"),
        "lines": ("line", "trend", "time", "growth", "forecast", "stock"),
        "ranking": ("rank", "scatter", "bubble", "map", "top", "distribution"),
    },
}
_SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif'
_SERIF = 'Georgia, "Noto Serif", "Liberation Serif", "Times New Roman", serif'
_LOOKS = (
    {"round": "16px", "heads": _SANS},
    {"round": "4px", "heads": _SERIF},
    {"round": "8px", "heads": _SANS},
    {"round": "16px", "heads": _SERIF},
)


def variant_of(case: Case) -> str:
    """The variant that words of the prompt ask for, else one drawn from the case's id."""
    variants = VARIANTS[case.category]
    asked = [name for name, words in variants.items() if mentions(case, *words)]
    return Seed(case.id, "variant").pick(asked or list(variants))


def render(case: Case) -> str:
    """The whole HTML document of ``builtin/template`` for a case."""
    from markupsafe import Markup

    title, palette, variant = title_of(case), palette_of(case), variant_of(case)
    language = language_of(case, title)
    direction = direction_of(language)
    foreign = Markup(' lang="{}" dir="{}"').format(language, direction)
    context: dict[str, Any] = {
        "title": title,
        "language": language,
        "direction": direction,
        "tongue": foreign if language != "en" else "",  # attributes of an element that holds the title
        "category": case.category,
        "variant": variant,
        "palette": palette,
        "look": Seed(case.id, "look").pick(_LOOKS),
        "mark": mark(palette, Seed(case.id, "mark")),
        "seed": Seed(case.id, "numbers").number(1_000_000),
    }
    if case.category == "website":
        context |= texts.website(case, palette)
    elif case.category == "dataviz":
        context |= texts.dataviz(case)
    document = _environment().get_template(f"{case.category}/{variant}.html").render(context)
    return document.strip() + "\n"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("opendesign.answering.controls", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
