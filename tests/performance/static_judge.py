"""The static judge: CPU for the pictures of one page, and a hundred pages with 48 replies under way at once.

``preparation`` and ``hundred`` are for ``bench.work``: each runs in a process of its own, the scripted server
in another, so that its work is not counted as ours.
"""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from opendesign.answering import controls
from opendesign.answering.models import close_models, resolve
from opendesign.canonical import digest
from opendesign.cases.benchmark import load_benchmark
from opendesign.judging.asking import PictureRule, prepare
from opendesign.judging.cards import load_card
from opendesign.judging.static import judge
from opendesign.rendering import Renderer
from opendesign.testing import ScriptedReply, ScriptedServer
from opendesign.types import Artifact, Blob, Case, RenderSettings

REPLY = (
    '{"reasons": {"alignment": "a", "aesthetics": "b", "structure": "c"}, '
    '"scores": {"alignment": 30, "aesthetics": 20, "structure": 20}, "total": 70}'
)


def preparation(height: int = 960, times: int = 20, model: str = "openai/x") -> dict[str, Any]:
    """CPU milliseconds for the pictures of one page of that height; the target for one screen is 60."""
    picture = asyncio.run(_picture(height)).read_bytes()
    rule = PictureRule.of(load_card("static"))
    prepare(picture, rule, provider=model)
    started = time.process_time()
    for _ in range(times):
        made = prepare(picture, rule, provider=model)
    spent = (time.process_time() - started) / times
    return {"cpu_ms": 1000 * spent, "pictures": len(made), "bytes": sum(len(one.data) for one in made)}


def hundred(pages: int = 100, at_once: int = 48, latency_s: float = 0.5) -> dict[str, Any]:
    """Seconds from first to last verdict, and what 1.5 times the ideal is; how many were scored."""
    os.environ["OPENAI_API_KEY"] = "sk-not-a-real-key-0123456789"
    with _server(latency_s) as base_url:
        seconds, cpu_s, scored = asyncio.run(_hundred(base_url, pages, at_once))
    ideal = math.ceil(pages / at_once) * latency_s
    return {"seconds": seconds, "allowed_s": 1.5 * ideal, "own_cpu_s": cpu_s, "scored": scored}


async def _hundred(base_url: str, pages: int, at_once: int) -> tuple[float, float, int]:
    picture = await _picture(960)
    card = load_card("static")
    model = resolve("openai/x", base_url=base_url, concurrency=at_once)
    room = asyncio.Semaphore(at_once)

    async def one(number: int) -> bool:
        case = Case(id=f"c{number}", category="website", prompt=f"A page, number {number}.")
        page = Artifact(case=case.id, sample=0, document=picture, picture=picture, width=1280, height=960)
        async with room:
            return (await judge(case, page, card, None, model)).status == "ok"

    await one(-1)  # LiteLLM is imported and the client is there
    started, cpu = time.monotonic(), time.process_time()
    scored = sum(await asyncio.gather(*(one(number) for number in range(pages))))
    spent = time.monotonic() - started, time.process_time() - cpu
    await close_models()
    return *spent, scored


async def _picture(height: int) -> Blob:
    """A rendered page, cut at that height."""
    case = load_benchmark("opendesign").cases[0]
    async with Renderer(RenderSettings(network="offline", max_height=height)) as renderer:
        shot = await renderer.render(controls.document("template", replace(case, category="website")))
    assert shot.picture
    blob = Blob(digest=digest(shot.picture), suffix="png", root=Path(tempfile.mkdtemp()))
    blob.path.parent.mkdir()
    blob.path.write_bytes(shot.picture)
    return blob


@contextmanager
def _server(latency_s: float) -> Iterator[str]:
    """A scripted server in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(there, latency_s), daemon=True
    )
    process.start()
    try:
        yield here.recv()
    finally:
        here.send(None)
        process.join()


def _serve(pipe: Connection, latency_s: float) -> None:
    with ScriptedServer(ScriptedReply(text=REPLY, latency_s=latency_s)) as server:
        pipe.send(server.base_url)
        pipe.recv()
