"""``study correlation``: does our ranking agree with another one, and how much does that say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opendesign.canonical import plain
from opendesign.errors import UsageError
from opendesign.studying import ranks
from opendesign.studying.boards import OVERALL, Board
from opendesign.studying.figure import Figure, Range, centred, figure, gap, left_out, middle
from opendesign.studying.names import Match, match_names

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

    Floats = NDArray[Any]

LEAST = 3  # models
RESAMPLED = 10  # models from which they are resampled
RESAMPLES = 2_000
FEW = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One model on both boards. Ranks are among the shared models."""

    ours: str
    theirs: str
    our_score: float
    their_score: float
    our_rank: int
    their_rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The comparison in one category. ``p`` is two-sided."""

    category: str
    n: int
    points: tuple[Point, ...]
    spearman: Figure
    kendall: Figure
    footrule: Figure
    spearman_p: float | None
    kendall_p: float | None
    p_method: str
    our_ties: int  # pairs of shared models with equal scores
    their_ties: int
    discordant: tuple[tuple[str, str], ...]  # we have the first above the second, they the other way round


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Our board against a reference, overall first."""

    ours: Mapping[str, str]
    reference: Mapping[str, str]
    matches: tuple[Match, ...]
    rankings: tuple[Ranking, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        document: dict[str, Any] = plain(self)
        return {"study": "correlation", **document}

    def to_pandas(self) -> pandas.DataFrame:
        """One row a model and category."""
        import pandas

        return pandas.DataFrame(
            {"category": ranking.category, **plain(point)}
            for ranking in self.rankings
            for point in ranking.points
        )


def correlate(ours: Board, reference: Board, *, matches: Mapping[str, str] | None = None) -> Correlation:
    """Compare two boards over the models they share.

    A category is compared where both have it; where ours has none but ``overall``, its overall scores are
    held against each category of the reference. Raises ``UsageError`` where no model is shared.
    """
    pairs = match_names(ours, reference, matches)
    shared = [match for match in pairs if match.theirs is not None]
    if not shared:
        raise UsageError(
            f"No model of {ours.name} is on {reference.name}: name the equal ones in a file for --match."
        )
    split = len(ours.scores) > 1
    rankings = [
        _ranking(category, ours, OVERALL if not split else category, reference, shared)
        for category in _overall_first(reference.scores)
        if not split or category in ours.scores
    ]
    if not rankings:
        raise UsageError(f"{ours.name} and {reference.name} have no category in common.")
    return Correlation(
        ours=ours.about(),
        reference=reference.about(),
        matches=pairs,
        rankings=tuple(rankings),
        notes=tuple(_notes(ours, reference, rankings, split=split)),
    )


def _overall_first(categories: Mapping[str, Any]) -> list[str]:
    return sorted(categories, key=lambda category: category != OVERALL)


def _notes(ours: Board, reference: Board, rankings: Sequence[Ranking], *, split: bool) -> list[str]:
    notes = [*ours.marks, *reference.marks]
    if not split and len(reference.scores) > 1:
        notes.append(f"{ours.name} has one score a model: the same is held against every category.")
    most = max(ranking.n for ranking in rankings)
    if most < FEW:
        notes.append(
            f"At most {most} models are on both: with so few, very different true agreements give the same "
            "numbers, and there is little to conclude."
        )
    return notes


def _ranking(
    category: str, ours: Board, our_category: str, reference: Board, shared: Sequence[Match]
) -> Ranking:
    import numpy as np

    mine, other = ours.scores.get(our_category, {}), reference.scores[category]
    both = [
        (m.ours, m.theirs) for m in shared if m.ours in mine and m.theirs is not None and m.theirs in other
    ]
    x = np.array([mine[a] for a, _ in both], dtype=np.float64)
    y = np.array([other[b] for _, b in both], dtype=np.float64)
    draws = _case_draws(ours, None if our_category == OVERALL else our_category, [a for a, _ in both])
    seed = len(both)
    p_rho, method = ranks.p_value(x, y, ranks.spearman, seed=seed) if len(both) >= LEAST else (np.nan, "none")
    p_tau, _ = ranks.p_value(x, y, ranks.kendall, seed=seed) if len(both) >= LEAST else (np.nan, "none")
    return Ranking(
        category=category,
        n=len(both),
        points=_points(both, x, y),
        spearman=_figure(ranks.spearman, x, y, draws),
        kendall=_figure(ranks.kendall, x, y, draws),
        footrule=_figure(ranks.footrule, x, y, draws),
        spearman_p=None if np.isnan(p_rho) else float(p_rho),
        kendall_p=None if np.isnan(p_tau) else float(p_tau),
        p_method=method,
        our_ties=ranks.ties(x),
        their_ties=ranks.ties(y),
        discordant=tuple((both[i][0], both[j][0]) for i, j in ranks.discordant(x, y)),
    )


def _points(both: Sequence[tuple[str, str]], x: Floats, y: Floats) -> tuple[Point, ...]:
    points = [
        Point(
            ours=ours,
            theirs=theirs,
            our_score=float(x[i]),
            their_score=float(y[i]),
            our_rank=1 + int((x > x[i]).sum()),
            their_rank=1 + int((y > y[i]).sum()),
        )
        for i, (ours, theirs) in enumerate(both)
    ]
    return tuple(sorted(points, key=lambda point: (point.their_rank, point.ours)))


def _case_draws(ours: Board, category: str | None, models: Sequence[str]) -> Floats | None:
    """(resamples, models) means of our models, where there are cases to resample."""
    if ours.cases is None or len(models) < LEAST:
        return None
    part = ours.cases.of(category)
    return part.pick(models).resampled(RESAMPLES) if len(part.cases) >= 5 else None


def _figure(correlate: ranks.Correlate, x: Floats, y: Floats, draws: Floats | None) -> Figure:
    n = len(x)
    if n < LEAST:
        return gap(n, f"{n} shared models: a ranking needs at least {LEAST}.")
    value = float(correlate(x, y))
    ranges: dict[str, Range | None] = {}
    why = ""
    if n >= RESAMPLED:
        ranges["models"], why = _over_models(correlate, x, y)
    else:
        why = f"Fewer than {RESAMPLED} models: no interval over models, only the range with one left out."
        ranges["one left out"] = (
            left_out(lambda kept: float(correlate(x[kept], y[kept])), n) if n > LEAST else None
        )
    if draws is not None:
        whole = draws[~_holes(draws)]
        least = 0.0 if correlate is ranks.footrule else -1.0
        ranges["cases"] = centred(correlate(whole, y), value, least=least) if len(whole) else None
    return figure(value, n, ranges, why)


def _holes(draws: Floats) -> Floats:
    import numpy as np

    holes: Floats = np.asarray(np.isnan(draws).any(axis=1))
    return holes


def _over_models(correlate: ranks.Correlate, x: Floats, y: Floats) -> tuple[Range | None, str]:
    """The interval over resampled models, or why there is none."""
    import numpy as np

    n = len(x)
    kept: Floats = np.random.default_rng(n).integers(n, size=(RESAMPLES, n))
    values = correlate(x[kept], y[kept])
    ends = middle(values)
    if ends is not None and ends[0] == ends[1]:
        return None, "Every resample of the models agrees alike: no interval can be given."
    return ends, "" if ends else "Too many resamples have no spread: no interval can be given."
