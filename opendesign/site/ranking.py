"""What may stand in one table, and who is ahead: groups of comparable runs, ranks and their ranges.

One draw of resamples serves all models of a group. A rank range holds the ranks that a model takes in the
middle 95 % of the resamples. Two neighbours are "not separated" where the difference of their means, paired
by case, is not significant: a t test with the resampled standard error (widened by sqrt(n/(n-1)), Hesterberg
2015), p values adjusted over all neighbours by Holm (1979), Scand. J. Stat. 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from opendesign.canonical import hash_of
from opendesign.running.execute import major
from opendesign.running.statistics import LEAST, LEVEL, Resampling, matrix
from opendesign.site.reading import ROLES, Entry
from opendesign.types import CATEGORIES, LIBRARIES, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

__all__ = ["ALL", "Group", "Standing", "groups_of", "holm", "views_of"]

ALL = "all"
DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One run in one view of its group. ``rank`` is None where too little of it is scored."""

    entry: Entry
    estimate: Mapping[str, Any] | None  # mean, low, high, n
    rank: int | None = None
    best: int | None = None  # the rank range
    worst: int | None = None
    p_next: float | None = None  # adjusted p of the difference to the next ranked run

    @property
    def tied_with_next(self) -> bool:
        return self.p_next is not None and self.p_next >= 1 - LEVEL


@dataclass(frozen=True, kw_only=True)
class Group:
    """Runs that may be compared: all that decides a score is equal."""

    id: str
    same: Mapping[str, Any]
    entries: tuple[Entry, ...]
    beside: Mapping[str, Entry] = field(default_factory=dict)  # model → its run on a benchmark of plots

    @property
    def first(self) -> Entry:
        return self.entries[0]

    @property
    def kind(self) -> Kind:
        return self.first.kind

    @property
    def smoke(self) -> bool:
        return self.first.smoke

    @property
    def headline(self) -> str | None:
        return self.first.headline

    @cached_property
    def strata(self) -> dict[str, str]:
        return {id: case["category"] for id, case in self.first.cases.items()}

    @cached_property
    def resampling(self) -> Resampling:
        """One draw for all models and pairs; the same that ``runs compare`` takes."""
        return Resampling(
            list(self.strata.values()),
            resamples=self.first.manifest["protocol"].get("resamples", 10_000),
            seed=str(self.first.manifest["benchmark"]["hash"]),
        )

    @cached_property
    def standings(self) -> dict[str, list[Standing]]:
        """View → standings, best first; runs that are not ranked after those that are."""
        views = views_of(self.first)
        name = self.headline or ""
        columns = {
            f"{view}\n{at}": {c: v for c, v in entry.means.get(name, {}).items() if c in cases}
            for view, cases in views.items()
            for at, entry in enumerate(self.entries)
        }
        values = matrix(columns, list(self.strata))
        size = len(self.entries)
        return {
            view: self._standing(view, values[:, at * size : (at + 1) * size])
            for at, view in enumerate(views)
        }

    def _standing(self, view: str, values: Floats) -> list[Standing]:
        import numpy as np

        found = [_estimate(entry, view, self.headline) for entry in self.entries]
        ranked = [
            at
            for at, entry in enumerate(self.entries)
            if not self.smoke
            and entry.summary["ranked"]
            and found[at] is not None
            and not np.isnan(values[:, at]).all()
        ]
        ranked.sort(key=lambda at: (-float(np.nanmean(values[:, at])), self.entries[at].slug))
        rest = [at for at in range(len(self.entries)) if at not in ranked]
        rest.sort(key=lambda at: (-_mean(found[at]), self.entries[at].slug))
        ranges = self._ranges(values[:, ranked]) if ranked else []
        tests = holm(self._ps(values[:, ranked[:-1]] - values[:, ranked[1:]]))
        standings = [
            Standing(
                entry=self.entries[at],
                estimate=found[at],
                rank=place + 1,
                best=ranges[place][0],
                worst=ranges[place][1],
                p_next=tests[place] if place < len(tests) else None,
            )
            for place, at in enumerate(ranked)
        ]
        return standings + [Standing(entry=self.entries[at], estimate=found[at]) for at in rest]

    def _ranges(self, values: Floats) -> list[tuple[int, int]]:
        """Columns in order of their means → lowest and highest rank. Equal means share all their ranks."""
        import numpy as np

        models = values.shape[1]
        if values.shape[0] < LEAST or models == 1:
            return [(1, models)] * models
        resampled = np.round(self.resampling.means(values), 6)
        best, worst = np.empty_like(resampled), np.empty_like(resampled)
        for at in range(models):
            best[:, at] = (resampled > resampled[:, at, None]).sum(axis=1) + 1
            worst[:, at] = (resampled >= resampled[:, at, None]).sum(axis=1)
        tail = (1 - LEVEL) / 2
        low = np.quantile(best, tail, axis=0, method="lower")
        high = np.quantile(worst, 1 - tail, axis=0, method="higher")
        return [
            (min(int(a), place), max(int(b), place))
            for place, (a, b) in enumerate(zip(low, high, strict=True), 1)
        ]

    def _ps(self, differences: Floats) -> list[float]:
        """Two-sided p that a mean paired difference, a column, is zero; 1 where there are too few cases."""
        import numpy as np
        from scipy.special import stdtr

        if not differences.shape[1]:
            return []
        counts = (~np.isnan(differences)).sum(axis=0)
        means = np.nansum(differences, axis=0) / np.maximum(counts, 1)
        spreads = self.resampling.means(differences - means)
        found = []
        for column, (n, mean) in enumerate(zip(counts, means, strict=True)):
            if n < LEAST:
                found.append(1.0)
            elif np.ptp(differences[~np.isnan(differences[:, column]), column]) == 0:
                found.append(1.0 if mean == 0 else 0.0)
            else:
                error = float(np.nanstd(spreads[:, column])) * math.sqrt(n / (n - 1))
                found.append(float(2 * stdtr(n - 1, -abs(mean) / error)) if error else 1.0)
        return found


def holm(ps: Sequence[float]) -> list[float]:
    """Adjusted p values, in the order given."""
    order = sorted(range(len(ps)), key=lambda at: ps[at])
    adjusted, worst = [0.0] * len(ps), 0.0
    for step, at in enumerate(order):
        worst = max(worst, min(1.0, (len(ps) - step) * ps[at]))
        adjusted[at] = worst
    return adjusted


def views_of(entry: Entry) -> dict[str, set[str]]:
    """What a table can be narrowed to → the cases in it: all, each category, each difficulty."""
    cases = entry.cases.values()
    views = {ALL: set(entry.cases)}
    for category in (*CATEGORIES, *LIBRARIES):
        views[category] = {case["id"] for case in cases if case["category"] == category}
    for difficulty in DIFFICULTIES:
        views[difficulty] = {case["id"] for case in cases if case["difficulty"] == difficulty}
    return {view: members for view, members in views.items() if members}


def scores_in(entry: Entry, view: str) -> Mapping[str, Any]:
    """``judge.measure`` → estimate, as the run's summary has it for a view."""
    summary = entry.summary
    if view == ALL:
        return dict(summary["scores"])
    return dict(summary["by_category"].get(view) or summary["by_difficulty"].get(view) or {})


def groups_of(entries: Iterable[Entry]) -> list[Group]:
    """Comparable runs together: benchmark groups before smoke ones, the largest first."""
    found: dict[str, list[Entry]] = {}
    same: dict[str, dict[str, Any]] = {}
    for entry in entries:
        facts = _identity(entry)
        key = hash_of(facts)[:8]
        same[key] = facts
        found.setdefault(key, []).append(entry)
    groups = [
        Group(id=key, same=same[key], entries=tuple(sorted(members, key=lambda e: e.slug)))
        for key, members in found.items()
    ]
    groups.sort(key=lambda g: (g.smoke, g.kind == "plots", -len(g.entries), -len(g.first.cases), g.id))
    return [replace(group, beside=_plots_beside(group, groups)) for group in groups]


def _plots_beside(group: Group, groups: Sequence[Group]) -> dict[str, Entry]:
    """The runs of the largest group of plots that was judged as this one was: by models, or without."""
    plots = (g for g in groups if g.kind == "plots" and g.smoke == group.smoke)
    found = next(plots, None) if group.kind == "pages" else None
    return {entry.model: entry for entry in found.entries} if found else {}


def _identity(entry: Entry) -> dict[str, Any]:
    """All that decides a score beside the model: runs are ranked together only where this is equal."""
    summary, planned = entry.summary, entry.manifest["judges"]
    judges = {}
    for role in ROLES[entry.kind]:
        judge = entry.roles.get(role)
        about = summary["judges"].get(judge) or {}
        judges[role] = (
            {
                "judge": judge,
                "hash": about.get("hash"),
                "model": about.get("model"),
                "asked": (planned.get(judge) or {}).get("asked"),
            }
            if judge
            else None
        )
    return {
        "benchmark": {k: summary["benchmark"][k] for k in ("name", "version", "hash")},
        "cases": hash_of(sorted(entry.cases)),
        "count": len(entry.cases),
        "samples": entry.manifest["samples"],
        "protocol": dict(summary["protocol"]),
        "judges": judges,
        "headline": entry.headline,
        "browser": sorted({major(engine) for engine in summary["engines"]}),
        "fonts": sorted(summary["fonts"]),
        "aggregation": summary.get("aggregation"),
    }


def _estimate(entry: Entry, view: str, name: str | None) -> Mapping[str, Any] | None:
    found = scores_in(entry, view).get(name or "")
    return dict(found) if found else None


def _mean(estimate: Mapping[str, Any] | None) -> float:
    return float(estimate["mean"]) if estimate else -math.inf
