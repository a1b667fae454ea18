"""Answers from outside, kept on disk: an index by request, bodies by content, shared by processes.

    index/ab/<SHA-256 of address and Accept>.json    {"url", "accept", "status", "headers", "digest", "bytes"}
    bodies/ab/<SHA-256 of the body>

Only good answers are kept, and for ever: what a page got once it gets again. Remove the folder to fetch anew.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections import OrderedDict
from pathlib import Path

from opendesign.rendering.network.upstream import KEPT, Fetched

_log = logging.getLogger(__name__)


def key_of(url: str, accept: str) -> str:
    """Name of an index entry."""
    return hashlib.sha256(f"{url}\n{accept}".encode()).hexdigest()


class Cache:
    """In memory (bounded, least recently used out first) and, where a folder is given, on disk.

    Anything unreadable or with other bytes than its name says counts as absent and is written again. A folder
    that cannot be written costs the cache, not the page; the first such error is logged.
    """

    def __init__(self, folder: Path | None, memory_bytes: int) -> None:
        self._folder, self._most = folder, memory_bytes
        self._memory: OrderedDict[str, Fetched] = OrderedDict()
        self._size = 0
        self._warned = False

    def get(self, url: str, accept: str) -> Fetched | None:
        key = key_of(url, accept)
        found = self._memory.get(key)
        if found is not None:
            self._memory.move_to_end(key)
            return found
        found = self._read(key, url)
        if found is not None:
            self._remember(key, found)
        return found

    def put(self, url: str, accept: str, answer: Fetched) -> None:
        key = key_of(url, accept)
        self._remember(key, answer)
        if self._folder is None:
            return
        entry = {
            "url": url,
            "accept": accept,
            "status": answer.status,
            "headers": dict(answer.headers),
            "digest": answer.digest,
            "bytes": len(answer.body),
        }
        try:
            # The body first: an index entry never names a body that is not there.
            _write(self._body(answer.digest), answer.body)
            _write(self._index(key), json.dumps(entry, sort_keys=True).encode())
        except OSError as error:
            if not self._warned:
                self._warned = True
                _log.warning("The network cache %s cannot be written: %s", self._folder, error)

    def _index(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / "index" / key[:2] / f"{key}.json"

    def _body(self, digest: str) -> Path:
        assert self._folder is not None
        return self._folder / "bodies" / digest[:2] / digest

    def _read(self, key: str, url: str) -> Fetched | None:
        if self._folder is None:
            return None
        try:
            entry = json.loads(self._index(key).read_bytes())
            status, headers, digest = int(entry["status"]), entry["headers"], str(entry["digest"])
            body = self._body(digest).read_bytes()
            kept = {name: str(headers[name]) for name in KEPT if name in headers}
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if hashlib.sha256(body).hexdigest() != digest or entry.get("url") != url:
            return None
        answer = Fetched(status, kept, body, digest)
        return answer if answer.is_good else None

    def _remember(self, key: str, answer: Fetched) -> None:
        self._forget(key)
        if len(answer.body) > self._most // 4:
            return
        self._memory[key] = answer
        self._size += len(answer.body)
        while self._size > self._most:
            self._forget(next(iter(self._memory)))

    def _forget(self, key: str) -> None:
        gone = self._memory.pop(key, None)
        self._size -= len(gone.body) if gone else 0


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all, also with others writing the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
