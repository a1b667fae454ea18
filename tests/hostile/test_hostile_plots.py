"""All hostile code, as this user and as an ordinary one: each ends as it must, the next plot is as ever."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import pytest

from opendesign.plotting.parent import isolation_here
from tests.hostile import plot_code
from tests.hostile.plot_code import CODE, WORLD, Hostile

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not isolation_here()[0], reason="code cannot be isolated on this machine")


def _as_nobody(folder: Path) -> list[str]:
    """A command that runs what follows as 'nobody', who may enter the folders of this Python there."""
    needed = {Path(sys.prefix), Path(sys.base_prefix), ROOT}
    closed = {parent for path in needed for parent in path.resolve().parents if not parent.stat().st_mode & 1}
    lines = ["set -e"]
    for number, parent in enumerate(closed):
        inside = [path.resolve() for path in needed if parent in path.resolve().parents]
        stash = [folder / f"{number}-{at}" for at in range(len(inside))]
        for path, place in zip(inside, stash, strict=True):
            lines += [f"mkdir {place}", f"mount --bind {shlex.quote(str(path))} {place}"]
        lines += [f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(parent))}"]
        for path, place in zip(inside, stash, strict=True):
            lines += [f"mkdir -p {shlex.quote(str(path))}", f"mount --bind {place} {shlex.quote(str(path))}"]
    lines.append('exec setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"')
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join(lines), "sh"]


@pytest.fixture(scope="module", params=["this user", "an ordinary user"])
def ended(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What became of each, run in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        command = [sys.executable, "-m", plot_code.__name__, str(folder / "ended.json")]
        if request.param == "an ordinary user":
            if os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("unshare"):
                pytest.skip("this is an ordinary user already, or util-linux is missing")
            command = [*_as_nobody(folder), *command]
        home = {"HOME": str(folder), "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **home}, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr[-3000:]
        told = json.loads((folder / "ended.json").read_text())
    WORLD.update(told["world"])
    ended: dict[str, Any] = told["ended"]
    return ended


@pytest.mark.parametrize("hostile", CODE, ids=lambda hostile: hostile.name)
def test_it_ends_as_it_must_and_the_next_is_as_ever(hostile: Hostile, ended: dict[str, Any]) -> None:
    end = ended[hostile.name]
    assert end["reason"] in hostile.reasons, end
    assert hostile.check(end), end
    assert end["same"], "the plot after it is not what it was before"


def test_nothing_got_out_and_nothing_is_left(ended: dict[str, Any]) -> None:
    assert ended[""]["visits"] == 0, "a canary was reached"
    assert ended[""]["processes"] == 1, "only the warm parent is left while tasks are done"
    assert ended[""]["after"] == 0
    assert "seccomp" in ended[""]["isolation"]


def test_all_kinds_are_there() -> None:
    assert len(CODE) >= 25
    assert len({one.name for one in CODE}) == len(CODE)


_LOOK = """
import asyncio, json, sys
from pathlib import Path
from opendesign.plotting import Plotter
from opendesign.types import PlotSettings
from tests.hostile.plot_code import task
places = json.loads(sys.argv[2])
code = f"from pathlib import Path\\nprint([one for one in {places} if Path(one, 'truth').exists()])"
async def main():
    async with Plotter(PlotSettings()) as plotter:
        return await plotter.plot(code, task(Path(sys.argv[1])))
print([one for one in places if Path(one, 'truth').exists()] == places, asyncio.run(main()).output)
"""


@pytest.mark.parametrize(
    "case", ["installed", "editable, with its content copied", "environment in a checkout"]
)
def test_wherever_the_package_lies_its_ground_truths_are_hidden(tmp_path: Path, case: str) -> None:
    """A copy of the package and the tests is run; ``places`` hold a file that stands for truths."""
    packages, checkout = tmp_path / "lib" / "site-packages", tmp_path / "checkout"
    content = packages / "opendesign" / "content" / "benchmarks"
    home = packages if case == "installed" else checkout
    no_caches = shutil.ignore_patterns("__pycache__")
    for name in ("opendesign", "tests/hostile"):
        shutil.copytree(ROOT / name, home / name, ignore=no_caches)
    python, places = sys.executable, [content]
    if case == "environment in a checkout":
        venv.create(checkout, symlinks=True)
        python, places = str(checkout / "bin" / "python"), [checkout / "benchmarks", checkout / "results"]
    for place in places:
        place.mkdir(parents=True)
        (place / "truth").write_text("100")
    packages.mkdir(parents=True, exist_ok=True)
    path = [str(home), str(packages), *(one for one in sys.path if Path(one).name == "site-packages")]
    done = subprocess.run(
        [python, "-c", _LOOK, str(tmp_path), json.dumps([str(place) for place in places])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "True []", "there outside, and not inside"
