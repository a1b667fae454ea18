"""Several judges over the same artifacts, out of runs or a CSV: what ``study robustness`` computes with.

Scores are put on one scale: 0 to 100 of the range of the judge's measure; those of a CSV are as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.errors import UnknownName, UsageError
from opendesign.studying.runs import Key, RunRecords, read_runs
from opendesign.studying.scores import headline_measure, scores_of
from opendesign.studying.tables import column, first_column, number, numbered, read_csv

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """``values`` is (judges, cases, models), NaN where unscored.

    ``repeats``: judge → (artifacts, repeats) of single replies, NaN where one is missing. ``sizes``: what may
    bias a judge → (cases, models).
    """

    judges: tuple[str, ...]
    models: tuple[str, ...]
    cases: tuple[str, ...]
    categories: tuple[str, ...]
    values: Floats
    repeats: Mapping[str, Floats] = field(default_factory=dict)
    sizes: Mapping[str, Floats] = field(default_factory=dict)
    judge_models: Mapping[str, str] = field(default_factory=dict)  # judge → the model that it asks
    seed: str = "study"
    marks: tuple[str, ...] = ()


def load_panel(sources: Sequence[str], *, judges: Sequence[str] = ()) -> Panel:
    """A panel out of stored runs (every judge's headline, or ``judges``, each a judge or ``judge.measure``),
    or out of one CSV: judge, model, case, score; category, repeat, judge_model, length, height if there are.

    Raises ``UsageError`` for fewer than two judges, or runs that cannot be compared.
    """
    panel = _speaking(read_panel(sources, judges=judges))
    if len(panel.judges) < 2:
        raise UsageError(
            f"There is one judge with scores ({panel.judges[0]}): robustness needs two or more over the same "
            "pages."
        )
    return panel


def _speaking(panel: Panel) -> Panel:
    """Without the judges that have scored nothing: they would leave no page that every judge has scored."""
    import numpy as np

    kept = [at for at in range(len(panel.judges)) if not np.isnan(panel.values[at]).all()]
    silent = [name for at, name in enumerate(panel.judges) if at not in kept]
    if not kept:
        raise UsageError("No judge has scored a page: every score is empty.")
    return replace(
        panel,
        judges=tuple(panel.judges[at] for at in kept),
        values=panel.values[kept],
        marks=(*panel.marks, *(f"'{name[:60]}' has scored nothing and is left out." for name in silent)),
    )


def read_panel(sources: Sequence[str], *, judges: Sequence[str] = ()) -> Panel:
    """The same for any number of judges, one included."""
    if len(sources) == 1 and sources[0].lower().endswith(".csv"):
        return _from_csv(Path(sources[0]), judges)
    return _from_runs(read_runs(sources), judges)


def page_scores(panel: Panel) -> dict[str, dict[tuple[str, str], float]]:
    """Judge → (case, model) → score, as ``study agreement`` takes it."""
    import numpy as np

    return {
        judge: {
            (case, model): float(panel.values[j, c, m])
            for c, case in enumerate(panel.cases)
            for m, model in enumerate(panel.models)
            if not np.isnan(panel.values[j, c, m])
        }
        for j, judge in enumerate(panel.judges)
    }


def _from_runs(runs: Sequence[RunRecords], wanted: Sequence[str]) -> Panel:
    import numpy as np

    known = list(dict.fromkeys(judge for run in runs for judge in run.judges if run.verdicts(judge)))
    if not known:
        raise UsageError("No judge has scored a page of these runs: judge them first.")
    scores = [_named(runs, name, known) for name in (wanted or known)]
    tables = [scores_of(runs, score) for score in scores]
    scales = [_scale(runs[0], score) for score in scores]
    labels = [score.partition(".")[0] for score in scores]
    labels = labels if len(set(labels)) == len(labels) else list(scores)
    return Panel(
        judges=tuple(labels),
        models=tables[0].models,
        cases=tables[0].cases,
        categories=tables[0].categories,
        values=np.stack(
            [(t.values - low) * 100 / (high - low) for t, (low, high) in zip(tables, scales, strict=True)]
        ),
        repeats={
            label: found
            for label, score in zip(labels, scores, strict=True)
            if (found := _replies(runs, score)) is not None
        },
        sizes=_sizes(runs, tables[0].cases),
        judge_models={
            label: model
            for label, score in zip(labels, scores, strict=True)
            if (model := _asks(runs, score.partition(".")[0]))
        },
        seed=tables[0].seed,
        marks=tuple(dict.fromkeys(mark for table in tables for mark in table.marks)),
    )


def _named(runs: Sequence[RunRecords], name: str, known: Sequence[str]) -> str:
    judge, _, measure = name.partition(".")
    if judge not in known:
        raise UnknownName("judge of these runs", judge, known)
    if measure:
        return name
    run = next(run for run in runs if run.verdicts(judge))
    return f"{judge}.{headline_measure(run, judge)}"


def _scale(run: RunRecords, score: str) -> tuple[float, float]:
    """Range of a measure: from the manifest, else from the card."""
    from opendesign.canonical import plain
    from opendesign.errors import OpenDesignError
    from opendesign.judging.cards import load_card

    judge, _, name = score.partition(".")
    measures = (run.manifest["judges"].get(judge) or {}).get("measures") or {}
    if name not in measures:
        try:
            measures = plain(dict(load_card(judge).measures))
        except OpenDesignError:
            measures = {}
    measure = measures.get(name, {})
    low, high = float(measure.get("low", 0)), float(measure.get("high", 100))
    return (low, high) if high > low else (0.0, 100.0)


def _asks(runs: Sequence[RunRecords], judge: str) -> str | None:
    for run in runs:
        for given in run.verdicts(judge).values():
            return given.judge[1]
    return None


def _replies(runs: Sequence[RunRecords], score: str) -> Floats | None:
    """(artifacts, repeats) totals of the single replies that a repeating judge keeps."""
    judge, _, measure = score.partition(".")
    rows = []
    for run in runs:
        for given in run.verdicts(judge).values():
            values = [r.get(measure, (r.get("scores") or {}).get(measure)) for r in given.replies]
            if len(values) > 1 and all(isinstance(value, (int, float)) for value in values):
                rows.append([float(value) for value in values if value is not None])
    return _ragged(rows)


def _ragged(rows: Sequence[Sequence[float]]) -> Floats | None:
    import numpy as np

    if not rows:
        return None
    table = np.full((len(rows), max(len(row) for row in rows)), np.nan)
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    return table


def _sizes(runs: Sequence[RunRecords], cases: Sequence[str]) -> dict[str, Floats]:
    """Height of the page in pixels and length of the answer in tokens, mean over samples."""
    import numpy as np

    place = {case: at for at, case in enumerate(cases)}
    found = {}
    sources: dict[str, Callable[[RunRecords], Mapping[Key, float | None]]] = {
        "page height": lambda run: {key: page[0] for key, page in run.pages.items()},
        "answer tokens": lambda run: run.tokens,
    }
    for name, read in sources.items():
        total, count = np.zeros((2, len(cases), len(runs)))
        for at, run in enumerate(runs):
            for (case, _), value in read(run).items():
                if value and case in place:
                    total[place[case], at] += value
                    count[place[case], at] += 1
        if count.any():
            found[name] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return found


def _from_csv(path: Path, wanted: Sequence[str]) -> Panel:
    import numpy as np

    header, rows = read_csv(path)
    judge, model = column(header, ("judge",), path), column(header, ("model",), path)
    case, score = column(header, ("case",), path), column(header, ("score", "total"), path)
    category, repeat = first_column(header, ("category",)), first_column(header, ("repeat",))
    asks = first_column(header, ("judge_model",))
    sizes: list[str] = [name for name in ("length", "height") if name in header]
    judges = list(dict.fromkeys(row[judge] for row in rows))
    for name in wanted:
        if name not in judges:
            raise UnknownName("judge", name, judges)
    judges = [name for name in judges if not wanted or name in wanted]
    models = list(dict.fromkeys(row[model] for row in rows))
    cases = list(dict.fromkeys(row[case] for row in rows))
    at_case, at_model = {c: i for i, c in enumerate(cases)}, {m: i for i, m in enumerate(models)}
    given: dict[str, dict[tuple[str, str], dict[str, float]]] = {name: {} for name in judges}
    kinds: dict[str, str] = {}
    measured = {name: np.full((len(cases), len(models)), np.nan) for name in sizes}
    for at, row in numbered(rows):
        kinds.setdefault(row[case], row[category] if category else "")
        for name in sizes:
            value = number(row, name, at, path)
            if value is not None:
                measured[name][at_case[row[case]], at_model[row[model]]] = value
        if row[judge] not in given or (value := number(row, score, at, path)) is None:
            continue
        replies = given[row[judge]].setdefault((row[case], row[model]), {})
        key = row[repeat] if repeat else ""
        if key in replies:
            raise UsageError(f"Row {at} of {path} scores the same page by the same judge a second time.")
        replies[key] = value
    values = np.full((len(judges), len(cases), len(models)), np.nan)
    for j, name in enumerate(judges):
        for (c, m), replies in given[name].items():
            values[j, at_case[c], at_model[m]] = sum(replies.values()) / len(replies)
    repeats = {
        name: table
        for name in judges
        if (table := _ragged([[*r.values()] for r in given[name].values() if len(r) > 1])) is not None
    }
    return Panel(
        judges=tuple(judges),
        models=tuple(models),
        cases=tuple(cases),
        categories=tuple(kinds[c] for c in cases),
        values=values,
        repeats=repeats,
        sizes=measured,
        judge_models={row[judge]: row[asks] for row in rows if asks and row[asks]},
    )
