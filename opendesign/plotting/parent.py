"""Starting the warm parent and talking to it: see ``warm``, which is what runs there."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from opendesign.errors import UsageError
from opendesign.plotting.isolation import FOLDER, IN_FORCE

__all__ = ["GET_LIBRARIES", "Parent", "isolation_here", "missing_libraries", "start"]

_START_S = 300.0  # on a busy machine, with nothing in its caches
_NEEDED = ("matplotlib", "seaborn", "plotly")
GET_LIBRARIES = "pip install 'opendesign[plots]'"
_PROGRAM = "import sys; sys.path[:] = {path!r}; from opendesign.plotting.warm import main; main({given!r})"


class Refused(Exception):
    """This machine does not let us isolate; the text is why."""


class Parent:
    """A running warm parent. ``isolated`` is False where it could not be and that was allowed."""

    def __init__(self, *, isolated: bool, probe: bool = False) -> None:
        """Start it; blocks until it is warm. Raises ``Refused`` or ``UsageError``."""
        self.isolated = isolated
        # Isolated tasks write in memory: there is no folder that could stay where we are killed.
        self._home = FOLDER if isolated else tempfile.mkdtemp(prefix="opendesign-plots-")
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = self._spawn(theirs, probe)
            self.versions = self._greeting()
        except BaseException:
            self.close()
            raise

    def _spawn(self, theirs: socket.socket, probe: bool) -> subprocess.Popen[bytes]:
        package = Path(__file__).parents[1]
        given = {
            "control": theirs.fileno(),
            "package": str(package),
            "isolated": self.isolated,
            "home": self._home,
            "probe": probe,
        }
        path = [str(package.parent), *(str(Path(one).absolute()) for one in sys.path if one)]
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM.format(path=path, given=json.dumps(given))],
            env=_environment(self._home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )

    def _greeting(self) -> dict[str, str]:
        self._control.settimeout(_START_S)
        try:
            told = json.loads(self._control.recv(65536) or "{}")
        except TimeoutError:
            told = {}
        if "refused" in told:
            raise Refused(told["refused"])
        if "versions" not in told:
            why = told.get("missing", "the process in which plots are drawn ended as it started")
            raise UsageError(f"Plots cannot be drawn here ({why}): try `{GET_LIBRARIES}`.")
        self._control.settimeout(None)
        versions: dict[str, str] = told["versions"]
        return versions

    @contextlib.contextmanager
    def folder(self) -> Iterator[str]:
        """Where a task that is not isolated works, until it has ended."""
        if self.isolated:
            yield FOLDER
            return
        with tempfile.TemporaryDirectory(dir=self._home, ignore_cleanup_errors=True) as folder:
            yield folder

    def start(self, limits: dict[str, Any], files: list[int]) -> None:
        """Hand a task its descriptors. Raises ``OSError`` where the parent has ended."""
        with self._lock:
            socket.send_fds(self._control, [json.dumps(limits).encode()], files)

    def close(self) -> None:
        """End it and all of its tasks."""
        self._control.close()
        process = getattr(self, "_process", None)
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
            process.wait()
        if not self.isolated:
            shutil.rmtree(self._home, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def engine(self) -> str:
        """``matplotlib 3.10.8, seaborn 0.13.2, plotly 6.5.0, pandas 2.3.3, python 3.11``: what draws."""
        names = ("matplotlib", "seaborn", "plotly", "pandas")
        python = ".".join(self.versions["python"].split(".")[:2])
        return ", ".join(f"{name} {self.versions[name]}" for name in names) + f", python {python}"


def start(*, unsafe: bool) -> tuple[Parent, str]:
    """A warm parent, and what protects this machine from its tasks. Raises ``UsageError``."""
    if missing := missing_libraries():
        raise UsageError(
            f"Plots cannot be drawn without {' and '.join(missing)}: `{GET_LIBRARIES}` gets them."
        )
    _need_linux()
    try:
        return Parent(isolated=True), IN_FORCE
    except Refused as refused:
        if not unsafe:
            raise UsageError(
                f"The code of answers cannot be isolated on this machine ({refused}): allow unprivileged "
                "user namespaces, or give --unsafe-plots to run it as this user."
            ) from refused
        text = f"none ({refused}): the code runs as this user, with limits of CPU, memory and disk"
        return Parent(isolated=False), text


def missing_libraries() -> list[str]:
    """Those that plots are drawn with and that are not installed."""
    return [name for name in _NEEDED if find_spec(name) is None]


def isolation_here() -> tuple[bool, str]:
    """Whether code can be isolated on this machine, and by what, or why not. Starts a process and ends it."""
    try:
        _need_linux()
        with Parent(isolated=True, probe=True):
            return True, IN_FORCE
    except (Refused, UsageError) as error:
        return False, str(error)


def _need_linux() -> None:
    if platform.system() != "Linux":
        raise UsageError(
            "Plots are drawn on Linux only, where their code can be isolated: use a Linux machine."
        )


def _environment(home: str) -> dict[str, str]:
    """Nothing of ours, and what makes equal code draw equal pictures."""
    return {
        **{name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
        **{"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"},
        **{"HOME": home, "TMPDIR": home, "MPLCONFIGDIR": f"{home}/.matplotlib", "MPLBACKEND": "agg"},
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    }
