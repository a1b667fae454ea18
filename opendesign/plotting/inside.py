"""What happens in a task's own process: setup and answer's code are run, and what they draw is sent.

Messages go to the result pipe as a length (4 bytes), JSON, and as many bytes as it tells. Until "code" is
sent, nothing of the answer has run and the messages can be believed; then they are the word of a stranger.
"""

from __future__ import annotations

import contextlib
import json
import linecache
import os
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from opendesign.plotting import sources
from opendesign.plotting.capture import Capture

__all__ = ["ANSWER", "DATA", "run", "tell"]

DATA, SETUP, ANSWER = "data.csv", "setup.py", "answer.py"


def tell(result: int, message: dict[str, Any], payload: bytes | memoryview = b"") -> None:
    """Send one message. Blocks until the other side has taken it."""
    text = json.dumps({**message, "bytes": len(payload)}).encode()
    for part in (struct.pack("!I", len(text)), text, payload):
        view = memoryview(part)
        while view:
            view = view[os.write(result, view) :]


def run(request: int, result: int) -> None:
    """One task, from its request (JSON in a line, then the data) to the message "end"."""
    with os.fdopen(request, "rb") as pipe:
        task, data = json.loads(pipe.readline()), pipe.read()
    source = sources.look(task["code"], task["setup"])
    tell(result, {"kind": "source", **asdict(source)})
    if source.error:
        return
    program = _program()
    error = _guarded(lambda: Path(DATA).write_bytes(data)) or _execute(task["setup"], SETUP, program)
    if error:
        tell(result, {"kind": "setup", **error})
        return
    tell(result, {"kind": "code"})
    capture = Capture(lambda message, payload: tell(result, message, payload), task["most_pixels"])
    capture.install()
    error = _execute(task["code"], ANSWER, program) or _guarded(lambda: capture.finish(vars(program)))
    tell(result, {"kind": "end", "figures": capture.figures, **(error or {})})
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # the answer may have closed it
            stream.flush()


def _program() -> ModuleType:
    """The module in which setup and answer run, one after the other: to them it is the main program."""
    program = ModuleType("__main__")
    vars(program)["__file__"] = ANSWER
    sys.modules["__main__"] = program
    sys.path.insert(0, str(Path.cwd()))
    sys.argv = [ANSWER]
    return program


def _execute(text: str, name: str, program: ModuleType) -> dict[str, Any] | None:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return _guarded(lambda: exec(compile(text, name, "exec"), vars(program)))


def _guarded(work: Callable[[], object]) -> dict[str, Any] | None:
    """Do it. What it raised, as JSON; None where it came to its end, ``sys.exit()`` included."""
    try:
        work()
    except SystemExit as error:
        if error.code in (None, 0):
            return None
        return _described(error)
    except BaseException as error:
        described = _described(error)
        with contextlib.suppress(BaseException):  # the answer may have changed what prints, or closed it
            _print(error)
        return described
    return None


def _print(error: BaseException) -> None:
    """As Python shows it, without the frames of ours."""
    sys.stdout.flush()
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename not in (SETUP, ANSWER):
        trace = trace.tb_next
    traceback.print_exception(error.with_traceback(trace), file=sys.stderr)


def _described(error: BaseException) -> dict[str, Any]:
    line = None
    with contextlib.suppress(BaseException):
        for frame, number in traceback.walk_tb(error.__traceback__):
            line = number if frame.f_code.co_filename in (SETUP, ANSWER) else line
    return {
        "type": _text(lambda: type(error).__name__) or "An error without a name",
        "message": _text(lambda: str(error)),
        "line": line,
        "missing": _text(lambda: error.name if isinstance(error, ModuleNotFoundError) else ""),
    }


def _text(give: Callable[[], Any]) -> str:
    """What an error of the answer's own making tells of itself; nothing where that raises or is no text."""
    with contextlib.suppress(BaseException):
        return str.__getitem__(give(), slice(2000))
    return ""
