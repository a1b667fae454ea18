"""Stored runs as a study reads them: each file when it is first asked for, and of its records what is used.

A run of 840 cases is tens of megabytes of records, and a study reads many runs: what is not used is let go.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from opendesign.errors import UsageError
from opendesign.running.execute import major
from opendesign.running.plan import RUNS
from opendesign.running.store import Store, find_run
from opendesign.running.summary import current, scored_of

Key = tuple[str, int]  # case and sample
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One verdict that counts: of a page that was judged, or of a failure of the model's own."""

    scores: Mapping[str, float]
    judge: tuple[str | None, str | None]  # hash of its card, and the model that it asked
    replies: tuple[Mapping[str, Any], ...]  # single replies, of a judge that asks more than once


class RunRecords:
    """One stored run. Reading raises ``StoreError`` where it is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        store = Store(folder)
        self.manifest: Mapping[str, Any] = store.manifest()
        self.judges = tuple(store.judges())
        self._verdicts: dict[str, Mapping[Key, Given]] = {}

    @property
    def model(self) -> str:
        return str(self.manifest["model"]["name"])

    @property
    def keys(self) -> list[Key]:
        return [
            (case["id"], sample)
            for case in self.manifest["cases"]
            for sample in range(self.manifest["samples"])
        ]

    def verdicts(self, judge: str) -> Mapping[Key, Given]:
        """The verdicts of a judge that count; none where it has never judged this run."""
        if judge not in self._verdicts:
            found = scored_of(current(self._read(f"verdicts-{judge}.jsonl", _slim)), self.keys)
            self._verdicts[judge] = {key: record["given"] for key, record in found.items()}
        return self._verdicts[judge]

    def _read(self, file: str, keep: Callable[[Mapping[str, Any]], T]) -> dict[Key, T]:
        # A store holds on to all that it has read: one for each file is let go with it. Records refer to
        # nothing in circles, and looking for circles among so many is a third of the time of reading them.
        collecting = gc.isenabled()
        gc.disable()
        try:
            return {key: keep(record) for key, record in Store(self.folder).records(file).items()}
        finally:
            if collecting:
                gc.enable()

    @cached_property
    def pages(self) -> Mapping[Key, tuple[float | None, str | None, str | None]]:
        """Height in pixels, browser and font set of each page."""
        return self._read(
            "artifacts.jsonl",
            lambda r: (r["value"].get("height"), r["made"].get("browser"), r["made"].get("fonts")),
        )

    @cached_property
    def tokens(self) -> Mapping[Key, float | None]:
        """Tokens of each answer, where they are known."""
        return self._read("answers.jsonl", lambda r: (r["value"].get("usage") or {}).get("completion_tokens"))


def _slim(record: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict's record with what decides whether it counts, and what a study reads of it."""
    value, made = record["value"], record["made"]
    evidence = value.get("evidence")
    replies = evidence.get("replies") if isinstance(evidence, dict) else None
    given = Given(
        scores=value["scores"],
        judge=(made.get("judge_hash"), made.get("judge_model")),
        replies=tuple(reply for reply in replies or () if isinstance(reply, dict)),
    )
    return {
        "config": record["config"],
        "varies": {"at": record["varies"].get("at", 0.0)},
        "value": {"failure": value.get("failure")},
        "given": given,
    }


def read_runs(names: Sequence[str]) -> list[RunRecords]:
    """Runs by path or name, each once and of different models, and comparable.

    Raises ``UsageError`` where they are not, ``StoreError`` where one cannot be read.
    """
    if not names:
        raise UsageError("Name the runs: paths, or names under runs/.")
    found = [RunRecords(find_run(name, RUNS)) for name in names]
    _check(found)
    return found


def _check(runs: Sequence[RunRecords]) -> None:
    first = runs[0]
    seen: dict[str, str] = {}
    for run in runs:
        if run.model in seen:
            raise UsageError(
                f"{seen[run.model]} and {run.name} are both of {run.model}: name one run of each model."
            )
        seen[run.model] = run.name
        for what, key in (("benchmark", "benchmark"), ("protocol", "protocol")):
            if run.manifest[key]["hash"] != first.manifest[key]["hash"]:
                raise UsageError(f"{first.name} and {run.name} are not comparable: another {what}.")
        if {c["id"] for c in run.manifest["cases"]} != {c["id"] for c in first.manifest["cases"]}:
            raise UsageError(f"{first.name} and {run.name} are not comparable: they have different cases.")


def same_judge(runs: Sequence[RunRecords], judge: str) -> None:
    """Raises ``UsageError`` where the runs were not judged by the same card and judge model."""
    made = {given.judge for run in runs for given in list(run.verdicts(judge).values())[:1]}
    if len(made) > 1:
        raise UsageError(
            f"The runs were judged by different versions or models of '{judge}': judge them alike first."
        )


def engine_marks(runs: Sequence[RunRecords]) -> list[str]:
    """A mark where only the browser's patch differs. Raises ``UsageError`` for other browsers or fonts."""
    pages = [page for run in runs for page in run.pages.values()]
    engines = {engine for _, engine, _ in pages if engine}
    fonts = {font for _, _, font in pages if font}
    for what, different, apart in (
        ("their pictures are by", engines, len({major(engine) for engine in engines}) > 1),
        ("their pages were drawn with the fonts", fonts, len(fonts) > 1),
    ):
        if apart:
            raise UsageError(f"The runs are not comparable: {what} {' and '.join(sorted(different))}.")
    return [f"Browser patch versions differ: {', '.join(sorted(engines))}."] if len(engines) > 1 else []
