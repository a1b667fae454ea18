"""The reward as a function: from any thread and loop, with duplicates, columns and a cache; no browser."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import multiprocessing
import os
import tempfile
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from opendesign.answering.budget import Budget
from opendesign.answering.litellm_model import load_litellm
from opendesign.errors import StoreError, UsageError
from opendesign.testing import Fault, ScriptedServer
from opendesign.train import AgenticReward, Evaluation
from opendesign.train.channels import Found
from opendesign.train.evaluating import Evaluator
from opendesign.train.rows import Row, rows_of
from opendesign.types import Failure, Requirement
from tests.unit.litellm_support import KEY, model_at

GOOD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width"><title>Bees</title></head>'
    "<body><h1>Bees</h1></body></html>"
)
BAD = "<html><body><p>Bees</body></html>"
#: Only the source is read, so that no browser starts.
JUDGES = ("execution",)


@pytest.fixture
def reward() -> Iterator[AgenticReward]:
    with AgenticReward(JUDGES) as made:
        yield made


class Counting:
    """Counts evaluations under way and done, and lets a test hold or fail them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        self.ended = 0
        self.failing: set[str] = set()
        self.hold = False
        real = Evaluator.evaluate

        async def evaluate(evaluator: Evaluator, row: Row) -> Evaluation:
            self.texts.append(row.text)
            try:
                if self.hold:
                    await asyncio.Event().wait()
                found = await real(evaluator, row)
            finally:
                self.ended += 1
            if row.text in self.failing:
                failure = Failure(reason="provider_error", detail="It is down.")
                return Evaluation(channels={"execution": None}, total=None, failures={"execution": failure})
            return found

        monkeypatch.setattr(Evaluator, "evaluate", evaluate)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


def test_texts_and_conversations_give_the_same(reward: AgenticReward) -> None:
    said = [{"role": "assistant", "content": GOOD}]
    parts = [{"role": "assistant", "content": [{"type": "text", "text": GOOD}]}]
    fenced = f"Here it is:\n\n```html\n{GOOD}\n```"
    completions = [GOOD, said, parts, fenced, BAD, [{"role": "assistant", "content": BAD}]]
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Bees"}]
    assert reward(prompts=["Bees", asked] * 3, completions=completions) == [0.1] * 4 + [-0.1] * 2


async def test_it_works_where_a_loop_runs_already(reward: AgenticReward) -> None:
    assert reward(["Bees"], [GOOD]) == [0.1]
    assert await reward.acall(prompts=["Bees"], completions=[BAD]) == [-0.1]


def test_any_thread_and_any_loop_may_call_at_once(reward: AgenticReward) -> None:
    found: list[list[float | None]] = []

    def call(number: int) -> None:
        if number % 2:
            found.append(reward(["Bees"] * 2, [GOOD, BAD]))
        else:
            found.append(asyncio.run(reward.acall(["Bees"] * 2, [GOOD, BAD])))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[0.1, -0.1]] * 6


def test_equal_completions_are_evaluated_once(reward: AgenticReward, counting: Counting) -> None:
    found = asyncio.run(reward.evaluate(["Bees"] * 3 + ["Wasps"], [GOOD] * 3 + [GOOD]))
    assert len(counting.texts) == 2  # another prompt is another question
    assert [one.cached for one in found] == [False, True, True, False]
    assert [one.seconds for one in found[1:3]] == [0, 0]
    assert reward(["Bees"], [GOOD]) == [0.1]
    assert len(counting.texts) == 2


@pytest.mark.parametrize("at_once", [True, False])
async def test_channels_share_one_evaluation(
    reward: AgenticReward, counting: Counting, at_once: bool
) -> None:
    counting.failing = {BAD}
    (channel,) = reward.channels()
    assert channel.__name__ == "execution"
    assert asyncio.iscoroutinefunction(channel)
    batch: dict[str, Any] = {"prompts": ["Bees"] * 2, "completions": [GOOD, BAD], "trainer_state": object()}
    if at_once:
        both = await asyncio.gather(channel(**batch), reward.acall(**batch))
        assert both == [[1, None], [0.1, None]]
        assert sorted(counting.texts) == sorted([GOOD, BAD])
    else:
        assert await channel(**batch) == [1, None]
        assert await reward.acall(**batch) == [0.1, None]
        assert counting.texts == [GOOD, BAD]
        assert await channel(**batch) == [1, None]
        assert counting.texts == [GOOD, BAD, BAD]  # what failed is tried again in the next batch


def test_the_next_batch_tries_a_failed_judge_again(reward: AgenticReward, counting: Counting) -> None:
    counting.failing = {BAD}
    assert reward(["Bees"] * 2, [GOOD, BAD]) == [0.1, None]
    counting.failing = set()
    assert reward(["Bees"] * 2, [GOOD, BAD]) == [0.1, -0.1]


async def test_who_gives_up_leaves_no_work_behind(reward: AgenticReward, counting: Counting) -> None:
    counting.hold = True
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reward.acall(["Bees"], [GOOD]), 0.5)
    for _ in range(100):
        if counting.ended:
            break
        await asyncio.sleep(0.05)
    assert counting.ended == 1
    counting.hold = False
    assert await reward.acall(["Bees"], [GOOD]) == [0.1]


def test_closing_ends_what_is_under_way_and_it_can_be_used_again(
    reward: AgenticReward, counting: Counting
) -> None:
    counting.hold = True
    told: list[BaseException] = []

    def call() -> None:
        try:
            reward(["Bees"], [GOOD])
        except UsageError as error:
            told.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    while not counting.texts:
        thread.join(0.02)
    reward.close()
    thread.join()
    assert "was closed" in str(told[0])
    counting.hold = False
    assert reward(["Bees"], [GOOD]) == [0.1]


def test_a_forked_process_has_a_loop_of_its_own(reward: AgenticReward) -> None:
    assert reward(["Bees"], [GOOD]) == [0.1]
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of newer Pythons: there are threads
        child = os.fork()
    if child == 0:
        there.send(reward(["Bees"] * 2, [GOOD, BAD]))
        os._exit(0)
    assert here.poll(60)
    assert here.recv() == [0.1, -0.1]
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    "completion",
    [
        None,
        "",
        " \n",
        17,
        [],
        [{}],
        [{"role": "user", "content": GOOD}],
        [{"role": "assistant"}],
        {},
        b"x",
        "\ud800",
    ],
)
def test_what_is_no_page_is_at_the_floor(reward: AgenticReward, completion: Any) -> None:
    assert reward([None], [completion]) == [-0.1]


@pytest.mark.parametrize(
    "text",
    [
        "<!doctype html>",
        "<!doctype html><p></p>",
        "<!doctype html><h1>A real page</h1><p>about bees</p>",
        "<!doctype html><!-- <html><head><body> --><h1>Bees</h1>",
    ],
)
def test_what_leaves_out_the_tags_that_rules_look_at_does_not_pass(reward: AgenticReward, text: str) -> None:
    """Shorter than any page, and no rule of HTML is broken."""
    assert reward(["Bees"], [text]) == [-0.1]


def test_a_megabyte_is_read(reward: AgenticReward) -> None:
    page = GOOD.replace("</body>", f"<p>{'word ' * 200_000}</p></body>")
    assert reward(["Bees"] * 2, [page, "x" * 1_000_000]) == [0.1, -0.1]


@pytest.mark.parametrize(
    "columns",
    [
        {"category": ["website"]},
        {"category": "website"},
        {"category": [None, "no such category"], "case_id": [None, 7]},
        {"requirements": [[{"kind": "nonsense"}], 4]},
        {"requirements": ["[", '[{"kind": "content", "text": "A title."}]']},
        {"case_id": None, "finish_reason": [3, ["x"]]},
        {"completion_ids": [[1], [2]], "self_": 1, "log_metric": print},
    ],
)
def test_odd_columns_count_as_absent(reward: AgenticReward, columns: dict[str, Any]) -> None:
    assert reward(prompts=["Bees"] * 2, completions=[GOOD, BAD], **columns) == [0.1, -0.1]


def test_columns_reach_the_case() -> None:
    columns = {
        "category": ["Game Dev", None],
        "case_id": ["game-1", None],
        "requirements": [json.dumps([{"kind": "behaviour", "text": "It moves."}]), ["Bees are named."]],
        "finish_reason": ["length", None],
    }
    one, two = rows_of(["A game", "Bees"], ["x", "y"], columns)
    assert (one.case.id, one.case.category, one.finish_reason) == ("game-1", "game", "length")
    assert one.case.requirements == (Requirement(kind="behaviour", text="It moves."),)
    assert two.case.requirements == (Requirement(kind="content", text="Bees are named."),)
    assert two.case.category == "website"
    assert two.case.id.startswith("prompt-")


@pytest.mark.parametrize("gate", ["execution", None])
@pytest.mark.parametrize("text", [GOOD, f"A draft:\n```html\n{GOOD}\n```\nBut the colours"])
def test_a_reply_that_ran_out_of_tokens_is_the_models_failure(text: str, gate: str | None) -> None:
    """Also where it was cut in its reasoning, whose beginning stands in the prompt."""
    with AgenticReward(JUDGES, gate=gate) as reward:
        (found,) = asyncio.run(reward.evaluate(["Bees"], [text], finish_reason=["length"]))
    assert found.gated
    assert found.total == -0.1
    assert found.failures["execution"].reason == "truncated"


def test_of_an_answer_after_its_reasoning_the_answer_counts(reward: AgenticReward) -> None:
    draft, answer = f"```html\n{BAD}\n```", f"```html\n{GOOD}\n```"
    texts = [
        f"{draft}\nNo.\n</think>\n{answer}",
        f"{answer}\nNo.\n</think>\n{draft}",
        f"{answer}\n</think>\nDone.",
    ]
    assert reward(["Bees"] * 3, texts) == [0.1, -0.1, -0.1]


@pytest.mark.parametrize(
    ("prompts", "completions", "says"),
    [
        (["a"], [], "1 prompts for 0"),
        ("a", ["b"], "prompts is a list"),
        (["a"], None, "completions is a list"),
    ],
)
def test_what_does_not_pair_up_is_told(
    reward: AgenticReward, prompts: Any, completions: Any, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        reward(prompts, completions)


def test_an_empty_batch_is_empty(reward: AgenticReward) -> None:
    assert reward([], []) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"deadline_s": 0}, "seconds above 0"),
        ({"pool": 0}, "whole number from 1"),
        ({"concurrency": 1.5}, "whole number from 1"),
        ({"budget": "much"}, "is 'much': an amount in USD above 0"),
        ({"budget": -8}, "budget is -8"),
        ({"cache": "/dev/null/x"}, "cannot be written"),
        ({"judges": ("execution", "computed"), "browser": "/no/such/browser"}, "no program that can be run"),
    ],
)
def test_settings_that_make_no_sense_are_told_at_once(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        AgenticReward(**{"judges": JUDGES, **changes})


def test_the_processes_of_a_training_share_processors_and_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[int] = []
    budgets: list[float] = []
    monkeypatch.setattr("opendesign.rendering.pool.default_pages_at_once", lambda: 9)
    making, saving = Evaluator.__init__, Budget.__init__

    def make(evaluator: Evaluator, *given: Any, **settings: Any) -> None:
        pools.append(settings["pool"])
        making(evaluator, *given, **settings)

    def save(budget: Budget, limit_usd: float) -> None:
        budgets.append(limit_usd)
        saving(budget, limit_usd)

    monkeypatch.setattr(Evaluator, "__init__", make)
    monkeypatch.setattr(Budget, "__init__", save)
    for local, world, pool in (("", "", None), ("4", "8", None), ("16", "16", None), ("4", "x", 6)):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", local)
        monkeypatch.setenv("WORLD_SIZE", world)
        with AgenticReward(JUDGES, pool=pool, budget=4.0) as reward:
            reward(["Bees"], [GOOD])
    assert pools == [9, 2, 1, 6]
    assert budgets == [4.0, 0.5, 0.25, 4.0]


def test_roles_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "opendesign.train"):
        made = AgenticReward(JUDGES)
    assert made.roles == {"execution": "execution"}
    assert "execution = execution" in caplog.text
    assert "No judge for static and interactive" in caplog.text


def test_a_judge_that_does_not_answer_costs_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    load_litellm()  # which takes as long as the deadline
    with (
        ScriptedServer(Fault("stall")) as server,
        AgenticReward(
            ("execution", "text"), {"text": model_at(server)}, deadline_s=4, fallback={"static": 0.5}
        ) as reward,
    ):
        (found,) = asyncio.run(reward.evaluate(["Bees"], [GOOD]))
        assert len(server.requests) == 1
    assert dict(found.channels) == {"execution": 1, "static": 0.5}
    assert found.failures["static"].reason == "deadline_under_load"
    assert found.seconds >= 4


# The cache


def _lint_count(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    real = Evaluator._ask

    async def ask(evaluator: Evaluator, seat: Any, page: Any, artifact: Any) -> Found:
        asked.append(seat.card.name)
        return await real(evaluator, seat, page, artifact)

    monkeypatch.setattr(Evaluator, "_ask", ask)
    return asked


def test_verdicts_are_kept_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _lint_count(monkeypatch)
    for _ in range(2):
        with AgenticReward(JUDGES, cache=tmp_path) as reward:
            assert reward(["Bees", "Bees"], [GOOD, f"```html\n{BAD}\n```"]) == [0.1, -0.1]
            assert reward(["Bees"], [BAD]) == [-0.1]  # the same page in another reply
    assert asked == ["execution"] * 2
    with AgenticReward(JUDGES, cache=tmp_path) as reward:
        (found,) = asyncio.run(reward.evaluate(["Bees"], [GOOD]))
        assert found.cached
        reward(["Wasps"], [GOOD])
        reward(["Bees"], [GOOD], category=["game"])
    assert asked == ["execution"] * 4


def _entry(reason: str) -> str:
    """An entry with a failure that is never kept."""
    return json.dumps(
        {"v": 1, "scores": {}, "gates": {}, "reasons": [], "failure": [reason, "x"], "of_page": False}
    )


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"v": 1}', '{"v": 99}', "\x00" * 50, _entry("nonsense"), _entry("unparsable")]
)
def test_a_damaged_entry_is_made_again(tmp_path: Path, damage: str) -> None:
    with AgenticReward(JUDGES, cache=tmp_path) as reward:
        reward(["Bees"], [GOOD])
    (entry,) = tmp_path.glob("*/*.json")
    sound = entry.read_text()
    entry.write_text(damage)
    with AgenticReward(JUDGES, cache=tmp_path) as reward:
        assert reward(["Bees"], [GOOD]) == [0.1]
    assert entry.read_text() == sound


def _score(folder: str, completions: list[str], found: Any) -> None:
    with AgenticReward(JUDGES, cache=folder) as reward:
        found.put(reward(["Bees"] * len(completions), completions))


def test_two_processes_share_one_cache(tmp_path: Path) -> None:
    completions = [page.replace("Bees", f"Bees {number}") for number in range(40) for page in (GOOD, BAD)]
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    both = [context.Process(target=_score, args=(str(tmp_path), completions, found)) for _ in range(2)]
    for process in both:
        process.start()
    assert [found.get(timeout=120) for _ in both] == [[0.1, -0.1] * 40] * 2
    for process in both:
        process.join()
    assert len(list(tmp_path.glob("*/*.json"))) == 80
    assert not list(tmp_path.rglob("*.part"))


def test_a_full_disk_is_told_in_one_sentence(reward: AgenticReward, monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(tempfile, "mkdtemp", Mock(side_effect=full))
    with pytest.raises(StoreError, match=r"no space left on device.*TMPDIR"):
        reward(["Bees"] * 2, [GOOD, BAD])
    monkeypatch.undo()
    assert reward(["Bees"], [GOOD]) == [0.1]


def test_a_browser_that_cannot_be_started_is_told_each_time() -> None:
    with AgenticReward(("execution", "computed"), browser="/bin/true") as reward:
        for _ in range(2):
            with pytest.raises(UsageError, match="cannot be started"):
                reward(["Bees"] * 3, [GOOD, BAD, f"{GOOD} "])
