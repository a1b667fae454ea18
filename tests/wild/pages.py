"""The pages: complete designs by other people, each one document that needs no network.

``WILD`` names them; ``document`` gives one; ``python -m tests.wild.pages FOLDER`` writes all of them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.wild import packages
from tests.wild.inline import Place, self_contained


@dataclass(frozen=True, slots=True)
class Wild:
    """One page and what a person found on it: whether it has controls that do something when operated."""

    name: str
    place: Place
    works: bool = True


def _of(package: str, prefix: str, *paths: str, works: bool = True) -> list[Wild]:
    short = package.rpartition("/")[2].removeprefix("startbootstrap-")
    return [
        Wild(f"{short}-{path.rpartition('/')[2]}", Place(package, f"{prefix}{path}.html"), works)
        for path in paths
    ]


WILD: tuple[Wild, ...] = (
    *_of("startbootstrap-creative", "dist/", "index"),
    *_of("startbootstrap-resume", "dist/", "index"),
    *_of("startbootstrap-sb-admin", "dist/", "index", "tables"),
    *_of("startbootstrap-simple-sidebar", "dist/", "index"),
    *_of("startbootstrap-sb-admin-2", "", "index", "cards", "buttons", "tables"),
    *_of("shards-ui", "dist/", "agency-landing", "app-promo", "shards-demo"),
    *_of("material-kit", "", "index", "examples/landing-page"),
    *_of("soft-ui-dashboard", "pages/", "dashboard", "billing", "tables"),
    *_of("soft-ui-design-system", "pages/", "about-us", "author", "contact-us"),
    *_of("@digitallyhappy/backstrap", "dist/", "base/cards", "base/carousel", "base/collapse", "base/tabs"),
    *_of("@digitallyhappy/backstrap", "dist/", "notifications/modals"),
    *_of(
        "stisla", "", "components-article", "components-pricing", "components-gallery", "bootstrap-carousel"
    ),
    *_of("stisla", "", "bootstrap-modal", "components-tab", "features-posts"),
)


@cache
def document(name: str) -> str:
    """The page of that name."""
    return self_contained(next(page.place for page in WILD if page.name == name))


def write(folder: Path) -> list[Path]:
    """Every page as a file, ``NAME.html``."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for page in WILD:
        files.append(folder / f"{page.name}.html")
        files[-1].write_text(document(page.name), encoding="utf-8")
    return files


if __name__ == "__main__":
    packages.fetch()
    write(Path(sys.argv[1]))
