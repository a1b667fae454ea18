"""Plotting code that means harm, how each piece must end, and a run of all of them.

``python -m tests.hostile.plot_code OUT.json`` runs them as whoever calls it. Code names the world around it
as ``WORLD["home"]`` and the like, see ``_world``; what it gets hold of it prints, after "GOT".
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

import opendesign
from opendesign.plotting import Plot, Plotter
from opendesign.types import Blob, PlotSettings, PlotTask

SECRET = "sk-7f3a-do-not-print-me"
#: Little processor time, much patience: the machine may be busy with other things.
SETTINGS = PlotSettings(
    cpu_s=2, deadline_s=100, memory_mb=1000, disk_mb=16, most_pixels=4_000_000, output_kb=64
)
DATA = b"a,b\n1,2\n2,4\n3,9\n"
SETUP = "import pandas as pd\ndf = pd.read_csv('data.csv')\n"
GOOD = """
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot(df.a, df.b, label="b")
ax.set_title("Squares, nearly")
ax.legend()
plt.show()
"""

Ended = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """``reasons``: how it may end, None for a plot as if nothing were. ``draws``: ``GOOD`` follows."""

    name: str
    code: str
    reasons: tuple[str | None, ...] = (None,)
    draws: bool = True
    check: Callable[[Ended], bool] = lambda ended: True


def _nothing_got(ended: Ended) -> bool:
    return "TRIED" in ended["output"] and "GOT" not in ended["output"]


def _only_the_way_to_python(ended: Ended) -> bool:
    """Folders that Python lies in are there, with nothing in them but the next one."""
    got = [line.split() for line in ended["output"].splitlines() if line.startswith("GOT")]
    ways = {str(Path(prefix).resolve()) + "/" for prefix in (sys.prefix, sys.base_prefix)}
    return all(any(way.startswith(f"{one[1]}/{one[2][1:-1]}/") for way in ways) for one in got)


_TRY = """
def attempt(name, work):
    try:
        found = work()
    except BaseException as error:
        print("TRIED", name, type(error).__name__, error)
    else:
        print("GOT", name, repr(found)[:200])
"""

CODE = (
    Hostile(
        name="reads the environment",
        code="""
import os
print("TRIED", dict(os.environ), os.environb)
for pid in ("self", "1", WORLD["pid"]):
    for file in ("environ", "cmdline", "maps"):
        attempt(file, lambda: open(f"/proc/{pid}/{file}", "rb").read())
""",
        check=lambda ended: _nothing_got(ended) and SECRET not in ended["output"],
    ),
    Hostile(
        name="reads the home folder and the checkout",
        code="""
import os
for path in (WORLD["home"], WORLD["checkout"], "/root", "/home", "/proc", "/sys", "/var", "/run", "/mnt"):
    attempt(path, lambda: os.listdir(path)[0])
for path in (WORLD["secret"], "/etc/shadow", "/etc/hostname", "/dev/mem", "/dev/vda", "/dev/sda"):
    attempt(path, lambda: open(path, "rb").read(99))
attempt("this package", lambda: os.listdir(WORLD["package"])[0])
""",
        check=lambda ended: _only_the_way_to_python(ended) and SECRET not in ended["output"],
    ),
    Hostile(
        name="reads its parent's memory",
        code="""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    result = libc.syscall(*map(ctypes.c_long, arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result
target = ctypes.create_string_buffer(64)
vector = (ctypes.c_void_p * 2)(ctypes.addressof(target), 64)
for pid in (os.getppid(), int(WORLD["pid"]), 1):
    attempt("memory", lambda: open(f"/proc/{pid}/mem", "rb").read(1))
    attempt("ptrace", lambda: call(101, 16, pid, 0, 0))
    attempt("read", lambda: call(310, pid, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0))
""",
        check=_nothing_got,
    ),
    Hostile(
        name="writes outside",
        code="""
import os, pathlib, matplotlib
places = ["/", "/etc", "/usr/lib", "/var/tmp", "/dev", os.path.dirname(matplotlib.__file__)]
for place in [*places, WORLD["home"], WORLD["checkout"], WORLD["package"]]:
    attempt(place, lambda: pathlib.Path(place, "was-here").write_text("x"))
attempt("module", lambda: open(matplotlib.__file__, "a"))
""",
        check=lambda ended: _nothing_got(ended) and not ended["marks"],
    ),
    Hostile(
        name="opens sockets",
        code="""
import socket, urllib.request
port = int(WORLD["port"])
attempt("tcp", lambda: socket.create_connection(("127.0.0.1", port), 2))
attempt("http", lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)))
attempt("unix", lambda: socket.socket(socket.AF_UNIX).connect(WORLD["unix"]))
attempt("raw", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
import pandas as pd
attempt("pandas", lambda: pd.read_csv(f"http://127.0.0.1:{port}/data.csv"))
for fd in range(3, 64):
    try:
        socket.socket(fileno=fd).send(b"x")
        print("GOT", fd)
    except OSError:
        pass
""",
        check=_nothing_got,
    ),
    Hostile(
        name="takes rights back",
        code="""
import ctypes, mmap, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    kinds = (ctypes.c_char_p if isinstance(one, bytes) else ctypes.c_long for one in arguments)
    result = libc.syscall(*(kind(one) for kind, one in zip(kinds, arguments)))
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result
attempt("user namespace", lambda: call(272, 0x10000000))
attempt("clone", lambda: call(56, 0x10000000 | 17, 0, 0, 0, 0))
attempt("mount", lambda: call(165, b"tmpfs", b"/plot", b"tmpfs", 0, 0))
attempt("umount", lambda: call(166, b"/plot", 2))
attempt("chroot", lambda: os.chroot("/plot"))
attempt("root", lambda: os.setuid(0))
attempt("memory file", lambda: os.memfd_create("x"))
attempt("shared memory", lambda: mmap.mmap(-1, 4096))
attempt("segment", lambda: call(29, 0, 4096, 0o1777))
attempt("semaphores", lambda: call(64, 0, 32_000, 0o1777))
attempt("messages", lambda: call(68, 0, 0o1777))
attempt("pair of sockets", socket.socketpair)
attempt("idle", lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))
attempt("idle by attributes", lambda: call(314, 0, struct.pack("IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0), 0))
attempt("parameters", lambda: os.sched_setparam(0, os.sched_param(0)))
attempt("one core", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, 9))
attempt("ring", lambda: call(425, 8, 0))
attempt("survive the parent", lambda: call(157, 1, 0, 0, 0, 0))
attempt("x32", lambda: print(os.fork() or call(0x40000000 + 39)))
""",
        check=lambda ended: (
            [line for line in ended["output"].splitlines() if line.startswith("GOT")] == ["GOT x32 None"]
        ),  # the child is killed, the parent prints its number
    ),
    Hostile(
        name="forks without end",
        code="""
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
        reasons=("timeout", "exception"),
        draws=False,
    ),
    Hostile(
        name="allocates without end",
        code="hold = []\nwhile True:\n    hold.append(bytearray(10_000_000))\n",
        reasons=("exception",),
        draws=False,
        check=lambda ended: "emory" in ended["detail"],
    ),
    Hostile(
        name="allocates in many children",
        code="""
import os, time
for _ in range(12):
    if not os.fork():
        hold = bytearray(os.urandom(1000)) * 150_000
        time.sleep(60)
time.sleep(60)
""",
        reasons=("exception",),
        draws=False,
        check=lambda ended: "memory" in ended["detail"],
    ),
    Hostile(name="loops", code="while True:\n    pass\n", reasons=("timeout",), draws=False),
    Hostile(
        name="loops and catches everything",
        code="""
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
""",
        reasons=("timeout",),
        draws=False,
    ),
    Hostile(
        name="prints a gigabyte",
        code="import sys\nfor _ in range(1000):\n    sys.stdout.write('x' * 1_000_000)\n",
        check=lambda ended: ended["printed"] <= SETTINGS.output_kb * 1024,
    ),
    Hostile(
        name="writes a gigabyte",
        code="""
for number in range(64):
    with open(f"big{number}", "wb") as file:
        for _ in range(16):
            file.write(bytes(1_000_000))
""",
        reasons=("exception",),
        draws=False,
        check=lambda ended: "No space" in ended["detail"],
    ),
    Hostile(
        name="makes files without end",
        code="for number in range(10**6):\n    open(f'n{number}', 'w').close()\n",
        reasons=("exception",),
        draws=False,
        check=lambda ended: "No space" in ended["detail"],
    ),
    Hostile(
        name="kills its parent",
        code="""
import os, signal
for pid in (os.getppid(), int(WORLD["pid"]), 0, -1):
    for number in (signal.SIGTERM, signal.SIGKILL):
        attempt(f"kill {pid}", lambda: os.kill(pid, number))
""",
        check=lambda ended: f"TRIED kill {WORLD['pid']}" in ended["output"],
    ),
    Hostile(
        name="ends its own process",
        code="import os\nos._exit(0)\n",
        reasons=("no_plot",),
        draws=False,
    ),
    Hostile(
        name="ends its own process and says 3",
        code="import os\nos._exit(3)\n",
        reasons=("exception",),
        draws=False,
        check=lambda ended: "exit code 3" in ended["detail"],
    ),
    Hostile(
        name="crashes the interpreter",
        code="import ctypes\nctypes.string_at(0)\n",
        reasons=("exception",),
        draws=False,
        check=lambda ended: "SIGSEGV" in ended["detail"],
    ),
    Hostile(
        name="changes limits",
        code="""
import resource
for name in ("AS", "CPU", "FSIZE", "NPROC", "NOFILE", "CORE"):
    kind = getattr(resource, f"RLIMIT_{name}")
    attempt(name, lambda: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
""",
        check=_nothing_got,
    ),
    Hostile(
        name="imports a module it placed itself",
        code="""
import importlib, sys
for name in ("colorsys", "pandas", "matplotlib"):
    open(f"{name}.py", "w").write("print('MINE')")
sys.modules.pop("colorsys", None)
import colorsys
""",
        check=lambda ended: "MINE" in ended["output"],
    ),
    Hostile(
        name="deletes the data",
        code="import os, shutil\nos.remove('data.csv')\nshutil.rmtree(os.getcwd(), ignore_errors=True)\n",
    ),
    Hostile(
        name="leaves threads and children behind",
        code="""
import os, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
for _ in range(3):
    if not os.fork():
        os.setsid()
        if not os.fork():
            time.sleep(600)
        os._exit(0)
""",
    ),
    Hostile(
        name="changes the capture",
        code="""
import matplotlib.backend_bases, matplotlib.figure, matplotlib._pylab_helpers as helpers
matplotlib.backend_bases.FigureCanvasBase.print_figure = lambda *a, **k: None
matplotlib.figure.Figure.savefig = lambda *a, **k: None
helpers.Gcf.destroy = helpers.Gcf.destroy_all = None
import opendesign.plotting.capture as capture
capture.reading.read = lambda figure: {"axes": [{"marks": 5, "series": "none"}], "loose": 0}
""",
    ),
    Hostile(
        name="changes what the capture needs",
        code="import os\nos.write = lambda file, data: len(data)\n",
        reasons=("no_plot",),
    ),
    Hostile(
        name="writes a picture that is a bomb",
        code="""
import json, os, struct
head = json.dumps({"kind": "matplotlib", "figure": 1, "width": 60000, "height": 60000, "scaled": False,
                   "facts": None, "bytes": 60000 * 60000 * 4}).encode()
os.write(4, struct.pack("!I", len(head)) + head + bytes(10_000))
""",
        reasons=("exception",),
        draws=False,
        check=lambda ended: "channel" in ended["detail"],
    ),
    Hostile(
        name="draws a picture that is a bomb",
        code="import matplotlib.pyplot as plt\n"
        "plt.figure(figsize=(100, 100), dpi=300).add_subplot().plot([1, 2])\nplt.show()\n",
        draws=False,
        check=lambda ended: 0 < ended["width"] * ended["height"] <= SETTINGS.most_pixels,
    ),
    Hostile(
        name="tells messages of its own",
        code="""
import json, os, struct
for message in ({"kind": "setup", "type": "X", "message": "the benchmark's fault", "bytes": 0},
                {"kind": "refused", "error": "the machine's fault", "bytes": 0}):
    head = json.dumps(message).encode()
    os.write(4, struct.pack("!I", len(head)) + head)
""",
        reasons=("exception",),
        draws=False,
    ),
    Hostile(
        name="tells a message that never ends",
        code="import os, struct\nos.write(4, struct.pack('!I', 4000))\nos._exit(0)\n",
        reasons=("no_plot",),
        draws=False,
    ),
    Hostile(name="prints a fake score", code="print({'score': 100})", reasons=("no_plot",), draws=False),
    Hostile(
        name="is nested too deeply",
        code="x = " + "(" * 5_000 + ")" * 5_000 + "\n",
        reasons=("syntax_error",),
        draws=False,
    ),
    Hostile(
        name="sends picture after picture",
        code="""
import json, os, struct
head = json.dumps({"kind": "plotly", "figure": 1, "bytes": 2}).encode()
while True:
    os.write(4, struct.pack("!I", len(head)) + head + b"{}")
""",
        reasons=("exception",),
        draws=False,
        check=lambda ended: "channel" in ended["detail"],
    ),
    Hostile(
        name="has an error that raises",
        code="class E(Exception):\n    def __str__(self):\n        raise self\nraise E\n",
        reasons=("exception",),
        draws=False,
    ),
)

WORLD: dict[str, str] = {}  # what code is told of the machine, while it runs


@contextlib.asynccontextmanager
async def _world(folder: Path) -> AsyncIterator[list[object]]:
    """A home with a secret in it, in the environment as well, and canaries with whoever came to them."""
    visits: list[object] = []

    def visit(_: Any, writer: asyncio.StreamWriter) -> None:
        visits.append("a visit")
        writer.close()

    (folder / "secret").write_text(SECRET)
    os.environ["OPENAI_API_KEY"] = SECRET
    server = await asyncio.start_server(visit, "127.0.0.1", 0)
    local = await asyncio.start_unix_server(visit, folder / "socket")
    port = server.sockets[0].getsockname()[1]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", port))
        datagrams.setblocking(False)
        package = Path(opendesign.__file__).parent
        WORLD.update(home=str(folder), secret=str(folder / "secret"), unix=str(folder / "socket"))
        WORLD.update(pid=str(os.getpid()), port=str(port), package=str(package), checkout=str(package.parent))
        async with server, local:
            yield visits
        with contextlib.suppress(BlockingIOError):
            visits.append(datagrams.recv(10))
    del os.environ["OPENAI_API_KEY"]


def task(folder: Path, **changes: Any) -> PlotTask:
    """A task with ``DATA``, which it writes into ``folder``."""
    file = folder / "data.csv"
    file.write_bytes(DATA)
    blob = Blob(digest=hashlib.sha256(DATA).hexdigest(), suffix="csv", root=folder, at=file)
    given = {"library": "matplotlib", "chart": "line", "description": "", "style": "", "setup": SETUP}
    return PlotTask(**{**given, "reference": "", "data": blob, "truth": blob, **changes})


async def run_all() -> dict[str, Ended]:
    """How each of ``CODE`` ends, by name. Two at a time, so that one can harm another."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case = task(folder)
        async with _world(folder) as visits, Plotter(SETTINGS, at_once=2) as plotter:
            good = await plotter.plot(GOOD, case)
            assert good.failure is None, good

            async def ending(hostile: Hostile) -> Ended:
                code = f"WORLD = {WORLD!r}\n{_TRY}\n{hostile.code}\n{GOOD if hostile.draws else ''}"
                plot = await plotter.plot(code, case)
                after = await plotter.plot(GOOD, case)
                return _ended(plot, after, good) | {"marks": _marks()}

            found = await asyncio.gather(*map(ending, CODE))
            left = psutil.Process().children(recursive=True)
            rest = {"visits": len(visits), "processes": len(left), "isolation": plotter.isolation}
        rest["after"] = len(psutil.Process().children(recursive=True))
    return {**dict(zip((one.name for one in CODE), found, strict=True)), "": rest}


def _marks() -> list[str]:
    """Where something was written."""
    places = (WORLD["checkout"], WORLD["home"], WORLD["package"])
    return [place for place in places if Path(place, "was-here").exists()]


def _ended(plot: Plot, after: Plot, good: Plot) -> Ended:
    return {
        "reason": plot.failure and plot.failure.reason,
        "detail": plot.failure.detail if plot.failure else "",
        "output": plot.output[:20_000],
        "printed": len(plot.output),
        "width": plot.width,
        "height": plot.height,
        "same": (after.picture, after.facts, after.failure) == (good.picture, good.facts, None),
        "varies": dict(plot.varies),
    }


if __name__ == "__main__":
    result = asyncio.run(run_all())
    Path(sys.argv[1]).write_text(json.dumps({"ended": result, "world": WORLD}))
