"""Completions and replies of every hostile kind, and processes that are ended in the middle of a batch."""

from __future__ import annotations

import asyncio
import json
import math
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from opendesign.answering import controls
from opendesign.errors import REASONS
from opendesign.rendering.browser import browsers
from opendesign.train import AgenticReward
from opendesign.types import Case
from tests.end_to_end.support_runs import Place, left_after, place
from tests.hostile.pages import PAGES
from tests.hostile.test_replies import ROWS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not any(True for _ in browsers()), reason="there is no browser here"),
]

CASE = Case(id="c", category="website", prompt="A page.")
GOOD = controls.document("template", CASE)


def _is_score(value: float | None) -> bool:
    return value is None or math.isfinite(value)


async def _all_kinds(heavy: bool) -> None:
    """Every page and reply in one batch, gate or no gate, and a clean batch after it."""
    pages = [page for page in PAGES if heavy or not page.heavy]
    completions = [page.document for page in pages] + [row.text for row in ROWS]
    finish = [None] * len(pages) + [row.finish for row in ROWS]
    with AgenticReward(("execution", "computed"), gate=None, deadline_s=120) as reward:
        found = await reward.evaluate(["A page."] * len(completions), completions, finish_reason=finish)
        assert len(found) == len(completions)
        named = {page.name: one for page, one in zip(pages, found[: len(pages)], strict=True)}
        for name, one in named.items():
            assert all(map(_is_score, one.channels.values())), name
            assert (one.total is None) == any(value is None for value in one.channels.values()), name
        for page in pages:
            one = named[page.name]
            reasons = {failure.reason for failure in one.failures.values()}
            if page.reason is None or REASONS[page.reason] != "model":
                continue
            if reasons != {"deadline_under_load"}:  # nobody's fault on a machine that is very busy
                assert dict(one.channels) == {"execution": -1, "static": 0}, page.name
        for row, one in zip(ROWS, found[len(pages) :], strict=True):
            assert one.total is not None, row.name
            assert one.gated == (row.reason is not None), row.name
        clean = await reward.acall(["A page."] * 2, [GOOD, ""])
    assert clean[0] is not None
    assert clean[0] > 0.5
    assert clean[1] == -0.1


async def test_hostile_pages_and_replies_give_scores_or_none() -> None:
    await _all_kinds(heavy=False)


@pytest.mark.long
async def test_the_heavy_ones_too() -> None:
    await _all_kinds(heavy=True)


# Processes


@pytest.fixture
def here(tmp_path: Path) -> object:
    with place(tmp_path) as made:
        yield made


def _rows(folder: Path, count: int) -> Path:
    file = folder / "rows.jsonl"
    rows = [{"prompt": "A page.", "completion": f"{GOOD}<!-- {number} -->"} for number in range(count)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def _nothing_is_left(here: Place) -> None:
    assert left_after(10, here.processes) == []
    assert here.left() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ended_in_mid_batch_it_leaves_nothing_and_the_next_goes_on(here: Place, number: int) -> None:
    rows, cache = _rows(here.folder, 12), here.folder / "verdicts"
    arguments = ("train", "score", str(rows), "--judges", "execution,computed", "--cache", str(cache))
    running = here.start(*arguments, "--out", "out.jsonl")
    assert running.until(lambda: len(list(cache.glob("*/*.json"))) >= 15), running.stderr  # three are drawn
    running.process.send_signal(number)
    assert running.wait() == 130
    assert "Traceback" not in running.stderr
    _nothing_is_left(here)
    again = here.run(*arguments, "--out", "out.jsonl", "--json")
    assert again.process.returncode == 0, again.stderr
    summary = json.loads(again.stdout)
    assert (summary["rows"], summary["unscored"], summary["gated"]) == (12, 0, 0)
    assert summary["cached"] >= 3
    assert len((here.folder / "out.jsonl").read_text().splitlines()) == 12
    _nothing_is_left(here)


def test_a_script_that_never_closes_its_reward_leaves_nothing(here: Place) -> None:
    script = here.folder / "script.py"
    script.write_text(
        "from opendesign.train import AgenticReward\n"
        "from pathlib import Path\n"
        "reward = AgenticReward(('execution', 'computed'))\n"
        "print(reward(['A page.'], [Path('page.html').read_text()]))\n"
    )
    (here.folder / "page.html").write_text(GOOD)
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=here.folder,
        env=here.variables({"PYTHONPATH": str(Path(__file__).parents[2])}),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)[0] > 0.5
    _nothing_is_left(here)


async def test_a_batch_that_is_given_up_leaves_the_next_one_clean() -> None:
    completions = [f"{GOOD}<!-- {number} -->" for number in range(6)]
    with AgenticReward(("execution", "computed")) as reward:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reward.acall(["A page."] * 6, completions), 2.0)
        found = await reward.acall(["A page."] * 6, completions)
    assert all(one is not None and one > 0.5 for one in found)
