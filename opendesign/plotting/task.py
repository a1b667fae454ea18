"""One task seen from outside: its pipes are read, its processes watched, and ended when they go too far.

Runs in a thread. Nothing here trusts what comes out of the pipes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from opendesign.plotting.pictures import MOST_BYTES, MOST_SENT, MOST_SIDE, Picture, from_pixels
from opendesign.rendering.processes import family
from opendesign.types import PlotSettings

__all__ = ["Drawn", "Outcome", "watch"]

_LOOK_S = 0.05
_HEADER = 4_000_000  # bytes of a message's JSON
_KEPT = 3  # figures of plotly, the last ones

Killed = Literal["", "cpu", "wall", "load", "memory", "junk", "stopped"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure that was caught: pixels of matplotlib's, or the JSON of plotly's."""

    number: int
    facts: dict[str, Any] | None = None
    picture: Picture | None = None
    plotly: bytes = b""
    scaled: bool = False

    @property
    def blank(self) -> bool:
        """The picture has one colour, or by its own word the figure has nothing in it."""
        assert self.picture is not None
        if self.picture.plain or self.facts is None:
            return self.picture.plain
        marks = [one["marks"] for one in self.facts["axes"]]
        return not any(marks) and not self.facts["loose"]


@dataclass(slots=True)
class Outcome:
    """All that is known of a task after its end. ``code``: exit code, negative for a signal; None: lost."""

    stage: str = ""  # the last message before the answer ran, or "code"
    source: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    ended: bool = False  # the program came to its end, or to its error
    matplotlib: Drawn | None = None  # the last that is not blank, or else the last
    plotly: list[Drawn] = field(default_factory=list)  # the last few
    figures: set[tuple[str, int]] = field(default_factory=set)
    output: bytearray = field(default_factory=bytearray)
    killed: Killed = ""
    code: int | None = None
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    seconds: float = 0.0


def watch(
    start: Callable[[list[int]], None], request: bytes, settings: PlotSettings, stop: threading.Event
) -> Outcome:
    """Run one task to its end. ``start`` hands the task its four descriptors; ``stop`` ends it early.

    Raises ``OSError`` where the warm parent is gone.
    """
    with contextlib.ExitStack() as stack:
        given = os.memfd_create("request")
        stack.callback(os.close, given)
        os.write(given, request)
        os.lseek(given, 0, os.SEEK_SET)
        pipes = {name: os.pipe() for name in ("result", "output", "status")}
        for read, _ in pipes.values():
            stack.callback(os.close, read)
            os.set_blocking(read, False)
        with contextlib.suppress(OSError):  # over the user's share: slower, no more
            fcntl.fcntl(pipes["result"][0], fcntl.F_SETPIPE_SZ, 1 << 20)
        try:
            start([given, *(write for _, write in pipes.values())])
        finally:
            for _, write in pipes.values():
                os.close(write)
        return _Watch({name: read for name, (read, _) in pipes.items()}, settings, stop).run()


class _Watch:
    def __init__(self, pipes: dict[str, int], settings: PlotSettings, stop: threading.Event) -> None:
        self._pipes = pipes
        self._settings = settings
        self._stop = stop
        self._messages = _Messages(4 * settings.most_pixels)
        self._status = bytearray()
        self._outcome = Outcome()
        self._used: dict[tuple[int, float], float] = {}  # process -> s of processor time, when last seen
        self._sent = 0  # figures
        self._since = 0.0  # when the stage began: setup and answer have the deadline each

    def run(self) -> Outcome:
        started = looked = self._since = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for name, pipe in self._pipes.items():
                selector.register(pipe, selectors.EVENT_READ, name)
            while "status" in (key.data for key in selector.get_map().values()):
                for key, _ in selector.select(_LOOK_S):
                    if not self._read(key.data):
                        selector.unregister(key.fd)
                now = time.monotonic()
                if now - looked >= _LOOK_S:
                    looked = now
                    self._look(now - self._since)
        for name in ("result", "output"):  # all that wrote to them has ended, or does not matter any more
            for _ in range(1000):
                if not self._read(name):
                    break
        self._outcome.seconds = time.monotonic() - started
        self._read_status()
        return self._outcome

    def _read(self, name: str) -> bool:
        """Take what there is. Returns whether there may be more."""
        try:
            data = os.read(self._pipes[name], 1 << 20)
        except BlockingIOError:
            return False
        if name == "status":
            self._status += data
        elif name == "output":
            room = (self._settings.output_kb << 10) - len(self._outcome.output)
            self._outcome.output += data[: max(0, room)]
        elif self._outcome.killed != "junk":
            try:
                for message, payload in self._messages.feed(data):
                    self._take(message, payload)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                self._kill("junk")
        return bool(data)

    # Messages

    def _take(self, message: dict[str, Any], payload: bytearray) -> None:
        kind, outcome = message["kind"], self._outcome
        if kind in ("matplotlib", "plotly"):
            if outcome.stage != "code":
                raise ValueError("a figure before the code")
            self._take_figure(kind, message, payload)
        elif outcome.stage == "code":
            if kind != "end":
                raise ValueError("not of this stage")
            outcome.ended = True
            outcome.error = message if "type" in message else None
        elif kind in ("source", "setup", "code", "refused"):
            outcome.stage = kind
            self._since = time.monotonic()
            if kind == "source":
                outcome.source = message
            elif kind != "code":
                outcome.error = message
        else:
            raise ValueError("not a kind of message")

    def _take_figure(self, kind: str, message: dict[str, Any], payload: bytearray) -> None:
        outcome, number = self._outcome, message["figure"]
        self._sent += 1
        if self._sent > 2 * MOST_SENT:
            raise ValueError("more figures than are ever sent")
        if type(number) is not int or not 0 < number < 100_000:
            raise ValueError("not a figure's number")
        outcome.figures.add((kind, number))
        if kind == "plotly":
            if len(payload) > MOST_BYTES:
                raise ValueError("too large a figure")
            drawn = Drawn(number, plotly=bytes(payload))
            outcome.plotly = [*(one for one in outcome.plotly if one.number != number), drawn][-_KEPT:]
            return
        width, height, facts = message["width"], message["height"], message["facts"]
        fits = (
            isinstance(width, int)
            and isinstance(height, int)
            and 0 < width <= MOST_SIDE
            and 0 < height <= MOST_SIDE
        )
        if not fits or len(payload) != 4 * width * height or not isinstance(facts, dict | None):
            raise ValueError("not a picture")
        drawn = Drawn(number, facts, from_pixels(payload, width, height), scaled=bool(message["scaled"]))
        if not drawn.blank or outcome.matplotlib is None or outcome.matplotlib.blank:
            outcome.matplotlib = drawn

    # Processes

    @property
    def _pid(self) -> int | None:
        first, line, _ = self._status.partition(b"\n")
        return int(first) if line else None

    def _look(self, seconds: float) -> None:
        """What the task uses, and whether that is too much."""
        pid, outcome, settings = self._pid, self._outcome, self._settings
        if pid is None:
            return
        if outcome.killed:
            self._kill(outcome.killed)
            return
        found = family(pid)
        self._used.update({(one.pid, one.started): one.cpu_s for one in found})
        outcome.cpu_s = sum(self._used.values())
        resident = sum(one.rss_mb for one in found)
        if resident > settings.memory_mb:  # what processes share is counted once for each in this sum
            resident = sum(_proportional(one.pid, one.rss_mb) for one in found)
        outcome.peak_mb = max(outcome.peak_mb, resident)
        if self._stop.is_set():
            self._kill("stopped")
        elif resident > settings.memory_mb:
            self._kill("memory")
        elif outcome.cpu_s > settings.cpu_s:
            self._kill("cpu")
        elif seconds > settings.deadline_s:
            ran, waited = _scheduled(pid)
            own = max(0.0, outcome.cpu_s - ran)  # it may have waited for what it has started itself
            self._kill("load" if waited - own > seconds / 2 else "wall")

    def _kill(self, why: Killed) -> None:
        """End the task: with its first process the kernel ends all of its namespace."""
        self._outcome.killed = self._outcome.killed or why
        if self._pid is not None:
            for end in (os.kill, os.killpg):  # the group is what there is where nothing is isolated
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    end(self._pid, signal.SIGKILL)

    def _read_status(self) -> None:
        _, _, text = self._status.partition(b"\n")
        if text:
            status = json.loads(text)
            self._outcome.code = status["code"]
            self._outcome.cpu_s = status["cpu_s"]


class _Messages:
    """Bytes → messages. Raises ``ValueError`` where they are not what ``inside.tell`` sends."""

    def __init__(self, largest: int) -> None:
        self._largest = max(largest, MOST_BYTES)
        self._buffer = bytearray()
        self._header: dict[str, Any] | None = None

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytearray]]:
        self._buffer += data
        while True:
            if self._header is None and not self._read_header():
                return
            assert self._header is not None
            size = self._header["bytes"]
            if len(self._buffer) < size:
                return
            message, self._header = self._header, None
            yield message, self._cut(size)

    def _cut(self, size: int) -> bytearray:
        """Take as many bytes from the buffer's beginning; what is copied is the shorter part."""
        if 2 * size < len(self._buffer):
            payload = self._buffer[:size]
            del self._buffer[:size]
        else:
            payload, self._buffer = self._buffer, self._buffer[size:]
            del payload[size:]
        return payload

    def _read_header(self) -> bool:
        if len(self._buffer) < 4:
            return False
        (size,) = struct.unpack("!I", self._buffer[:4])
        if size > _HEADER:
            raise ValueError("too long a message")
        if len(self._buffer) < 4 + size:
            return False
        header = json.loads(bytes(self._buffer[4 : 4 + size]))
        del self._buffer[: 4 + size]
        if not isinstance(header, dict) or not isinstance(header.get("bytes"), int):
            raise ValueError("not a message")
        if not 0 <= header["bytes"] <= self._largest:
            raise ValueError("too large a message")
        self._header = header
        return True


def _proportional(pid: int, resident_mb: float) -> float:
    """MB of a process, with shared memory divided among those that share it; else ``resident_mb``."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        return int(text.partition("\nPss:")[2].split()[0]) / 1024
    return resident_mb


def _scheduled(pid: int) -> tuple[float, float]:
    """How long the first thread of a process has run, and was ready to run and not let, in seconds."""
    with contextlib.suppress(OSError, ValueError):
        ran, waited, _ = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()
        return int(ran) / 1e9, int(waited) / 1e9
    return 0.0, 0.0
