"""One run on disk.

    runs/<run>/run.json              manifest: written once, by rename
    runs/<run>/answers.jsonl         one record a step and case; the last one of a key wins
    runs/<run>/artifacts.jsonl
    runs/<run>/verdicts-<judge>.jsonl
    runs/blobs/ab/abcdef….html       pages and pictures, shared by all runs

A record is ``{v, case, sample, step, config, input, value, made, varies}``. It is used again where case,
sample, step, config hash and input hash are the ones asked for, and its failure is not one that is retried.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import opendesign
from opendesign.canonical import plain, to_json
from opendesign.errors import StoreError, UnknownName, UsageError
from opendesign.running.blobs import Blobs, cannot_write
from opendesign.running.journal import SCHEMA, Journal
from opendesign.running.soundness import manifest_problem, record_problem
from opendesign.types import Answer, Artifact, Verdict

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Outcome = TypeVar("Outcome", Answer, Artifact, Verdict)
RETRIED = frozenset({"judge_failure", "instrument_failure"})
_BLOBS = ("document", "picture", "thumbnail", "facts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a record is of. A step with the same key has the same outcome, or its failure is retried."""

    case: str
    sample: int
    step: str  # "answer", "artifact", "verdict-<judge>"; of a repair "answer-repair-1", "artifact-repair-1" …
    config: str
    input: str

    @property
    def file(self) -> str:
        kind, *rest = self.step.split("-", 1)
        return "-".join([f"{kind}s", *rest]) + ".jsonl"


class Store:
    """A run's folder. Use as a context manager with ``write=True`` to hold its lock and append to it."""

    def __init__(self, folder: Path, *, write: bool = False) -> None:
        self.folder = folder
        self.blobs = Blobs(folder.parent / "blobs", writer=folder.name)
        self._write = write
        self._lock: int | None = None
        self._journals: dict[str, Journal] = {}
        self._records: dict[str, dict[tuple[str, int], dict[str, Any]]] = {}

    # The manifest

    @property
    def manifest_path(self) -> Path:
        return self.folder / "run.json"

    def manifest(self) -> dict[str, Any]:
        """``run.json``. Raises ``StoreError`` where it is missing, damaged or of a newer schema."""
        try:
            manifest = json.loads(self.manifest_path.read_text(encoding="utf-8"))
            schema = manifest["v"]
        except FileNotFoundError:
            raise StoreError(f"{self.folder} is not a run: it has no run.json.") from None
        except (ValueError, TypeError, KeyError, RecursionError):
            raise StoreError(
                f"{self.manifest_path} is damaged: restore it, or start a run in another folder."
            ) from None
        except OSError as error:
            raise StoreError(
                f"Cannot read {self.manifest_path} ({(error.strerror or str(error)).lower()})."
            ) from error
        if not isinstance(schema, int) or schema > SCHEMA:
            raise StoreError(
                f"{self.folder} was written by a newer opendesign (schema {schema}, this one reads up to "
                f"{SCHEMA}): upgrade opendesign; nothing was changed."
            )
        if problem := manifest_problem(manifest):
            raise StoreError(
                f"{self.manifest_path} is damaged at '{problem}': restore it, or start another run."
            )
        return dict(manifest)

    def create(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest, once."""
        unfinished = self.manifest_path.with_suffix(".json.part")
        try:
            unfinished.write_text(
                json.dumps(plain({"v": SCHEMA, **manifest}), indent=2, ensure_ascii=False) + "\n",
                encoding="utf-8",
            )
            unfinished.replace(self.manifest_path)
        except OSError as error:
            raise StoreError(cannot_write(self.manifest_path, error)) from error

    # The lock

    def __enter__(self) -> Store:
        if self._write:
            self._take_lock()
        return self

    def __exit__(self, *_: object) -> None:
        for journal in self._journals.values():
            journal.close()
        if self._lock is not None:
            os.close(self._lock)  # closing the file gives the lock back
            self._lock = None

    def _take_lock(self) -> None:
        import fcntl

        path = self.folder / "lock"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(cannot_write(path, error)) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._lock, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._lock)
            self._lock = None
            raise StoreError(
                f"Another process (id {holder}) is writing to {self.folder}: wait for it or stop it."
            ) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    # The records

    @property
    def cut(self) -> int:
        """Records that a process was killed in the middle of writing, cut off since the store was opened."""
        return sum(1 for journal in self._journals.values() if journal.cut)

    def journal(self, file: str) -> Journal:
        return self._journals.setdefault(file, Journal(self.folder / file))

    def records(self, file: str) -> dict[tuple[str, int], dict[str, Any]]:
        """(case, sample) -> the last record of the file."""
        if file not in self._records:
            found = {}
            for number, record in enumerate(self.journal(file).records(), start=1):
                if problem := record_problem(record):
                    raise StoreError(
                        f"Line {number} of {self.folder / file} is damaged at '{problem}': delete "
                        "it to have its step done again; nothing was changed."
                    )
                found[record["case"], record["sample"]] = record
            self._records[file] = found
        return self._records[file]

    def judges(self) -> list[str]:
        """Judges that have verdicts in this run, sorted."""
        names = (path.name for path in self.folder.glob("verdicts-*.jsonl"))
        return sorted(name.removeprefix("verdicts-").removesuffix(".jsonl") for name in names)

    def spent_usd(self) -> float:
        """What the stored steps have cost so far, failed calls that may be billed among them."""
        paid = ("answers*.jsonl", "verdicts-*.jsonl")
        files = [path.name for pattern in paid for path in sorted(self.folder.glob(pattern))]
        records = (record for file in files for record in self.journal(file).records())
        return float(
            sum(
                ((record["value"].get("usage") or {}).get("cost_usd") or 0.0)
                + ((record.get("varies") or {}).get("lost_usd") or 0.0)
                for record in records
            )
        )

    def find(self, key: Key, kind: type[Outcome]) -> Outcome | None:
        """The stored outcome of ``key``, or None where the step has to be done (again)."""
        record = self.records(key.file).get((key.case, key.sample))
        if record is None or (record.get("config"), record.get("input")) != (key.config, key.input):
            return None
        outcome = self.decode(record, kind)
        return None if outcome.status in RETRIED else outcome

    def decode(self, record: Mapping[str, Any], kind: type[Outcome]) -> Outcome:
        """The noun in a record. Raises ``StoreError`` where it does not fit."""
        from pydantic import ValidationError

        values = dict(record["value"]) if isinstance(record.get("value"), dict) else {}
        values["varies"] = record.get("varies", {})
        if kind is Artifact:
            for name in _BLOBS:
                if values.get(name) is not None:
                    values[name] = self.blobs.named(values[name])
        try:
            outcome: Outcome = _adapter(kind.__name__).validate_python(values)
        except ValidationError as error:
            field = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise StoreError(
                f"The {record.get('step')} of case {record.get('case')} in {self.folder} is damaged at "
                f"'{field}': delete its line to have it done again; nothing was changed."
            ) from None
        return outcome

    def put(self, key: Key, outcome: Outcome, **made: str) -> Outcome:
        """Append the outcome of a step; ``made`` names versions beside the package's own (the browser's)."""
        values = plain(replace(outcome, varies={}))
        del values["varies"]
        values.pop("attachments", None)  # blobs by now
        record = {
            "case": key.case,
            "sample": key.sample,
            "step": key.step,
            "config": key.config,
            "input": key.input,
            "value": values,
            "made": {"opendesign": opendesign.__version__, **made},
            "varies": {**outcome.varies, "host": platform.node()},
        }
        self.journal(key.file).append(record)
        self.records(key.file)[(key.case, key.sample)] = json.loads(to_json(record))
        return outcome


@functools.cache
def _adapter(kind: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter({"Answer": Answer, "Artifact": Artifact, "Verdict": Verdict}[kind])


def runs(root: Path) -> dict[str, Path]:
    """Name -> folder of every run under ``root``, sorted by name."""
    if not root.is_dir():
        return {}
    return {path.parent.name: path.parent for path in sorted(root.glob("*/run.json"))}


def find_run(name: str, root: Path) -> Path:
    """The folder of a run: by path, by name under ``root``, or by a beginning or the last part of one name.

    Raises ``UnknownName`` with the nearest, ``UsageError`` where several fit.
    """
    with contextlib.suppress(OSError):  # no file system takes a name of any length
        if (Path(name) / "run.json").is_file():
            return Path(name)
    known = runs(root)
    if name in known:
        return known[name]
    fitting = [run for run in known if run.startswith(name) or run.endswith(f"-{name}")]
    if len(fitting) > 1:
        raise UsageError(
            f"There are {len(fitting)} runs named like '{name}': {', '.join(sorted(fitting)[:5])}."
        )
    if not fitting:
        raise UnknownName("run", name, known)
    return known[fitting[0]]
