"""The watchdog: a thread outside the browser that looks at its processes and ends what does not end itself.

It knows nothing of pages. It ends a process of the browser that holds more memory than allowed, and a whole
browser whose work has not been given back by its deadline (when even the driver does not answer). What that
means for a page is decided in ``renderer``.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

__all__ = ["ProcessTree", "Watchdog"]

INTERVAL_S = 0.3
WINDOW_S = 3.0  # over which a process counts as busy
#: Processes that are not renderers (browser, GPU) serve all pages and may hold this many times as much.
_SHARED_FACTOR = 1.5


@dataclass(slots=True)
class _Seen:
    process: psutil.Process
    kind: str = ""
    cpu_s: float = 0.0
    rss_mb: float = 0.0
    history: list[tuple[float, float]] = field(default_factory=list)  # (time, cpu_s), the last WINDOW_S


class ProcessTree:
    """The processes of one browser: CPU seconds and memory, those that have ended included in the sum."""

    def __init__(self, pid: int) -> None:
        import psutil

        self.pid = pid
        self._root: psutil.Process | None
        try:
            self._root = psutil.Process(pid)
        except psutil.NoSuchProcess:
            self._root = None
        self._seen: dict[int, _Seen] = {}
        self._ended_cpu_s = 0.0
        self._lock = threading.Lock()
        self.peak_mb = 0.0  # the largest renderer there ever was
        self.killed_for_memory: list[str] = []  # kinds of the processes that held too much

    def sample(self) -> None:
        """Read every process once. Cheap (a few ms); safe from any thread."""
        import psutil

        with self._lock:
            if self._root is None:
                return
            try:
                alive = [self._root, *self._root.children(recursive=True)]
            except psutil.Error:
                alive = []
            now = time.monotonic()
            found = {process.pid: process for process in alive}
            for pid in [pid for pid in self._seen if pid not in found]:
                self._ended_cpu_s += self._seen.pop(pid).cpu_s
            for pid, process in found.items():
                seen = self._seen.setdefault(pid, _Seen(process))
                with contextlib.suppress(psutil.Error):
                    self._read(seen, now)

    def _read(self, seen: _Seen, now: float) -> None:
        process = seen.process
        with process.oneshot():
            times = process.cpu_times()
            seen.cpu_s = times.user + times.system
            seen.rss_mb = process.memory_info().rss / 2**20
            # A renderer is forked off the zygote and takes its own command line a moment later.
            if seen.kind in ("", "zygote"):
                seen.kind = _kind(process.cmdline())
        seen.history.append((now, seen.cpu_s))
        while len(seen.history) > 2 and now - seen.history[1][0] >= WINDOW_S:
            seen.history.pop(0)
        if seen.kind == "renderer":
            self.peak_mb = max(self.peak_mb, seen.rss_mb)

    @property
    def cpu_s(self) -> float:
        """CPU seconds spent by all processes so far, as of the last sample."""
        with self._lock:
            return self._ended_cpu_s + sum(seen.cpu_s for seen in self._seen.values())

    @property
    def rss_mb(self) -> float:
        """Resident memory of all processes (what they share counted once each), as of the last sample."""
        with self._lock:
            return sum(seen.rss_mb for seen in self._seen.values())

    @property
    def shared_mb(self) -> float:
        """Resident memory of the processes that all pages share (renderers apart), as of the last sample."""
        with self._lock:
            return sum(seen.rss_mb for seen in self._seen.values() if seen.kind != "renderer")

    def busiest_renderer(self) -> float:
        """Share of a core that the busiest renderer used over the last ``WINDOW_S``; 0 when not known yet."""
        with self._lock:
            rates = [0.0]
            for seen in self._seen.values():
                if seen.kind == "renderer" and len(seen.history) > 1:
                    (start, before), (end, after) = seen.history[0], seen.history[-1]
                    if end - start >= WINDOW_S * 0.8:
                        rates.append((after - before) / (end - start))
            return max(rates)

    def end_heavy(self, memory_mb: float) -> None:
        """End every renderer over ``memory_mb``; the whole tree where a process that all pages share is."""
        with self._lock:
            heavy = [seen for seen in self._seen.values() if seen.rss_mb > memory_mb]
        for seen in heavy:
            if seen.kind == "renderer":
                self.killed_for_memory.append(seen.kind)
                _kill(seen.process)
            elif seen.rss_mb > memory_mb * _SHARED_FACTOR:
                self.killed_for_memory.append(seen.kind)
                self.kill()

    def kill(self) -> None:
        """SIGKILL for all of it, now. Does nothing where it has ended."""
        with self._lock:
            # Those of a browser that is already dead are no longer found as its children.
            processes = {seen.process for seen in self._seen.values()}
        self.sample()
        with self._lock:
            processes |= {seen.process for seen in self._seen.values()}
        for process in processes:
            _kill(process)


def _kill(process: psutil.Process) -> None:
    import psutil

    with contextlib.suppress(psutil.Error):
        process.kill()


def _kind(command: list[str]) -> str:
    for argument in command:
        if argument.startswith("--type="):
            return argument.removeprefix("--type=")
    return "browser"


class Watchdog:
    """Watches trees from a thread of its own, so that it works while the event loop is busy."""

    def __init__(self, memory_mb: float) -> None:
        self._memory_mb = memory_mb
        self._trees: set[ProcessTree] = set()
        self._guards: dict[object, tuple[float, ProcessTree]] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="opendesign-watchdog", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def watch(self, tree: ProcessTree) -> None:
        with self._lock:
            self._trees.add(tree)

    def forget(self, tree: ProcessTree) -> None:
        with self._lock:
            self._trees.discard(tree)

    @contextlib.contextmanager
    def guard(self, tree: ProcessTree, seconds: float) -> Iterator[None]:
        """Kill ``tree`` when the body has not ended after ``seconds``."""
        token = object()
        with self._lock:
            self._guards[token] = (time.monotonic() + seconds, tree)
        try:
            yield
        finally:
            with self._lock:
                del self._guards[token]

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            with self._lock:
                trees = list(self._trees)
                late = [tree for end, tree in self._guards.values() if end < time.monotonic()]
            for tree in trees:
                tree.sample()
                tree.end_heavy(self._memory_mb)
            for tree in late:
                tree.kill()
