"""The agentic reward inside TRL's ``GRPOTrainer`` (1.16 or newer).

    judges = for_trl(AgenticReward(judges=["execution", "computed"]))
    GRPOTrainer(model, judges.functions, args=GRPOConfig(**judges.settings, …), …)

In TRL's default aggregation a judge that abstains counts as 0, so that a row with a failed judge looks worse
than it is. Mode "gdpo" gives TRL one function a channel and has each normalised within its group before they
are added (GDPO, arXiv 2601.05242): an abstention then counts as the group's mean. Mode "paper" gives TRL the
one scalar of Code Aesthetics with Agentic Reward Feedback (arXiv 2510.23272); a row with a failed judge then
abstains as a whole, and TRL leaves it out of its group.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal, get_args

from opendesign.errors import UnknownName
from opendesign.train.channels import Evaluation
from opendesign.train.reward import AgenticReward, ChannelReward

__all__ = ["HELD_OUT", "Mode", "TrlReward", "for_trl"]

Mode = Literal["gdpo", "paper"]
#: Column of a data set whose rows are for the held-out judge too, not for training.
HELD_OUT = "held_out"
_SCALAR = "agentic_reward"

log = logging.getLogger("opendesign.train")


@dataclass(frozen=True, kw_only=True)
class TrlReward:
    """``functions`` for ``GRPOTrainer(reward_funcs=…)`` and ``settings`` for ``GRPOConfig(**…)``."""

    functions: list[ChannelReward]
    settings: Mapping[str, Any]


def for_trl(
    reward: AgenticReward,
    mode: Mode = "gdpo",
    *,
    held_out: AgenticReward | None = None,
    shuffle: int | None = None,
) -> TrlReward:
    """The reward as TRL takes it. It never raises: what goes wrong is logged, counted, and abstains.

    Logs as metrics, a batch: ``judges/unscored`` and ``judges/gated`` (shares of rows), ``judges/failed`` (1
    where the whole batch abstains for an error), ``judges/seconds`` (mean of a page), ``judges/cost_usd``
    (where the price of all is known).
    ``held_out`` scores the rows that have a true ``HELD_OUT`` column beside the reward, see ``heldout.py``.
    ``shuffle``, a seed, makes the training a control: what the answers to one prompt earned is dealt out
    among them at random, all channels of an answer together. Every mean stays what it was, and there is
    nothing to learn: what rises all the same does not rise because of the judges.
    """
    if mode not in get_args(Mode):
        raise UnknownName("mode", str(mode), get_args(Mode))
    batches = _Batches(reward, held_out, None if shuffle is None else random.Random(shuffle))
    if mode == "paper":
        return TrlReward(
            functions=[batches.function(_SCALAR, lambda found: found.total)],
            settings={"reward_weights": [1.0], "multi_objective_aggregation": "sum_then_normalize"},
        )
    return TrlReward(
        functions=[batches.function(name, _reader(name)) for name in reward.weights],
        settings={
            "reward_weights": list(reward.weights.values()),
            "multi_objective_aggregation": "normalize_then_sum",
        },
    )


def _reader(channel: str) -> Callable[[Evaluation], float | None]:
    return lambda found: found.channels[channel]


@dataclass
class _Batches:
    """The newest batch's evaluations, made once for all functions that TRL calls with it."""

    reward: AgenticReward
    held_out: AgenticReward | None
    shuffle: random.Random | None = None
    _completions: Any = None  # kept, so that its identity stands for the batch
    _task: asyncio.Task[Sequence[Evaluation | None]] | None = field(default=None, repr=False)

    def function(self, name: str, read: Callable[[Evaluation], float | None]) -> ChannelReward:
        async def channel(prompts: Any, completions: Any, **columns: Any) -> list[float | None]:
            found = await self._evaluated(prompts, completions, columns)
            return [None if one is None else read(one) for one in found]

        channel.__name__ = channel.__qualname__ = name
        return channel

    def _evaluated(
        self, prompts: Any, completions: Any, columns: Mapping[str, Any]
    ) -> asyncio.Task[Sequence[Evaluation | None]]:
        if self._task is None or self._completions is not completions:
            self._completions = completions
            self._task = asyncio.ensure_future(self._evaluate(prompts, completions, columns))
        return self._task

    async def _evaluate(
        self, prompts: Any, completions: Any, columns: Mapping[str, Any]
    ) -> Sequence[Evaluation | None]:
        tell = columns.get("log_metric") or _nobody
        found = await _guarded(self.reward, prompts, completions, columns)
        tell("judges/failed", float(found is None))
        if found is None:
            return [None] * len(completions)
        for name, value in _metrics(found).items():
            tell(name, value)
        if self.held_out is not None and any(columns.get(HELD_OUT) or ()):
            beside = await _guarded(self.held_out, prompts, completions, columns)
            for name, value in _both(found, beside or ()).items():
                tell(name, value)
        return found if self.shuffle is None else _dealt(prompts, found, self.shuffle)


async def _guarded(
    reward: AgenticReward, prompts: Any, completions: Any, columns: Mapping[str, Any]
) -> list[Evaluation] | None:
    """The evaluations, or None where there are none for whatever reason: it must not end the training."""
    try:
        return await reward.evaluate(prompts, completions, **columns)
    except Exception:
        log.exception("A batch of %d rows could not be scored and abstains.", len(completions))
        return None


def _dealt(prompts: Any, found: Sequence[Evaluation], draw: random.Random) -> list[Evaluation]:
    """The evaluations of each prompt's answers, which stand side by side, in another order."""
    dealt = []
    for _, group in groupby(range(len(found)), key=lambda at: prompts[at]):
        rows = list(group)
        dealt += [found[at] for at in draw.sample(rows, len(rows))]
    return dealt


def _metrics(found: Sequence[Evaluation]) -> dict[str, float]:
    rows = max(1, len(found))
    metrics = {
        "judges/unscored": sum(one.unscored for one in found) / rows,
        "judges/gated": sum(one.gated for one in found) / rows,
        "judges/seconds": sum(one.seconds for one in found) / rows,
    }
    costs = [one.cost_usd for one in found if one.cost_usd is not None]
    if len(costs) == len(found):  # a cost that is not known is not nought
        metrics["judges/cost_usd"] = sum(costs)
    return metrics


def _both(found: Sequence[Evaluation], beside: Sequence[Evaluation]) -> dict[str, float]:
    """Mean and mean square of both judges over the rows that both have scored."""
    pairs = [
        (a.total, b.total)
        for a, b in zip(found, beside, strict=False)
        if a.total is not None and b.total is not None
    ]
    if not pairs:
        return {}
    sums = {}
    for at, name in enumerate(("training", "held_out")):
        values = [pair[at] for pair in pairs]
        sums[f"{HELD_OUT}/{name}"] = sum(values) / len(values)
        sums[f"{HELD_OUT}/{name}_square"] = sum(value * value for value in values) / len(values)
    return sums


def _nobody(name: str, value: float) -> None:
    """Takes the metrics of a caller that has no use for them."""
