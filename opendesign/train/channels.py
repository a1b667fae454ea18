"""Channels: the named numbers that a reward is made of, and how verdicts become them.

A role has one channel, a guard one more. Weights are those of Code Aesthetics with Agentic Reward Feedback
(arXiv 2510.23272): 0.1 · execution + 0.8 · static + 0.1 · interactive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from opendesign.types import Failure

__all__ = ["ROLES", "WEIGHTS", "Channel", "Evaluation", "Found", "Role", "Scale", "evaluation_of", "passes"]

Role = Literal["execution", "static", "interactive"]
Scale = Literal["unit", "paper"]
ROLES: tuple[Role, ...] = ("execution", "static", "interactive")
WEIGHTS: Mapping[Role, float] = {"execution": 0.1, "static": 0.8, "interactive": 0.1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """One number of a reward. Its ``floor`` is what a page gets that fails: the worst there is."""

    name: str
    judge: str  # whose verdict it reads
    weight: float
    floor: float
    measure: str = ""  # of the verdict; a guard has none
    zero: float = 0.0  # value = (measure - zero) · factor
    factor: float = 1.0
    gate: str = ""  # of the computed judge, for a guard: 0 where it was not tripped, else the floor
    fallback: float | None = None  # in place of an abstention

    def value(self, found: Found) -> float | None:
        """The channel's number, always finite, or None where the judge or an instrument failed.

        A page with nothing to operate, of which a judge says "not applicable", has earned no point: among
        answers to one prompt it stands with those of which nothing works.
        """
        if found.unscored:
            return None
        if self.gate:
            return self.floor if found.failure or self.gate in found.gates else 0.0
        if self.measure not in found.scores:
            return self.floor
        return (found.scores[self.measure] - self.zero) * self.factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one judge found on one page: the part of its verdict that a reward is made of.

    ``of_page``: the failure is the page's own and holds for every judge.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    gates: Mapping[str, str] = field(default_factory=dict)  # tripped, with what was found
    reasons: tuple[str, ...] = ()
    failure: Failure | None = None
    of_page: bool = False
    cost_usd: float | None = 0.0
    cached: bool = False

    @property
    def unscored(self) -> bool:
        """Whether the judge or an instrument failed, so that another try may find more."""
        return self.failure is not None and self.failure.status != "model_failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One completion's channels and what they amount to.

    ``channels`` holds a number for every channel, or None where its judge or an instrument failed; ``total``
    is the weighted sum, None where a channel that counts is None. ``gated``: it failed the gate or is no page
    at all, and every channel has its floor. ``failures`` is channel → failure with its owner; ``reasons`` is
    what the judges said. ``seconds`` is what drawing and judging took, without waiting for a turn;
    ``cost_usd`` is None where a price is not known; what was at hand costs nothing and is ``cached``.
    """

    channels: Mapping[str, float | None]
    total: float | None
    gated: bool = False
    failures: Mapping[str, Failure] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    seconds: float = 0.0
    cost_usd: float | None = 0.0
    cached: bool = False

    @property
    def unscored(self) -> bool:
        """Whether a judge or an instrument failed, so that another try may find more."""
        return any(failure.status != "model_failure" for failure in self.failures.values())


def evaluation_of(
    channels: Sequence[Channel], found: Mapping[str, Found], *, gate: Channel | None, seconds: float
) -> Evaluation:
    """Channels and total of what the judges found (by judge).

    A page that failed by itself, or at the gate, has the floor of every channel; where the gate's own judge
    failed, nobody knows whether it would have, and every channel abstains.
    """
    at_gate = found[gate.judge] if gate is not None else None
    own = next((one.failure for one in found.values() if one.of_page and not one.unscored), None)
    gated = own is not None or (gate is not None and passes(gate, found) is False)
    values: dict[str, float | None] = {}
    failures: dict[str, Failure] = {}
    for channel in channels:
        one = at_gate if at_gate is not None and at_gate.unscored else found.get(channel.judge)
        value = channel.floor if gated else channel.value(one) if one is not None else None
        values[channel.name] = channel.fallback if value is None else value
        failure = own or (one.failure if one is not None else None)
        if failure is not None:
            failures[channel.name] = failure
    costs = [one.cost_usd for one in found.values() if not one.cached]
    return Evaluation(
        channels=values,
        total=_total(channels, values),
        gated=gated,
        failures=failures,
        reasons=tuple(dict.fromkeys(reason for one in found.values() for reason in one.reasons)),
        seconds=round(seconds, 3),
        cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        cached=all(one.cached for one in found.values()),
    )


def passes(gate: Channel, found: Mapping[str, Found]) -> bool | None:
    """Whether a page passes the gate: its channel is above the floor. None: its judge failed."""
    value = gate.value(found[gate.judge])
    return None if value is None else value > gate.floor


def _total(channels: Sequence[Channel], values: Mapping[str, float | None]) -> float | None:
    """The weighted sum; None where a channel that counts abstains."""
    total = 0.0
    for channel in channels:
        value = values[channel.name]
        if channel.weight and value is None:
            return None
        total += channel.weight * (value or 0.0)
    return total
