"""Commands as processes that can be ended at any moment, and what they leave on disk and among processes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from .conftest import environment

UNSCORED = ("judge_failure", "instrument_failure")
_LONGEST_S = 600.0  # for a whole command on a machine that is very busy


class Running:
    """One command under way; what it says goes to files of its own."""

    def __init__(self, place: Place, arguments: tuple[str, ...], variables: dict[str, str]) -> None:
        number = len(list(place.folder.glob("*.out")))
        self._out, self._err = place.folder / f"{number}.out", place.folder / f"{number}.err"
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "opendesign", *arguments],
                cwd=place.folder,
                env=place.variables(variables),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,  # a Ctrl-C goes to its group, and not to the tests
            )

    @property
    def stdout(self) -> str:
        return self._out.read_text()

    @property
    def stderr(self) -> str:
        return self._err.read_text()

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def wait(self, seconds: float = _LONGEST_S) -> int:
        """The exit code."""
        return self.process.wait(seconds)

    def until(self, happened: Callable[[], bool]) -> bool:
        """Wait until something has happened; False where the command ended before it did."""
        end = time.monotonic() + _LONGEST_S
        while not happened():
            if self.ended:
                return happened()
            assert time.monotonic() < end, f"nothing happened for {_LONGEST_S:g} s: {self.stderr}"
            time.sleep(0.01)
        return True

    def kill(self) -> list[psutil.Process]:
        """SIGKILL; returns the processes that it had, at a moment when it could start no other."""
        os.kill(self.process.pid, signal.SIGSTOP)
        children = family(self.process.pid)
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        return children


@dataclass
class Place:
    """A folder for runs, with a folder for temporary files of its own, so that what is left can be seen."""

    folder: Path
    temporary: Path
    key: str
    _started: list[Running] = field(default_factory=list)

    def variables(self, more: dict[str, str]) -> dict[str, str]:
        ours = {"OPENAI_API_KEY": self.key, "TMPDIR": str(self.temporary)}
        return environment(OPENDESIGN_CACHE=str(self.folder / "cache"), **(ours | more))

    def start(self, *arguments: str, **variables: str) -> Running:
        running = Running(self, arguments, variables)
        self._started.append(running)
        return running

    def run(self, *arguments: str, **variables: str) -> Running:
        """A command, to its end."""
        running = self.start(*arguments, **variables)
        running.wait()
        return running

    def processes(self) -> list[psutil.Process]:
        """Those that name our temporary folder: browsers and their drivers, whoever their parent is now."""
        mark, found = os.fsencode(self.temporary), []
        for process in psutil.process_iter():
            with suppress(OSError, psutil.Error):
                base = Path("/proc", str(process.pid))
                if mark in (base / "cmdline").read_bytes() + (base / "environ").read_bytes():
                    found.append(process)
        return alive(found)

    def left(self) -> list[str]:
        """Temporary folders and files that are there now."""
        return sorted(path.name for path in self.temporary.iterdir())

    def end(self) -> None:
        """Whatever is still running, a test that failed has left."""
        for running in self._started:
            if not running.ended:
                running.kill()
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()


@contextmanager
def place(folder: Path, key: str = "sk-not-a-key-at-all-00000000") -> Iterator[Place]:
    """A place, and nothing of it afterwards."""
    # Not in pytest's own folder: the browser runs as another user, who may not enter that.
    temporary = Path(tempfile.mkdtemp(prefix="opendesign-test-"))
    temporary.chmod(0o1777)
    made = Place(folder, temporary, key)
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(temporary, ignore_errors=True)


def family(pid: int) -> list[psutil.Process]:
    """Everything that a process has started."""
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still are; one that only waits to be collected by its parent is not."""
    found = []
    for process in processes:
        with suppress(psutil.Error):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def business() -> float:
    """How many times as long as on a quiet machine something may take on this one."""
    return max(1.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))


def left_after(seconds: float, processes: Callable[[], list[psutil.Process]]) -> list[str]:
    """What of them is left after so long: on a machine with nothing else to do, longer on a busy one."""
    end = time.monotonic() + seconds * business()
    while (left := processes()) and time.monotonic() < end:
        time.sleep(0.05)
    names = []
    for process in left:
        with suppress(psutil.Error):
            names.append(f"{process.pid} {' '.join(process.cmdline())[:120]}")
    return names


# -- records -----------------------------------------------------------------------------------------------


def lines(run: Path, file: str) -> list[dict[str, Any]]:
    """The whole lines of a file of records, oldest first; a torn tail is none."""
    path = run / file
    data = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def torn(run: Path) -> list[str]:
    """Files of records whose last line has no end."""
    return [path.name for path in sorted(run.glob("*.jsonl")) if path.read_bytes()[-1:] not in (b"", b"\n")]


def count_records(run: Path) -> int:
    """How many records there are in all files of a run."""
    return sum(path.read_bytes().count(b"\n") for path in run.glob("*.jsonl"))


def status(record: dict[str, Any]) -> str:
    """``ok`` or whose failure it was."""
    from opendesign.types import Failure

    failure = record["value"]["failure"]
    return Failure(**failure).status if failure else "ok"


def answered(run: Path) -> set[str]:
    """Cases with an answer that is not to be asked for again."""
    last = {record["case"]: record for record in lines(run, "answers.jsonl")}
    return {case for case, record in last.items() if status(record) not in UNSCORED}


def final(run: Path) -> dict[str, dict[tuple[str, int], str]]:
    """File → (case, sample) → its last record without ``varies``, as one spelling."""
    found: dict[str, dict[tuple[str, int], str]] = {}
    for path in sorted(run.glob("*.jsonl")):
        records = {}
        for record in lines(run, path.name):
            key = (record["case"], record["sample"])
            records[key] = json.dumps({k: v for k, v in record.items() if k != "varies"}, sort_keys=True)
        found[path.name] = records
    return found


def done_again(run: Path) -> list[tuple[str, str]]:
    """(file, case) of every step that was done once more though its outcome was stored and counts."""
    found = []
    for path in sorted(run.glob("*.jsonl")):
        seen: dict[str, str] = {}
        for record in lines(run, path.name):
            if seen.get(record["case"], "judge_failure") not in UNSCORED:
                found.append((path.name, record["case"]))
            seen[record["case"]] = status(record)
    return found


def blobs(root: Path) -> dict[str, str]:
    """Name → SHA-256 of every stored page and picture; unfinished ones have names with a dot in front."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (root / "blobs").rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def unfinished(root: Path) -> list[str]:
    """Files that a write was ended in."""
    return [path.name for path in root.rglob("*") if path.name.startswith(".") or path.suffix == ".part"]


def hashes(folder: Path) -> dict[str, str]:
    """Path → SHA-256 of every file but the lock."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }
