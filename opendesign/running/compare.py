"""Two runs, paired by case: differences with intervals, and cases won, lost and tied.

Only what is comparable is compared: same cases, same protocol, same judge card and judge model, same kind and
major version of the browser, same fonts. A different browser patch is shown as a mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.canonical import plain
from opendesign.errors import UsageError
from opendesign.running.execute import major
from opendesign.running.statistics import Estimate, Resampling, matrix
from opendesign.running.store import Store
from opendesign.running.summary import Summary, summarize
from opendesign.types import CATEGORIES, LIBRARIES

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """First run minus second, over the cases that both have a score for."""

    estimate: Estimate
    won: int  # cases where the first run is better
    lost: int
    tied: int

    @property
    def separated(self) -> bool:
        """Whether the 95 % interval leaves out zero."""
        low, high = self.estimate.low, self.estimate.high
        return low is not None and high is not None and (low > 0 or high < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Paired differences of two runs, keyed ``judge.measure``."""

    first: Summary
    second: Summary
    differences: Mapping[str, Difference]
    by_category: Mapping[str, Mapping[str, Difference]]
    marks: tuple[str, ...]  # what a reader has to know before believing the differences

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of the command line."""
        return {
            "first": self.first.run,
            "second": self.second.run,
            "differences": {name: _document(d) for name, d in self.differences.items()},
            "by_category": {
                category: {name: _document(d) for name, d in differences.items()}
                for category, differences in self.by_category.items()
            },
            "marks": list(self.marks),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """One row a score, over all categories and for each."""
        import pandas

        groups = {"all": self.differences, **self.by_category}
        return pandas.DataFrame(
            {"category": group, "score": name, **_document(difference)}
            for group, differences in groups.items()
            for name, difference in differences.items()
        )


def _document(difference: Difference) -> dict[str, Any]:
    flat = {**plain(difference), "separated": difference.separated}
    return {**flat.pop("estimate"), **flat}


def compare(first: Path, second: Path) -> Comparison:
    """Paired differences. Raises ``UsageError`` naming what makes the runs not comparable."""
    a, b = summarize(first), summarize(second)
    marks = _comparable(a, b)
    shared = {
        judge
        for judge in a.judges
        if judge in b.judges and _same(a.judges[judge], b.judges[judge], ("hash", "model"))
    }
    apart = sorted((set(a.judges) | set(b.judges)) - shared)
    if not shared:
        raise UsageError(
            "The runs share no judge with equal card and model: judge both with `opendesign judge`."
        )
    marks += [f"The judge '{judge}' is not the same in both runs and is left out." for judge in apart]
    cases, values = _case_means(a, shared), _case_means(b, shared)
    strata = {row["case"]: row["category"] for row in a.rows}
    order = list(strata)
    names = [name for name in cases if name in values]
    paired = {name: _paired(cases[name], values[name]) for name in names}
    resampling = Resampling(
        list(strata.values()),
        resamples=Store(first).manifest()["protocol"].get("resamples", 10_000),
        seed=str(a.benchmark["hash"]),
    )
    groups: dict[str, set[str]] = {"": set(order)}
    groups |= {
        category: {case for case in order if strata[case] == category}
        for category in (*CATEGORIES, *LIBRARIES)
    }
    columns = {
        f"{group}\n{name}": {case: d for case, d in paired[name].items() if case in members}
        for group, members in groups.items()
        if members
        for name in names
    }
    estimates = resampling.estimates(matrix(columns, order)) if columns else []
    found: dict[str, dict[str, Difference]] = {}
    for (column, differences), estimate in zip(columns.items(), estimates, strict=True):
        group, _, name = column.partition("\n")
        if estimate is not None:
            found.setdefault(group, {})[name] = _difference(estimate, differences)
    return Comparison(
        first=a,
        second=b,
        differences=found.pop("", {}),
        by_category=found,
        marks=tuple(marks),
    )


def _difference(estimate: Estimate, differences: Mapping[str, float]) -> Difference:
    return Difference(
        estimate=estimate,
        won=sum(d > 0 for d in differences.values()),
        lost=sum(d < 0 for d in differences.values()),
        tied=sum(d == 0 for d in differences.values()),
    )


def _same(a: Mapping[str, Any], b: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    return all(a.get(key) == b.get(key) for key in keys)


def _comparable(a: Summary, b: Summary) -> list[str]:
    """Marks for what differs a little; ``UsageError`` for what differs too much."""
    differs = [
        f"{what} ({x} and {y})"
        for what, x, y in (
            ("benchmark", _named(a.benchmark), _named(b.benchmark)),
            ("protocol", _named(a.protocol), _named(b.protocol)),
            ("browser", [major(e) for e in a.engines], [major(e) for e in b.engines]),
            ("font set", list(a.fonts), list(b.fonts)),
        )
        if x and y and x != y
    ]
    if {row["case"] for row in a.rows} != {row["case"] for row in b.rows}:
        differs.append(f"cases ({a.cases} and {b.cases} of them, not the same ones)")
    if differs:
        raise UsageError(f"The runs are not comparable: they differ in {'; '.join(differs)}.")
    marks = []
    if a.engines != b.engines:
        marks.append(f"Browser patch versions differ: {', '.join(a.engines)} and {', '.join(b.engines)}.")
    for summary in (a, b):
        low = {judge: share for judge, share in summary.coverage.items() if share < 0.95}
        marks += [
            f"{summary.run}: '{judge}' covers {share:.0%} of the answers." for judge, share in low.items()
        ]
        if summary.changed_resources:
            marks.append(
                f"{summary.run}: {summary.changed_resources} addresses gave different bytes in the run."
            )
    return marks


def _named(part: Mapping[str, Any]) -> str:
    return f"{part['name']} {part['hash']}"


def _case_means(summary: Summary, judges: set[str]) -> dict[str, dict[str, float]]:
    """``judge.measure`` → case → mean over samples, of the scores that count."""
    values: dict[str, dict[str, list[float]]] = {name: {} for name in summary.scores}
    for row in summary.rows:
        for name in summary.scores:
            if name.partition(".")[0] in judges and row.get(name) is not None:
                values[name].setdefault(row["case"], []).append(row[name])
    return {
        name: {case: sum(v) / len(v) for case, v in cases.items()} for name, cases in values.items() if cases
    }


def _paired(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    return {case: a[case] - b[case] for case in a if case in b}
