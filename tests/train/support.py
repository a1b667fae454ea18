"""A tiny model, and a reward whose evaluations are given instead of made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from opendesign.train import AgenticReward, Evaluation
from opendesign.train.channels import Found, evaluation_of
from opendesign.types import Failure

FAILED = Failure(reason="unparsable", detail="The judge said nothing of use.")


def make_tiny(folder: Path) -> Path:
    from transformers import set_seed

    from opendesign.train.tiny import tiny_model

    set_seed(0)
    for part in tiny_model(width=16):
        part.save_pretrained(folder)
    return folder


class Table:
    """A reward with the real channels, gate and weights, and with what the judges found given by row.

    A row is (passes the gate, computed total 0 to 100 or None where that judge failed).
    """

    def __init__(self, rows: Callable[[int], Sequence[tuple[bool, float | None]]]) -> None:
        self._real = AgenticReward(judges=["execution", "computed"])
        self.weights, self.rows, self.batches = self._real.weights, rows, 0

    async def evaluate(self, prompts: Any, completions: Any, **columns: Any) -> list[Evaluation]:
        self.batches += 1
        rows = self.rows(self.batches - 1)
        assert len(rows) == len(completions)
        return [self._evaluation(*row) for row in rows]

    def _evaluation(self, passes: bool, total: float | None) -> Evaluation:
        computed = Found(failure=FAILED) if total is None else Found(scores={"total": total})
        found = {"execution": Found(scores={"score": 1 if passes else -1})}
        panel = self._real._panel
        return evaluation_of(
            panel.channels, found | ({"computed": computed} if passes else {}), gate=panel.gate, seconds=0.0
        )
