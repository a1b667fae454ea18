"""The bench's own instruments: what they say has to be so, whatever the machine is doing meanwhile."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

import pytest
from PIL import Image, ImageFile

from tests.performance.bench import Variant, against, at_least, at_most, interleaved
from tests.performance.corpus import PAGES, many, pages
from tests.performance.meter import BenchError, measure
from tests.performance.pictures import PictureTime
from tests.performance.rendering import trust
from tests.performance.table import text

linux = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux's /proc")

_BURN = "import time\nwhile time.process_time() < {seconds}: pass\n"


def _python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@linux
def test_cpu_of_a_child_that_has_ended_is_counted() -> None:
    child = _BURN.format(seconds=0.5)
    program = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}], check=True)"
    cost = measure(_python(program), memory=False).cost
    assert 0.5 <= cost.cpu_s < 1.5
    assert cost.left_behind == 0


@linux
def test_cpu_of_an_orphan_that_outlives_the_command_is_counted() -> None:
    """As a browser's processes do whose first process was killed."""
    orphan = _BURN.format(seconds=0.5)
    parent = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {orphan!r}])"
    program = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {parent!r}], check=True)"
    cost = measure(_python(program), memory=False).cost
    assert cost.left_behind == 1
    assert 0.5 <= cost.cpu_s < 1.5


@linux
def test_memory_of_a_child_is_counted_and_shared_memory_only_once() -> None:
    grown = "held = bytearray(100_000_000)\nheld[::1024] = b'x' * len(held[::1024])\n"
    # The second process shares the first one's 100 MB: resident sizes would add up to 200.
    program = f"import os, time\n{grown}pid = os.fork()\ntime.sleep(2)\nif pid: os.waitpid(pid, 0)"
    peak = measure(_python(program)).cost.peak_mb
    assert peak is not None
    assert 95 < peak < 160


@linux
def test_a_command_that_takes_too_long_leaves_nothing_behind(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    program = (
        "import os, time\nif os.fork(): time.sleep(60)\n"
        f"os.setsid()\nopen({str(told)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    )
    with pytest.raises(BenchError, match="took over 3 s"):
        measure(_python(program), timeout_s=3)
    state = Path(f"/proc/{told.read_text()}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_command_that_fails_is_a_failure_of_the_bench() -> None:
    with pytest.raises(BenchError, match="no figure"):
        measure(_python("raise SystemExit('no figure')"), memory=False)


def test_pages_are_the_same_every_time_and_need_nothing_from_anywhere() -> None:
    first = pages.__wrapped__(20)
    assert first == pages.__wrapped__(20)
    assert len({page.document for page in first}) == 20
    for page in first:
        assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page.document)


def test_every_hundred_of_many_pages_is_the_same_mixture() -> None:
    made = many(2 * PAGES + 3)
    assert len({page.document for page in made}) == len({page.case.id for page in made}) == len(made)
    kinds = [[page.document.partition("<!-- ")[0] for page in made[at : at + PAGES]] for at in (0, PAGES)]
    assert kinds[0] == kinds[1]


def test_runs_are_interleaved() -> None:
    order: list[str] = []

    def variant(name: str, repeats: int) -> Variant:
        def run() -> dict[str, int]:
            order.append(name)
            return {"at": len(order)}

        return Variant(name=name, repeats=repeats, run=run)

    samples = interleaved([variant("a", 3), variant("b", 2), variant("c", 1)])
    assert order == ["a", "b", "c", "a", "b", "a"]
    assert [sample["at"] for sample in samples["b"]] == [2, 5]


def test_a_ratio_is_of_runs_of_the_same_round() -> None:
    """The machine was three times as slow in the second round: that is not our doing."""
    row = against("ours", (3.0, 1.0, 3.2), (2.0, 0.667, 2.0), "pages/s", "≥ 1.2", lambda ratio: ratio >= 1.2)
    assert row.ratio == pytest.approx(1.5, abs=0.01)
    assert row.met
    assert not at_most("CPU", (0.5, 0.7, 0.6), 0.55, "s").met
    assert at_least("rate", (0.5, 1.7, 1.6), 1.0, "s").met


def test_ratios_are_not_trusted_where_the_references_land_elsewhere() -> None:
    known = {"R1": [{"rate": 1.3}], "R2": [{"rate": 3.0}]}
    assert trust(known) == ""
    said = trust({**known, "R2": [{"rate": 0.9}, {"rate": 1.0}, {"rate": 3.0}]})
    assert "not to be trusted: R2 landed at 1.00 pages/s where 2.3 to 3.5 is known" in said


def test_time_in_pictures_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in ((ImageFile.ImageFile, "load"), (Image.Image, "save")):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # put back afterwards
    spent = PictureTime()
    began = time.thread_time()
    buffer = io.BytesIO()
    Image.effect_noise((900, 900), 60).save(buffer, "PNG", compress_level=9)
    Image.open(io.BytesIO(buffer.getvalue())).convert("RGB")
    assert 0.5 * (time.thread_time() - began) < spent.seconds <= time.thread_time() - began
    before = spent.seconds
    sum(range(300_000))
    assert spent.seconds == before


def test_the_table_says_what_was_not_met() -> None:
    shown = text([at_most("memory", (2500.0, 2100.0), 2000, "MB")], ["A note."])
    line = shown.splitlines()[1]
    assert line.split() == ["memory", "≤", "2000", "MB", "2300", "MB", "2100", "to", "2500", "1.15", "NO"]
    assert shown.endswith("\nA note.\n")
