"""Where the content is: benchmarks and judge cards, in a checkout and in an installation alike.

Looked up in ``./benchmarks`` and ``./judges``, then in ``$OPENDESIGN_HOME``, then in the package. The first
folder of a name wins, so that an edited copy takes the place of what is shipped.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from opendesign.errors import UnknownName, UsageError

Kind = Literal["benchmarks", "judges"]
_MARKS: dict[Kind, str] = {"benchmarks": "benchmark.toml", "judges": "judge.toml"}
_ONE: dict[Kind, str] = {"benchmarks": "benchmark", "judges": "judge"}


def shipped() -> Path:
    """The folder that holds the content that came with this package."""
    inside = Path(__file__).parent / "content"
    return inside if inside.is_dir() else Path(__file__).parent.parent


def places(kind: Kind) -> list[Path]:
    """Folders that are searched, first to last."""
    found = [Path.cwd() / kind]
    if home := os.environ.get("OPENDESIGN_HOME"):
        found.append(Path(home).expanduser() / kind)
    found.append(shipped() / kind)
    return list(dict.fromkeys(found))


def listing(kind: Kind) -> dict[str, Path]:
    """Name -> folder of everything of that kind, sorted by name."""
    names: dict[str, Path] = {}
    for place in places(kind):
        if place.is_dir():
            for folder in sorted(place.iterdir()):
                if (folder / _MARKS[kind]).is_file():
                    names.setdefault(folder.name, folder)
    return dict(sorted(names.items()))


def find(kind: Kind, name: str) -> Path:
    """Folder of the named benchmark or judge. Raises ``UnknownName`` with the nearest names."""
    for place in places(kind):
        # A name is one folder, never a way out of the place it is looked up in.
        if len(name) < 200 and name == Path(name).name and (place / name / _MARKS[kind]).is_file():
            return place / name
    raise UnknownName(_ONE[kind], name, listing(kind))


def leaderboard() -> Path:
    """The folder with the site's templates, style and charts. Raises ``UsageError`` where there is none."""
    home = os.environ.get("OPENDESIGN_HOME")
    roots = [Path.cwd(), *([Path(home).expanduser()] if home else []), shipped()]
    for root in roots:
        if (root / "leaderboard" / "site.toml").is_file():
            return root / "leaderboard"
    raise UsageError("There is no folder 'leaderboard' with a site.toml: install opendesign again.")
