"""What became of a run's plots: shares of failed code, of nothing and blanks drawn, of repairs in K tries.

Rates have Wilson intervals, means BCa, medians those of their order statistics. Everything is computed from
stored records; where only part of an answer is known it is left out and ``n`` is smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from opendesign.canonical import plain
from opendesign.errors import REASONS
from opendesign.running.repair import REPAIRED
from opendesign.running.statistics import Estimate, Resampling, matrix, median, rate
from opendesign.running.store import Store

__all__ = ["JudgeRates", "PlotRates", "Rates", "Repairs", "plot_rates"]

Key = tuple[str, int]  # case, sample
Records = Mapping[Key, Mapping[str, Any]]
Measures = Mapping[str, Mapping[str, Mapping[str, Any]]]  # judge -> measure -> what its card says of it


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRates:
    """One judge's headline score, 0 to 100 as a rule, and the share of good plots where the judge says."""

    mean: Estimate | None
    median: Estimate | None
    good: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Shares of answers, no two of which overlap; the rest are plots with something on them.

    ``error``: there was no code, or it failed; ``no_plot``: it ran and drew nothing; ``blank``: it drew a
    picture with nothing on it.
    """

    error: Estimate | None
    no_plot: Estimate | None
    blank: Estimate | None
    judges: Mapping[str, JudgeRates]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """Shares of answers whose code draws after 0, 1 … tries with the error's text. Never part of a score."""

    runs: tuple[Estimate, ...]
    asked: int  # calls made
    cost_usd: float | None  # None where a price is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotRates:
    """``Rates`` of all answers, by library and by kind of chart; ``repairs`` where any were tried."""

    all: Rates
    by_library: Mapping[str, Rates]
    by_chart: Mapping[str, Rates]
    repairs: Repairs | None = None

    def to_dict(self) -> dict[str, Any]:
        return dict(plain(self))


def plot_rates(
    store: Store,
    answers: Records,
    artifacts: Records,
    verdicts: Mapping[str, Records],
    measures: Measures,
    resampling: Resampling,
) -> PlotRates | None:
    """Rates of a run's plots; None for a run of pages.

    ``answers``, ``artifacts`` and ``verdicts`` are the records that count, as ``summary`` chooses them,
    unscored verdicts left in; ``resampling`` is over the cases of the manifest, in order.
    """
    manifest = store.manifest()
    cases = manifest["cases"]
    if not all(case.get("task") for case in cases):
        return None
    keys = [(case["id"], sample) for case in cases for sample in range(manifest["samples"])]
    known = _Known(answers, artifacts, verdicts)
    groups: dict[tuple[str, str], set[str]] = {("all", ""): {case["id"] for case in cases}}
    for case in cases:
        groups.setdefault(("library", case["task"]["library"]), set()).add(case["id"])
        groups.setdefault(("chart", case["task"]["chart"]), set()).add(case["id"])
    scores = {
        judge: _of_judge(records, measures[judge], groups, [case["id"] for case in cases], resampling)
        for judge, records in verdicts.items()
    }
    found = {
        group: Rates(
            error=_rate(keys, members, known.error),
            no_plot=_rate(keys, members, known.no_plot),
            blank=_rate(keys, members, known.blank),
            judges={judge: of[group] for judge, of in scores.items()},
        )
        for group, members in groups.items()
    }
    return PlotRates(
        all=found["all", ""],
        by_library={name: rates for (kind, name), rates in found.items() if kind == "library"},
        by_chart={name: rates for (kind, name), rates in sorted(found.items()) if kind == "chart"},
        repairs=_repairs(store, keys, known),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of an answer: True, False, or None where that step has no outcome yet."""

    answers: Records
    artifacts: Records
    verdicts: Mapping[str, Records]

    def reason(self, key: Key) -> str | None:
        """ "" for a plot that was drawn, else the model's reason; None where nobody knows yet."""
        return _outcome(key, self.answers, self.artifacts)

    def error(self, key: Key) -> bool | None:
        reason = self.reason(key)
        return None if reason is None else reason not in ("", "no_plot")

    def no_plot(self, key: Key) -> bool | None:
        reason = self.reason(key)
        return None if reason is None else reason == "no_plot"

    def blank(self, key: Key) -> bool | None:
        """Every judge of plots says in its evidence where a plot is blank."""
        if reason := self.reason(key):
            return False
        said = [records[key]["value"] for records in self.verdicts.values() if key in records]
        if reason is None or not said:
            return None
        return any((value.get("evidence") or {}).get("blank") is True for value in said)


def _outcome(key: Key, answers: Records, artifacts: Records) -> str | None:
    for records in (answers, artifacts):
        record = records.get(key)
        if record is None:
            return None
        failure = record["value"].get("failure")
        if failure is not None:
            return failure["reason"] if REASONS[failure["reason"]] == "model" else None
    return ""


def _rate(keys: Iterable[Key], members: set[str], is_so: Callable[[Key], bool | None]) -> Estimate | None:
    outcomes: dict[str, list[float]] = {}
    for key in keys:
        if key[0] in members and (so := is_so(key)) is not None:
            outcomes.setdefault(key[0], []).append(float(so))
    return rate(list(outcomes.values()))


def _of_judge(
    records: Records,
    measures: Mapping[str, Mapping[str, Any]],
    groups: Mapping[tuple[str, str], set[str]],
    cases: list[str],
    resampling: Resampling,
) -> dict[tuple[str, str], JudgeRates]:
    headline = next((name for name, measure in measures.items() if measure.get("headline")), "")
    values = {name: _by_case(records, name) for name in (headline, "good")}
    means = {case: sum(found) / len(found) for case, found in values[headline].items()}
    inside = {
        group: {case: mean for case, mean in means.items() if case in members}
        for group, members in groups.items()
    }
    columns = {f"{kind}:{name}": found for (kind, name), found in inside.items()}
    estimates = resampling.estimates(matrix(columns, cases))
    return {
        group: JudgeRates(
            mean=estimate,
            median=median(list(inside[group].values())),
            good=rate([found for case, found in values["good"].items() if case in members]),
        )
        for (group, members), estimate in zip(groups.items(), estimates, strict=True)
    }


def _by_case(records: Records, name: str) -> dict[str, list[float]]:
    """Case → what its scored samples got; a model's failure is in it with the lowest score."""
    found: dict[str, list[float]] = {}
    for (case, _), record in records.items():
        failure, scores = record["value"].get("failure"), record["value"]["scores"]
        if name in scores and (failure is None or REASONS[failure["reason"]] == "model"):
            found.setdefault(case, []).append(float(scores[name]))
    return found


def _repairs(store: Store, keys: list[Key], known: _Known) -> Repairs | None:
    """None where no try is stored."""
    reasons = {key: known.reason(key) for key in keys}
    shares, used = [_share(keys, reasons)], []
    for number in count(1):
        answers = store.records(f"answers-repair-{number}.jsonl")
        if not answers:
            break
        artifacts = store.records(f"artifacts-repair-{number}.jsonl")
        used += [record["value"].get("usage") or {} for record in answers.values()]
        for key, reason in reasons.items():
            if reason in REPAIRED:
                reasons[key] = _outcome(key, answers, artifacts)
        shares.append(_share(keys, reasons))
    if not used:
        return None
    costs = [usage.get("cost_usd", 0.0) for usage in used]
    return Repairs(
        runs=tuple(share for share in shares if share is not None),
        asked=sum(usage.get("calls", 0) for usage in used),
        cost_usd=None if None in costs else round(sum(costs), 6),
    )


def _share(keys: list[Key], reasons: Mapping[Key, str | None]) -> Estimate | None:
    return _rate(
        keys, {case for case, _ in keys}, lambda key: None if reasons[key] is None else reasons[key] == ""
    )
