"""Two runs of a group, paired by case: differences with intervals per view, and cases won, lost and tied.

The numbers are those of ``opendesign runs compare``: same draws, same BCa intervals. All pairs of a group are
computed together, since they share their resamples; what was computed for a pair is kept for the next build.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from opendesign.canonical import hash_of, plain, to_json
from opendesign.running.statistics import matrix
from opendesign.site.ranking import ALL, Group, views_of
from opendesign.site.reading import RANKED_BY, ROLES, Entry
from opendesign.site.writing import Kept

__all__ = ["Pair", "measures_of", "pairs_of"]

_VERSION = 1  # of what is kept; raised when the computation changes
_AT_ONCE = 300  # columns: bounds memory to some 50 MB
TOLD_APART = {"static": ("alignment", "aesthetics", "structure", "good"), "interactive": ("points", "rate")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """First minus second. ``differences``: view → measure → mean, low, high, n, won, lost, tied."""

    first: Entry
    second: Entry
    differences: Mapping[str, Mapping[str, Mapping[str, Any]]]

    @property
    def key(self) -> str:
        return hash_of([_VERSION, self.first.digest, self.second.digest])

    @property
    def page(self) -> str:
        return page_of(self.first, self.second)


def page_of(first: Entry, second: Entry) -> str:
    a, b = sorted((first.slug, second.slug))
    return f"compare/{a}--{b}.html"


def measures_of(entry: Entry) -> list[str]:
    """Scores that a comparison shows: the headline first, its parts, then the other roles'."""
    wanted = [entry.headline]
    own = {role: judge for role, judge in entry.roles.items() if judge.startswith(role)}
    first = RANKED_BY[entry.kind]
    for role in (first, *(role for role in ROLES[entry.kind] if role != first)):
        judge = entry.roles.get(role)
        wanted += [entry.summary["headlines"].get(judge)] if judge else []
        # A stand-in's measures are its own: a part of the same name would be another thing.
        wanted += [entry.score_of(role, measure) for measure in TOLD_APART.get(role, ()) if role in own]
    return list(dict.fromkeys(name for name in wanted if name))


def pairs_of(group: Group, kept: Kept) -> list[Pair]:
    """All pairs of a group, the better run of the board first."""
    order = [standing.entry for standing in group.standings[ALL]]
    both = list(combinations(order, 2))
    known = {at: found for at, (a, b) in enumerate(both) if (found := kept.document(_file(a, b))) is not None}
    missing = [at for at in range(len(both)) if at not in known]
    for at, differences in zip(missing, _compute(group, [both[at] for at in missing]), strict=True):
        known[at] = differences
        kept.keep(_file(*both[at]), to_json(differences))
    return [Pair(first=a, second=b, differences=known[at]) for at, (a, b) in enumerate(both)]


def _file(a: Entry, b: Entry) -> str:
    return f"pair-{Pair(first=a, second=b, differences={}).key}.json"


def _compute(group: Group, pairs: Sequence[tuple[Entry, Entry]]) -> list[dict[str, Any]]:
    """The differences of each pair; every column (pair, view, measure) is a vector over cases."""
    if not pairs:
        return []
    import numpy as np

    names = measures_of(group.first)
    views = views_of(group.first)
    order = list(group.strata)
    inside = np.array([[case in members for case in order] for members in views.values()])
    tables = {
        entry.slug: matrix({n: entry.means.get(n, {}) for n in names}, order) for entry in group.entries
    }
    labels, columns = [], []
    for at, (a, b) in enumerate(pairs):
        differences = tables[a.slug] - tables[b.slug]
        for v, view in enumerate(views):
            for n, name in enumerate(names if view == ALL else names[:1]):
                labels.append((at, view, name))
                columns.append(np.where(inside[v], differences[:, n], np.nan))
    found: list[dict[str, Any]] = [{} for _ in pairs]
    for start in range(0, len(columns), _AT_ONCE):
        some = columns[start : start + _AT_ONCE]
        estimates = group.resampling.estimates(np.stack(some, axis=1))
        for (at, view, name), column, estimate in zip(labels[start:], some, estimates, strict=False):
            if estimate is not None:
                counted = _counted(column[~np.isnan(column)])
                found[at].setdefault(view, {})[name] = {**plain(estimate), **counted}
    return found


def _counted(differences: Iterable[float]) -> dict[str, int]:
    values = [float(d) for d in differences]
    won, lost = sum(d > 0 for d in values), sum(d < 0 for d in values)
    return {"won": won, "lost": lost, "tied": len(values) - won - lost}
