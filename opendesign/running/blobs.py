"""Pages and pictures as content-addressed files: written by rename, shared by all runs, never changed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from opendesign.canonical import digest
from opendesign.errors import StoreError
from opendesign.types import Blob

SUFFIXES = frozenset({"html", "png", "jpg", "webp", "json", "csv", "py"})


class Blobs:
    """A folder of blobs: ``ab/abcdef….png``, named by the SHA-256 of what is inside."""

    def __init__(self, root: Path, *, writer: str = "") -> None:
        self.root = root
        # One name a run, which one process holds at a time: what a kill leaves is written over by the next.
        self._unfinished = root / f".{writer or os.getpid()}.part"

    def put(self, data: bytes, suffix: str) -> Blob:
        """Keep ``data``; a file that is there already is left as it is."""
        if suffix not in SUFFIXES:
            raise ValueError(f"no blob has the suffix '{suffix}'")
        blob = Blob(digest=digest(data), suffix=suffix, root=self.root)
        if blob.path.exists():
            return blob
        unfinished = self._unfinished
        try:
            blob.path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(data)
            unfinished.replace(blob.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise StoreError(cannot_write(blob.path, error)) from error
        return blob

    def named(self, name: str) -> Blob:
        """The blob a record names. Whether it is there shows when it is read."""
        stem, _, suffix = name.partition(".")
        if len(stem) != 64 or suffix not in SUFFIXES:
            raise StoreError(
                f"'{name}' is not the name of a blob: the record that holds it was changed by hand."
            )
        return Blob(digest=stem, suffix=suffix, root=self.root)


def cannot_write(path: Path, error: OSError) -> str:
    """The sentence for a file that could not be written."""
    reason = (error.strerror or str(error)).lower()
    return f"Cannot write {path} ({reason}): mend that or name another folder, then repeat the command."
