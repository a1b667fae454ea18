"""The reference renderers: what the released benchmark's renderer does, written after its description.

A browser a worker, its page used again for every document: 1280×960, scale 1, DOM ready, then at most 3 s
for the network to fall silent, a PNG of the full page with animations disabled, two tries. R1 has sixteen
workers, as it has by default; R2 has as many as are fastest on this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.performance.bench import documents
from tests.performance.meter import Driver, own_cpu

if TYPE_CHECKING:
    from playwright.async_api import Page, Playwright

WORKERS = 16
TRIED = (2, 3, 4, 6)
READY_MS, IDLE_MS = 30_000, 3_000


def render(pages: str, workers: int, count: int | None = None) -> dict[str, Any]:
    """Render the pages of a file, the start of the browsers included. Returns seconds and where CPU went."""
    return asyncio.run(_render(documents(pages)[:count], workers))


async def _render(pages: list[str], workers: int) -> dict[str, Any]:
    from playwright.async_api import async_playwright

    with TemporaryDirectory(prefix="opendesign-bench-") as folder:
        waiting: asyncio.Queue[Path] = asyncio.Queue()
        for number, document in enumerate(pages):
            file = Path(folder) / f"{number}.html"
            file.write_text(document, encoding="utf-8")
            waiting.put_nowait(file)
        started = time.monotonic()
        async with async_playwright() as playwright:
            done = await asyncio.gather(*(_work(playwright, waiting) for _ in range(workers)))
            seconds = time.monotonic() - started
            driver = Driver().cpu()
    return {
        "pages": len(pages),
        "failed": len(pages) - sum(done),
        "seconds": seconds,
        "rate": len(pages) / seconds,
        "python_s": own_cpu(),
        "driver_s": driver,
    }


async def _work(playwright: Playwright, waiting: asyncio.Queue[Path]) -> int:
    """One worker: takes documents until there are none; returns how many became pictures."""
    from opendesign.rendering.browser import find_browser

    # The default arguments of the driver, and the browser that ours uses: what differs is the method.
    browser = await playwright.chromium.launch(executable_path=find_browser().path)
    page = await browser.new_page(viewport={"width": 1280, "height": 960}, device_scale_factor=1)
    done = 0
    while not waiting.empty():
        file = waiting.get_nowait()
        done += any([await _picture(page, file) or await _picture(page, file)])
    await browser.close()
    return done


async def _picture(page: Page, file: Path) -> bool:
    from playwright.async_api import Error
    from playwright.async_api import TimeoutError as DriverTimeout

    try:
        await page.goto(file.as_uri(), wait_until="domcontentloaded", timeout=READY_MS)
        with contextlib.suppress(DriverTimeout):  # whatever is there by then is the picture
            await page.wait_for_load_state("networkidle", timeout=IDLE_MS)
        return bool(await page.screenshot(full_page=True, animations="disabled", type="png"))
    except Error:
        return False
