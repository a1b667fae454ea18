"""The watchdog: a thread outside the browser that looks at its processes and ends what does not end itself.

It knows nothing of pages. It ends a process of the browser that holds more memory than allowed, and a whole
browser whose work has not been given back by its deadline (when even the driver does not answer). What that
means for a page is decided in ``renderer``.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from opendesign.rendering.processes import Reading, command, end, family

__all__ = ["ProcessTree", "Watchdog"]

INTERVAL_S = 0.3
IDLE_S = 3.0  # between two looks while nothing is being worked on
WINDOW_S = 3.0  # over which a process counts as busy
#: Processes that are not renderers (browser, GPU) serve all pages and may hold this many times as much.
_SHARED_FACTOR = 1.5


@dataclass(slots=True)
class _Seen:
    now: Reading
    kind: str = ""
    history: list[tuple[float, float]] = field(default_factory=list)  # (time, cpu_s), the last WINDOW_S


class ProcessTree:
    """The processes of one browser: CPU seconds and memory, those that have ended included in the sum."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._started: float | None = None  # of the browser itself
        self._seen: dict[tuple[int, float], _Seen] = {}  # by process id and when it started
        self._ended_cpu_s = 0.0
        self._lock = threading.Lock()
        self.peak_mb = 0.0  # the largest renderer there ever was
        self.killed_for_memory: list[str] = []  # kinds of the processes that held too much
        self.sample()

    def sample(self, *, thorough: bool = False) -> None:
        """Read every process once. Cheap (a millisecond on Linux); safe from any thread.

        A renderer starts no process; ``thorough`` does not rely on that.
        """
        with self._lock:
            now = time.monotonic()
            renderers = () if thorough else {s.now.pid for s in self._seen.values() if s.kind == "renderer"}
            found = {(one.pid, one.started): one for one in self._family(renderers)}
            for key in [key for key in self._seen if key not in found]:
                self._ended_cpu_s += self._seen.pop(key).now.cpu_s
            for key, one in found.items():
                self._note(self._seen.setdefault(key, _Seen(one)), one, now)

    def _family(self, childless: Container[int]) -> list[Reading]:
        """All that are alive; none once the browser has ended, whatever process has its id now."""
        found = family(self.pid, childless)
        if found and found[0].pid == self.pid and self._started in (None, found[0].started):
            self._started = found[0].started
            return found
        self._started = -1.0
        return []

    def _note(self, seen: _Seen, one: Reading, now: float) -> None:
        seen.now = one
        # A process has its parent's command line at first; a renderer, forked off the zygote, for longer.
        if seen.kind in ("", "zygote", "browser"):
            seen.kind = _kind(command(one.pid))
        seen.history.append((now, one.cpu_s))
        while len(seen.history) > 2 and now - seen.history[1][0] >= WINDOW_S:
            seen.history.pop(0)
        if seen.kind == "renderer":
            self.peak_mb = max(self.peak_mb, one.rss_mb)

    @property
    def cpu_s(self) -> float:
        """CPU seconds spent by all processes so far, as of the last sample."""
        with self._lock:
            return self._ended_cpu_s + sum(seen.now.cpu_s for seen in self._seen.values())

    @property
    def rss_mb(self) -> float:
        """Resident memory of all processes (what they share counted once each), as of the last sample."""
        with self._lock:
            return sum(seen.now.rss_mb for seen in self._seen.values())

    @property
    def shared_mb(self) -> float:
        """Resident memory of the processes that all pages share (renderers apart), as of the last sample."""
        with self._lock:
            return sum(seen.now.rss_mb for seen in self._seen.values() if seen.kind != "renderer")

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
            heavy = [seen for seen in self._seen.values() if seen.now.rss_mb > memory_mb]
        for seen in heavy:
            if seen.kind == "renderer":
                self.killed_for_memory.append(seen.kind)
                end(seen.now)
            elif seen.now.rss_mb > memory_mb * _SHARED_FACTOR:
                self.killed_for_memory.append(seen.kind)
                self.kill()

    def kill(self) -> None:
        """SIGKILL for all of it, now. Does nothing where it has ended."""
        with self._lock:
            # Those of a browser that is already dead are no longer found as its children.
            processes = {key: seen.now for key, seen in self._seen.items()}
        self.sample(thorough=True)
        with self._lock:
            processes |= {key: seen.now for key, seen in self._seen.items()}
        for process in processes.values():
            end(process)


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
        self._changed = threading.Condition(self._lock)  # there is something to guard, or it is to stop
        self._thread = threading.Thread(target=self._run, name="opendesign-watchdog", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
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
        with self._changed:
            self._guards[token] = (time.monotonic() + seconds, tree)
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._lock:
                del self._guards[token]

    def _run(self) -> None:
        while not self._rest():
            with self._lock:
                trees = list(self._trees)
                late = [tree for end_at, tree in self._guards.values() if end_at < time.monotonic()]
            for tree in trees:
                tree.sample()
                tree.end_heavy(self._memory_mb)
            for tree in late:
                tree.kill()

    def _rest(self) -> bool:
        """Wait until it is time to look again. Returns whether it is time to stop."""
        if not self._stop.wait(INTERVAL_S):
            with self._changed:
                self._changed.wait_for(lambda: self._guards or self._stop.is_set(), IDLE_S)
        return self._stop.is_set()
