"""The pages of stored runs that a ballot can show: those with a full-page picture on this machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from opendesign.errors import StoreError, UsageError
from opendesign.running.store import Store
from opendesign.studying.runs import Key, RunRecords, engine_marks, read_runs
from opendesign.types import Blob

__all__ = ["Field", "read_field"]


@dataclass(frozen=True, kw_only=True)
class Field:
    """Comparable runs with their pictures. ``best``: run, case and sample of each, best first."""

    runs: Sequence[RunRecords]
    pictures: dict[str, dict[str, dict[int, Blob]]]  # run → case → sample → picture
    best: list[tuple[str, str, int]]
    notes: list[str] = field(default_factory=list)

    def shown(self) -> dict[tuple[str, str], list[str]]:
        """Two runs → the cases that both have a picture of."""
        cases = [case["id"] for case in self.runs[0].manifest["cases"]]
        return {
            (a, b): [case for case in cases if case in self.pictures[a] and case in self.pictures[b]]
            for a, b in combinations(sorted(self.pictures), 2)
        }

    def sample(self, run: str, case: str, rng: random.Random) -> int:
        """One of the run's samples of a case."""
        return rng.choice(sorted(self.pictures[run][case]))


def read_field(names: Sequence[str]) -> Field:
    """Two runs or more by path or name, of different models and comparable.

    Raises ``UsageError`` where they are not or have no picture, ``StoreError`` where one cannot be read.
    """
    if len(names) < 2:
        raise UsageError("A ballot sets two runs or more against each other: name another one.")
    runs = read_runs(names)
    if twice := next((r.name for r in runs if sum(r.name == other.name for other in runs) > 1), None):
        raise UsageError(f"Two of the runs are named {twice}: rename one of their folders.")
    notes = engine_marks(runs)
    pictures = {run.name: _pictures(run) for run in runs}
    for run in runs:
        if not pictures[run.name]:
            raise UsageError(
                f"{run.folder} has no full-page picture: name the run itself under runs/, not what was "
                "published of it."
            )
    missing = {run.model: len(run.manifest["cases"]) - len(pictures[run.name]) for run in runs}
    if any(missing.values()):
        counts = ", ".join(f"{model[:60]} {n}" for model, n in missing.items() if n)
        notes.append(f"Cases without a picture cannot be shown and are left out ({counts}).")
    return Field(runs=runs, pictures=pictures, best=_ranked(runs, pictures), notes=notes)


def _pictures(run: RunRecords) -> dict[str, dict[int, Blob]]:
    store = Store(run.folder)
    wanted = set(run.keys)
    found: dict[str, dict[int, Blob]] = {}
    for (case, sample), record in sorted(store.records("artifacts.jsonl").items()):
        name = record["value"].get("picture")
        if (case, sample) not in wanted or not name or record["value"].get("failure"):
            continue
        if not isinstance(name, str):
            raise StoreError(f"The artifact of case {case} in {run.folder} is damaged at 'picture'.")
        if (blob := store.blobs.named(name)).path.is_file():
            found.setdefault(case, {})[sample] = blob
    return found


def _ranked(
    runs: Sequence[RunRecords], pictures: dict[str, dict[str, dict[int, Blob]]]
) -> list[tuple[str, str, int]]:
    """All pages with a picture, by a judge's total; where nobody gave any, by how much the picture holds."""
    pages = [
        (run.name, case, sample)
        for run in runs
        for case, samples in sorted(pictures[run.name].items())
        for sample in samples
    ]
    for judge in ("static", "computed"):
        totals = {run.name: _totals(run, judge) for run in runs}
        scored = [(-totals[r][c, s], (r, c, s)) for r, c, s in pages if (c, s) in totals[r]]
        if scored:
            return [page for _, page in sorted(scored)]
    return sorted(pages, key=lambda page: (-pictures[page[0]][page[1]][page[2]].path.stat().st_size, page))


def _totals(run: RunRecords, judge: str) -> dict[Key, float]:
    if judge not in run.judges:
        return {}
    return {
        key: given.scores["total"] for key, given in run.verdicts(judge).items() if "total" in given.scores
    }
