"""Pages whose controls work, their twins whose controls are dead, and a browser session to try them in."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from opendesign.types import Case, Requirement

PAGES = Path(__file__).parent / "probe_pages"
PAIRS = sorted(path.stem for path in PAGES.glob("*.html"))
_PART = re.compile(
    r"(?:<!--live-->|/\*live\*/)(.*?)(?:(?:<!--or-->|/\*or\*/)(.*?))?(?:<!--end-->|/\*end\*/)", re.DOTALL
)


def page_text(name: str, *, live: bool) -> str:
    """The page, or its dead twin: the marked parts left out, or in their other wording."""
    text = (PAGES / f"{name}.html").read_text(encoding="utf-8")
    return _PART.sub(lambda part: part[1] if live else part[2] or "", text)


def case_for(name: str, behaviour: str = "The controls react when operated.") -> Case:
    category: Any = name.partition("-")[0]
    wanted = (Requirement(kind="behaviour", text=behaviour),) if behaviour else ()
    return Case(id=name, category=category, prompt=f"Make a page: {name}.", requirements=wanted)


@dataclass
class Session:
    page: Any

    async def settle(self) -> None: ...


class Browser:
    """One headless browser and one loopback server that serves whatever document is being tried."""

    def __init__(self) -> None:
        self.document = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = outer.document.encode() if self.path.split("?")[0] == "/" else b""
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()

    async def __aenter__(self) -> Browser:
        from playwright.async_api import async_playwright

        self.stack = contextlib.AsyncExitStack()
        player = await self.stack.enter_async_context(async_playwright())
        path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        flags = ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-gpu-compositing"]
        home = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.browser = await player.chromium.launch(executable_path=path, args=flags, env={"HOME": home})
        self.stack.push_async_callback(self.browser.close)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stack.aclose()
        self.server.shutdown()
        self.server.server_close()

    @contextlib.asynccontextmanager
    async def session(self, document: str) -> AsyncIterator[Session]:
        self.document = document
        context = await self.browser.new_context(viewport={"width": 1280, "height": 960})
        try:
            page = await context.new_page()
            await page.goto(f"http://127.0.0.1:{self.server.server_address[1]}/")
            yield Session(page)
        finally:
            await context.close()
