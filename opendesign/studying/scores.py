"""One score of several stored runs over the same cases: what most studies compute with.

Only what is comparable is put in one table: same cases, benchmark, protocol, judge card and judge model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opendesign.errors import UnknownName, UsageError
from opendesign.running.statistics import Resampling
from opendesign.studying.runs import Key, RunRecords, engine_marks, read_runs, same_judge
from opendesign.types import CATEGORIES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

RESAMPLES = 2_000
COVERED = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScores:
    """``values`` is (cases, models): the mean over samples, NaN where a case is unscored."""

    name: str  # judge.measure
    models: tuple[str, ...]
    cases: tuple[str, ...]
    categories: tuple[str, ...]  # of each case
    values: Floats
    seed: str = "study"
    marks: tuple[str, ...] = ()

    def of(self, category: str | None) -> CaseScores:
        """The cases of one category; all of them for None."""
        from dataclasses import replace

        if category is None:
            return self
        kept = [i for i, c in enumerate(self.categories) if c == category]
        return replace(
            self,
            cases=tuple(self.cases[i] for i in kept),
            categories=tuple(self.categories[i] for i in kept),
            values=self.values[kept],
        )

    def pick(self, models: Sequence[str]) -> CaseScores:
        """The same cases with these models, in this order."""
        from dataclasses import replace

        kept = [self.models.index(model) for model in models]
        return replace(self, models=tuple(models), values=self.values[:, kept])

    def resampled(self, resamples: int = RESAMPLES) -> Floats:
        """(resamples, models) means, one draw of cases for all models."""
        return Resampling(self.categories, resamples=resamples, seed=self.seed).means(self.values)


def headline_of(runs: Sequence[RunRecords]) -> str:
    """The score that stands for the runs: the static judge's, or of the one that stands in for it."""
    planned = runs[0].manifest["judges"]
    order = sorted(
        runs[0].judges,
        key=lambda j: (j != "static", (planned.get(j) or {}).get("stands_in_for") != "static", j),
    )
    for judge in order:
        if all(run.verdicts(judge) for run in runs):
            return f"{judge}.{headline_measure(runs[0], judge)}"
    raise UsageError("No judge has scored a page of every one of these runs: judge them alike first.")


def headline_measure(run: RunRecords, judge: str) -> str:
    """The measure that stands for a judge."""
    measures = (run.manifest["judges"].get(judge) or {}).get("measures") or {}
    named = [name for name, measure in measures.items() if measure.get("headline")]
    there = {name for given in run.verdicts(judge).values() for name in given.scores}
    return next(
        (name for name in (*named, "total", "rate", "passed") if name in there), min(there, default="total")
    )


def load_scores(names: Sequence[str], *, score: str | None = None) -> CaseScores:
    """``score`` (``judge.measure``; the headline by default) of stored runs. One model a run."""
    runs = read_runs(names)
    return scores_of(runs, score or headline_of(runs))


def scores_of(
    runs: Sequence[RunRecords],
    score: str,
    *,
    floors: Sequence[set[Key]] | None = None,
    floor: float = 0.0,
) -> CaseScores:
    """One score out of runs that were read. Raises ``UsageError`` where judges are not the same.

    ``floors``: for each run the answers that count as ``floor``, whatever the judge has said of them.
    """
    import numpy as np

    judge, _, measure = score.partition(".")
    same_judge(runs, judge)
    cases = [case["id"] for case in runs[0].manifest["cases"]]
    place = {case: at for at, case in enumerate(cases)}
    totals, counts = np.zeros((2, len(cases), len(runs)))
    marks = []
    for at, run in enumerate(runs):
        verdicts = run.verdicts(judge)
        for (case, sample), given in verdicts.items():
            value = given.scores.get(measure)
            if value is not None and not (floors and (case, sample) in floors[at]):
                totals[place[case], at] += value
                counts[place[case], at] += 1
        for case, _ in floors[at] if floors else ():
            totals[place[case], at] += floor
            counts[place[case], at] += 1
        covered = len(verdicts) / max(1, len(run.keys))
        if covered < COVERED:
            marks.append(f"{run.name}: '{judge}' covers {covered:.0%} of the answers; the rest is left out.")
    if not counts.any():
        known = {f"{j}.{m}" for run in runs for j in run.judges for given in run.verdicts(j).values()
                 for m in given.scores}  # fmt: skip
        raise UnknownName("score in these runs", score, known)
    with np.errstate(invalid="ignore"):
        values = np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)
    return CaseScores(
        name=score,
        models=tuple(run.model for run in runs),
        cases=tuple(cases),
        categories=tuple(case["category"] for case in runs[0].manifest["cases"]),
        values=values,
        seed=str(runs[0].manifest["benchmark"]["hash"]),
        marks=tuple(marks + engine_marks(runs)),
    )


def mean_scores(table: CaseScores) -> dict[str, dict[str, float]]:
    """Category (and ``overall``) → model → mean; a model without a score in a category is left out there."""
    import numpy as np

    found: dict[str, dict[str, float]] = {}
    present = set(table.categories)
    order = [c for c in CATEGORIES if c in present] + sorted(present - {*CATEGORIES, "overall"})
    for category in (None, *order):
        part = table.of(category)
        there = ~np.isnan(part.values)
        totals = np.where(there, part.values, 0.0).sum(axis=0)
        means = {
            model: float(total / count)
            for model, total, count in zip(part.models, totals, there.sum(axis=0), strict=True)
            if count
        }
        found[category or "overall"] = means
    return found
