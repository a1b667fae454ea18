"""The processes under one process: who they are, what they have used. Cheap to ask.

On Linux /proc is read directly, from the root downwards; elsewhere psutil tells, which looks at every process
of the machine each time.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Container
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Reading", "command", "end", "family"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One process as it was when it was looked at. ``started`` tells it from a later one of the same id."""

    pid: int
    started: float  # only to be compared
    cpu_s: float
    rss_mb: float


def family(root: int, childless: Container[int] = ()) -> list[Reading]:
    """A process and all its descendants that are alive; empty where the process has ended.

    ``childless`` are ids of processes that need not be asked for children, which is what takes the time.
    """
    if not _has_children_files():
        return _family_by_psutil(root)
    found: list[Reading] = []
    pids = [root]
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found.append(_look(pid))
            pids += () if pid in childless else _children(pid)
    return found


def command(pid: int) -> list[str]:
    """Program and arguments of a process; empty where it has ended."""
    if _has_children_files():
        with contextlib.suppress(OSError):
            text = _read(f"/proc/{pid}/cmdline").decode(errors="replace").removesuffix("\0")
            # A process that has given itself a title, as a browser's do, has it there with spaces.
            return text.split("\0" if "\0" in text else " ")
        return []
    import psutil

    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid).cmdline()
    return []


def end(process: Reading) -> None:
    """SIGKILL for that very process. Does nothing where it has ended."""
    with contextlib.suppress(OSError):
        if process.started == _started(process.pid):
            os.kill(process.pid, signal.SIGKILL)


@cache
def _has_children_files() -> bool:
    """Whether the system is a Linux that lists the children of a thread (most do)."""
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        data = os.read(file, 1 << 16)
        while more := os.read(file, 1 << 16):
            data += more
        return data
    finally:
        os.close(file)


def _look(pid: int) -> Reading:
    """From /proc/<pid>/stat, see proc_pid_stat(5). Raises ``OSError`` where the process has ended."""
    # The name, second of the fields, is in brackets and may itself hold brackets and spaces.
    fields = _read(f"/proc/{pid}/stat").rpartition(b") ")[2].split()
    user, system, started, resident = (int(fields[at - 3]) for at in (14, 15, 22, 24))
    per_second, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    return Reading(pid, started, (user + system) / per_second, resident * page / 2**20)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with os.scandir(f"/proc/{pid}/task") as threads:
        for thread in threads:
            with contextlib.suppress(OSError):  # it has ended meanwhile
                found += map(int, _read(f"{thread.path}/children").split())
    return found


def _started(pid: int) -> float | None:
    if _has_children_files():
        return _look(pid).started
    import psutil

    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid).create_time()
    return None


def _family_by_psutil(root: int) -> list[Reading]:
    import psutil

    found = []
    try:
        processes = [psutil.Process(root), *psutil.Process(root).children(recursive=True)]
    except psutil.Error:
        return []
    for process in processes:
        with contextlib.suppress(psutil.Error), process.oneshot():
            times, memory = process.cpu_times(), process.memory_info()
            found.append(
                Reading(process.pid, process.create_time(), times.user + times.system, memory.rss / 2**20)
            )
    return found
