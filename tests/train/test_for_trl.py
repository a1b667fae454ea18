"""The reward as TRL calls it, without TRL: cut answers, held-out rows, the shuffled control."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from opendesign.train import AgenticReward, Evaluation
from opendesign.train.trl import HELD_OUT, TrlReward, for_trl
from tests.hostile.good import GOOD
from tests.train.support import FAILED

JUDGES = ("execution",)
END, OTHER = 1, 7


def call(judges: TrlReward, completions: Sequence[str], prompts: Sequence[str] | None = None, **columns: Any):
    asked = prompts or ["A page."] * len(completions)
    (channel,) = judges.functions
    return asyncio.run(channel(asked, list(completions), **columns))


def test_an_answer_without_an_end_is_cut_off_and_fails_the_gate() -> None:
    with AgenticReward(JUDGES) as reward:
        tokens = [[OTHER, END], [OTHER, OTHER], [END], []]
        pages = [GOOD[0]] * 4
        assert call(for_trl(reward, ends={END}), pages, completion_ids=tokens) == [1, -1, 1, -1]
        assert call(for_trl(reward), pages, completion_ids=tokens) == [1, 1, 1, 1]


class Given:
    """A reward that gives the completion's own number; "fails" and "fallback" are of a judge that failed."""

    def __init__(self) -> None:
        self.weights = {"execution": 0.1}
        self.asked: list[str] = []

    async def evaluate(self, prompts: Any, completions: Any, **_: Any) -> list[Evaluation]:
        self.asked += completions
        return [self._evaluation(text) for text in completions]

    def _evaluation(self, text: str) -> Evaluation:
        if text == "fails":
            value, failures = None, {"execution": FAILED}
        elif text == "fallback":
            value, failures = 0.5, {"execution": FAILED}
        else:
            value, failures = float(text), {}
        return Evaluation(channels={"execution": value}, total=value, failures=failures)


def test_the_held_out_judge_is_asked_about_its_rows_alone() -> None:
    training, held_out, told = Given(), Given(), {}
    judges = for_trl(training, held_out=held_out)  # type: ignore[arg-type]
    found = call(
        judges,
        ["1", "2", "4", "fallback"],
        log_metric=told.__setitem__,
        **{HELD_OUT: [False, True, True, True]},
    )
    assert found == [1, 2, 4, 0.5]
    assert held_out.asked == ["2", "4", "fallback"]
    assert (told["held_out/training"], told["held_out/held_out_square"]) == (3, 10)
    assert told["held_out/unscored"] == pytest.approx(1 / 3)


def test_a_shuffled_control_deals_within_a_prompts_answers_and_says_the_same_again() -> None:
    judges = for_trl(Given(), shuffle_groups_of=4)  # type: ignore[arg-type]
    prompts = ["a"] * 4 + ["b"] * 4 + ["b"] * 4
    values = [str(number) for number in range(12)]
    found = call(judges, values, prompts)
    assert found != list(range(12))
    for start in (0, 4, 8):
        assert sorted(found[start : start + 4]) == list(range(start, start + 4))
    assert call(judges, values, prompts) == found
    # One answer a prompt, to evaluate: nothing is dealt.
    assert call(judges, values[:4], ["a", "b", "c", "d"]) == [0, 1, 2, 3]


def test_a_batch_on_most_pages_of_which_a_judge_fails_abstains() -> None:
    told: dict[str, float] = {}
    judges = for_trl(Given())  # type: ignore[arg-type]
    assert call(judges, ["1", "fails", "fallback"], log_metric=told.__setitem__) == [None] * 3
    assert told["judges/failed"] == 1
    assert call(judges, ["1", "2", "fails", "fails"], log_metric=told.__setitem__) == [1, 2, None, None]
    assert told["judges/failed"] == 0
