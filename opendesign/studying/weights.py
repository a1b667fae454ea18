"""``study weights``: what the weights of the reward do to scores and ranking.

A model's score is Σ w·mean / Σ w over its channels, each a mean over cases on a unit scale: execution −1 or
1, static and interactive 0 to 1. One weight at a time goes from 0 to 1 while the others share the rest in
proportion; each score is then a straight line, so where the leader or any rank changes is computed, not
searched for. A page that fails execution has 0 in the other channels, as in the reward, unless ungated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from opendesign.canonical import plain
from opendesign.errors import UnknownName, UsageError
from opendesign.running.statistics import Resampling
from opendesign.studying import ranks
from opendesign.studying.figure import Figure, figure, ranked
from opendesign.studying.panel import _scale
from opendesign.studying.runs import Key, RunRecords, read_runs
from opendesign.studying.scores import headline_measure, scores_of

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

    Floats = NDArray[Any]

WEIGHTS = {"execution": 0.1, "static": 0.8, "interactive": 0.1}  # of the paper's reward
RESAMPLES = 2_000
_EQUAL = 1e-12  # scores nearer than this are the same
STEPS = 21  # points of each curve
LEAST_CASES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """``values`` is (channels, cases, models) on unit scales, NaN where unscored or not applicable.

    ``gated``: the same with 0 in the other channels of every page that fails execution.
    """

    channels: tuple[str, ...]
    models: tuple[str, ...]
    categories: tuple[str, ...]
    values: Floats
    gated: Floats
    judges: Mapping[str, str]  # channel → the score that stands for it
    seed: str = "study"
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A weight at which the leader changes."""

    weight: float
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One weight from 0 to 1. ``curves``: model → scores at ``at``."""

    channel: str
    at: tuple[float, ...]
    curves: Mapping[str, tuple[float, ...]]
    leaders: tuple[str, ...]  # from weight 0 to weight 1
    leader_changes: tuple[Crossing, ...]
    rank_changes: int  # weights at which two models change places
    stable: tuple[float, float]  # around the weight in use, where the leader stays
    kendall: tuple[float | None, ...]  # with the ranking at the weights in use


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The reward under other weights."""

    weights: Mapping[str, float]
    judges: Mapping[str, str]
    gated: bool
    channel_means: Mapping[str, Mapping[str, Figure]]  # model → channel → mean
    scores: Mapping[str, Figure]  # at the weights in use, best first
    leads: Mapping[str, float]  # model → share of resamples in which it leads, at the weights in use
    sweeps: tuple[Sweep, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {"study": "weights", **plain(self)}

    def to_pandas(self) -> pandas.DataFrame:
        """One row a channel, weight and model."""
        import pandas

        return pandas.DataFrame(
            {"channel": sweep.channel, "weight": weight, "model": model, "score": curve[at]}
            for sweep in self.sweeps
            for model, curve in sweep.curves.items()
            for at, weight in enumerate(sweep.at)
        )


def load_channels(names: Sequence[str]) -> Channels:
    """The reward's channels out of stored runs; where a channel's judge is missing, the one standing in."""
    import numpy as np

    runs = read_runs(names)
    judges = {channel: found for channel in WEIGHTS if (found := _judge_for(runs, channel))}
    if len(judges) < 2:
        raise UsageError(
            "These runs have fewer than two of execution, static and interactive: judge them first."
        )
    tables = {channel: scores_of(runs, score) for channel, score in judges.items()}
    first = next(iter(tables.values()))
    marks = [mark for table in tables.values() for mark in table.marks]
    for channel, score in judges.items():
        if score.partition(".")[0] != channel:
            marks.append(f"'{score}' stands in for {channel}.")
    return Channels(
        channels=tuple(judges),
        models=first.models,
        categories=first.categories,
        values=np.stack([_unit(runs[0], c, judges[c], t.values) for c, t in tables.items()]),
        gated=np.stack([_gated(runs, c, judges) for c in judges]),
        judges=judges,
        seed=first.seed,
        marks=tuple(dict.fromkeys(marks)),
    )


def _judge_for(runs: Sequence[RunRecords], channel: str) -> str | None:
    """The score of a channel that every run has."""
    planned = runs[0].manifest["judges"]
    named = [j for j in runs[0].judges if j == channel]
    stand = [j for j in runs[0].judges if (planned.get(j) or {}).get("stands_in_for") == channel]
    for judge in (*named, *stand):
        if all(run.verdicts(judge) for run in runs):
            return f"{judge}.{headline_measure(runs[0], judge)}"
    return None


def _unit(run: RunRecords, channel: str, score: str, values: Floats) -> Floats:
    """From the measure's range to 0 … 1; execution to −1 … 1."""
    low, high = _scale(run, score)
    unit: Floats = (values - low) / (high - low)
    return 2 * unit - 1 if channel == "execution" else unit


def weights(channels: Channels, *, given: Mapping[str, float] | None = None, gated: bool = True) -> Weights:
    """Scores at the weights in use and along each. Raises ``UsageError`` for weights without sense."""
    import numpy as np

    if len(channels.models) < 2:
        raise UsageError("Weights are about the ranking of models: name two runs or more.")
    used = _checked(channels, given or WEIGHTS)
    values = channels.gated if gated else channels.values
    draws = Resampling(channels.categories, resamples=RESAMPLES, seed=channels.seed)
    means = np.stack([_means(v) for v in values])  # (channels, models)
    drawn = np.stack([draws.means(v) for v in values])  # (channels, resamples, models)
    known = [m for m in range(len(channels.models)) if not np.isnan(means[:, m]).any()]
    notes = list(channels.marks)
    notes += [
        f"'{model}' is unscored in a channel and left out."
        for m, model in enumerate(channels.models)
        if m not in known
    ]
    if not known:
        raise UsageError("No model has a score in every channel.")
    names = [channels.models[m] for m in known]
    means, drawn, values = means[:, known], drawn[:, :, known], values[:, :, known]
    share = np.array([used[c] for c in channels.channels])
    share = share / share.sum()
    total = np.einsum("c,crm->rm", share, drawn)
    enough = len(channels.categories) >= LEAST_CASES
    scores = {
        name: figure(
            float(share @ means[:, m]), len(channels.categories), _ends(total[:, m], enough), _why(enough)
        )
        for m, name in enumerate(names)
    }
    best = total >= np.nanmax(total, axis=1, keepdims=True) - _EQUAL  # several lead where they are equal
    order = ranked({name: one.value for name, one in scores.items() if one.value is not None})
    return Weights(
        weights={c: float(w) for c, w in zip(channels.channels, share, strict=True)},
        judges=dict(channels.judges),
        gated=gated,
        channel_means=_channel_means(channels.channels, names, values, draws),
        scores={name: scores[name] for name in order},
        leads={name: float((best[:, names.index(name)] / best.sum(axis=1)).mean()) for name in order},
        sweeps=tuple(_sweep(at, channels.channels, names, means, share) for at in range(len(share))),
        notes=tuple(notes),
    )


def _checked(channels: Channels, given: Mapping[str, float]) -> dict[str, float]:
    for name, weight in given.items():
        if name not in WEIGHTS:
            raise UnknownName("channel", name, WEIGHTS)
        if not (math.isfinite(weight) and weight >= 0):
            raise UsageError(f"The weight of {name} is {weight}: a number from 0 on belongs there.")
    used = {name: given.get(name, 0.0) for name in channels.channels}
    if sum(used.values()) <= 0:
        raise UsageError("All weights are 0: one has to count.")
    return used


def _gated(runs: Sequence[RunRecords], channel: str, judges: Mapping[str, str]) -> Floats:
    """A channel with its floor wherever the answer fails execution, unscored or not: it is never computed."""
    gate = judges.get("execution")
    failing: list[set[Key]] = [set() for _ in runs]
    if gate is not None and channel != "execution":
        judge, _, measure = gate.partition(".")
        low, _ = _scale(runs[0], gate)
        failing = [
            {key for key, given in run.verdicts(judge).items() if given.scores.get(measure) == low}
            for run in runs
        ]
    low, _ = _scale(runs[0], judges[channel])
    table = scores_of(runs, judges[channel], floors=failing, floor=low)
    return _unit(runs[0], channel, judges[channel], table.values)


def _means(values: Floats) -> Floats:
    import numpy as np

    there = ~np.isnan(values)
    count = there.sum(axis=0)
    means: Floats = np.where(count, np.where(there, values, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan)
    return means


def _ends(draws: Floats, enough: bool) -> dict[str, tuple[float, float] | None]:
    from opendesign.studying.figure import middle

    return {"cases": middle(draws) if enough else None}


def _why(enough: bool) -> str:
    return "" if enough else f"Fewer than {LEAST_CASES} cases: no interval."


def _channel_means(
    channels: Sequence[str], names: Sequence[str], values: Floats, draws: Resampling
) -> dict[str, dict[str, Figure]]:
    found: dict[str, dict[str, Figure]] = {name: {} for name in names}
    for c, channel in enumerate(channels):
        for name, estimate in zip(names, draws.estimates(values[c]), strict=True):
            assert estimate is not None  # models without a score were left out before
            ends = None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
            found[name][channel] = figure(estimate.mean, estimate.n, {"cases": ends}, _why(ends is not None))
    return found


def _sweep(at: int, channels: Sequence[str], names: Sequence[str], means: Floats, share: Floats) -> Sweep:
    """Lines t·slope + start of every model, and where they cross."""
    import numpy as np

    rest = share.copy()
    rest[at] = 0.0
    rest = (
        rest / rest.sum()
        if rest.sum() > 0
        else np.where(np.arange(len(share)) == at, 0, 1 / (len(share) - 1))
    )
    start, end = rest @ means, means[at]
    here = float(share[at])
    points = np.linspace(0, 1, STEPS)
    lines = start[None, :] + points[:, None] * (end - start)[None, :]
    crossings = sorted(
        {
            t
            for i, j in combinations(range(len(names)), 2)
            if (t := _cross(start[i], end[i], start[j], end[j])) is not None
        }
    )
    leaders, changes = _leaders(names, start, end, crossings)
    before = max((c.weight for c in changes if c.weight <= here), default=0.0)
    after = min((c.weight for c in changes if c.weight > here), default=1.0)
    now = share @ means
    return Sweep(
        channel=channels[at],
        at=tuple(float(t) for t in points),
        curves={name: tuple(float(v) for v in lines[:, m]) for m, name in enumerate(names)},
        leaders=tuple(leaders),
        leader_changes=tuple(changes),
        rank_changes=len(crossings),
        stable=(before, after),
        kendall=tuple(_number(float(ranks.kendall(line, now))) for line in lines),
    )


def _cross(a0: float, a1: float, b0: float, b1: float) -> float | None:
    """The t strictly between 0 and 1 at which two lines change places."""
    d0, d1 = float(a0 - b0), float(a1 - b1)
    return d0 / (d0 - d1) if d0 * d1 < 0 else None


def _leaders(
    names: Sequence[str], start: Floats, end: Floats, crossings: Sequence[float]
) -> tuple[list[str], list[Crossing]]:
    """Who leads from 0 to 1, in the middle of each stretch between two crossings."""
    edges = [0.0, *crossings, 1.0]
    leaders: list[str] = []
    changes: list[Crossing] = []
    for low, high in zip(edges[:-1], edges[1:], strict=True):  # noqa: RUF007
        t = (low + high) / 2
        line = start + t * (end - start)
        leader = " = ".join(names[m] for m in range(len(names)) if line[m] >= line.max() - _EQUAL)
        if not leaders:
            leaders.append(leader)
        elif leader != leaders[-1]:
            changes.append(Crossing(weight=low, before=leaders[-1], after=leader))
            leaders.append(leader)
    return leaders, changes


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def parse_weights(values: Sequence[str]) -> dict[str, float] | None:
    """``channel=number`` arguments beside the usual weights; None where there are none."""
    if not values:
        return None
    given = dict(WEIGHTS)
    for value in values:
        name, _, text = value.partition("=")
        try:
            given[name.strip()] = float(text)
        except ValueError:
            raise UsageError(f"A weight is channel=number, as in static=0.5, not '{value[:40]}'.") from None
    return given
