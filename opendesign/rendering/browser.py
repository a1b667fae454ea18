"""Which browser draws the pages, and starting it: sandboxed, as an unprivileged user where we are root.

Looked for in this order; where both are there, a headless shell goes before a full browser (it draws the
same pages with a third of the processor time):

1. a path that was given, then ``$OPENDESIGN_BROWSER``;
2. what ``playwright install`` put into its folder;
3. ``chromium-headless-shell``, ``chromium``, ``google-chrome`` of the system.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from opendesign.errors import UsageError

__all__ = ["BrowserFound", "browsers", "find_browser"]

Kind = Literal["chromium-headless-shell", "chromium", "google-chrome"]

VARIABLE = "OPENDESIGN_BROWSER"
#: The one command that mends a machine without a browser.
GET_ONE = "playwright install chromium-headless-shell"
_SYSTEM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Folder names and programs of Playwright's own browsers, best first, on every platform it has.
_OWN = (
    ("chromium_headless_shell", ("headless_shell", "chrome-headless-shell")),
    ("chromium", ("chrome", "Chromium", "Google Chrome for Testing")),
)


@dataclass(frozen=True, slots=True)
class BrowserFound:
    """A browser on this machine. ``source`` says who named it: argument, environment, playwright, system."""

    path: Path
    kind: Kind
    source: str

    @property
    def stamp(self) -> str:
        """Tells this browser from an older or newer one without starting it: its program's size and date."""
        program = self.path.resolve().stat()
        return f"{self.kind} {program.st_size} {program.st_mtime_ns}"


def find_browser(path: str | os.PathLike[str] | None = None) -> BrowserFound:
    """The browser to use. Raises ``UsageError`` where a named one is not there or there is none at all."""
    for source, name in (("argument", path), ("environment", os.environ.get(VARIABLE))):
        if name:
            return _named(Path(name).expanduser(), source)
    for found in browsers():
        return found
    raise UsageError(
        f"No browser was found: run `{GET_ONE}` (or `apt-get install chromium-headless-shell`), "
        f"or name one in ${VARIABLE}."
    )


def browsers() -> Iterator[BrowserFound]:
    """Every browser that would be found without being named, best first."""
    yield from _playwrights_own()
    for name in _SYSTEM:
        if path := shutil.which(name):
            yield BrowserFound(Path(path), _kind(Path(path)), "system")


def _named(path: Path, source: str) -> BrowserFound:
    found = path if path.is_file() else Path(shutil.which(path) or path)
    if not found.is_file() or not os.access(found, os.X_OK):
        said = f"${VARIABLE}" if source == "environment" else "the browser given"
        raise UsageError(
            f"'{path}' ({said}) is no program that can be run: name another, or run `{GET_ONE}`."
        )
    return BrowserFound(found.absolute(), _kind(found), source)


def _kind(path: Path) -> Kind:
    name = path.name.lower()
    if "headless" in name:
        return "chromium-headless-shell"
    return "google-chrome" if "google" in name and "testing" not in name else "chromium"


def _playwrights_own() -> Iterator[BrowserFound]:
    """What Playwright installed, the revision it was built for before any other, a newer before an older."""
    root = _playwright_folder()
    if root is None or not root.is_dir():
        return
    wanted = _revision()
    for prefix, programs in _OWN:
        folders = [f for f in root.glob(f"{prefix}-*") if re.fullmatch(rf"{prefix}-\d+", f.name)]
        folders.sort(
            key=lambda f: (f.name.endswith(f"-{wanted}"), int(f.name.rsplit("-", 1)[1])), reverse=True
        )
        for folder, program in itertools.product(folders, programs):
            inside = [*folder.glob(f"*/{program}"), *folder.glob(f"*/*.app/Contents/MacOS/{program}")]
            for path in sorted(inside):
                if os.access(path, os.X_OK):
                    kind: Kind = "chromium-headless-shell" if "shell" in prefix else "chromium"
                    yield BrowserFound(path, kind, "playwright")


def _playwright_folder() -> Path | None:
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    if named == "0":
        driver = _driver()
        return driver / "package" / ".local-browsers" if driver else None
    if named:
        return Path(named)
    home = Path("~").expanduser()
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "ms-playwright"


def _driver() -> Path | None:
    from importlib.util import find_spec

    spec = find_spec("playwright")
    return Path(spec.origin).parent / "driver" if spec and spec.origin else None


def _revision() -> str:
    """The revision this Playwright was built for, or "" where its list cannot be read."""
    driver = _driver()
    try:
        listed = json.loads(((driver or Path()) / "package" / "browsers.json").read_text(encoding="utf-8"))
        return next(str(b["revision"]) for b in listed["browsers"] if b["name"] == "chromium")
    except (OSError, ValueError, KeyError, StopIteration):
        return ""
