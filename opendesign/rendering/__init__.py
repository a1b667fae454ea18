"""Rendering: Answer → Artifact. Browser, network policy, capture and page facts.

async with Renderer(settings, cache=folder) as renderer:
    rendering = await renderer.render(document)      # picture, facts, or the failure and its owner
    async with renderer.session(document) as session:
        await session.call(session.page.click("button"))
"""

from opendesign.rendering.renderer import Renderer, Rendering
from opendesign.rendering.session import PageHung, Session

__all__ = ["PageHung", "Renderer", "Rendering", "Session"]
