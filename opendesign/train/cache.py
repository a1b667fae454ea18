"""Verdicts by content: a folder of small files that any number of processes may share.

A file is written beside its place and moved there, so that a reader sees all of it or none; what cannot be
read is made again. Only what another try would not change is kept.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from pathlib import Path
from typing import Any

from opendesign.canonical import to_json
from opendesign.errors import UsageError
from opendesign.train.channels import Found
from opendesign.types import Failure

__all__ = ["Cache"]

_SCHEMA = 1


class Cache:
    """``ab/abcdef….json`` under a folder. Raises ``UsageError`` where nothing can be kept there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = self._unfinished()
            probe.write_text("")
            probe.unlink()
        except OSError as error:
            raise UsageError(
                f"The cache {folder} cannot be written ({(error.strerror or str(error)).lower()}): "
                "name another folder."
            ) from error

    def get(self, key: str) -> Found | None:
        """What is kept under ``key``, or None."""
        try:
            record = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return _found(record)

    def put(self, key: str, found: Found) -> None:
        """Keep ``found``. A disk that is full costs the entry and nothing else."""
        record = {
            "v": _SCHEMA,
            "scores": dict(found.scores),
            "gates": dict(found.gates),
            "reasons": list(found.reasons),
            "failure": [found.failure.reason, found.failure.detail] if found.failure else None,
            "of_page": found.of_page,
        }
        path, unfinished = self._path(key), self._unfinished()
        with contextlib.suppress(OSError):
            try:
                path.parent.mkdir(exist_ok=True)
                unfinished.write_text(to_json(record), encoding="utf-8", errors="replace")
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def _unfinished(self) -> Path:
        return self._folder / f".{os.getpid()}-{threading.get_ident()}.part"


def _found(record: Any) -> Found | None:
    """The entry in a record; None where anything in it is not as it was written."""
    try:
        if record["v"] != _SCHEMA:
            return None
        failure = record["failure"] and Failure(reason=record["failure"][0], detail=record["failure"][1])
        found = Found(
            scores={str(name): float(score) for name, score in record["scores"].items()},
            gates={str(name): str(said) for name, said in record["gates"].items()},
            reasons=tuple(map(str, record["reasons"])),
            failure=failure,
            of_page=bool(record["of_page"]),
            cached=True,
        )
        sound = all(map(math.isfinite, found.scores.values())) and not found.unscored
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None
    return found if sound else None
