"""The judges that ask a model: how much they add to the model's own time, and how much they send.

A scripted server answers every call after half a second. The static judge is shown pictures of one screen,
forty-eight at once; the interactive judge operates pages whose controls work, with an agent that plans three
interactions and claims success.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.performance.bench import Bench, Row, Sample, Samples, Variant, at_most, column, work

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from opendesign.testing import ScriptedRequest

LATENCY_S = 0.5
ITEMS, AT_ONCE = 100, 48
PAGES, IN_FLIGHT, MOST_IN_FLIGHT = 12, 4, 12
MODEL_S = 6 * LATENCY_S  # of a page, for the released judge


def variants(bench: Bench) -> list[Variant]:
    repeats = bench.sizes.repeats

    def variant(name: str, function: str, **arguments: Any) -> Variant:
        def run() -> Sample:
            return work(f"judging:{function}", env={"OPENAI_API_KEY": "none"}, **arguments)

        return Variant(name=name, repeats=repeats, run=run)

    return [
        variant("static", "static"),
        variant("interactive", "interactive", in_flight=IN_FLIGHT),
        variant("interactive, all at once", "interactive", in_flight=MOST_IN_FLIGHT),
    ]


def static() -> dict[str, Any]:
    """A hundred pages judged by their pictures. Returns seconds, and CPU seconds of preparing a picture."""
    return asyncio.run(_static())


async def _static() -> dict[str, Any]:
    from opendesign.answering.models import close_models, resolve
    from opendesign.judging.cards import engine, load_card
    from opendesign.testing import ScriptedReply, ScriptedServer
    from tests.unit.static_support import CASE, artifact, verdict

    card = load_card("static")
    judge = engine(card)
    reply = ScriptedReply(text=verdict(), latency_s=LATENCY_S)
    with TemporaryDirectory(prefix="opendesign-bench-") as folder, ScriptedServer(reply) as server:
        model = resolve("openai/x", base_url=server.base_url, concurrency=AT_ONCE)
        page = artifact(Path(folder))
        await judge(CASE, page, card, None, model)  # what is loaded and connected once
        room = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> bool:
            async with room:
                given = await judge(replace(CASE, id=f"bench-{number}"), page, card, None, model)
            return given.failure is None

        cpu, started = time.process_time(), time.monotonic()
        sound = await asyncio.gather(*(one(number) for number in range(ITEMS)))
        seconds, cpu = time.monotonic() - started, time.process_time() - cpu
        await close_models()
        prepared = _preparing(page, card, model)
    return {"failed": sound.count(False), "seconds": seconds, "prepare_s": prepared, "python_s": cpu}


def _preparing(page: Any, card: Any, model: Any) -> float:
    """CPU seconds for one picture of one screen, the mean of twenty."""
    from opendesign.judging.asking.pictures import PictureRule, prepare

    png, rule, count = page.picture.read_bytes(), PictureRule.of(card), 20
    started = time.process_time()
    for _ in range(count):
        prepare(png, rule, provider=model.name)
    return (time.process_time() - started) / count


def interactive(in_flight: int) -> dict[str, Any]:
    """Twelve pages operated. Returns seconds of all, seconds of a page, and what a page sends."""
    return asyncio.run(_interactive(in_flight))


async def _interactive(in_flight: int) -> dict[str, Any]:
    from opendesign.answering.models import close_models, resolve
    from opendesign.cases.benchmark import load_protocol
    from opendesign.judging.cards import load_card
    from opendesign.judging.interactive import judge
    from opendesign.rendering import Renderer
    from opendesign.testing import ScriptedReply, ScriptedServer
    from opendesign.types import Artifact, Blob
    from tests.unit.interactive_support import claims_success
    from tests.unit.probe_pairs import PAIRS, case_for, page_text

    def script(request: ScriptedRequest) -> ScriptedReply:
        return ScriptedReply(text=claims_success(request), latency_s=LATENCY_S)

    card, room = load_card("interactive"), asyncio.Semaphore(in_flight)
    times: list[float] = []
    points: list[float] = []
    async with AsyncExitStack() as stack:
        server = stack.enter_context(ScriptedServer(script))
        cache = stack.enter_context(TemporaryDirectory(prefix="opendesign-bench-"))
        settings = load_protocol("opendesign", "standard").render
        renderer = await stack.enter_async_context(
            Renderer(settings, cache=Path(cache), sessions_at_once=in_flight)
        )
        model = resolve("openai/x", base_url=server.base_url, concurrency=in_flight)

        async def one(name: str) -> None:
            async with room:
                started = time.monotonic()
                blob = Blob(digest=f"{PAIRS.index(name):064x}", suffix="html", root=Path())
                artifact = Artifact(case=name, sample=0, document=blob)
                async with renderer.session(page_text(name, live=True)) as page:
                    verdict = await judge(case_for(name), artifact, card, page, model)
                times.append(time.monotonic() - started)
                points.append(verdict.scores.get("points", 0.0))

        async with _warm(renderer, model):
            before = len(server.requests)
            started = time.monotonic()
            await asyncio.gather(*(one(name) for name in PAIRS[:PAGES]))
            seconds = time.monotonic() - started
        sent = [_sent(request) for request in server.requests[before:]]
        await close_models()
    return {
        "failed": PAGES - len(times),
        "seconds": seconds,
        "page_s": fmean(times),
        "calls": len(sent) / PAGES,
        "pictures": sum(count for count, _ in sent) / PAGES,
        "mb": sum(size for _, size in sent) / PAGES / 1e6,
        "points": fmean(points),
    }


@asynccontextmanager
async def _warm(renderer: Any, model: Any) -> AsyncIterator[None]:
    """What is loaded once a run is loaded before the clock starts: LiteLLM, Pillow, the first page."""
    await model.chat([{"role": "user", "content": "Your last action:"}])
    async with renderer.session("<!doctype html><title>Warm</title><p>Warm"):
        pass
    yield


def _sent(request: ScriptedRequest) -> tuple[int, int]:
    """Pictures of a request, and their size as sent, base64 and all, in bytes."""
    parts = [
        part["image_url"]["url"]
        for message in request.body["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]
    return len(parts), sum(map(len, parts))


def rows(samples: Samples) -> list[Row]:
    shown, operated, together = samples["static"], samples["interactive"], samples["interactive, all at once"]
    ideal = math.ceil(ITEMS / AT_ONCE) * LATENCY_S
    cores = os.cpu_count() or 1
    allowed = [1.5 * ideal + ITEMS * sample["prepare_s"] / cores for sample in shown]
    over = tuple(sample["seconds"] / limit for sample, limit in zip(shown, allowed, strict=True))
    found = [
        at_most("static, 100 pages, of what is allowed", over, 1.0, "", f"1.5 × {ideal:g} s, pictures"),
        Row(quantity="static, 100 pages, 48 at once", values=column(shown, "seconds"), unit="s"),
        at_most("preparing a picture", column(shown, "prepare_s"), 0.06, "CPU-s"),
        at_most("interactive, 12 pages, 4 in flight", column(operated, "seconds"), 20, "s"),
        at_most("interactive, a page", column(operated, "page_s"), 2.5 * MODEL_S, "s", "2.5 × model"),
        at_most("interactive, pictures a page", column(operated, "pictures"), 12, ""),
        at_most("interactive, sent a page", column(operated, "mb"), 1.0, "MB"),
        Row(quantity="interactive, points a page", values=column(operated, "points"), unit="of 3"),
    ]
    if all(sample["peak_mb"] for sample in together):
        found.append(
            at_most("interactive, 12 in flight", column(together, "peak_mb"), 1500, "MB proportional")
        )
    if failed := max(int(sample["failed"]) for taken in samples.values() for sample in taken):
        found.append(Row(quantity="judging: pages that failed", values=(failed,), target="0", met=False))
    return found
