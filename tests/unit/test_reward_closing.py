"""Closing a reward while others call it; no browser."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from opendesign.train import AgenticReward, Evaluation
from opendesign.train.evaluating import Evaluator
from opendesign.train.rows import Row
from tests.unit.test_reward import BAD, GOOD, JUDGES


def test_who_calls_while_another_closes_gets_numbers_or_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each evaluator, and so each browser, is closed once, on the loop that it served."""
    opened: list[Evaluator] = []
    closed: list[Evaluator] = []
    loops: dict[Evaluator, set[asyncio.AbstractEventLoop]] = {}
    making, evaluating, closing = Evaluator.__init__, Evaluator.evaluate, Evaluator.close

    def make(evaluator: Evaluator, *given: Any, **settings: Any) -> None:
        making(evaluator, *given, **settings)
        opened.append(evaluator)

    async def evaluate(evaluator: Evaluator, row: Row) -> Evaluation:
        loops.setdefault(evaluator, set()).add(asyncio.get_running_loop())
        return await evaluating(evaluator, row)

    async def close(evaluator: Evaluator) -> None:
        loops.setdefault(evaluator, set()).add(asyncio.get_running_loop())
        await asyncio.sleep(0.02)  # as long as a browser takes, and more
        await closing(evaluator)
        closed.append(evaluator)

    monkeypatch.setattr(Evaluator, "__init__", make)
    monkeypatch.setattr(Evaluator, "evaluate", evaluate)
    monkeypatch.setattr(Evaluator, "close", close)
    outcomes: list[Any] = []

    def call(reward: AgenticReward, caller: int) -> None:
        for number in range(15):
            page = GOOD.replace("Bees", f"Bees {caller} {number}")
            try:
                outcomes.append(reward(["Bees"], [page]))
            except Exception as error:
                outcomes.append(str(error))

    with AgenticReward(JUDGES) as reward:
        callers = [threading.Thread(target=call, args=(reward, number)) for number in range(4)]
        for thread in callers:
            thread.start()
        while any(thread.is_alive() for thread in callers):
            reward.close()
            callers[0].join(0.03)
    assert len(outcomes) == 60
    assert [0.1] in outcomes
    assert [one for one in outcomes if one != [0.1] and "was closed" not in one] == []
    assert len(opened) > 1
    assert sorted(map(id, closed)) == sorted(map(id, opened))
    assert {len(where) for where in loops.values()} == {1}


async def test_a_caller_on_a_loop_is_not_held_up_while_another_closes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reward = AgenticReward(JUDGES)
    closing, let_go = threading.Event(), threading.Event()
    let_go_in_time: list[bool] = []
    real = Evaluator.close

    async def close(evaluator: Evaluator) -> None:
        closing.set()
        let_go_in_time.append(await asyncio.to_thread(let_go.wait, 20))
        await real(evaluator)

    assert await reward.acall(["Bees"], [GOOD]) == [0.1]
    monkeypatch.setattr(Evaluator, "close", close)
    ending = asyncio.create_task(asyncio.to_thread(reward.close))
    await asyncio.to_thread(closing.wait)
    next_one = asyncio.create_task(reward.acall(["Bees"], [BAD]))
    await asyncio.sleep(0.05)
    let_go.set()
    assert await next_one == [-0.1]
    await ending
    monkeypatch.undo()
    reward.close()
    assert let_go_in_time[0]
