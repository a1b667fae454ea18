"""The ``pairwise`` judge: which of two pages for one case is better, asked in both orders.

It judges no page alone: ``running.tournament`` plays it over several runs.
"""

from __future__ import annotations

from typing import Any, NoReturn

from opendesign.errors import UsageError
from opendesign.judging.pairwise.compare import compare
from opendesign.judging.pairwise.expected import expected
from opendesign.judging.pairwise.match import Look, Match, Outcome, decided
from opendesign.types import Artifact, Card, Case

__all__ = [
    "COMPARES_RUNS",
    "EXPECTED",
    "Look",
    "Match",
    "Outcome",
    "compare",
    "decided",
    "expected",
    "judge",
]

COMPARES_RUNS = True
EXPECTED = expected


async def judge(case: Case, artifact: Artifact, card: Card, page: Any, model: Any) -> NoReturn:
    """Refuses: one page alone is no pair."""
    raise UsageError(
        f"The judge '{card.name}' compares pages of two runs: "
        f"`opendesign judge RUN RUN --judges {card.name} --judge-model {card.name}=MODEL`."
    )
