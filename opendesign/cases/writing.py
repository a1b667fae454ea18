"""A benchmark's folder, written whole or not at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from opendesign.cases.reading import shown
from opendesign.errors import UsageError


@contextlib.contextmanager
def new_folder(folder: Path, *, force: bool) -> Iterator[Path]:
    """An empty folder to fill, which then takes the place of ``folder``; on an error nothing has changed.

    Raises ``UsageError`` where ``folder`` is there already, unless ``force``, and where it cannot be written.
    """
    if folder.exists() and not force:
        raise UsageError(f"{shown(folder)} exists already; remove it, or replace it with --force.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as made:
            new = Path(made) / folder.name
            new.mkdir()
            yield new
            if folder.exists():
                shutil.move(folder, Path(made) / "old")
            new.rename(folder)
    except OSError as error:
        raise UsageError(f"{shown(folder)} cannot be written: {error.strerror or error}.") from error
