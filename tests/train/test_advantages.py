"""What TRL's real trainer makes of the channels: advantages against a table reckoned by hand."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from opendesign.train.trl import for_trl
from tests.train.support import Table

pytestmark = pytest.mark.train

#: Two prompts with four answers each: (passes the gate, what computed says of 100, None: that judge failed).
ROWS = [
    (True, 90),
    (True, 50),
    (False, None),
    (True, None),
    (True, 20),
    (False, None),
    (False, None),
    (True, 80),
]
# First group, execution 1 1 -1 1: mean 0.5, deviation 1; static .9 .5 0 -: mean .4667, deviation .4509.
# Second group, execution 1 -1 -1 1: mean 0, deviation 1.1547; static .2 0 0 .8: mean .25, deviation .3786.
# 0.1 z(execution) + 0.8 z(static): .8188 .1091 -.9779 .05, -.0191 -.6149 -.6149 1.2488; deviation .7519.
GDPO = [1.0890, 0.1452, -1.3007, 0.0665, -0.0253, -0.8178, -0.8178, 1.6609]
# Rewards .82 .5 -.1 -: mean .4067, deviation .4670. Rewards .26 -.1 -.1 .74: mean .2, deviation .3980.
PAPER = [0.8850, 0.1998, -1.0848, 0.0, 0.1508, -0.7538, -0.7538, 1.3568]


def advantages(
    tiny: Path,
    out: Path,
    table: Table,
    mode: Any,
    *,
    batch: int,
    steps: int = 1,
    shuffle_groups_of: int | None = None,
    **settings: Any,
):
    """Of every step, as the trainer has them when it learns from them."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    judges = for_trl(table, mode, shuffle_groups_of=shuffle_groups_of)
    seen: list[list[float]] = []

    class Look(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            seen.append(list(trainer._logs["advantages"]))

    how: dict[str, Any] = {"report_to": "none", "bf16": False, "use_cpu": True, "save_strategy": "no"}
    how |= {"max_completion_length": 2, "num_generations": 4, "max_steps": steps, "disable_tqdm": True}
    trainer = GRPOTrainer(
        AutoModelForCausalLM.from_pretrained(tiny),
        judges.functions,
        GRPOConfig(str(out), per_device_train_batch_size=batch, **{**how, **judges.settings, **settings}),
        train_dataset=Dataset.from_list([{"prompt": letter} for letter in "abcd"]),
        processing_class=AutoTokenizer.from_pretrained(tiny),
        callbacks=[Look()],
    )
    trainer.train()
    return seen, trainer.state.log_history


@pytest.mark.parametrize(("mode", "expected"), [("gdpo", GDPO), ("paper", PAPER)])
def test_advantages_are_those_reckoned_by_hand(tiny, tmp_path, mode, expected) -> None:
    (found,), history = advantages(tiny, tmp_path, Table(lambda _: ROWS), mode, batch=8, logging_steps=1)
    assert found == pytest.approx(expected, abs=2e-3)
    assert history[0]["judges/gated"] == pytest.approx(3 / 8)
    assert history[0]["judges/unscored"] == pytest.approx(1 / 8)


def test_in_trls_default_aggregation_a_failed_judge_would_count_as_zero(tiny, tmp_path) -> None:
    table = Table(lambda _: ROWS)
    how = {"multi_objective_aggregation": "sum_then_normalize"}
    (found,), _ = advantages(tiny, tmp_path, table, "gdpo", batch=8, **how)
    assert found[3] < -0.3  # a page that passes, and is blamed for its judge


@pytest.mark.parametrize("mode", ["gdpo", "paper"])
def test_no_page_that_fails_the_gate_is_above_one_of_its_group_that_passes(tiny, tmp_path, mode) -> None:
    draw = random.Random(7)

    def rows(_: int) -> list[tuple[bool, float | None]]:
        return [(draw.random() < 0.6, draw.choice([None, 0, 5, 50, 100])) for _ in range(16)]

    drawn = [rows(step) for step in range(12)]
    seen, _ = advantages(tiny, tmp_path, Table(lambda at: drawn[at]), mode, batch=16, steps=12)
    compared = 0
    for step, found in zip(drawn, seen, strict=True):
        for start in range(0, 16, 4):
            group = list(zip(step[start : start + 4], found[start : start + 4], strict=True))
            failing = [advantage for (passes, _), advantage in group if not passes]
            passing = [advantage for (passes, _), advantage in group if passes]
            if failing and passing:
                compared += 1
                assert max(failing) <= min(passing) + 1e-5, (mode, group)
    assert compared > 20


def test_an_error_abstains_and_does_not_end_the_training(tiny, tmp_path) -> None:
    class Broken(Table):
        async def evaluate(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("the disk is full")

    (found,), history = advantages(tiny, tmp_path, Broken(lambda _: ROWS), "gdpo", batch=8, logging_steps=1)
    assert found == [0.0] * 8
    assert history[0]["judges/failed"] == 1


@pytest.mark.parametrize("mode", ["gdpo", "paper"])
def test_a_shuffled_control_deals_the_advantages_out_within_each_group(tiny, tmp_path, mode) -> None:
    """An answer's channels stay together, no group gets another's, and over many steps nobody is better."""
    steps, expected = 60, GDPO if mode == "gdpo" else PAPER
    seen, history = advantages(
        tiny,
        tmp_path,
        Table(lambda _: ROWS),
        mode,
        batch=8,
        steps=steps,
        shuffle_groups_of=4,
        logging_steps=1,
    )
    groups = [expected[:4], expected[4:]]
    for found in seen:
        for of, group in zip(groups, (found[:4], found[4:]), strict=True):
            assert sorted(group) == pytest.approx(sorted(of), abs=2e-3)
    means = [sum(found[at] for found in seen) / steps for at in range(8)]
    assert (
        max(map(abs, means)) < 0.4
    )  # the deviation of such a mean is 0.1; without shuffling some are over 1
    assert {round(row["reward"], 4) for row in history if "reward" in row} == {round(history[0]["reward"], 4)}


@pytest.mark.parametrize("mode", ["gdpo", "paper"])
def test_where_a_judge_is_down_nothing_is_learned_from_the_others_alone(tiny, tmp_path, mode) -> None:
    down = [(passes, 50 if at == 4 else None) for at, (passes, _) in enumerate(ROWS)]  # 1 of 5 is scored
    (found,), history = advantages(tiny, tmp_path, Table(lambda _: down), mode, batch=8, logging_steps=1)
    assert found == [0.0] * 8
    assert history[0]["judges/failed"] == 1
    assert history[0]["judges/unscored"] == pytest.approx(4 / 8)
