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
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from opendesign.errors import UnknownName
from opendesign.train.channels import Evaluation
from opendesign.train.reward import AgenticReward, ChannelReward
from opendesign.train.rows import COLUMNS

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
    ends: Collection[int] | None = None,
    shuffle_groups_of: int | None = None,
) -> TrlReward:
    """The reward as TRL takes it. It never raises: what goes wrong is logged, counted, and abstains.

    Logs as metrics, a batch: ``judges/unscored`` and ``judges/gated`` (shares of rows), ``judges/failed`` (1
    where the whole batch abstains: for an error, or since a judge failed on most pages, so that the others
    would be trained on alone), ``judges/seconds`` (mean of a page), ``judges/cost_usd`` (where the price of
    all is known; TRL logs the mean of its processes).
    ``held_out`` scores the rows that have a true ``HELD_OUT`` column beside the reward, see ``heldout.py``.
    ``ends`` are the tokens that end an answer: one without is cut off, and a page that is cut off fails the
    gate. Without them an answer is taken as it is.
    ``shuffle_groups_of``, TRL's ``num_generations``, makes the training a control: what the answers to one
    prompt earned is dealt out among them at random, all channels of an answer together. Every mean stays what
    it was, and there is nothing to learn: what rises all the same does not rise because of the judges. A
    group that is spread over processes is dealt within each of them, and is no control.
    """
    if mode not in get_args(Mode):
        raise UnknownName("mode", str(mode), get_args(Mode))
    batches = _Batches(reward, held_out, frozenset(ends or ()), shuffle_groups_of)
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
    ends: frozenset[int] = frozenset()
    shuffle_groups_of: int | None = None
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
        columns = {**columns, **self._finish_reasons(columns.get("completion_ids"))}
        found = await _guarded(self.reward, prompts, completions, columns)
        failed = found is None or _mostly_failed(found)
        tell("judges/failed", float(failed))
        for name, value in _metrics(found or ()).items():
            tell(name, value)
        if marked := [at for at, held_out in enumerate(columns.get(HELD_OUT) or ()) if held_out]:
            for name, value in (await self._beside(marked, prompts, completions, columns, found)).items():
                tell(name, value)
        if found is None or failed:
            return [None] * len(completions)
        size = self.shuffle_groups_of
        return found if size is None else _dealt(prompts, completions, found, size)

    def _finish_reasons(self, tokens: Sequence[Sequence[int]] | None) -> dict[str, Any]:
        if not self.ends or tokens is None:
            return {}
        return {"finish_reason": ["stop" if {*ids[-1:]} & self.ends else "length" for ids in tokens]}

    async def _beside(
        self,
        marked: Sequence[int],
        prompts: Any,
        completions: Any,
        columns: Mapping[str, Any],
        found: Sequence[Evaluation] | None,
    ) -> dict[str, float]:
        """What both judges say of the marked rows."""
        if self.held_out is None:
            return {}
        its = {name: [columns[name][at] for at in marked] for name in COLUMNS if columns.get(name)}
        beside = await _guarded(
            self.held_out, [prompts[at] for at in marked], [completions[at] for at in marked], its
        )
        return _both([found[at] for at in marked] if found else [], beside or [], len(marked))


async def _guarded(
    reward: AgenticReward, prompts: Any, completions: Any, columns: Mapping[str, Any]
) -> list[Evaluation] | None:
    """The evaluations, or None where there are none for whatever reason: it must not end the training."""
    try:
        return await reward.evaluate(prompts, completions, **columns)
    except Exception:
        log.exception("A batch of %d rows could not be scored and abstains.", len(completions))
        return None


def _mostly_failed(found: Sequence[Evaluation]) -> bool:
    """Whether judges have failed on most of the pages that pass the gate, also where there is a fallback."""
    passing = sum(not one.gated for one in found)
    failed = sum(one.unscored and not one.gated for one in found)
    if 2 * failed <= passing:
        return False
    log.warning("Judges failed on %d of %d pages: the batch abstains.", failed, passing)
    return True


def _dealt(
    prompts: Any, completions: Any, found: Sequence[Evaluation], size: int
) -> Sequence[Evaluation | None]:
    """The evaluations of each prompt's answers, which stand side by side, in another order."""
    dealt = list(found)
    for start in range(0, len(found), size):
        rows = range(start, min(start + size, len(found)))
        if all(prompts[at] == prompts[start] for at in rows):  # else there are fewer answers, to evaluate
            order = random.Random(repr([completions[at] for at in rows])).sample(rows, len(rows))
            dealt[start : rows.stop] = [found[at] for at in order]
    return dealt


def _metrics(found: Sequence[Evaluation]) -> dict[str, float]:
    if not found:
        return {}
    rows = len(found)
    metrics = {
        "judges/unscored": sum(one.unscored for one in found) / rows,
        "judges/gated": sum(one.gated for one in found) / rows,
        "judges/seconds": sum(one.seconds for one in found) / rows,
    }
    costs = [one.cost_usd for one in found if one.cost_usd is not None]
    if len(costs) == rows:  # a cost that is not known is not nought
        metrics["judges/cost_usd"] = sum(costs)
    return metrics


def _both(found: Sequence[Evaluation], beside: Sequence[Evaluation], rows: int) -> dict[str, float]:
    """Mean and mean square of both judges over those of the rows that both have scored."""
    pairs = [
        (a.total, b.total)
        for a, b in zip(found, beside, strict=False)
        if a.total is not None and b.total is not None and not (a.unscored or b.unscored)
    ]
    sums = {f"{HELD_OUT}/unscored": 1 - len(pairs) / rows}
    for at, name in enumerate(("training", "held_out") if pairs else ()):
        values = [pair[at] for pair in pairs]
        sums[f"{HELD_OUT}/{name}"] = sum(values) / len(values)
        sums[f"{HELD_OUT}/{name}_square"] = sum(value * value for value in values) / len(values)
    return sums


def _nobody(name: str, value: float) -> None:
    """Takes the metrics of a caller that has no use for them."""
