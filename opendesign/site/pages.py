"""What the pages of models, cases and comparisons show, as values for their templates."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from opendesign.site.charts import Charts
from opendesign.site.columns import fact_columns, score_columns
from opendesign.site.pairs import Pair, measures_of
from opendesign.site.ranking import ALL, Group, scores_in, views_of
from opendesign.site.reading import Entry

__all__ = ["card_values", "case_values", "compare_values", "model_csv", "model_json", "model_values"]

FILES = 1  # form of the files to download; raised when it changes
_EXAMPLES = 4  # cases shown of each kind
_BINS = 20


def model_values(group: Group, entry: Entry, charts: Charts) -> dict[str, Any]:
    """Profile by view and part, distribution, best, median and worst cases, failures."""
    name = group.headline or ""
    scored = sorted(entry.means.get(name, {}).items(), key=lambda one: (-one[1], one[0]))
    middle = max(0, len(scored) // 2 - _EXAMPLES // 2)
    standing = next(s for s in group.standings[ALL] if s.entry is entry)
    return {
        "entry": entry,
        "group": group,
        "standing": standing,
        "headline": name,
        "cells": [(c, c.cell(entry, ALL)) for c in [*score_columns(group), *fact_columns(group)]],
        "profile": [(view, scores_in(entry, view).get(name)) for view in views_of(entry)],
        "measures": _measures(entry),
        "histogram": charts.svg("distribution", _histogram([v for _, v in scored]), x=name),
        "examples": [
            ("Best", [_example(entry, case, v) for case, v in scored[:_EXAMPLES]]),
            ("Median", [_example(entry, case, v) for case, v in scored[middle : middle + _EXAMPLES]]),
            ("Worst", [_example(entry, case, v) for case, v in scored[-_EXAMPLES:][::-1]]),
        ]
        if scored
        else [],
        "failures": [
            {
                "reason": reason,
                "count": count,
                "detail": (entry.summary.get("failure_details") or {}).get(reason, ""),
            }
            for reason, count in entry.summary["failures"].items()
        ],
        "cases": [_example(entry, case, dict(scored).get(case)) for case in entry.cases],
        "settings": _settings(entry),
    }


def _example(entry: Entry, case: str, score: float | None) -> dict[str, Any]:
    return {"case": entry.cases[case], "score": score, "shown": entry.first(case)}


def _measures(entry: Entry) -> list[tuple[str, Mapping[str, Any], str]]:
    """Every score of the run with what its card says of it."""
    found = []
    for name, estimate in entry.summary["scores"].items():
        judge, _, measure = name.partition(".")
        about = ((entry.manifest["judges"].get(judge) or {}).get("measures") or {}).get(measure) or {}
        found.append((name, estimate, str(about.get("about", ""))))
    return found


def _histogram(values: Sequence[float]) -> list[dict[str, Any]]:
    if not values or min(values) < 0 or max(values) > 100:
        return []
    width = 100 / _BINS
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int(value // width))] += 1
    return [{"from": at * width, "to": (at + 1) * width, "cases": n} for at, n in enumerate(counts)]


def _settings(entry: Entry) -> list[tuple[str, str]]:
    config = json.dumps(entry.manifest["model"].get("config") or {}, ensure_ascii=False, sort_keys=True)
    protocol = entry.manifest["protocol"]
    generation = dict(protocol.get("generation") or {})
    generation.pop("system", None)
    return [
        ("Run", entry.folder.resolve().name),
        ("Asked as", config[:2_000]),
        ("Generation", json.dumps(generation, sort_keys=True)),
        ("opendesign", str((entry.manifest.get("made") or {}).get("opendesign", "–"))),
        ("Engine", ", ".join(entry.summary["engines"]) or "–"),
        ("Pages with refused or failed requests", _share(entry.summary.get("affected_by_network"))),
    ]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def model_json(entry: Entry) -> bytes:
    """The summary and every case's scores, as a file to download."""
    cases = [
        {
            "case": one.case,
            "sample": one.sample,
            "reason": one.reason,
            "owner": one.owner,
            "scores": one.scores,
            "unscored": one.unscored,
        }
        for one in entry.shown.values()
    ]
    document = {"summary": dict(entry.summary), "model": entry.manifest["model"], "cases": cases}
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "replace")


def model_csv(entry: Entry) -> bytes:
    """One row an answer. A text that a spreadsheet would take for a formula gets a quote in front."""
    names = sorted({name for one in entry.shown.values() for name in one.scores})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["case", "sample", "category", "difficulty", "reason", "owner", *names])
    for one in entry.shown.values():
        case = entry.cases[one.case]
        facts = [
            one.case,
            one.sample,
            case["category"],
            case["difficulty"],
            one.reason or "",
            one.owner or "",
        ]
        writer.writerow([_plain(f) for f in facts] + [one.scores.get(name, "") for name in names])
    return out.getvalue().encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value


def case_values(
    case: Mapping[str, Any], groups: Sequence[Group], cards: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """The prompt, its requirements, and all pages of it, by group and best first.

    ``cards``: run → case → the HTML of its card.
    """
    sections = []
    for group in groups:
        if case["id"] not in group.first.cases:
            continue
        scores = {
            e.slug: e.means.get(group.headline or "", {}).get(case["id"], -math.inf) for e in group.entries
        }
        order = sorted(scores, key=lambda slug: (-scores[slug], slug))
        sections.append({"group": group, "cards": [cards[slug][case["id"]] for slug in order]})
    truths = [g.first.truths[case["id"]] for g in groups if case["id"] in g.first.truths]
    return {"case": case, "task": case.get("task"), "sections": sections, "truths": truths}


def card_values(entry: Entry, case: str, name: str) -> dict[str, Any]:
    """One run's page of a case, with its scores, ``name`` first."""
    scores = {n: entry.means[n][case] for n in measures_of(entry) if case in entry.means.get(n, {})}
    return {
        "entry": entry,
        "shown": entry.first(case),
        "score": scores.pop(name, None),
        "scores": [(n, _said(entry, n, value)) for n, value in scores.items()],
    }


def _said(entry: Entry, name: str, value: float) -> str:
    """A score of one case as a reader says it: a measure that is a rate over cases is yes or no here."""
    judge, _, measure = name.partition(".")
    about = ((entry.manifest["judges"].get(judge) or {}).get("measures") or {}).get(measure) or {}
    if about.get("kind") == "rate" and value in (0, 1):
        return "yes" if value else "no"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def compare_values(group: Group, pair: Pair) -> dict[str, Any]:
    """Differences by measure and view, and the cases that differ most."""
    name = group.headline or ""
    a, b = (entry.means.get(name, {}) for entry in (pair.first, pair.second))
    apart = sorted(((a[c] - b[c], c) for c in a if c in b), key=lambda one: (-one[0], one[1]))
    found = pair.differences
    overall = found.get(ALL, {})
    return {
        "group": group,
        "pair": pair,
        "headline": name,
        "overall": overall.get(name),
        "measures": [(n, overall[n]) for n in measures_of(pair.first) if n in overall],
        "views": [(v, found[v][name]) for v in views_of(pair.first) if v != ALL and name in found.get(v, {})],
        "won": [_versus(pair, c, d) for d, c in apart[:_EXAMPLES] if d > 0],
        "lost": [_versus(pair, c, d) for d, c in apart[::-1][:_EXAMPLES] if d < 0],
    }


def _versus(pair: Pair, case: str, difference: float) -> dict[str, Any]:
    return {
        "case": pair.first.cases[case],
        "difference": difference,
        "sides": [(entry, entry.first(case)) for entry in (pair.first, pair.second)],
    }
