"""What a command costs: CPU seconds of every process it starts, and the memory they hold together.

    python -m tests.performance.meter OUT.json -- COMMAND …

This process takes in whatever the command leaves behind (it is the "subreaper" of the tree), waits for each
process, and so counts the processor time of those that have ended long since, exactly as the kernel did.
Sampling /proc would miss most of a browser's renderers: they live for half a second.

Memory is proportional (PSS): what processes share is divided among them, so that the sum is what the machine
would get back. It is sampled from /proc/<pid>/smaps_rollup, with at most a
thirtieth of a core.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
_PR_SET_CHILD_SUBREAPER = 36
_SHARE = 30  # sampling memory uses one part in so many of a core
_PATIENCE_S = 10.0  # for what the command leaves behind, before it is ended


class BenchError(Exception):
    """The bench itself failed: there is no figure to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU seconds of the whole tree, wall seconds, peak PSS in MB (None where it cannot be read)."""

    cpu_s: float
    seconds: float
    peak_mb: float | None
    left_behind: int  # processes that outlived the command


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A command that was run under the meter, with its two streams."""

    cost: Cost
    stdout: str
    stderr: str


def measure(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    memory: bool = True,
    timeout_s: float = 3600,
) -> Measured:
    """Run ``command`` in the project's folder. Raises ``BenchError`` where it fails, with its last words."""
    with TemporaryDirectory(prefix="opendesign-bench-") as folder:
        out = Path(folder) / "cost.json"
        meter = [
            sys.executable,
            "-m",
            "tests.performance.meter",
            str(out),
            "memory" if memory else "cpu",
            "--",
        ]
        with subprocess.Popen(
            [*meter, *command],
            cwd=ROOT,
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process:
            try:
                stdout, stderr = process.communicate(timeout=timeout_s)
            except BaseException as error:  # a timeout, or the person has had enough
                process.terminate()  # and with it all that it has started
                process.communicate()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise BenchError(f"{' '.join(command[:6])} … took over {timeout_s:g} s.") from error
                raise
        if process.returncode or not out.exists():
            last = "\n".join(stderr.strip().splitlines()[-15:])
            raise BenchError(f"{' '.join(command[:6])} … ended with {process.returncode}:\n{last}")
        return Measured(cost=Cost(**json.loads(out.read_text())), stdout=stdout, stderr=stderr)


# Memory


def tree(root: int) -> list[int]:
    """``root`` and all processes under it, those that are alive."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = Path(entry.path, "stat").read_text(errors="replace")
                parent = int(stat.rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found


def pss_mb(pids: Sequence[int]) -> float | None:
    """Proportional memory of these processes together, in MB; None on a system that does not tell.

    Of a process whose maps may not be read (a sandboxed browser's, where we are not root) what it shares with
    nobody is counted, which is less than its share.
    """
    if not Path("/proc/self/smaps_rollup").exists():
        return None
    return sum(_pss_kb(pid) for pid in pids) / 1024


def _pss_kb(pid: int) -> float:
    try:
        with Path(f"/proc/{pid}/smaps_rollup").open(encoding="ascii") as lines:
            return float(next((line.split()[1] for line in lines if line.startswith("Pss:")), 0))
    except PermissionError:
        with contextlib.suppress(OSError, ValueError):
            _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
            return (int(resident) - int(shared)) * resource.getpagesize() / 1024
    except OSError:
        pass  # it has ended meanwhile
    return 0.0


class _Sampler(threading.Thread):
    """Looks at the memory under a process for as long as it lives."""

    def __init__(self, root: int) -> None:
        super().__init__(name="memory", daemon=True)
        self._root, self._stop_now = root, threading.Event()
        self.peak_mb: float | None = None

    def run(self) -> None:
        pause = 0.1
        while not self._stop_now.wait(pause):
            started = time.thread_time()
            now = pss_mb([pid for pid in tree(self._root) if pid != self._root])
            if now is None:
                return
            self.peak_mb = max(self.peak_mb or 0.0, now)
            pause = max(0.2, _SHARE * (time.thread_time() - started))

    def stop(self) -> None:
        self._stop_now.set()
        self.join()


# The process that waits


def _main(out: Path, memory: bool, command: list[str]) -> int:
    with contextlib.suppress(OSError, AttributeError):  # elsewhere than on Linux orphans are not counted
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    sampler = _Sampler(os.getpid())
    started = time.monotonic()
    child = subprocess.Popen(command)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _give_up)
    if memory:
        sampler.start()
    _, status = os.waitpid(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - started
    if memory:
        sampler.stop()
    left_behind = _wait_for_rest()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = Cost(
        cpu_s=usage.ru_utime + usage.ru_stime,
        seconds=seconds,
        peak_mb=sampler.peak_mb,
        left_behind=left_behind,
    )
    out.write_text(json.dumps(asdict(cost)))
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _wait_for_rest() -> int:
    """Wait for what the command left behind, end what does not end itself. Returns how many that were."""
    end, count = time.monotonic() + _PATIENCE_S, 0
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return count
        if pid:
            count += 1
            continue
        if time.monotonic() > end:
            _end_under(os.getpid())
        time.sleep(0.02)


def _give_up(*_: object) -> None:
    _end_under(os.getpid())
    sys.exit(1)


def _end_under(root: int) -> None:
    for pid in tree(root) if Path("/proc").is_dir() else ():
        if pid != root:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def own_cpu() -> float:
    """CPU seconds of this process and all its threads so far."""
    now = resource.getrusage(resource.RUSAGE_SELF)
    return now.ru_utime + now.ru_stime


class Driver:
    """The browser's driver (Node), a child of this process. Made while it runs; reading it is cheap."""

    def __init__(self) -> None:
        import psutil

        self._processes = [child for child in psutil.Process().children() if child.name().startswith("node")]
        self._spent = 0.0

    def cpu(self) -> float:
        """Its CPU seconds so far, or what they last were where it has ended."""
        import psutil

        with contextlib.suppress(psutil.Error):
            times = [process.cpu_times() for process in self._processes]
            self._spent = sum(one.user + one.system for one in times)
        return self._spent


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1]), sys.argv[2] == "memory", sys.argv[4:]))
