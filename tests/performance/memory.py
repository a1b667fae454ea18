"""Whether memory stays flat: all processes together, looked at after each of many pages rendered in full."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from tests.performance.bench import Bench, Row, Samples, Variant, at_most, column, documents, work
from tests.performance.meter import pss_mb, tree

_WINDOW = 100  # pages whose mean is compared; every such stretch holds the same hundred pages


def variants(bench: Bench) -> list[Variant]:
    pages = bench.pages(bench.sizes.memory_pages)
    return [
        Variant(name="memory", repeats=1, run=lambda: work("memory:render", memory=False, pages=str(pages)))
    ]


def render(pages: str) -> dict[str, Any]:
    return asyncio.run(_render(documents(pages)))


async def _render(pages: list[str]) -> dict[str, Any]:
    from opendesign.cases.benchmark import load_protocol
    from opendesign.rendering import Renderer

    held: list[float | None] = []
    ours: list[float] = []  # of that, this process
    failed = 0

    async def one(document: str) -> None:
        nonlocal failed
        rendering = await renderer.render(document)
        failed += rendering.failure is not None
        held.append(await asyncio.to_thread(lambda: pss_mb(tree(os.getpid()))))
        ours.append(pss_mb([os.getpid()]) or 0.0)

    with TemporaryDirectory(prefix="opendesign-bench-") as cache:
        settings = load_protocol("opendesign", "standard").render
        async with Renderer(settings, cache=Path(cache)) as renderer, asyncio.TaskGroup() as group:
            waiting = asyncio.Semaphore(2 * renderer.pages_at_once)

            async def in_turn(document: str) -> None:
                async with waiting:
                    await one(document)

            for document in pages:
                group.create_task(in_turn(document))
    known = [value for value in held if value is not None]
    if len(known) < len(held):
        return {"pages": len(pages), "failed": failed, "known": False}
    window = max(1, min(_WINDOW, len(known) // 2))
    return {
        "pages": len(pages),
        "failed": failed,
        "known": True,
        "first_mb": fmean(known[:window]),
        "last_mb": fmean(known[-window:]),
        "highest_mb": max(known),
        "python_first_mb": fmean(ours[:window]),
        "python_last_mb": fmean(ours[-window:]),
        "window": window,
        "held_mb": [round(value) for value in known],
    }


def rows(samples: Samples) -> list[Row]:
    taken = samples["memory"]
    if not all(sample["known"] for sample in taken):
        return []  # not a system that tells
    note = f"{taken[0]['pages']} pages, means of {taken[0]['window']}"
    own = f"{taken[0]['python_first_mb']:.0f} of Python, {taken[0]['python_last_mb']:.0f} at the last pages"
    growth = tuple(sample["last_mb"] / sample["first_mb"] for sample in taken)
    found = [
        Row(
            quantity="memory of the first pages",
            values=column(taken, "first_mb"),
            unit="MB proportional",
            note=own,
        ),
        at_most("memory of the last pages to the first", growth, 1.2, "", note),
        at_most("memory, peak", column(taken, "highest_mb"), 2000, "MB proportional", note),
    ]
    if failed := max(int(sample["failed"]) for sample in taken):
        found.append(Row(quantity="memory: pages that failed", values=(failed,), target="0", met=False))
    return found
