"""Pages a second, CPU and memory of rendering: ours, bare and in full, beside the reference renderers.

Every figure covers the whole job, from no browser at all to the last picture; memory is the peak of all
processes together.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from tests.performance import reference
from tests.performance.bench import (
    Bench,
    Row,
    Sample,
    Samples,
    Variant,
    against,
    at_most,
    column,
    documents,
    say,
    work,
)
from tests.performance.meter import Driver, own_cpu

#: Where the reference renderers land on 2 cores that are at rest, in pages a second.
KNOWN = {"R1": (1.0, 1.6), "R2": (2.3, 3.5)}
_SAMPLE = 24  # pages on which the number of workers of R2 is found


def variants(bench: Bench) -> list[Variant]:
    pages, repeats = bench.pages(bench.sizes.pages), bench.sizes.repeats
    workers = bench.known["R2 workers"] = best_workers(bench)
    calls: dict[str, dict[str, Any]] = {
        "R1": {"function": "reference:render", "workers": reference.WORKERS},
        "R2": {"function": "reference:render", "workers": workers},
        "capture": {"function": "rendering:render", "bare": True},
        "full": {"function": "rendering:render", "bare": False},
    }

    def variant(name: str) -> Variant:
        return Variant(name=name, repeats=repeats, run=lambda: work(pages=str(pages), **calls[name]))

    return [variant(name) for name in calls]


def best_workers(bench: Bench) -> int:
    """The number of workers with which the reference is fastest here, each tried once on a few pages."""
    pages = bench.pages(bench.sizes.pages)
    rates = {
        workers: work("reference:render", memory=False, pages=str(pages), workers=workers, count=_SAMPLE)[
            "rate"
        ]
        for workers in reference.TRIED
    }
    say("R2 by workers: " + ", ".join(f"{workers}: {rate:.2f}/s" for workers, rate in rates.items()))
    return max(rates, key=lambda workers: rates[workers])


def render(pages: str, bare: bool) -> dict[str, Any]:
    """Render the pages of a file with our renderer as it is by default."""
    return asyncio.run(_render(documents(pages), bare))


async def _render(pages: list[str], bare: bool) -> dict[str, Any]:
    from opendesign.cases.benchmark import load_protocol
    from opendesign.rendering import Renderer

    settings = load_protocol("opendesign", "standard").render
    failures: list[str] = []

    async def one(document: str) -> None:
        rendering = await renderer.render(document, bare=bare)
        if rendering.failure or not rendering.picture or (rendering.facts is None) != bare:
            failures.append(rendering.failure.detail if rendering.failure else "no picture or no facts")

    with TemporaryDirectory(prefix="opendesign-bench-") as cache:
        started = time.monotonic()
        async with Renderer(settings, cache=Path(cache)) as renderer:
            await asyncio.gather(*(one(document) for document in pages))
            seconds = time.monotonic() - started
            driver = Driver().cpu()
    return {
        "pages": len(pages),
        "failed": len(failures),
        "failures": failures[:3],
        "seconds": seconds,
        "rate": len(pages) / seconds,
        "python_s": own_cpu(),
        "driver_s": driver,
        "engine": renderer.engine,
    }


def rows(samples: Samples) -> list[Row]:
    rate = {name: column(samples[name], "rate") for name in ("R1", "R2", "capture", "full")}
    cpu = {name: cpu_a_page(samples[name]) for name in rate}
    found = [
        _known("R1", rate["R1"], f"{reference.WORKERS} workers"),
        _known("R2", rate["R2"], "its best number of workers"),
        against("capture alone", rate["capture"], rate["R2"], "pages/s", "≥ 1.2 × R2", lambda r: r >= 1.2),
        against(
            "facts, scroll and settle", rate["full"], rate["R2"], "pages/s", "≥ 1 × R2", lambda r: r >= 1
        ),
        Row(quantity="R1", values=cpu["R1"], unit="CPU-s a page"),
        Row(quantity="R2", values=cpu["R2"], unit="CPU-s a page"),
        at_most("capture alone", cpu["capture"], 0.42, "CPU-s a page", _parts(samples["capture"])),
        at_most("facts, scroll and settle", cpu["full"], 0.60, "CPU-s a page", _parts(samples["full"])),
    ]
    for name in ("capture", "full"):
        ratio = median(ours / theirs for ours, theirs in zip(cpu[name], cpu["R2"], strict=True))
        found.append(
            Row(quantity=f"CPU of {name} against R2's", values=cpu[name], unit="CPU-s a page", ratio=ratio)
        )
    if all(sample["peak_mb"] for name in rate for sample in samples[name]):
        memory = {name: column(samples[name], "peak_mb") for name in rate}
        found += [
            Row(quantity=name, values=memory[name], unit="MB proportional")
            for name in ("R1", "R2", "capture")
        ]
        found.append(
            against(
                "facts, scroll and settle",
                memory["full"],
                memory["R1"],
                "MB proportional",
                "≤ ⅓ × R1",
                lambda ratio: ratio <= 1 / 3,
            )
        )
    return [*found, *_failed(samples)]


def trust(samples: Samples) -> str:
    """Why the ratios are not to be trusted, in one sentence; "" where they are."""
    landed = {name: median(column(samples[name], "rate")) for name in KNOWN}
    outside = [
        f"{name} landed at {landed[name]:.2f} pages/s where {low:g} to {high:g} is known"
        for name, (low, high) in KNOWN.items()
        if not low <= landed[name] <= high
    ]
    if not outside:
        return ""
    load = (
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, and these ranges are of 2 at rest"
    )
    return f"The ratios to R1 and R2 are not to be trusted: {' and '.join(outside)} ({load})."


def cpu_a_page(samples: Sequence[Sample]) -> tuple[float, ...]:
    return tuple(sample["cpu_s"] / sample["pages"] for sample in samples)


def _known(name: str, rate: tuple[float, ...], note: str) -> Row:
    low, high = KNOWN[name]
    return Row(quantity=name, values=rate, unit="pages/s", target=f"({low:g} to {high:g})", note=note)


def _parts(samples: Sequence[Sample]) -> str:
    """Where the CPU went: our Python, the driver, the browser."""
    python = median(sample["python_s"] / sample["pages"] for sample in samples)
    driver = median(sample["driver_s"] / sample["pages"] for sample in samples)
    rest = median(cpu_a_page(samples)) - python - driver
    return f"Python {python:.3f}, driver {driver:.3f}, browser {rest:.3f}"


def _failed(samples: Samples) -> list[Row]:
    """Pages without a picture: a rate that skips pages is no rate."""
    counts = {name: max(int(sample["failed"]) for sample in taken) for name, taken in samples.items()}
    return [
        Row(quantity=f"{name}: pages that failed", values=(count,), target="0", met=False)
        for name, count in counts.items()
        if count
    ]
