"""The budget: never overrun, whatever runs at once."""

from __future__ import annotations

import asyncio
import random

import pytest

from opendesign.answering.budget import Budget
from opendesign.errors import Failed, UsageError


async def test_what_is_not_used_is_free_again() -> None:
    budget = Budget(1.0)
    first = await budget.reserve(0.9)
    first.settle(0.1)
    first.settle(0.5)  # only the first counts
    assert (budget.spent_usd, budget.reserved_usd) == (0.1, 0.0)
    (await budget.reserve(0.9)).settle(0.9)
    assert budget.spent_usd == pytest.approx(1.0)


async def test_refused_where_what_is_spent_leaves_too_little() -> None:
    budget = Budget(1.0, spent_usd=0.95)
    with pytest.raises(Failed, match="--budget") as error:
        await budget.reserve(0.1)
    assert error.value.failure.reason == "budget_exhausted"
    assert error.value.failure.status == "instrument_failure"


async def test_a_call_waits_for_those_under_way() -> None:
    budget = Budget(1.0)
    first = await budget.reserve(0.8)
    second = asyncio.create_task(budget.reserve(0.8))
    await asyncio.sleep(0.01)
    assert not second.done()
    first.settle(0.1)
    (await asyncio.wait_for(second, 1)).settle(0.8)
    third = asyncio.create_task(budget.reserve(0.2))
    with pytest.raises(Failed):
        await asyncio.wait_for(third, 1)


async def test_many_calls_at_once_never_pass_the_limit() -> None:
    rng = random.Random(5)
    budget = Budget(3.0)
    made = refused = 0

    async def call() -> None:
        nonlocal made, refused
        try:
            reserved = await budget.reserve(0.25)
        except Failed:
            refused += 1
            return
        made += 1
        assert budget.spent_usd + budget.reserved_usd <= 3.0 + 1e-9
        await asyncio.sleep(rng.random() / 500)
        reserved.settle(rng.random() * 0.25)
        assert budget.spent_usd <= 3.0 + 1e-9

    await asyncio.wait_for(asyncio.gather(*(call() for _ in range(200))), 20)
    assert made + refused == 200
    assert refused > 0
    assert made >= 12, "at least what the worst case allows"
    assert budget.reserved_usd == pytest.approx(0)
    assert budget.spent_usd > 2.7, "and it is used nearly up"


async def test_a_waiter_that_is_cancelled_stands_in_nobodys_way() -> None:
    budget = Budget(1.0)
    first = await budget.reserve(1.0)
    gone, waits = asyncio.create_task(budget.reserve(0.5)), asyncio.create_task(budget.reserve(0.5))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    first.settle(0.2)
    assert (await asyncio.wait_for(waits, 1)).usd == 0.5


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_a_budget_is_above_zero(limit: float) -> None:
    with pytest.raises(UsageError, match="above 0"):
        Budget(limit)
