"""The warm parent: imports the plotting libraries once and forks a process off itself for each task.

It is started with a clean environment and one socket, goes into isolation, imports, and from then on only
forks and waits. What a task is given and gives back never passes through it: a message on the socket brings
the ends of the task's own files (request, result, output, status), and the parent keeps the last alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import select
import shutil
import signal
import socket
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from opendesign.plotting import inside, isolation

__all__ = ["LIBRARIES", "Limits", "main"]

LIBRARIES = ("matplotlib", "seaborn", "plotly", "pandas", "numpy", "scipy")
_WARM = (
    *("matplotlib.pyplot", "matplotlib.dates", "matplotlib.backends.backend_agg", "mpl_toolkits.mplot3d"),
    *("pandas", "numpy", "scipy.stats", "seaborn", "seaborn.objects"),
    *("plotly.express", "plotly.graph_objects", "plotly.subplots", "plotly.figure_factory", "plotly.io"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one task may use; ``folder`` is where it works if it is not isolated."""

    cpu_s: float
    memory_mb: int
    disk_mb: int
    processes: int
    folder: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def main(given: str) -> None:
    """``given``: JSON with the socket's ``control`` descriptor, ``package`` (the folder of this package),
    ``isolated``, ``home`` (where all is written that is not isolated, removed at the end), and ``probe``
    (say whether isolation works and end).
    """
    settings = json.loads(given)
    try:
        _main(settings, socket.socket(fileno=settings["control"]))
    finally:
        if not settings["isolated"]:
            shutil.rmtree(settings["home"], ignore_errors=True)


def _main(settings: dict[str, Any], control: socket.socket) -> None:
    try:
        proc = _isolate(settings)
        if not settings["probe"]:
            _import()
    except (OSError, ImportError) as error:
        told = {"refused": error.strerror} if isinstance(error, OSError) else {"missing": str(error)}
        control.send(json.dumps(told).encode())
        return
    control.send(json.dumps({"versions": {} if settings["probe"] else _versions()}).encode())
    if not settings["probe"]:
        _Parent(control, proc if settings["isolated"] else None).serve()


def _isolate(settings: dict[str, Any]) -> int:
    """Go into isolation and see that a task can. Returns a descriptor of /proc."""
    if not settings["isolated"]:
        return os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    proc = isolation.enter(Path(settings["package"]))
    read, write = os.pipe()
    child = isolation.fork()
    if not child:
        try:
            isolation.confine(proc, 1)
        except OSError as error:
            os.write(write, str(error.strerror).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        refused = pipe.read().decode()
    os.waitpid(child, 0)
    if refused:
        raise OSError(0, refused)
    return proc


def _import() -> None:
    import gc
    import importlib
    import warnings

    warnings.simplefilter("ignore")
    import matplotlib

    matplotlib.use("agg")
    for name in _WARM:
        importlib.import_module(name)
    _draw_once()
    warnings.resetwarnings()
    gc.collect()
    gc.freeze()  # what all tasks share is not looked at by their collectors, and so stays shared


def _draw_once() -> None:
    """The first figure finds fonts and fills caches; this one does it for all tasks."""
    import io

    from matplotlib import pyplot
    from plotly import graph_objects

    figure, axes = pyplot.subplots()
    axes.plot([0, 1], label="a")
    axes.set_title("a")
    axes.legend()
    figure.savefig(io.BytesIO(), format="rgba", bbox_inches="tight")
    pyplot.close("all")
    graph_objects.Figure(graph_objects.Scatter(y=[0, 1])).to_json()


def _versions() -> dict[str, str]:
    versions = {name: str(sys.modules[name].__version__) for name in LIBRARIES}
    return {**versions, "python": platform.python_version()}


class _Parent:
    """Forks and waits. ``proc`` is None where tasks are not isolated."""

    def __init__(self, control: socket.socket, proc: int | None) -> None:
        self._control = control
        self._proc = proc
        self._status: dict[int, tuple[int, int]] = {}  # pidfd -> process, its pipe for the status
        self._size = self._address_space()

    def _address_space(self) -> int:
        """Bytes of address space this process has, which each task starts with."""
        file = os.open("/proc/self/statm" if self._proc is None else "self/statm", 0, dir_fd=self._proc)
        with os.fdopen(file) as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")

    def serve(self) -> None:
        """Until the other end of the socket is closed, which also ends all tasks."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        while True:
            for file, _ in poll.poll():
                if file != self._control.fileno():
                    poll.unregister(file)
                    self._reap(file)
                    continue
                message, files, _, _ = socket.recv_fds(self._control, 4096, 4)
                if not message:
                    self._end()
                    return
                poll.register(self._start(Limits(**json.loads(message)), files), select.POLLIN)

    def _start(self, limits: Limits, files: list[int]) -> int:
        """A new task. Returns a descriptor that tells its end."""
        status = files.pop()
        child = os.fork() if self._proc is None else isolation.fork()
        if not child:
            os.close(status)
            self._task(limits, files)
        for file in files:
            os.close(file)
        os.write(status, f"{child}\n".encode())
        watched = os.pidfd_open(child)
        self._status[watched] = (child, status)
        return watched

    def _task(self, limits: Limits, files: list[int]) -> None:
        """All that happens in a task's process; never returns."""
        try:
            os.setsid()  # a signal to its own group of processes reaches no other
            proc = _only(files, self._proc)
            isolated = proc is not None
            memory = self._size + (limits.memory_mb << 20)
            isolation.limit(
                memory=memory,
                cpu_s=limits.cpu_s,
                disk_mb=limits.disk_mb,
                processes=limits.processes if isolated else None,
            )
            try:
                if proc is not None:
                    isolation.confine(proc, limits.disk_mb)
                else:
                    os.chdir(limits.folder)
            except OSError as error:
                inside.tell(4, {"kind": "refused", "error": error.strerror})
                return
            inside.run(3, 4)
        finally:
            os._exit(0)

    def _reap(self, watched: int) -> None:
        child, status = self._status.pop(watched)
        _, code, used = os.wait4(child, 0)
        ended = {"code": os.waitstatus_to_exitcode(code), "cpu_s": used.ru_utime + used.ru_stime}
        with contextlib.suppress(BrokenPipeError):
            os.write(status, json.dumps(ended).encode())
        os.close(status)
        os.close(watched)

    def _end(self) -> None:
        for watched, (child, _) in list(self._status.items()):
            os.kill(child, signal.SIGKILL)
            self._reap(watched)


def _only(files: list[int], proc: int | None) -> int | None:
    """Close all but 0 (nothing), 1 and 2 (output), 3 (request), 4 (result); ``proc``, if any, becomes 5."""
    request, result, output = (fcntl.fcntl(file, fcntl.F_DUPFD, 64) for file in files)
    high = None if proc is None else fcntl.fcntl(proc, fcntl.F_DUPFD, 64)
    nothing = os.open("/dev/null", os.O_RDWR)
    for target, file in enumerate((nothing, output, output, request, result)):
        os.dup2(file, target)
    if high is not None:
        os.dup2(high, 5)
    os.closerange(5 if high is None else 6, 4096)
    return None if high is None else 5
