"""The reward: how fast a batch of completions becomes numbers, beside drawing its pages and nothing else.

64 prompts with 8 completions each, a third of them copies of others; of eight that differ one fails the gate
and one holds no page. Each function is for ``bench.work`` and runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import nullcontext
from random import Random
from statistics import median
from typing import Any

from opendesign.types import Case
from tests.performance.bench import Bench, Row, Samples, Variant, at_least, at_most, column, work
from tests.performance.corpus import many

COMPLETIONS, QUICK = 512, 64
_A_PROMPT = 8
_LATENCY_S, _AT_ONCE, _DEADLINE_S = 2.0, 32, 60.0
_JUDGES: dict[str, tuple[str, ...]] = {
    "reward": ("execution", "computed"),
    "reward with probe": ("execution", "computed", "probe"),
    "reward by vision": ("execution", "static"),
}
_HANGS = "<script>while (true) {}</script></body>"


def batch(count: int) -> tuple[list[str], list[str]]:
    """Prompts and completions, always the same."""
    draw, prompts, completions = Random("opendesign rewards"), list[str](), list[str]()
    for number, page in enumerate(many(count)):
        first = number - number % _A_PROMPT
        document = page.document
        if number % _A_PROMPT == 6:
            document = document.replace(' lang="en"', "", 1)
        elif number % _A_PROMPT == 7:
            document = f"I would begin with a header, and then {number} cards."
        elif number % _A_PROMPT in (2, 4) or (number % _A_PROMPT == 5 and number // _A_PROMPT % 3):
            document = completions[draw.randrange(first, number)]
        prompts.append(f"Make page {first} as you like it.")
        completions.append(document)
    return prompts, completions


def score(
    count: int, judges: Sequence[str], *, vision: bool = False, hanging: bool = False
) -> dict[str, Any]:
    """Seconds for a batch, again for the same one, and what came of it. ``hanging`` adds a page that does."""
    from opendesign.answering import controls
    from opendesign.answering.models import resolve
    from opendesign.train import AgenticReward
    from tests.performance.static_judge import _server

    prompts, completions = batch(count)
    warm = Case(id="warm", category="website", prompt="Another page.")
    page = controls.document("template", warm)
    if hanging:
        prompts.append("Make a page that hangs.")
        completions.append(page.replace("</body>", _HANGS))
    os.environ["OPENAI_API_KEY"] = "sk-not-a-real-key-0123456789"
    with _server(_LATENCY_S) if vision else nullcontext("") as base_url:
        models = {"static": resolve("openai/x", base_url=base_url, concurrency=_AT_ONCE)} if vision else None
        with AgenticReward(judges, models, deadline_s=_DEADLINE_S, concurrency=_AT_ONCE) as reward:
            reward([warm.prompt], [page])  # browser and LiteLLM are there
            started = time.monotonic()
            found = asyncio.run(reward.evaluate(prompts, completions))
            seconds = time.monotonic() - started
            again = time.monotonic()
            reward(prompts, completions)
            repeated_s = time.monotonic() - again
    unique = len(dict.fromkeys(zip(prompts, completions, strict=True)))
    return {
        "completions": count,
        "seconds": seconds,
        "repeated_s": repeated_s,
        "unique": unique,
        "rate": unique / seconds,
        "evaluated": sum(not one.cached for one in found),
        "drawn": sum(not one.gated and not one.cached for one in found),
        "unscored": sum(one.total is None for one in found),
        "total": sum(one.total or 0.0 for one in found[:count]),
    }


def draw(count: int) -> dict[str, Any]:
    """Seconds for drawing the pages that the reward has to draw, with the same renderer and nothing else."""
    from opendesign.cases.benchmark import load_protocol
    from opendesign.judging.cards import load_card
    from opendesign.judging.rules import lint, rule_set
    from opendesign.rendering import Renderer

    rules = rule_set(load_card("execution"))
    pages = [page for page in dict.fromkeys(batch(count)[1]) if page[:1] == "<" and lint(page, rules).passed]

    async def all_of_them() -> float:
        async with Renderer(load_protocol("opendesign", "standard").render) as renderer:
            started = time.monotonic()
            await asyncio.gather(*(renderer.render(page) for page in pages))
            return time.monotonic() - started

    return {"seconds": asyncio.run(all_of_them()), "drawn": len(pages)}


def variants(bench: Bench) -> list[Variant]:
    count = COMPLETIONS if bench.sizes.pages >= 100 else QUICK
    calls: dict[str, dict[str, Any]] = {
        "reward: drawing alone": {"function": "rewards:draw"},
        **{name: {"function": "rewards:score", "judges": judges} for name, judges in _JUDGES.items()},
        "reward with a page that hangs": {
            "function": "rewards:score",
            "judges": _JUDGES["reward"],
            "hanging": True,
        },
    }
    calls["reward by vision"]["vision"] = True

    def variant(name: str) -> Variant:
        return Variant(
            name=name, repeats=bench.sizes.repeats, run=lambda: work(memory=False, count=count, **calls[name])
        )

    return [variant(name) for name in calls]


def rows(samples: Samples) -> list[Row]:
    plain, drawing = samples["reward"], samples["reward: drawing alone"]
    vision, hanging = samples["reward by vision"], samples["reward with a page that hangs"]
    size = f"{plain[0]['unique']} different ones, {plain[0]['drawn']} of them drawn"
    ideal = median(
        max(one["seconds"], other["completions"] * _LATENCY_S / _AT_ONCE)
        for one, other in zip(drawing, vision, strict=True)
    )
    extra = [one["seconds"] - other["seconds"] for one, other in zip(hanging, plain, strict=True)]
    odd = max(abs(one["total"] - other["total"]) for one, other in zip(hanging, plain, strict=True))
    found = [
        at_least("reward: execution, computed", column(plain, "rate"), 2.5, "completions/s", size),
        at_least("reward: and probe", column(samples["reward with probe"], "rate"), 1.0, "completions/s"),
        Row(quantity="drawing those pages alone", values=column(drawing, "seconds"), unit="s"),
        Row(quantity="reward: execution, computed", values=column(plain, "seconds"), unit="s"),
        at_most(
            f"reward: a judge with {_LATENCY_S:g} s a call, {_AT_ONCE} at once",
            column(vision, "seconds"),
            round(1.3 * ideal, 1),
            "s",
            "1.3 × the longer of drawing and the calls",
        ),
        at_most("reward: a page that hangs, more", extra, _DEADLINE_S, "s"),
        # Pages that move by themselves differ a little from one rendering to the next.
        at_most("reward: and what it changed of the others", [odd], 0.001, ""),
        _none("reward: evaluations of copies", [one["evaluated"] - one["unique"] for one in plain]),
        at_most("reward: the same batch again", column(plain, "repeated_s"), 1.0, "s"),
    ]
    unscored = [one["unscored"] for part in samples.values() for one in part if "unscored" in one]
    return [*found, _none("reward: unscored", [max(unscored)])]


def _none(quantity: str, values: Sequence[float]) -> Row:
    """A figure that must be nothing."""
    return Row(quantity=quantity, values=tuple(values), target="0", met=max(values) < 1e-6)
