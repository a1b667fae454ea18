"""What a run says while it goes on. Anything with these four methods can listen."""

from __future__ import annotations

import logging
import time
from collections import Counter
from typing import Protocol

from opendesign.types import Answer, Artifact, Verdict

log = logging.getLogger("opendesign")


class Report(Protocol):
    """Hears of every finished step; ``fresh`` is False where the outcome was stored already."""

    def note(self, sentence: str) -> None: ...

    def begin(self, journeys: int, judges: list[str]) -> None: ...

    def step(self, step: str, outcome: Answer | Artifact | Verdict, *, fresh: bool) -> None: ...

    def finished(self) -> None: ...


class Tally:
    """Counts: journeys finished, steps done, failures by reason, cost so far, seconds left."""

    def __init__(self) -> None:
        self.journeys = 0
        self.done = 0
        self.steps: Counter[str] = Counter()
        self.stored = 0
        self.failures: Counter[str] = Counter()
        self.cost_usd: float | None = 0.0
        self._started = time.monotonic()
        self._fresh = False
        self._fresh_done = 0

    def note(self, sentence: str) -> None:
        log.warning(sentence)

    def begin(self, journeys: int, judges: list[str]) -> None:
        self.journeys = journeys
        self.steps.update(dict.fromkeys(["answer", "artifact", *(f"verdict-{judge}" for judge in judges)], 0))
        self._started = time.monotonic()

    def step(self, step: str, outcome: Answer | Artifact | Verdict, *, fresh: bool) -> None:
        self.steps[step] += 1
        self.stored += not fresh
        self._fresh = self._fresh or fresh
        # A verdict repeats the failure of its answer or page: it is counted where it happened.
        if outcome.failure and (step in ("answer", "artifact") or outcome.status != "model_failure"):
            self.failures[outcome.failure.reason] += 1
        if fresh and not isinstance(outcome, Artifact):
            cost = outcome.usage.cost_usd
            self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost

    def finished(self) -> None:
        self.done += 1
        self._fresh_done += self._fresh

    @property
    def seconds_left(self) -> float | None:
        """At the pace of the journeys that had something to do; None before the first."""
        if not self._fresh_done:
            return None
        return (time.monotonic() - self._started) / self._fresh_done * (self.journeys - self.done)
