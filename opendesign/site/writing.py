"""Files of the site: templates filled with everything escaped, written only where they change.

A list of the files written is kept in ``.opendesign`` inside the site, with what is computed once (pairs,
charts). A file that is no longer part of the site is removed; a file that we did not write never is.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from opendesign.errors import StoreError, UsageError
from opendesign.running.blobs import cannot_write

__all__ = ["Kept", "Output"]

_KEPT = ".opendesign"
_NAME = 70  # characters of a name on a page


class Kept:
    """Texts that are computed once and kept for the next build, by name; those not asked for are dropped."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._asked: set[str] = set()

    def text(self, name: str) -> str | None:
        self._asked.add(name)
        try:
            return (self._folder / name).read_text(encoding="utf-8") if self._folder else None
        except (OSError, ValueError):
            return None

    def document(self, name: str) -> dict[str, Any] | None:
        """A text that is a JSON object; None where it is not there or was torn."""
        try:
            return dict(json.loads(self.text(name) or "null"))
        except (ValueError, TypeError):
            return None

    def keep(self, name: str, text: str) -> str:
        if self._folder:
            (self._folder / name).write_text(text, encoding="utf-8", errors="replace")
        return text

    def prune(self) -> None:
        for path in self._folder.glob("*-*.*") if self._folder else ():
            if path.name not in self._asked:
                path.unlink()


class Output:
    """The folder of a site. Use as a context manager; leaving it removes what is no longer part of it.

    ``stamps`` are marks that the build before left: of pages that need not be made again.
    """

    def __init__(self, folder: Path, templates: Path) -> None:
        self.folder = folder
        self._cache = folder / _KEPT
        self.kept = Kept(self._cache)
        self.made: set[str] = set()
        self.stamps: set[str] = set()
        self._before: set[str] = set()
        self._new_stamps: set[str] = set()
        self.written = 0
        self._templates = _environment(templates)

    def __enter__(self) -> Output:
        listing = self._cache / "built.json"
        try:
            if listing.is_file():
                built = json.loads(listing.read_text(encoding="utf-8"))
                self._before, self.stamps = set(built["files"]), set(built["stamps"])
            elif self.folder.exists() and any(self.folder.iterdir()):
                raise UsageError(
                    f"{self.folder} holds files that are no site of ours: name an empty or a new folder "
                    "with --out."
                )
            self._cache.mkdir(parents=True, exist_ok=True)
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{listing} is damaged: delete {self.folder} and build again.") from None
        except OSError as error:
            raise StoreError(cannot_write(self.folder, error)) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        files, stamps = self.made, self._new_stamps
        if kind is None:
            for name in self._before - self.made:
                self._path(name).unlink(missing_ok=True)
            self.kept.prune()
        else:
            files, stamps = files | self._before, set()
        built = {"files": sorted(files), "stamps": sorted(stamps)}
        (self._cache / "built.json").write_text(json.dumps(built), encoding="utf-8")

    def stamp(self, mark: str) -> None:
        """Leave a mark for the next build."""
        self._new_stamps.add(mark)

    def page(self, name: str, template: str, **values: Any) -> None:
        """Fill ``template`` into the page ``name``, a path with ``/``."""
        text = self.fill(template, root="../" * name.count("/"), page=name, **values)
        self.file(name, text.encode("utf-8", "replace"))

    def fill(self, template: str, **values: Any) -> str:
        """``template`` with everything escaped: HTML that may stand in a page."""
        return str(self._templates.get_template(template).render(**values))

    def file(self, name: str, data: bytes) -> None:
        path = self._path(name)
        self.made.add(name)
        try:
            if name in self._before and path.is_file() and path.read_bytes() == data:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            raise StoreError(cannot_write(path, error)) from error
        self.written += 1

    def copy(self, name: str, source: Path) -> bool:
        """Copy a file that never changes under its name; False where it is not there."""
        if name in self.made:
            return True
        path = self._path(name)
        if not (name in self._before and path.is_file()):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, path)
            except FileNotFoundError:
                return False
            except OSError as error:
                raise StoreError(cannot_write(path, error)) from error
            self.written += 1
        self.made.add(name)
        return True

    def stays(self, name: str) -> bool:
        """Whether this file is there from before; it then is left as it is."""
        there = name in self._before and self._path(name).is_file()
        if there:
            self.made.add(name)
        return there

    def _path(self, name: str) -> Path:
        path = self.folder / name
        if ".." in Path(name).parts or Path(name).is_absolute():
            raise ValueError(f"'{name}' leads out of the site")
        return path


def _environment(folder: Path) -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"asked": asked, "short": short}
    environment.filters |= {"num": number, "signed": signed, "percent": percent}
    return environment


@lru_cache(maxsize=10_000)
def short(name: str, most: int = _NAME) -> str:
    """A name or sentence cut to a length that a page can bear, on one line."""
    name = " ".join(str(name).split())
    return name if len(name) <= most else f"{name[: most - 1]}…"


def asked(case: Mapping[str, Any]) -> str:
    """What a case asks for in its own words: of a plot, without the instructions that all of them share."""
    task = case.get("task")
    return str(task["description"] if task else case["prompt"])


def number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def signed(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:+.{digits}f}".replace("-", "−")


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
