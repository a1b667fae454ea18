"""JSONL of prompts and completions → the same rows with their rewards."""

from __future__ import annotations

import contextlib
import difflib
import json
import logging
import math
import os
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from opendesign.errors import UsageError
from opendesign.train.channels import Evaluation
from opendesign.train.reward import AgenticReward
from opendesign.train.rows import COLUMNS

__all__ = ["Summary", "pair_of", "score_rows", "told", "written"]

log = logging.getLogger("opendesign.train")
_AT_ONCE = 256  # rows evaluated as one batch


class Summary:
    """What became of the rows, counted as they come."""

    def __init__(self, reward: AgenticReward) -> None:
        self._reward, self._started = reward, time.monotonic()
        self._found: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._sums: dict[str, float] = dict.fromkeys(["reward", *reward.weights], 0.0)
        self._counts: Counter[str] = Counter()
        self._cost: float | None = 0.0

    def add(self, evaluation: Evaluation) -> None:
        self._found.update(
            rows=1,
            unscored=int(evaluation.total is None),  # an empty Counter keeps what comes first as it is
            gated=int(evaluation.gated),
            cached=int(evaluation.cached),
        )
        self._reasons.update({failure.reason for failure in evaluation.failures.values()})
        for name, value in (("reward", evaluation.total), *evaluation.channels.items()):
            if value is not None:
                self._sums[name] += value
                self._counts[name] += 1
        known = self._cost is not None and evaluation.cost_usd is not None
        self._cost = self._cost + evaluation.cost_usd if known else None  # type: ignore[operator]

    @property
    def unscored(self) -> int:
        """Rows without a reward, through a judge's or an instrument's failure."""
        return self._found["unscored"]

    def to_dict(self) -> dict[str, Any]:
        """Counts, and means over the rows that have the number (None where none has)."""
        means = {
            name: round(total / self._counts[name], 6) if self._counts[name] else None
            for name, total in self._sums.items()
        }
        return {
            **{name: self._found[name] for name in ("rows", "unscored", "gated", "cached")},
            "reward": means.pop("reward"),
            "channels": means,
            "roles": dict(self._reward.roles),
            "weights": dict(self._reward.weights),
            "failures": dict(sorted(self._reasons.items())),
            "cost_usd": None if self._cost is None else round(self._cost, 6),
            "seconds": round(time.monotonic() - self._started, 1),
        }


def score_rows(source: Path, out: TextIO, reward: AgenticReward) -> Summary:
    """Write every row of ``source`` to ``out`` with what ``told`` says of it, in order, batch by batch.

    A row has a ``prompt`` and a ``completion``, each a text or a conversation, or ``messages`` that end with
    the completion; and what it may say of its case. Raises ``UsageError`` that names the first line that has
    not, before anything is evaluated.
    """
    from opendesign.running.execute import run_sync

    if not source.is_file():
        raise UsageError(f"{source} is no file: rows are read twice, so keep them in one.")
    named = {tuple(row) for row, *_ in _rows(source)}
    if not named:
        raise UsageError(f"{source} has no rows: give one JSON object a line.")
    for name, near in sorted({pair for columns in named for pair in _misspelt(columns)}):
        log.warning("The column '%s' is not used: did you mean '%s'?", name, near)
    summary, rows = Summary(reward), _rows(source)
    while batch := list(islice(rows, _AT_ONCE)):
        prompts, completions = [prompt for _, prompt, _ in batch], [completion for *_, completion in batch]
        columns = {name: [row.get(name) for row, *_ in batch] for name in COLUMNS}
        found = run_sync(lambda: reward.evaluate(prompts, completions, **columns))  # noqa: B023 (done at once)
        for (row, *_), evaluation in zip(batch, found, strict=True):
            summary.add(evaluation)
            out.write(json.dumps({**row, **told(evaluation)}, allow_nan=False) + "\n")
        out.flush()
    return summary


def told(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as JSON: reward and channels (None: unscored), gate, and the reason of each failure."""
    return {
        "reward": evaluation.total,
        "channels": dict(evaluation.channels),
        "gated": evaluation.gated,
        "failures": {name: failure.reason for name, failure in evaluation.failures.items()},
    }


def pair_of(row: Mapping[str, Any], where: str) -> tuple[Any, Any]:
    """Prompt and completion of a row. Raises ``UsageError`` that says what is missing, and ``where``."""
    if "messages" in row:
        at = _answer(row["messages"])
        if at is None:
            raise UsageError(f"{where}: 'messages' is no conversation in which the assistant says something.")
        return row["messages"][:at], row["messages"][at : at + 1]
    if missing := [name for name in ("prompt", "completion") if name not in row]:
        raise UsageError(f"{where} has no '{missing[0]}': give 'prompt' and 'completion', or 'messages'.")
    return row["prompt"], row["completion"]


@contextlib.contextmanager
def written(path: Path) -> Iterator[TextIO]:
    """What ``path`` holds once all of it is written; till then, and after a fault, it stays as it was.

    What was written before a fault is kept beside it. Raises ``UsageError`` where it cannot be written.
    """
    apart = path.is_file() or not path.exists()  # a pipe or a device cannot be replaced
    place = path.resolve() if apart else path
    made = place.with_name(f"{place.name}.{os.getpid()}.part") if apart else path
    try:
        if path.is_file():
            path.open("a").close()  # one that is protected stays so
        with made.open("w", encoding="utf-8") as stream:
            yield stream
        if apart:
            made.replace(place)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from error
    finally:
        if apart:
            with contextlib.suppress(OSError):  # where it could not be made
                _keep(made)


def _keep(made: Path) -> None:
    """Of a file that was not finished what is in it."""
    if made.stat().st_size:
        log.warning("What was done before is in %s.", made)
    else:
        made.unlink()


def _misspelt(columns: Collection[str]) -> Iterator[tuple[str, str]]:
    """Those of a row's columns that are nearly one that is used and that the row lacks, with that one."""
    lacking = [name for name in COLUMNS if name not in columns]
    for name in columns:
        for near in difflib.get_close_matches(name.lower(), lacking, 1, 0.75):
            yield name, near


def _rows(source: Path) -> Iterator[tuple[dict[str, Any], Any, Any]]:
    """Each row with its prompt and its completion."""
    try:
        with source.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    where = f"Line {number} of {source}"
                    row = _row(line, where)
                    yield row, *pair_of(row, where)
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    except UnicodeDecodeError:
        raise UsageError(f"{source} is not UTF-8 text: give a JSONL file.") from None


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except OverflowError:
        raise UsageError(f"{where}: a number is infinite: write a finite one.") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{where} is not JSON: give one object a line.") from None
    if not isinstance(row, dict):
        raise UsageError(f"{where} is no object: give one a line, with 'prompt' and 'completion'.")
    return row


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise OverflowError
    return number


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _answer(messages: Any) -> int | None:
    """Where in a conversation the last words of the assistant are."""
    if not isinstance(messages, list):
        return None
    said = [
        at for at, turn in enumerate(messages) if isinstance(turn, dict) and turn.get("role") == "assistant"
    ]
    return said[-1] if said else None
