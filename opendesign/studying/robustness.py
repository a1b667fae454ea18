"""``study robustness``: how far scores and ranking depend on who judges.

Intervals are over resampled cases, one draw for all judges and models. Where a model's score is compared
between judges, each judge's own mean is taken out first: a strict judge is not a biased one.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from opendesign.canonical import plain
from opendesign.running.statistics import Resampling
from opendesign.studying import chance, ranks
from opendesign.studying.boards import reference_places
from opendesign.studying.figure import Figure, Range, centred, figure, gap, leaders, middle, ranked
from opendesign.studying.panel import Panel
from opendesign.types import CATEGORIES

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

    Floats = NDArray[Any]

RESAMPLES = 1_000
LEAST_CASES = 5
LEAST_MODELS = 3
FEW_MODELS = f"Fewer than {LEAST_MODELS} models have scores by both."
FEW_APART = f"No case has {LEAST_MODELS} models that both tell apart."
FEW_CASES = f"Fewer than {LEAST_CASES} cases: no interval."


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two judges. Differences are the first minus the second, in points of 100."""

    first: str
    second: str
    kendall: Figure  # of the models' means
    spearman: Figure
    per_case: Figure  # mean over cases of Spearman over the models of a case
    shift: Figure
    shift_by_category: Mapping[str, Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneJudge:
    """A judge beside the mean of all the others."""

    judge: str
    model: str | None
    family: str | None
    mean: Figure
    coverage: float  # share of the artifacts it has scored
    by_model: Mapping[str, Figure]  # how much it favours a model, its own mean shift taken out
    by_category: Mapping[str, Figure]  # the same for a category
    own_family: Figure  # mean favour of its own family's models minus that of all others
    size_bias: Mapping[str, Figure]  # mean over cases of Spearman between its scores and a size
    repeat_icc: Figure  # ICC(1,1) of single replies to one artifact
    repeat_spread: Figure  # standard deviation between replies to one artifact, points of its own scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Without:
    """The ranking by the mean of all judges but one (or by all, or by one alone) beside that of all."""

    judges: tuple[str, ...]
    left_out: str | None
    ranking: Mapping[str, int]
    kendall: Figure  # with the ranking by all
    leader: str
    most_moved: str | None  # model
    places: int  # that it moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness:
    """Several judges over the same artifacts."""

    models: tuple[str, ...]
    cases: int
    pairings: tuple[Pairing, ...]
    judges: tuple[OneJudge, ...]
    icc_2_1: Figure  # single scores of artifacts, agreement in value
    icc_3_1: Figure  # single scores of artifacts, agreement in order and distance
    averaged: Without
    without: tuple[Without, ...]
    alone: tuple[Without, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {"study": "robustness", **plain(self)}

    def to_pandas(self) -> pandas.DataFrame:
        """One row a pair of judges."""
        import pandas

        flat = ("kendall", "spearman", "per_case", "shift")
        return pandas.DataFrame(
            {"first": p.first, "second": p.second, **{name: getattr(p, name).value for name in flat}}
            for p in self.pairings
        )


def robustness(panel: Panel) -> Robustness:
    """Every comparison of the judges of a panel."""
    work = _Work(panel)
    everyone = tuple(range(len(panel.judges)))
    averaged = work.without(everyone, None)
    notes = list(panel.marks)
    if len(panel.judges) == 2:
        notes.append(
            "With two judges, what one favours is what the other slights: nothing says who is right."
        )
    if not panel.repeats:
        notes.append("No judge was asked more than once a page: nothing is known of how repeatable it is.")
    return Robustness(
        models=panel.models,
        cases=len(panel.cases),
        pairings=tuple(work.pairing(i, j) for i, j in combinations(everyone, 2)),
        judges=tuple(work.one(j) for j in everyone),
        icc_2_1=work.icc("2,1"),
        icc_3_1=work.icc("3,1"),
        averaged=averaged,
        without=tuple(work.without([k for k in everyone if k != j], j) for j in everyone)
        if len(everyone) > 2
        else (),
        alone=tuple(work.without([j], None) for j in everyone),
        notes=tuple(notes),
    )


def families() -> dict[str, list[str]]:
    """Family → words of its models' names, from the first ``families.toml``."""
    for place in reference_places():
        path = place / "families.toml"
        if path.is_file():
            return {str(k): [str(w) for w in v] for k, v in tomllib.loads(path.read_text("utf-8")).items()}
    return {}


def family_of(model: str | None, known: Mapping[str, Sequence[str]]) -> str | None:
    """The first family with a word that the model's name has at the beginning of a part."""
    import re

    if model is None:
        return None
    parts = [part for part in re.split(r"[^a-z0-9]+", model.casefold()) if part]
    for family, words in known.items():
        for word in words:
            pieces = word.casefold().split("-")
            for at in range(len(parts) - len(pieces) + 1):
                there = parts[at : at + len(pieces)]
                if there[:-1] == pieces[:-1] and there[-1].startswith(pieces[-1]):
                    return family
    return None


class _Work:
    """A panel with its resamples: all figures of one study share the draws."""

    def __init__(self, panel: Panel) -> None:
        import numpy as np

        self.panel, self.values = panel, panel.values
        self.draws = Resampling(panel.categories, resamples=RESAMPLES, seed=panel.seed)
        self.enough = len(panel.cases) >= LEAST_CASES
        self.whole: Floats = np.asarray(
            ~np.isnan(self.values).any(axis=0)
        )  # artifacts that every judge has scored
        self.means = np.stack([_mean(v, axis=0) for v in self.values])  # (judges, models)
        self.drawn = np.stack([self.draws.means(v) for v in self.values])  # (judges, resamples, models)
        self.favours = self._favours()
        self.families = families()

    def _favours(self) -> Floats:
        """(judges, cases, models): score minus the mean of the other judges, each less its own mean."""
        import numpy as np

        shared = np.where(self.whole, self.values, np.nan)
        centred = shared - np.array([_mean(v) for v in shared])[:, None, None]
        k = len(self.values)
        favours: Floats = centred - (centred.sum(axis=0) - centred) / (k - 1)
        return favours

    def _case_mean(self, per_case: Floats, why: str = "") -> Figure:
        """Mean over cases of one number a case, NaN left out."""
        import numpy as np

        there = ~np.isnan(per_case)
        if not there.any():
            return gap(0, why or "No case has what this needs.")
        estimate = self.draws.estimates(per_case)[0] if len(per_case) else None
        assert estimate is not None
        ends = None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
        return figure(estimate.mean, int(there.sum()), {"cases": ends}, "" if ends else FEW_CASES)

    def _ranked(
        self, a: Floats, b: Floats, correlate: ranks.Correlate, drawn: tuple[Floats, Floats]
    ) -> Figure:
        import numpy as np

        there = ~np.isnan(a) & ~np.isnan(b)
        if there.sum() < LEAST_MODELS:
            return gap(int(there.sum()), FEW_MODELS)
        value = float(correlate(a[there], b[there]))
        ends: Range | None = None
        if self.enough:
            x, y = drawn[0][:, there], drawn[1][:, there]
            kept = ~(np.isnan(x) | np.isnan(y)).any(axis=1)
            ends = centred(correlate(x[kept], y[kept]), value) if kept.any() else None
        return figure(value, int(there.sum()), {"cases": ends}, "" if ends else FEW_CASES)

    def pairing(self, i: int, j: int) -> Pairing:
        import numpy as np

        a, b = self.values[i], self.values[j]
        drawn = (self.drawn[i], self.drawn[j])
        difference = np.where(np.isnan(a) | np.isnan(b), np.nan, a - b)
        per_case = _mean(difference, axis=1)
        return Pairing(
            first=self.panel.judges[i],
            second=self.panel.judges[j],
            kendall=self._ranked(self.means[i], self.means[j], ranks.kendall, drawn),
            spearman=self._ranked(self.means[i], self.means[j], ranks.spearman, drawn),
            per_case=self._case_mean(_within_case(a, b), FEW_APART),
            shift=self._case_mean(per_case, "They have no page in common."),
            shift_by_category={
                category: self._case_mean(np.where(inside, per_case, np.nan))
                for category, inside in self._categories().items()
            },
        )

    def _categories(self) -> dict[str, Floats]:
        import numpy as np

        names = np.array(self.panel.categories)
        present = {category for category in self.panel.categories if category}
        order = [c for c in CATEGORIES if c in present] + sorted(present - set(CATEGORIES))
        return {category: names == category for category in order}

    def one(self, j: int) -> OneJudge:
        import numpy as np

        panel, judge = self.panel, self.panel.judges[j]
        asks = panel.judge_models.get(judge)
        favours = self.favours[j]
        by_case = _mean(favours, axis=1)
        return OneJudge(
            judge=judge,
            model=asks,
            family=family_of(asks, self.families),
            mean=self._case_mean(_mean(self.values[j], axis=1), "It has scored nothing."),
            coverage=float((~np.isnan(self.values[j])).mean()),
            by_model={model: self._case_mean(favours[:, m]) for m, model in enumerate(panel.models)},
            by_category={
                category: self._case_mean(np.where(inside, by_case, np.nan))
                for category, inside in self._categories().items()
            },
            own_family=self._own_family(favours, asks),
            size_bias={
                name: self._case_mean(_within_case(self.values[j], size), "Too few pages have a size.")
                for name, size in panel.sizes.items()
            },
            **self._repeats(judge),
        )

    def _own_family(self, favours: Floats, asks: str | None) -> Figure:
        import numpy as np

        family = family_of(asks, self.families)
        if family is None:
            return gap(0, "It asks no model of a known family.")
        own = np.array([family_of(model, self.families) == family for model in self.panel.models])
        if not own.any() or own.all():
            return gap(int(own.sum()), f"The models are not both of the family '{family}' and of others.")
        inside, outside = _mean(favours[:, own], axis=1), _mean(favours[:, ~own], axis=1)
        return self._case_mean(inside - outside)

    def _repeats(self, judge: str) -> dict[str, Figure]:
        import numpy as np

        table = self.panel.repeats.get(judge)
        if table is None:
            why = "It was asked once a page."
            return {"repeat_icc": gap(0, why), "repeat_spread": gap(0, why)}
        full = table[~np.isnan(table).any(axis=1)]
        spread = np.nanvar(table, axis=1, ddof=1)
        rng = np.random.default_rng(len(table))
        picks = rng.integers(len(table), size=(RESAMPLES, len(table)))
        enough = len(full) >= LEAST_CASES
        sums = chance.icc_sums(full - full.mean()) if len(full) else None
        ends = spread_ends = None
        if enough and sums is not None:
            counts = rng.multinomial(len(full), np.full(len(full), 1 / len(full)), size=RESAMPLES)
            ends = middle(chance.icc(np.einsum("rt,tk->rk", counts.astype(float), sums), "1,1"))
            spread_ends = middle(np.sqrt(spread[picks].mean(axis=1)))
        why = "" if enough else "Fewer than five pages with repeats: no interval."
        return {
            "repeat_icc": figure(float(chance.icc(sums.sum(axis=0), "1,1")), len(full), {"pages": ends}, why)
            if sums is not None
            else gap(0, "No page has every repeat."),
            "repeat_spread": figure(math.sqrt(float(spread.mean())), len(table), {"pages": spread_ends}, why),
        }

    def icc(self, kind: Any) -> Figure:
        """Over the artifacts that every judge has scored."""
        import numpy as np

        n = int(self.whole.sum())
        if n < 2:
            return gap(n, "Fewer than two pages are scored by every judge.")
        centre = self.values[:, self.whole].mean()
        per_case = np.zeros((len(self.panel.cases), 3 + len(self.values)))
        for case in range(len(self.panel.cases)):
            inside: Floats = np.asarray(self.whole)[case]
            if inside.any():
                per_case[case] = chance.icc_sums((self.values[:, case, inside] - centre).T).sum(axis=0)
        # Resampled means times the number of cases are the resampled sums.
        drawn = self.draws.means(per_case) * len(per_case)
        ends = middle(chance.icc(drawn, kind)) if self.enough else None
        value = float(chance.icc(per_case.sum(axis=0), kind))
        return figure(value, n, {"cases": ends}, "" if ends else FEW_CASES)

    def without(self, kept: Sequence[int], out: int | None) -> Without:
        """The ranking by the mean of these judges, over artifacts that every judge has scored."""
        import numpy as np

        shared = np.where(self.whole, self.values, np.nan)
        everyone = _mean(shared.mean(axis=0), axis=0)
        chosen = shared[list(kept)].mean(axis=0)
        mine = _mean(chosen, axis=0)
        scores, base = self._scores(mine), ranked(self._scores(everyone))
        ranking = ranked(scores)
        moved = {model: abs(rank - base[model]) for model, rank in ranking.items()}
        most = max(moved, key=lambda model: moved[model], default=None)
        drawn = (self.draws.means(chosen), self.draws.means(shared.mean(axis=0)))
        return Without(
            judges=tuple(self.panel.judges[k] for k in kept),
            left_out=None if out is None else self.panel.judges[out],
            ranking=ranking,
            kendall=self._ranked(mine, everyone, ranks.kendall, drawn),
            leader=leaders(ranking),
            most_moved=most if most is not None and moved[most] else None,
            places=moved[most] if most is not None else 0,
        )

    def _scores(self, means: Floats) -> dict[str, float]:
        return {m: float(v) for m, v in zip(self.panel.models, means, strict=True) if not math.isnan(v)}


def _mean(values: Floats, axis: int | None = None) -> Any:
    """Mean without NaN; NaN where nothing is left."""
    import numpy as np

    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _within_case(a: Floats, b: Floats) -> Floats:
    """Spearman over the models of each case: (cases, models) twice → (cases,)."""
    import numpy as np

    both = ~np.isnan(a) & ~np.isnan(b)
    found = np.full(len(a), np.nan)
    full = both.all(axis=1)
    if a.shape[1] >= LEAST_MODELS and full.any():
        found[full] = ranks.spearman(a[full], b[full])
    for case in np.flatnonzero(~full & (both.sum(axis=1) >= LEAST_MODELS)):
        kept = both[case]
        found[case] = float(ranks.spearman(a[case, kept], b[case, kept]))
    return found
