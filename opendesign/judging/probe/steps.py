"""What the probe may do: the controls of a page, and the steps that operate them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opendesign.judging.change import Action
from opendesign.judging.change.answers import listed, read


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One control as ``controls.js`` lists it; boxes in CSS pixels of the document."""

    key: str
    kind: str
    tag: str
    type: str
    name: str
    x: float
    y: float
    width: float
    height: float
    disabled: bool
    active: bool
    link: str
    heard: bool
    dragged: bool
    wheel: bool
    pointed: bool
    clicked: bool
    double: bool
    nav: bool
    group: str
    form: str
    near: bool
    required: bool
    submit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One planned interaction.

    ``variant`` tells repeats on one control apart; ``opens`` marks what starts a game.
    """

    action: Action
    kind: str
    score: float
    control: Control | None = None
    keys: tuple[str, ...] = ()
    variant: int = 0
    opens: bool = False

    @property
    def label(self) -> str:
        """What is done, for a person."""
        if self.keys:
            return "press " + ", ".join("Space" if key == " " else key for key in self.keys)
        assert self.control is not None
        again = f" ({self.variant + 1})" if self.variant else ""
        return f"{self.kind} {self.control.tag} '{self.control.name or self.control.key}'{again}"


def read_controls(listing: Mapping[str, Any]) -> list[Control]:
    """Controls out of what ``controls.js`` lists. Raises ``Rubbish``."""
    return [read(Control, value) for value in listed(listing.get("controls"), 400)]
