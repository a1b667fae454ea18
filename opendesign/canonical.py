"""One spelling for every value, so that equal things have equal hashes and equal lines on disk."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

from opendesign.types import Blob

_PLAIN = (str, int, float, bool, type(None))


def plain(value: Any) -> Any:
    """The JSON value of a noun: dataclasses become objects, blobs their name, tuples lists."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Blob):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [(f, getattr(value, f.name)) for f in dataclasses.fields(value)]
        return {f.name: plain(v) for f, v in fields if v is not None or not f.metadata.get("absent")}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Path):
        return value.as_posix()
    return value


def to_json(value: Any) -> str:
    """One line of JSON with sorted keys and real characters. NaN and infinities are refused."""
    return json.dumps(
        plain(value), sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def digest(value: bytes | str) -> str:
    """SHA-256 in hex of bytes, or of a text in UTF-8 (lone surrogates kept apart, never an error)."""
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return hashlib.sha256(data).hexdigest()


def hash_of(value: Any) -> str:
    """Short hash (16 hex digits) of a JSON value, for configurations and inputs."""
    return digest(to_json(value))[:16]
