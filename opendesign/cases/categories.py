"""The categories' many names: one map from what every source calls them to our slugs."""

from __future__ import annotations

from opendesign.errors import UnknownName
from opendesign.types import CATEGORIES, LIBRARIES, Category

#: Slug -> what sources call it: the released benchmark, the paper's text, public arenas and boards. Compared
#: without case, spaces and punctuation, so "Game Dev", "Game dev" and "gamedev" are one name.
CATEGORY_NAMES: dict[Category, tuple[str, ...]] = {
    "website": ("Website", "Websites", "Web", "Web Design", "Web Page", "General Website"),
    "3d": ("3D", "3D Design", "3D Scene", "3D Graphics", "Three.js"),
    "game": ("Game", "Games", "Game Dev", "Game Development", "Browser Game"),
    "component": ("Component", "Components", "UI Component", "UI Components", "UI"),
    "dataviz": ("Dataviz", "Data Viz", "Data Visualization", "Data Visualisation", "Visualization", "Chart"),
    "matplotlib": ("Matplotlib", "Pyplot"),
    "seaborn": ("Seaborn",),
    "plotly": ("Plotly", "Plotly Express", "plotly.py"),
}


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


_SLUGS: dict[str, Category] = {
    _key(name): slug for slug, names in CATEGORY_NAMES.items() for name in (slug, *names)
}


def category_of(name: str) -> Category:
    """The slug for a category by any of its names. Raises ``UnknownName`` with the nearest slugs."""
    if slug := _SLUGS.get(_key(name)):
        return slug
    raise UnknownName("category", name, (*CATEGORIES, *LIBRARIES))
