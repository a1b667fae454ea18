"""A run in numbers: coverage, scores with intervals, failures by owner, cost.

Everything is computed from all records of the run, never from what this process did. What a judge could
not score is left out of its means and shown as missing coverage; what the model failed counts as the lowest
score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from opendesign.canonical import plain
from opendesign.errors import REASONS
from opendesign.running.plot_rates import PlotRates, plot_rates
from opendesign.running.statistics import Estimate, Resampling, matrix, rate
from opendesign.running.store import Store
from opendesign.types import ABSENT, CATEGORIES, LIBRARIES

if TYPE_CHECKING:
    import pandas

Aggregation = Literal["ours", "released"]
Scores = Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What ``run --json`` prints. Scores are keyed ``judge.measure``; rates are shares from 0 to 1."""

    run: str
    benchmark: Mapping[str, Any]  # name, version, hash, split, category, limit
    model: str
    protocol: Mapping[str, Any]  # name, version, hash
    judges: Mapping[str, Mapping[str, Any]]  # judge -> version, hash, model, stands in for
    cases: int
    samples: int
    coverage: Mapping[str, float]  # judge -> share of answers with a verdict that counts
    ranked: bool  # whether every judge covers enough for a board
    headline: str | None  # the score that stands for the run
    headlines: Mapping[str, str]  # judge -> the score that stands for it
    scores: Scores
    by_category: Mapping[str, Scores]
    by_difficulty: Mapping[str, Scores]
    failures: Mapping[str, int]  # reason -> answers it ended
    failures_by_owner: Mapping[str, int]
    failure_details: Mapping[str, str]  # reason -> what the first of them said
    affected_by_network: float | None  # share of pages with a request that failed or was refused
    changed_resources: int  # addresses that gave pages of this run different bytes
    engines: tuple[str, ...]  # browsers, or plotting libraries, that made the pictures
    fonts: tuple[str, ...]  # hashes of the font sets they had
    aggregation: Aggregation
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None  # None where a price is not known
    seconds: float  # during which at least one step was in progress
    answer_seconds: float | None  # mean over answers
    plots: PlotRates | None = field(default=None, metadata=ABSENT)  # where answers became plots
    rows: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        """A few lines for a person: the run, and each judge's headline with its interval and coverage."""
        asked = f"{self.benchmark['name']} {self.benchmark['version']}, protocol {self.protocol['name']}"
        lines = [f"{self.model} on {asked}: {self.cases} cases in {self.run}"]
        for judge, score in self.headlines.items():
            one = self.scores[score]
            interval = "" if one.low is None or one.high is None else f" [{one.low:.2f}, {one.high:.2f}]"
            lines.append(
                f"  {score} {one.mean:.2f}{interval}, n = {one.n}, coverage {self.coverage[judge]:.0%}"
            )
        if self.plots and self.plots.all.error:
            lines.append(f"  error rate {self.plots.all.error.mean:.0%}")
        lines += [f"  {count} × {reason}" for reason, count in self.failures.items()]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of the command line: everything but the rows."""
        document: dict[str, Any] = plain(self)
        del document["rows"]
        return document

    def to_pandas(self) -> pandas.DataFrame:
        """One row an answer: case, sample, category, difficulty, status, reason, and every score."""
        import pandas

        return pandas.DataFrame([dict(row) for row in self.rows])


@dataclass(frozen=True, slots=True)
class _Case:
    id: str
    category: str
    difficulty: str


def summarize(
    run: Path | Store, *, aggregation: Aggregation | None = None, judges: Mapping[str, str] | None = None
) -> Summary:
    """The summary of a stored run. Raises ``StoreError`` where it cannot be read.

    ``judges``, name → config, have just been asked to judge it: they are listed even where they have given no
    verdict, and what the same judge said under other settings is left out.
    """
    asked = judges or {}
    store = run if isinstance(run, Store) else Store(run)
    manifest = store.manifest()
    cases = [_Case(case["id"], case["category"], case["difficulty"]) for case in manifest["cases"]]
    keys = [(case.id, sample) for case in cases for sample in range(manifest["samples"])]
    rule: Aggregation = aggregation or manifest["protocol"].get("aggregation", "ours")
    answers = current(store.records("answers.jsonl"))
    artifacts = current(store.records("artifacts.jsonl"))
    names = sorted({*store.judges(), *manifest["judges"], *asked}, key=_place(list(manifest["judges"])))
    verdicts = {name: current(store.records(f"verdicts-{name}.jsonl"), asked.get(name)) for name in names}
    measures = {judge: _measures(manifest, judge, records) for judge, records in verdicts.items()}
    scored = {judge: scored_of(records, keys) for judge, records in verdicts.items()}
    coverage = {judge: len(found) / len(keys) if keys else 0.0 for judge, found in scored.items()}
    failures = _failures(keys, answers, artifacts, verdicts)
    resampling = Resampling(
        [case.category for case in cases],
        resamples=manifest["protocol"].get("resamples", 10_000),
        seed=manifest["benchmark"]["hash"],
    )
    groups: dict[str, set[str]] = {"": {case.id for case in cases}}
    for case in cases:
        groups.setdefault(f"category:{case.category}", set()).add(case.id)
        groups.setdefault(f"difficulty:{case.difficulty}", set()).add(case.id)
    scores = _scores(cases, groups, scored, measures, rule, resampling)
    plots = plot_rates(store, answers, artifacts, verdicts, measures, resampling)
    everything = [*answers.values(), *artifacts.values(), *(r for v in verdicts.values() for r in v.values())]
    return Summary(
        run=str(store.folder),
        benchmark={k: manifest["benchmark"].get(k) for k in ("name", "version", "hash", *_SELECTION)},
        model=manifest["model"]["name"],
        protocol={k: manifest["protocol"][k] for k in ("name", "version", "hash")},
        judges={judge: _judge(manifest, judge, records) for judge, records in verdicts.items()},
        cases=len(cases),
        samples=manifest["samples"],
        coverage=coverage,
        ranked=bool(coverage)
        and min(coverage.values()) >= manifest["protocol"].get("minimum_coverage", 0.95),
        headline=next(iter(_headlines(manifest, measures, scores[""]).values()), None),
        headlines=_headlines(manifest, measures, scores[""]),
        scores=scores[""],
        by_category={
            c: scores[f"category:{c}"] for c in (*CATEGORIES, *LIBRARIES) if f"category:{c}" in scores
        },
        by_difficulty={
            d: scores[f"difficulty:{d}"] for d in ("easy", "medium", "hard") if f"difficulty:{d}" in scores
        },
        failures=dict(sorted(failures.items())),
        failures_by_owner=dict(sorted(_by_owner(failures).items())),
        failure_details=_details([answers, artifacts, *verdicts.values()]),
        affected_by_network=_affected(artifacts),
        changed_resources=_changed(artifacts),
        engines=_made(artifacts, "browser") or _made(artifacts, "plots"),
        fonts=_made(artifacts, "fonts"),
        aggregation=rule,
        prompt_tokens=sum(_usage(record).get("prompt_tokens", 0) for record in everything),
        completion_tokens=sum(_usage(record).get("completion_tokens", 0) for record in everything),
        cost_usd=_cost(everything, plots),
        seconds=_busy_seconds(everything),
        answer_seconds=_mean([r["varies"].get("seconds") for r in answers.values()]),
        plots=plots,
        rows=tuple(_row(case, sample, answers, artifacts, verdicts) for case, sample in _pairs(cases, keys)),
    )


_SELECTION = ("split", "category", "limit")
_Records = Mapping[tuple[str, int], Mapping[str, Any]]


def current(records: _Records, config: str | None = None) -> _Records:
    """Records of these settings, or those last used: what an edited card left behind is never averaged in."""
    if not records:
        return {}
    if config is None:
        config = max(records.values(), key=lambda record: record["varies"].get("at", 0.0))["config"]
    return {key: record for key, record in records.items() if record["config"] == config}


def _place(order: list[str]) -> Callable[[str], tuple[int, str]]:
    """Sort key: the judges of the run's start in their order, then those added later by name."""
    return lambda judge: (order.index(judge) if judge in order else len(order), judge)


def _failure(record: Mapping[str, Any] | None) -> str | None:
    failure = (record or {}).get("value", {}).get("failure")
    return failure["reason"] if failure else None


def scored_of(records: _Records, keys: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Verdicts that count: those of pages that were judged, and those of a model's own failure."""
    found = {}
    for key in keys:
        reason = _failure(records.get(key))
        if key in records and (reason is None or REASONS[reason] == "model"):
            found[key] = records[key]
    return found


def _measures(manifest: Mapping[str, Any], judge: str, records: _Records) -> Mapping[str, Mapping[str, Any]]:
    """Measures of a judge: from the manifest, else from its card, else plain means of what is there."""
    from opendesign.errors import OpenDesignError
    from opendesign.judging.cards import load_card

    used = next(iter(records.values()))["made"]["judge_hash"] if records else None
    known = manifest["judges"].get(judge)
    if known and (known["hash"] == used or not records):
        return dict(known["measures"])
    try:
        card = load_card(judge)
        if card.hash == used or not known:
            return dict(plain(card.measures))
    except OpenDesignError:
        pass  # an added card that is not here any more: its verdicts still are
    names = sorted({name for record in records.values() for name in record["value"]["scores"]})
    return {name: {"kind": "mean", "headline": False} for name in names}


def _judge(manifest: Mapping[str, Any], judge: str, records: _Records) -> dict[str, Any]:
    """What the verdicts say of the judge that gave them; the manifest, where there is none yet."""
    planned = manifest["judges"].get(judge) or {}
    stands = {"stands_in_for": planned.get("stands_in_for")}
    if not records:
        return {name: planned.get(name) for name in ("version", "hash", "model")} | stands
    made = next(iter(records.values()))["made"]
    return {name: made.get(f"judge_{name}") for name in ("version", "hash", "model")} | stands


def _scores(
    cases: list[_Case],
    groups: Mapping[str, set[str]],
    scored: Mapping[str, Mapping[tuple[str, int], Mapping[str, Any]]],
    measures: Mapping[str, Mapping[str, Mapping[str, Any]]],
    rule: Aggregation,
    resampling: Resampling,
) -> dict[str, dict[str, Estimate]]:
    """Group → ``judge.measure`` → estimate. All means of all groups share one set of resamples."""
    columns: dict[str, dict[str, float]] = {}
    found: dict[str, dict[str, Estimate]] = {group: {} for group in groups}
    for judge, verdicts in scored.items():
        for name, measure in measures[judge].items():
            samples = _samples(verdicts, name, measures[judge], rule)
            for group, members in groups.items():
                inside = {case: values for case, values in samples.items() if case in members}
                if measure["kind"] == "rate":
                    estimate = rate(list(inside.values()))
                    if estimate is not None:
                        found[group][f"{judge}.{name}"] = estimate
                else:
                    columns[f"{group}\n{judge}.{name}"] = {c: sum(v) / len(v) for c, v in inside.items()}
    table = matrix(columns, [case.id for case in cases])
    for column, mean in zip(columns, resampling.estimates(table) if columns else [], strict=True):
        group, _, name = column.partition("\n")
        if mean is not None:
            found[group][name] = mean
    order = [f"{judge}.{name}" for judge in scored for name in _headline_first(measures[judge])]
    return {group: {name: has[name] for name in order if name in has} for group, has in found.items()}


def _headline_first(measures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return sorted(measures, key=lambda name: not measures[name].get("headline"))


def _samples(
    verdicts: Mapping[tuple[str, int], Mapping[str, Any]],
    name: str,
    measures: Mapping[str, Mapping[str, Any]],
    rule: Aggregation,
) -> dict[str, list[float]]:
    """Case → values of its samples. The released rule drops failures and headline totals of zero."""
    headline = next((m for m, measure in measures.items() if measure.get("headline")), name)
    samples: dict[str, list[float]] = {}
    for (case, _), record in verdicts.items():
        scores = record["value"]["scores"]
        if rule == "released" and (_failure(record) or scores.get(headline) == 0):
            continue
        if name in scores:
            samples.setdefault(case, []).append(float(scores[name]))
    return samples


def _headlines(
    manifest: Mapping[str, Any], measures: Mapping[str, Mapping[str, Mapping[str, Any]]], scores: Scores
) -> dict[str, str]:
    """Judge → its headline score; first the static judge, or the one that stands in for it."""
    stands = {judge: (manifest["judges"].get(judge) or {}).get("stands_in_for") for judge in measures}
    order = sorted(measures, key=lambda judge: (judge != "static", stands[judge] != "static"))
    found: dict[str, str] = {}
    for judge in order:
        for name, measure in measures[judge].items():
            if measure.get("headline") and f"{judge}.{name}" in scores:
                found.setdefault(judge, f"{judge}.{name}")
    return found


def _failures(
    keys: list[tuple[str, int]], answers: _Records, artifacts: _Records, verdicts: Mapping[str, _Records]
) -> Counter[str]:
    """Reason → how many answers it ended; a verdict's own failure counts once a judge."""
    counts: Counter[str] = Counter()
    for key in keys:
        reason = _failure(answers.get(key)) or _failure(artifacts.get(key))
        if reason:
            counts[reason] += 1
            continue
        counts.update(reason for records in verdicts.values() if (reason := _failure(records.get(key))))
    return counts


def _by_owner(failures: Mapping[str, int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for reason, count in failures.items():
        counts[REASONS[reason].value] += count
    return counts


def _details(steps: Iterable[_Records]) -> dict[str, str]:
    found: dict[str, str] = {}
    for records in steps:
        for _, record in sorted(records.items()):
            failure = record["value"].get("failure")
            if failure:
                found.setdefault(failure["reason"], failure["detail"])
    return dict(sorted(found.items()))


def _affected(artifacts: _Records) -> float | None:
    if not artifacts or any("plots" in record["made"] for record in artifacts.values()):
        return None  # a plot's code has no network
    requests = [record["value"].get("requests", {}) for record in artifacts.values()]
    return sum(1 for r in requests if r.get("failed") or r.get("refused")) / len(requests)


def _changed(artifacts: _Records) -> int:
    seen: dict[str, set[str]] = {}
    for record in artifacts.values():
        for url, digest in record["value"].get("resources", {}).items():
            seen.setdefault(url, set()).add(digest)
    return sum(1 for digests in seen.values() if len(digests) > 1)


def _made(records: _Records, name: str) -> tuple[str, ...]:
    return tuple(sorted({record["made"][name] for record in records.values() if name in record["made"]}))


def _usage(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(record["value"].get("usage") or {})


def _cost(records: Iterable[Mapping[str, Any]], plots: PlotRates | None) -> float | None:
    """What the run cost, repairs among it; None where a price is not known."""
    costs = [_usage(record).get("cost_usd", 0.0) for record in records]
    if plots and plots.repairs:
        costs.append(plots.repairs.cost_usd)
    return None if any(cost is None for cost in costs) else round(sum(costs), 6)


def _busy_seconds(records: Iterable[Mapping[str, Any]]) -> float:
    """Length of the union of all steps' times: what the run took, pauses between resumes left out."""
    spans = sorted(
        (varies["at"] - varies["seconds"], varies["at"])
        for varies in (record["varies"] for record in records)
        if "at" in varies and "seconds" in varies
    )
    total, end = 0.0, float("-inf")
    for start, stop in spans:
        if stop > end:
            total += stop - max(start, end)
            end = stop
    return round(total, 3)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 3) if known else None


def _pairs(cases: list[_Case], keys: list[tuple[str, int]]) -> list[tuple[_Case, int]]:
    by_id = {case.id: case for case in cases}
    return [(by_id[case], sample) for case, sample in keys]


def _row(
    case: _Case, sample: int, answers: _Records, artifacts: _Records, verdicts: Mapping[str, _Records]
) -> dict[str, Any]:
    key = (case.id, sample)
    reason = _failure(answers.get(key)) or _failure(artifacts.get(key))
    row: dict[str, Any] = {
        "case": case.id,
        "sample": sample,
        "category": case.category,
        "difficulty": case.difficulty,
        "reason": reason,
        "owner": REASONS[reason].value if reason else None,
    }
    for judge, records in verdicts.items():
        record = records.get(key)
        for name, score in (record["value"]["scores"] if record else {}).items():
            row[f"{judge}.{name}"] = score
    return row
