"""The board: one table a group of comparable runs, with what each row shows in every view."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from opendesign.canonical import to_json
from opendesign.site.charts import Charts, place_labels
from opendesign.site.columns import Column, cost_of, fact_columns, score_columns
from opendesign.site.ranking import ALL, DIFFICULTIES, Group, Standing
from opendesign.site.reading import RANKED_BY, Entry
from opendesign.site.writing import short
from opendesign.types import CATEGORIES, LIBRARIES

__all__ = ["CATEGORY_TITLES", "charts_of", "facts_of", "table_of", "title_of", "why_apart"]

CATEGORY_TITLES = {
    "website": "Website",
    "3d": "3D",
    "game": "Game",
    "component": "Component",
    "dataviz": "Data visualisation",
    "matplotlib": "Matplotlib",
    "seaborn": "Seaborn",
    "plotly": "Plotly",
}


def table_of(group: Group) -> dict[str, Any]:
    """Columns and rows of a group. Each row carries what it shows in the other views, as JSON."""
    scores, facts = score_columns(group), fact_columns(group)
    places = {
        view: {s.entry.slug: at for at, s in enumerate(found)} for view, found in group.standings.items()
    }
    rows = []
    for standing in group.standings[ALL]:
        entry = standing.entry
        others = {}
        for view, found in group.standings.items():
            there = found[places[view][entry.slug]]
            others[view] = {
                "rank": [*_rank(there, smoke=group.smoke), _tie(found, places[view][entry.slug])],
                "place": places[view][entry.slug],
                "cells": [[c.text, c.value, c.sub] for c in (column.cell(entry, view) for column in scores)],
            }
        rank, ranks = _rank(standing, smoke=group.smoke)
        rows.append(
            {
                "entry": entry,
                "rank": rank,
                "ranks": ranks,
                "tie": _tie(group.standings[ALL], places[ALL][entry.slug]),
                "estimate": standing.estimate,
                "cells": _cells(scores, entry) + _cells(facts, entry),
                "views": to_json(others),
                "unranked": standing.rank is None and not group.smoke,
            }
        )
    return {
        "group": group,
        "columns": scores + facts,
        "rows": rows,
        "views": [v for v in (*CATEGORIES, *LIBRARIES, *DIFFICULTIES) if v in group.standings],
        "categories": [v for v in (*CATEGORIES, *LIBRARIES) if v in group.standings],
        "difficulties": [v for v in DIFFICULTIES if v in group.standings],
        "by_view": _by_view(group),
        "apart": _apart_notes(group),
        "scale": _scale(group),
    }


def _scale(group: Group) -> tuple[float, float]:
    """Ends of the drawn intervals: tens around every interval of every view, never narrower than 20."""
    known = [s.estimate for found in group.standings.values() for s in found if s.estimate]
    ends = [e[k] for e in known for k in ("mean", "low", "high") if e.get(k) is not None]
    low, high = (math.floor(min(ends) / 10) * 10, math.ceil(max(ends) / 10) * 10) if ends else (0, 100)
    if high - low < 20:
        low = min(max(low - 10, 0), 80) if 0 <= low <= 100 else low - 10
        high = low + 20
    return low, high


def _cells(columns: Sequence[Column], entry: Entry) -> list[tuple[Column, Any]]:
    return [(column, column.cell(entry, ALL)) for column in columns]


def _rank(standing: Standing, *, smoke: bool) -> tuple[str, str]:
    if standing.rank is None or smoke:
        return "–", ""
    same = standing.best == standing.worst
    return str(standing.rank), "" if same else f"{standing.best}–{standing.worst}"


def _tie(found: Sequence[Standing], at: int) -> str:
    """Name of the next run where it is not separated from this one, else nothing."""
    return short(last_part(found[at + 1].entry.model), 40) if found[at].tied_with_next else ""


def _by_view(group: Group) -> list[dict[str, Any]]:
    """Run × view means, each with its place among the runs for a quiet shade."""
    views = [v for v in group.standings if v != ALL]
    means = {
        view: {s.entry.slug: (s.estimate or {}).get("mean") for s in group.standings[view]} for view in views
    }
    rows = []
    for standing in group.standings[ALL]:
        cells = []
        for view in views:
            mean = means[view][standing.entry.slug]
            known = [m for m in means[view].values() if m is not None]
            spread = max(known, default=0) - min(known, default=0)
            shade = 0 if mean is None or not spread else round(4 * (mean - min(known)) / spread)
            cells.append((mean, shade))
        rows.append({"entry": standing.entry, "cells": cells})
    return rows


def _apart_notes(group: Group) -> list[str]:
    """What a reader has to know of single runs: low coverage, browser patches, changed resources."""
    notes = []
    engines = {engine for entry in group.entries for engine in entry.summary["engines"]}
    if len(engines) > 1:
        notes.append(f"Patch versions of what made the pictures differ: {', '.join(sorted(engines))}.")
    for entry in group.entries:
        if not entry.summary["ranked"] and not group.smoke:
            notes.append(f"{short(entry.model)} is not ranked: a judge scored less than 95 % of its answers.")
        if entry.summary.get("changed_resources"):
            notes.append(
                f"{short(entry.model)}: {entry.summary['changed_resources']} addresses gave different bytes "
                "during its run."
            )
    return notes


def charts_of(group: Group, charts: Charts) -> list[dict[str, str]]:
    """Score against cost and against seconds; a run whose number is unknown or nought is left out."""
    made = []
    for title, measure in (("Cost of a case in US dollars", cost_of), ("Seconds until an answer", _seconds)):
        rows = []
        for standing in group.standings[ALL]:
            x = measure(standing.entry)
            if x and standing.estimate:
                e = standing.estimate
                rows.append(
                    {
                        "label": short(last_part(standing.entry.model), 22),
                        "x": round(x, 6),
                        "y": round(e["mean"], 2),
                        "low": round(e["mean"] if e["low"] is None else e["low"], 2),
                        "high": round(e["mean"] if e["high"] is None else e["high"], 2),
                    }
                )
        place_labels(rows, log_x=True)
        if len(rows) > 1:
            made.append(
                {"title": title, "svg": charts.svg("against", rows, x=title, y="Total"), "n": str(len(rows))}
            )
    return made


def last_part(model: str) -> str:
    """A model's own name, without its provider's."""
    return model.rpartition("/")[2] or model


def _seconds(entry: Entry) -> float | None:
    seconds = entry.summary.get("answer_seconds")
    return None if seconds is None else float(seconds)


def title_of(group: Group) -> str:
    """``OpenDesign · 840 cases · protocol standard · judge gpt-5``."""
    same = group.same
    judge = same["judges"].get(RANKED_BY[group.kind]) or {}
    who = judge.get("model") or (f"{judge['judge']} (key-free)" if judge else "no judge of looks")
    title = group.first.manifest["benchmark"].get("title") or same["benchmark"]["name"]
    cases = f"{same['count']} case{'s' if same['count'] != 1 else ''}"
    samples = f" × {same['samples']}" if same["samples"] > 1 else ""
    return " · ".join(
        [short(str(title)), cases + samples, f"protocol {same['protocol']['name']}", short(str(who))]
    )


def facts_of(group: Group) -> list[tuple[str, str]]:
    """What is equal for all runs of a group, as (name, value)."""
    same = group.same
    facts = [
        (
            "Benchmark",
            f"{same['benchmark']['name']} {same['benchmark']['version']} ({same['benchmark']['hash']})",
        ),
        ("Cases", f"{same['count']} ({same['cases']}), answers a case: {same['samples']}"),
        (
            "Protocol",
            f"{same['protocol']['name']} {same['protocol']['version']} ({same['protocol']['hash']})",
        ),
    ]
    for role, about in same["judges"].items():
        if about:
            instead = "" if about["judge"].startswith(role) else f", in place of {role}"
            model = f", asked of {about['model']}" if about["model"] else ", without a model"
            facts.append((f"Judge: {role}", f"{about['judge']} ({about['hash']}){model}{instead}"))
    facts.append(("Browser" if group.kind == "pages" else "Drawn with", ", ".join(same["browser"]) or "–"))
    if group.kind == "pages":
        facts.append(("Fonts", ", ".join(same["fonts"]) or "–"))
    return facts


def why_apart(group: Group, others: Sequence[Group]) -> str:
    """Which of the facts keep this group from the first of the others, in words."""
    first = next((other for other in others if other.id != group.id), None)
    if first is None:
        return ""
    mine, theirs = dict(facts_of(group)), dict(facts_of(first))
    differs = [name.lower() for name in mine | theirs if mine.get(name) != theirs.get(name)]
    return ", ".join(differs)


def difference_rows(views: Mapping[str, Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """A comparison's views as rows of one measure."""
    return [{"view": view, **found[name]} for view, found in views.items() if name in found]
