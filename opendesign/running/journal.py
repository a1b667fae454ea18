"""JSON lines, appended one at a time: the truth of a run.

One write a line, so that a line is there whole or torn at the very end of the file. A torn tail is cut when
the file is next opened for writing, and counted. Any other line that cannot be read stops everything before
anything is changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opendesign.canonical import to_json
from opendesign.errors import StoreError
from opendesign.running.blobs import cannot_write

SCHEMA = 1  # of every record; raised when the meaning of a field changes


class Journal:
    """One file of records. Reading never changes it; ``append`` opens it for writing at its first use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn = 0  # bytes at the end that are no whole line
        self.cut = False  # whether they were cut off
        self._file: int | None = None

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record, oldest first. Raises ``StoreError`` naming the line that cannot be read."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(
                f"Cannot read {self.path} ({(error.strerror or str(error)).lower()})."
            ) from error
        whole = data.rfind(b"\n") + 1
        self.torn = len(data) - whole
        for number, line in enumerate(data[:whole].split(b"\n")[:-1], start=1):
            yield self._record(line, number)

    def _record(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not isinstance(record.get("v"), int):
            raise StoreError(
                f"Line {number} of {self.path} is not a record: delete that line to have its step done "
                "again; nothing was changed."
            )
        if record["v"] > SCHEMA:
            raise StoreError(
                f"Line {number} of {self.path} was written by a newer opendesign (schema {record['v']}, "
                f"this one reads up to {SCHEMA}): upgrade opendesign; nothing was changed."
            )
        return record

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and its newline, or nothing. Raises ``StoreError``, e.g. when the disk is full."""
        line = (to_json({"v": SCHEMA, **record}) + "\n").encode("utf-8", "backslashreplace")
        try:
            file = self._open()
            start = os.fstat(file).st_size
            try:
                written = os.write(file, line)
                if written != len(line):
                    raise OSError(28, "No space left on device")
            except OSError:
                os.ftruncate(file, start)
                raise
        except OSError as error:
            raise StoreError(cannot_write(self.path, error)) from error

    def _open(self) -> int:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._cut_torn_tail(self._file)
        return self._file

    def _cut_torn_tail(self, file: int) -> None:
        size, block = os.fstat(file).st_size, 1 << 16
        end = size
        while end > 0:
            start = max(0, end - block)
            at = os.pread(file, end - start, start).rfind(b"\n")
            if at >= 0:
                end = start + at + 1
                break
            end = start
        if end != size:
            self.torn = size - end
            os.ftruncate(file, end)
            self.cut = True

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
