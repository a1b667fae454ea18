"""Pages whose controls work, their twins whose controls are dead, and a browser session to try them in."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

from opendesign.judging.cards import read_card
from opendesign.judging.probe import judge
from opendesign.rendering import Renderer
from opendesign.rendering.session import Session
from opendesign.types import Artifact, Case, RenderSettings, Requirement, Verdict

PAGES = Path(__file__).parent / "probe_pages"
CARD = read_card(Path(__file__).parents[2] / "judges" / "probe")
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


class Browser:
    """One browser of the harness's own, offline, for as many sessions as are asked for."""

    async def __aenter__(self) -> Browser:
        self.stack = contextlib.AsyncExitStack()
        settings = RenderSettings(network="offline", deadline_s=120)
        self.renderer = await self.stack.enter_async_context(Renderer(settings, pages_at_once=2))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stack.aclose()

    def session(self, document: str) -> contextlib.AbstractAsyncContextManager[Session]:
        return self.renderer.session(document)


async def verdict(browser: Browser, document: str, case: Case) -> Verdict:
    """What the probe says of a document; a fault of our own scripts fails the test."""
    async with browser.session(document) as session:
        found = await judge(case, Artifact(case=case.id, sample=0, document=None), CARD, session)
    assert "Error" not in str(found.evidence.get("hung")), found.evidence["hung"]
    return found
