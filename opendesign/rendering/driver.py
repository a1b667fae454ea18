"""What a judge needs of a live page, whichever automation library holds it.

Coordinates are CSS pixels of the viewport. A ``world`` is where a script runs: ``"page"`` beside the page's
own scripts, which can see it; ``"apart"`` in an isolated world, which sees the document but not the page's
objects. Every method may raise the library's own errors; ``Session.call`` bounds and names them. An
expression that throws raises ``ScriptFailed``.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, runtime_checkable

__all__ = ["Driver", "ScriptFailed", "World"]

World = Literal["page", "apart"]


class ScriptFailed(Exception):
    """An expression threw; the text is what it threw."""


@runtime_checkable
class Driver(Protocol):
    """A page under the hand of one automation library."""

    @property
    def name(self) -> str:
        """``playwright`` or ``selenium``."""

    @property
    def width(self) -> int:
        """Width of the viewport."""

    @property
    def height(self) -> int:
        """Height of the viewport."""

    @property
    def url(self) -> str:
        """Where the document is: the address the page is loaded from."""

    @property
    def connected(self) -> bool:
        """Whether the browser is still there."""

    async def load(self, timeout_s: float) -> None:
        """Load the document anew; returns at its load event."""

    async def add_script(self, source: str, world: World) -> None:
        """Run a script before the page's own, in every frame, from the next load on."""

    async def evaluate(self, expression: str, world: World) -> Any:
        """Value (JSON) of an expression in the top frame; a promise is awaited."""

    async def move(self, x: float, y: float, steps: int = 1) -> None:
        """Move the pointer, in so many events."""

    async def down(self) -> None:
        """Press the left button."""

    async def up(self) -> None:
        """Release the left button."""

    async def click(self, x: float, y: float, count: int = 1) -> None:
        """Move there and click; ``count`` 2 is a double click."""

    async def wheel(self, dx: float, dy: float) -> None:
        """Turn the wheel where the pointer is."""

    async def key_down(self, key: str) -> None:
        """Press a key, named as ``KeyboardEvent.key`` is; ``Space`` is the space bar."""

    async def key_up(self, key: str) -> None:
        """Release a key."""

    async def press(self, key: str) -> None:
        """Press and release a key; ``ControlOrMeta+A`` holds one while another is pressed."""

    async def type(self, text: str) -> None:
        """Type a text, a key at a time."""

    async def insert(self, text: str) -> None:
        """Put a text in at once, as an input method does."""

    async def back(self) -> None:
        """Go back in the page's history, where there is something to go back to."""

    async def picture(self, quality: int | None = None) -> bytes:
        """What the viewport shows: JPEG of that quality (1 to 100), or PNG."""
