"""One completion's way: document → gate → page → verdicts. Lives on one event loop, with its own browsers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import opendesign
from opendesign.canonical import digest, to_json
from opendesign.errors import Failed, OpenDesignError, StoreError, UsageError, failed
from opendesign.running.execute import SESSIONS, cache_folder
from opendesign.running.journey import Seat, judged
from opendesign.running.keep import keep_page
from opendesign.running.lazy import Lazy
from opendesign.train.cache import Cache
from opendesign.train.channels import Evaluation, Found, evaluation_of, passes
from opendesign.train.panel import Panel, needs_page
from opendesign.train.rows import Row, about
from opendesign.types import Answer, Artifact, Case, Failure, Verdict

if TYPE_CHECKING:
    from opendesign.rendering import Renderer
    from opendesign.running.blobs import Blobs

__all__ = ["Evaluator", "found_of", "lacking"]

log = logging.getLogger("opendesign.train")


def lacking(document: str) -> Failure | None:
    """What a document lacks that comes through the gate. The rules of HTML look at a head's title or at an
    html's language; where those tags are left out nothing is broken, and the shortest text would pass."""
    written = re.sub(r"<!--.*?(-->|\Z)", "", document, flags=re.S)
    missing = [tag for tag in ("html", "head", "body") if not re.search(rf"<{tag}[\s>]", written, re.I)]
    if not missing:
        return None
    tags = ", ".join(f"<{tag}>" for tag in missing)
    return Failure(reason="no_document", detail=f"The document has no {tags}: it is no whole page.")


class Evaluator:
    """Evaluates completions, many at once, until it is closed. The browser starts with the first page.

    ``concurrency`` is how many judges' models are asked at once, ``pool`` how many pages are drawn together.
    """

    def __init__(
        self,
        panel: Panel,
        *,
        cache: Cache | None,
        deadline_s: float,
        concurrency: int,
        pool: int,
        browser: str | Path | None,
    ) -> None:
        self._panel, self._cache, self._deadline_s, self._browser = panel, cache, deadline_s, browser
        waiting = any(seat.card.live and seat.model is not None for seat in panel.seats)
        self._pool, self._sessions_at_once = pool, max(pool, SESSIONS) if waiting else pool
        # Whoever waits here is not yet on the clock: a page answers for its own time only.
        self._pages = asyncio.Semaphore(pool)
        self._sessions = asyncio.Semaphore(self._sessions_at_once)
        self._calls = asyncio.Semaphore(concurrency)
        self._renderer = Lazy(self._make_renderer)
        self._starting: asyncio.Task[Renderer] | None = None

    def _make_renderer(self) -> Renderer:
        from opendesign.rendering import Renderer

        return Renderer(
            self._panel.render,
            browser=self._browser,
            pages_at_once=self._pool,
            sessions_at_once=self._sessions_at_once,
            cache=cache_folder() / "network",
        )

    @cached_property
    def _stamp(self) -> str:
        """Of the browser that draws, on which a page's verdicts depend; "" where there is none."""
        from opendesign.rendering.browser import find_browser

        try:
            return find_browser(self._browser).stamp
        except (UsageError, OSError):
            return ""

    @cached_property
    def _folder(self) -> Path:
        """For pages and pictures while they are looked at."""
        return Path(tempfile.mkdtemp(prefix="opendesign-reward-"))

    async def close(self) -> None:
        """End the browsers and the connections to judges' models."""
        from opendesign.answering.models import close_models

        try:
            if self._starting is not None:
                await asyncio.gather(self._starting, return_exceptions=True)
            await self._renderer.__aexit__()
        finally:
            await close_models()
            if "_folder" in self.__dict__:
                shutil.rmtree(self._folder, ignore_errors=True)

    async def evaluate(self, row: Row) -> Evaluation:
        """The row's channels. Raises ``OpenDesignError`` for what no other row could do better: no browser,
        no room on the disk, a card that makes no sense."""
        from opendesign.answering.models import Reply
        from opendesign.answering.outcome import answer_of

        reply = Reply(text=row.text, finish_reason=row.finish_reason)
        answer = await asyncio.to_thread(answer_of, row.case, 0, reply)
        if answer.failure is not None:
            found, seconds = self._nothing(answer.failure), 0.0
        else:
            async with self._page(row.case, answer.document or "") as page:
                found = await self._judge(page)
            seconds = page.seconds
        if seconds > self._deadline_s:
            log.warning("A page of case %s took %.0f s.", row.case.id, seconds)
        return evaluation_of(self._panel.channels, found, gate=self._panel.gate, seconds=seconds)

    def _nothing(self, failure: Failure) -> dict[str, Found]:
        """What every judge finds where there is no page."""
        none = Found(failure=failure, of_page=True, reasons=(failure.detail,))
        return {seat.card.name: none for seat in self._panel.seats}

    async def _judge(self, page: _Page) -> dict[str, Found]:
        """What each judge found, by name. A page that fails the gate is shown to no other judge."""
        gate = self._panel.gate
        found: dict[str, Found] = {}
        if gate is not None:
            first = next(seat for seat in self._panel.seats if seat.card.name == gate.judge)
            found[gate.judge] = await self._find(first, page)
            if not passes(gate, found):
                return found
            if lack := lacking(page.document):
                return self._nothing(lack)
        rest = [seat for seat in self._panel.seats if seat.card.name not in found]
        async with asyncio.TaskGroup() as group:
            tasks = {seat.card.name: group.create_task(self._find(seat, page)) for seat in rest}
        return found | {name: task.result() for name, task in tasks.items()}

    @contextlib.asynccontextmanager
    async def _page(self, case: Case, document: str) -> AsyncIterator[_Page]:
        from opendesign.running.blobs import Blobs

        try:
            folder = Path(tempfile.mkdtemp(dir=self._folder))
            page = _Page(case, document, Blobs(folder), self)
        except OSError as error:
            raise StoreError(
                f"A page cannot be put down to be looked at ({(error.strerror or str(error)).lower()}): make "
                "room where temporary files go, or set $TMPDIR to another folder."
            ) from error
        try:
            yield page
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _find(self, seat: Seat, page: _Page) -> Found:
        """What one judge found: at hand already, or asked now. Everything that goes wrong becomes data."""
        how = [opendesign.__version__, self._panel.config(seat), self._stamp if needs_page(seat) else ""]
        key = digest(to_json([*how, about(page.case), page.digest]))
        if self._cache is not None and (kept := await asyncio.to_thread(self._cache.get, key)):
            return kept
        try:
            artifact = await page.drawn() if needs_page(seat) else page.source
            found = await self._ask(seat, page, artifact)
        except Failed as error:
            found = Found(failure=error.failure, reasons=(error.failure.detail,), cost_usd=_unknown(seat))
        except OpenDesignError:
            raise
        except Exception as error:  # of a judge or the browser's driver; the other pages go on
            log.exception("The judge %s broke on a page of case %s.", seat.card.name, page.case.id)
            reason = "provider_error" if seat.model is not None else "browser_crash"
            found = Found(failure=Failure(reason=reason, detail=f"{type(error).__name__}: {error}"[:300]))
        if found.failure is not None and found.failure is page.failure:
            found = replace(found, of_page=True, cost_usd=0.0)
        if self._cache is not None and not found.unscored:
            await asyncio.to_thread(self._cache.put, key, found)
        return found

    async def _ask(self, seat: Seat, page: _Page, artifact: Artifact) -> Found:
        async with contextlib.AsyncExitStack() as room:
            if seat.card.live:
                await room.enter_async_context(self._sessions)
            if seat.model is not None:
                await room.enter_async_context(self._calls)
            try:
                async with page.timed(), asyncio.timeout(self._deadline_s) as clock:
                    verdict = await judged(page.case, artifact, seat, self._renderer, page.blobs)
            except TimeoutError:
                if not clock.expired():
                    raise
                detail = f"The judge {seat.card.name} had not come to an end after {self._deadline_s:g} s."
                log.warning("%s It was on a page of case %s.", detail, page.case.id)
                raise failed("deadline_under_load", detail) from None
        return found_of(verdict)

    async def _started(self) -> Renderer:
        """The renderer. Who gives up waiting does not break its start off, which would leave half a browser;
        a start that failed is tried again by whoever comes later."""
        starting = self._starting
        if starting is None or (starting.done() and starting.exception() is not None):
            starting = self._starting = asyncio.create_task(self._renderer.get())
        return await asyncio.shield(starting)

    async def draw(self, page: _Page) -> Artifact:
        """The page, rendered. Raises ``Failed`` with what is wrong with it, or with the instrument."""
        renderer = await self._started()
        async with self._pages, page.timed():
            rendering = await renderer.render(page.document)
        if rendering.failure is not None:
            raise Failed(rendering.failure)
        answer = Answer(case=page.case.id, sample=0, text="")
        return await asyncio.to_thread(
            keep_page, answer, page.document, rendering, renderer.engine, page.blobs
        )


class _Page:
    """A document while its judges look at it: its source at once, and drawn at most once for all of them."""

    def __init__(self, case: Case, document: str, blobs: Blobs, evaluator: Evaluator) -> None:
        self.case, self.document, self.blobs = case, document, blobs
        self.digest = digest(document)
        self.failure: Failure | None = None  # of the page itself
        self.seconds = 0.0  # of drawing and of every judge together, without waiting for a turn
        self.source = Artifact(case=case.id, sample=0, document=blobs.put(document.encode("utf-8"), "html"))
        self._evaluator = evaluator
        self._drawing: asyncio.Task[Artifact] | None = None

    @contextlib.asynccontextmanager
    async def timed(self) -> AsyncIterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds += time.monotonic() - started

    async def drawn(self) -> Artifact:
        """Raises ``Failed``, for every judge alike."""
        if self._drawing is None:
            self._drawing = asyncio.create_task(self._evaluator.draw(self))
        try:
            return await self._drawing
        except Failed as error:
            self.failure = error.failure
            raise


def found_of(verdict: Verdict) -> Found:
    """The part of a verdict that a reward is made of."""
    return Found(
        scores=verdict.scores,
        gates=verdict.evidence.get("gates", {}),
        reasons=verdict.reasons,
        failure=verdict.failure,
        cost_usd=verdict.usage.cost_usd,
    )


def _unknown(seat: Seat) -> float | None:
    """What a judge that broke off has cost: nothing without a model, else nobody knows."""
    return None if seat.model is not None else 0.0
