"""The agentic reward: completions → numbers that a trainer can use.

    reward = AgenticReward(judges=["execution", "computed"])
    reward(prompts=["A page about bees."], completions=["<!doctype html>…"])     # [0.55]

Whose fault a missing number is decides what it becomes. A model's failure is the floor of every channel,
always finite, and so is a page that fails the gate; a judge's or an instrument's failure is None, never a
number that nobody gave, unless ``fallback`` names one.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from opendesign.errors import OpenDesignError, UsageError
from opendesign.train.channels import Evaluation, Found, Scale, evaluation_of
from opendesign.train.loop import LoopThread
from opendesign.train.rows import Row, rows_of
from opendesign.types import Failure

if TYPE_CHECKING:
    from opendesign.answering.models import Model
    from opendesign.train.evaluating import Evaluator

__all__ = ["AgenticReward", "ChannelReward"]

#: ``async (prompts, completions, **columns) -> list[float | None]``, as TRL calls it.
ChannelReward = Callable[..., Coroutine[Any, Any, list[float | None]]]
_REMEMBERED = 4_096  # completions, of this batch and the last ones
_TOTAL = "total"


class AgenticReward:
    """A reward function over the judges of this package, for any trainer.

    ``judges`` are names of cards, one a role: ``computed`` may stand for ``static``, ``probe`` for
    ``interactive``; an absent role is left out and the other weights stay as they are. ``judge_models`` is
    judge → name of a model, or a model. ``weights`` is channel → weight; ``scale`` is "unit" (static and
    interactive from 0 to 1) or "paper" (0 to 100, and points). ``gate`` is the role whose lowest score floors
    all others, or None. ``interactions`` are tried on a page. ``deadline_s`` is for drawing one page, and
    again for each judge on it. ``fallback`` is a number for an abstaining channel, or channel → number.
    ``cache`` is a folder in which verdicts are kept by content; several processes may share it.
    ``concurrency`` is how many judges' models are asked at once, ``pool`` how many pages are drawn at once;
    both are of one process. By default the pool goes by the processors, of which each process of a training
    has its part (``$LOCAL_WORLD_SIZE``). ``guards`` are penalties that are off by default: see
    ``panel.GUARDS``. ``budget`` is the most that judges' models may cost, in USD: of the whole training where
    ``$WORLD_SIZE`` says how many processes it has, each of which may spend its part; else of this process.

    Raises ``UsageError`` in one sentence for what cannot be done as asked. Browsers start with the first page
    and end with ``close``, the ``with`` block, or the process.
    """

    def __init__(
        self,
        judges: Sequence[str] = ("execution", "static", "interactive"),
        judge_models: Mapping[str, str | Model] | None = None,
        *,
        weights: Mapping[str, float] | None = None,
        scale: Scale = "unit",
        gate: str | None = "execution",
        interactions: int = 3,
        deadline_s: float = 60.0,
        fallback: float | Mapping[str, float] | None = None,
        cache: str | Path | None = None,
        concurrency: int = 16,
        pool: int | None = None,
        guards: Sequence[str] = (),
        protocol: str = "standard",
        browser: str | Path | None = None,
        models_file: str | Path | None = None,
        budget: float | None = None,
    ) -> None:
        from opendesign.answering.budget import Budget
        from opendesign.rendering.browser import find_browser
        from opendesign.rendering.pool import default_pages_at_once
        from opendesign.train.cache import Cache
        from opendesign.train.evaluating import Evaluator
        from opendesign.train.panel import panel_of

        _positive("deadline_s", deadline_s, "a number of seconds")
        if budget is not None:
            _positive("budget", budget, "an amount in USD")
        for name, count in (("concurrency", concurrency), ("pool", pool)):
            if count is not None:
                _whole(name, count)
        self.panel = panel_of(
            judges,
            judge_models,
            weights=weights,
            scale=scale,
            gate=gate,
            guards=guards,
            interactions=interactions,
            deadline_s=deadline_s,
            fallback=fallback,
            protocol=protocol,
            models_file=Path(models_file) if models_file is not None else None,
            concurrency=concurrency,
            budget=Budget(budget / _processes("WORLD_SIZE")) if budget is not None else None,
        )
        if self.panel.draws:
            find_browser(browser)  # better said now than after the first answers were written
        self.__name__ = "agentic_reward"
        self.roles: Mapping[str, str] = dict(self.panel.roles)
        self.weights: Mapping[str, float] = self.panel.weights
        evaluator = partial(
            Evaluator,
            self.panel,
            cache=Cache(Path(cache).expanduser()) if cache is not None else None,
            deadline_s=deadline_s,
            concurrency=concurrency,
            pool=pool or max(1, default_pages_at_once() // _processes("LOCAL_WORLD_SIZE")),
            browser=browser,
        )
        self._thread = LoopThread("opendesign-reward", lambda: _Shared(evaluator()))

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """One number a completion, or None where a judge or an instrument failed.

        Prompts and completions are texts or conversations; ``columns`` are the dataset's, of which
        ``category``, ``case_id`` and ``requirements`` are used. Works where an event loop runs already.
        """
        found = self._thread.call(lambda shared: shared.batch(prompts, completions, columns))
        return [one.total for one in found]

    async def acall(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """The same for asynchronous callers."""
        return [one.total for one in await self.evaluate(prompts, completions, **columns)]

    async def evaluate(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[Evaluation]:
        """Everything that is known of each completion: channels, total, failures, time and cost."""
        return await self._thread.acall(lambda shared: shared.batch(prompts, completions, columns))

    def channels(self) -> list[ChannelReward]:
        """One asynchronous reward function a channel, named after it, in the order of ``weights``.

        Called for the same batch, one after the other or at once, they share one evaluation a completion.
        """
        return [self._channel(name) for name in self.weights]

    def abstention(self) -> Evaluation:
        """What there is of a completion that could not be evaluated: nothing, or the fallbacks."""
        failure = Failure(reason="browser_crash", detail="The completion could not be evaluated.")
        found = {channel.judge: Found(failure=failure) for channel in self.panel.channels}
        return evaluation_of(self.panel.channels, found, gate=self.panel.gate, seconds=0.0)

    def close(self) -> None:
        """End the browsers and what is under way. The reward can be used again afterwards."""
        self._thread.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _channel(self, name: str) -> ChannelReward:
        async def channel(
            prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
        ) -> list[float | None]:
            found = await self._thread.acall(
                lambda shared: shared.batch(prompts, completions, columns, reader=name)
            )
            return [one.channels[name] for one in found]

        channel.__name__ = channel.__qualname__ = name
        return channel


class _Shared:
    """The evaluations of one life of the loop, each shared by all who ask for it."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._memory: OrderedDict[str, _Entry] = OrderedDict()

    async def batch(
        self, prompts: Any, completions: Any, columns: Mapping[str, Any], reader: str = _TOTAL
    ) -> list[Evaluation]:
        """An evaluation a row; equal rows share one, which is paid for once."""
        rows = await asyncio.to_thread(rows_of, prompts, completions, columns)
        keys = [row.key for row in rows]
        entries = {
            key: self._entry(key, row, reader) for key, row in dict(zip(keys, rows, strict=True)).items()
        }
        try:
            async with asyncio.TaskGroup() as group:
                for entry in entries.values():
                    group.create_task(self._wait(entry))
        except* OpenDesignError as errors:
            from opendesign.running.execute import first_of

            raise first_of(errors) from None
        found = []
        for key in keys:
            entry = entries[key]
            found.append(entry.task.result() if entry.fresh else _at_hand(entry.task.result()))
            entry.fresh = False
        return found

    def _entry(self, key: str, row: Row, reader: str) -> _Entry:
        """The evaluation under way or done. One that lacks a number is tried again when somebody comes for
        it a second time; the other channels of the same batch share it."""
        entry = self._memory.get(key)
        if entry is None or entry.spent(reader):
            entry = _Entry(asyncio.create_task(self._evaluator.evaluate(row)))
            self._memory[key] = entry
        self._memory.move_to_end(key)
        entry.readers.add(reader)
        while len(self._memory) > _REMEMBERED and next(iter(self._memory.values())).task.done():
            self._memory.popitem(last=False)
        return entry

    async def _wait(self, entry: _Entry) -> None:
        """Wait for an evaluation; when nobody waits for it any more, it is cancelled."""
        entry.waiting += 1
        try:
            await asyncio.shield(entry.task)
        finally:
            entry.waiting -= 1
            if not entry.waiting and not entry.task.done():
                entry.task.cancel()

    async def close(self) -> None:
        """Break off what is under way, and end the browsers."""
        rest = [entry.task for entry in self._memory.values() if not entry.task.done()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        await self._evaluator.close()


@dataclass(eq=False, slots=True)
class _Entry:
    """An evaluation that several callers share. ``fresh`` until the first of them has its time and cost."""

    task: asyncio.Task[Evaluation]
    readers: set[str] = field(default_factory=set)
    waiting: int = 0
    fresh: bool = True

    def spent(self, reader: str) -> bool:
        """Whether it is of no use to ``reader``: broken off, or it lacks a number that a new try may give."""
        if not self.task.done():
            return self.task.cancelling() > 0
        if self.task.cancelled() or self.task.exception() is not None:
            return True
        return self.task.result().unscored and reader in self.readers


def _at_hand(evaluation: Evaluation) -> Evaluation:
    return replace(evaluation, cached=True, seconds=0.0, cost_usd=0.0)


def _processes(variable: str) -> int:
    """How many processes a launcher of trainings (torchrun, accelerate) says there are."""
    said = os.environ.get(variable, "")
    return max(1, int(said)) if said.isascii() and said.isdecimal() else 1


def _positive(name: str, value: object, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise UsageError(f"{name} is {value!r}: {what} above 0.")


def _whole(name: str, value: object) -> None:
    if type(value) is not int or value < 1:
        raise UsageError(f"{name} is {value!r}: a whole number from 1.")
