"""What works on this machine, and the one command that mends the rest."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass

from opendesign.errors import OpenDesignError
from opendesign.rendering.browser import GET_ONE, find_browser
from opendesign.rendering.fonts import coverage, families, font_set
from opendesign.types import RenderSettings

__all__ = ["Finding", "inspect"]

REACH_S = 3.0
_WEBGL = """<!doctype html><title>WebGL</title><p></p><script>
const made = document.createElement("canvas").getContext("webgl2");
document.querySelector("p").textContent = made ? "webgl2 yes" : "webgl2 no";
</script>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. ``needed``: nothing can be rendered without. ``mend``: a command."""

    name: str
    ok: bool
    needed: bool = False
    detail: str
    mend: str | None = None


async def inspect(browser: str | None = None, hosts: Iterable[str] = ()) -> tuple[Finding, ...]:
    """Browser, sandbox, WebGL, fonts, keys (names only, never values) and network. Never raises."""
    seen = await _browser(browser)
    return (*seen, _fonts(), _keys(), await _network(hosts))


async def _browser(path: str | None) -> tuple[Finding, ...]:
    """Starts the browser and renders a page in it: what is found is what a run will have."""
    from opendesign.rendering.renderer import Renderer

    try:
        found = find_browser(path)
    except OpenDesignError as error:
        return (Finding(name="browser", ok=False, needed=True, detail=str(error), mend=GET_ONE),)
    where = f"{found.path} ({found.source})"
    try:
        async with Renderer(RenderSettings(network="offline"), browser=path, pages_at_once=1) as renderer:
            rendering = await renderer.render(_WEBGL)
    except OpenDesignError as error:
        return (Finding(name="browser", ok=False, needed=True, detail=str(error), mend=GET_ONE),)
    if rendering.failure is not None or rendering.facts is None:
        why = rendering.failure.detail if rendering.failure else "no facts"
        return (Finding(name="browser", ok=False, needed=True, detail=f"{where}: {why}", mend=GET_ONE),)
    webgl = "webgl2 yes" in rendering.facts.text
    how = f"on, as the user {renderer.browser_user}" if renderer.sandboxed else renderer.sandbox_problem
    return (
        Finding(name="browser", ok=True, needed=True, detail=f"{renderer.engine}, {where}"),
        Finding(
            name="sandbox",
            ok=renderer.sandboxed,
            detail=how if renderer.sandboxed else f"off: {how}",
            mend=None if renderer.sandboxed else _mend_sandbox(how),
        ),
        Finding(
            name="webgl",
            ok=webgl,
            detail="WebGL 2 without a GPU" if webgl else "no WebGL 2: 3D pages will be blank",
            mend=None if webgl else GET_ONE,
        ),
    )


def _mend_sandbox(problem: str) -> str:
    if "may not be entered" in problem:
        return f"PLAYWRIGHT_BROWSERS_PATH=/opt/browsers {GET_ONE}"
    if "setpriv" in problem:
        return "apt-get install util-linux"
    return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 kernel.unprivileged_userns_clone=1"


def _fonts() -> Finding:
    covered = coverage()
    missing = [name for name, there in (covered or {}).items() if not there]
    enough = bool(families()) and not missing
    detail = font_set() + (f"; no font for {', '.join(missing)}" if missing else "")
    if covered is None:
        detail += "; fc-list is not installed, so what they cover is not known"
    mend = None if enough else "apt-get install fontconfig fonts-liberation fonts-noto-core fonts-noto-cjk"
    return Finding(
        name="fonts", ok=enough, detail=detail, mend=mend + " fonts-noto-color-emoji" if mend else None
    )


def _keys() -> Finding:
    """Which providers could be asked."""
    from opendesign.answering.catalogue import KEY_VARIABLES, OTHER_VARIABLES

    names = [*KEY_VARIABLES.values(), *(name for others in OTHER_VARIABLES.values() for name in others)]
    there = sorted({name for name in names if os.environ.get(name)})
    return Finding(
        name="keys",
        ok=bool(there),
        detail=", ".join(there) if there else "none is set: only builtin/… models and answers on disk work",
        mend=None if there else "export OPENAI_API_KEY=…",
    )


async def _network(hosts: Iterable[str]) -> Finding:
    """Whether any of a few allowed hosts can be reached from here."""
    asked = [host for host in hosts if "*" not in host][:3]
    if not asked:
        return Finding(name="network", ok=True, detail="no allowed host to ask")
    reached = [host for host, is_there in zip(asked, await _reach(asked), strict=True) if is_there]
    return Finding(
        name="network",
        ok=bool(reached),
        detail=f"{', '.join(reached)} can be reached"
        if reached
        else f"{', '.join(asked)} cannot be reached: pages that use them will be marked cdn_unreachable",
    )


async def _reach(hosts: list[str]) -> list[bool]:
    async def one(host: str) -> bool:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(host, 443), REACH_S)
        except (OSError, TimeoutError):
            return False
        writer.transport.abort()
        return True

    return list(await asyncio.gather(*(one(host) for host in hosts)))
