"""Stored studies (``results/studies/*.json``, as ``opendesign study … --json`` prints them) as tables.

A study's document is shown as it is: single values as facts, lists of objects as tables, objects of objects
as sections. A *figure* (value, n, ranges, why) becomes one cell, and what its brackets and gaps mean one note
under the table. Points of two scores become a plot.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from opendesign.site.charts import place_labels

__all__ = ["read_studies"]

_MOST_ROWS, _MOST_DEPTH, _TEXT = 200, 6, 400
_OUTER, _SHORT = 2, 20  # a table of more words than that in its title, or of more rows, is folded away


def read_studies(folder: Path | None, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Every study in ``folder``; a file that cannot be read is told to ``note`` and left out."""
    studies = []
    for path in sorted(folder.glob("*.json")) if folder and folder.is_dir() else []:
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(document, dict):
                raise ValueError("it is no object")
        except (OSError, ValueError, RecursionError) as error:
            note(f"The study {path} cannot be read ({error}): it is left out.")
            continue
        studies.append(_study(path.stem, document))
    return studies


def _study(name: str, document: Mapping[str, Any]) -> dict[str, Any]:
    tables = [*_matrix(document), *_tables(document, (), 0)]
    dots, axes = _dots(document)
    facts = [
        (_capital(_words(k)), _text(v))
        for k, v in document.items()
        if _single(v) and v not in ("", []) and k != "study"
    ]
    return {
        "name": name,
        "title": _capital(_words(name)),
        "facts": facts,
        "tables": tables,
        "dots": dots,
        "axes": axes,
    }


def _tables(value: Any, trail: tuple[str, ...], depth: int) -> Iterator[dict[str, Any]]:
    """Tables of a document, outermost first; each with the words that lead to it."""
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, dict):
        inner = {k: v for k, v in value.items() if not _single(v)}
        singles = {k: v for k, v in value.items() if _single(v)}
        if trail and singles:
            yield _table(trail, [{"": _capital(_words(k)), " ": v} for k, v in singles.items()], facts=True)
        if inner and all(isinstance(v, dict) and all(map(_single, v.values())) for v in inner.values()):
            yield _table(trail, [{"": _words(k), **v} for k, v in inner.items()])
            return
        for key, item in inner.items():
            yield from _tables(item, (*trail, _words(key)), depth + 1)
    elif isinstance(value, list) and value:
        if all(isinstance(item, dict) for item in value):
            flat = [{k: v for k, v in item.items() if _single(v)} for item in value]
            if any(flat):
                yield _table(trail, flat)
            for item in value:
                label = next((str(v) for v in item.values() if isinstance(v, str)), "")
                rest = {k: v for k, v in item.items() if not _single(v)}
                for key, inside in rest.items():
                    yield from _tables(inside, (*trail, label, _words(key)), depth + 1)
        else:
            yield _table(trail, [{"": item} for item in value])


def _table(trail: tuple[str, ...], rows: list[dict[str, Any]], *, facts: bool = False) -> dict[str, Any]:
    empty: tuple[Any, ...] = (None, [], "")
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = [key for key in keys if any(row.get(key) not in empty for row in rows)]
    shown = [[row.get(column) for column in columns] for row in rows[:_MOST_ROWS]]
    figures = [cell for row in shown for cell in row if isinstance(cell, dict)]
    title = " · ".join(part for part in trail if part) or "Figures"
    return {
        "title": _capital(title[:_TEXT]),
        "columns": [_capital(_words(column)) for column in columns],
        "numbers": [all(map(_numeric, column)) for column in zip(*shown, strict=True)],
        "rows": [[_text(cell) for cell in row] for row in shown],
        "notes": list(dict.fromkeys(note for figure in figures for note in _figure_notes(figure))),
        "more": max(0, len(rows) - _MOST_ROWS),
        "facts": facts,
        "folded": len(trail) > _OUTER or len(rows) > _SHORT,
    }


def _matrix(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Judges against judges: the rank correlation of each pair."""
    pairs = document.get("pairings")
    pairs = [pair for pair in pairs if isinstance(pair, dict)] if isinstance(pairs, list) else []
    found = {(str(p.get("first")), str(p.get("second"))): p.get("kendall") for p in pairs}
    names = list(dict.fromkeys(name for pair in found for name in pair))
    if len(names) < 3:
        return []
    rows = [{"": a, **{b: found.get((a, b), found.get((b, a))) for b in names}} for a in names]
    return [_table(("Rank correlation of judges (Kendall's tau-b)",), rows)]


def _numeric(value: Any) -> bool:
    return value is None or isinstance(value, (int, float)) or (isinstance(value, dict) and _figure(value))


def _single(value: Any) -> bool:
    """Whether a value fits into one cell."""
    if isinstance(value, dict):
        return _figure(value)
    if isinstance(value, list):
        return len(value) <= 4 and all(not isinstance(item, (dict, list)) for item in value)
    return True


def _figure(value: Mapping[str, Any]) -> bool:
    return "value" in value and "n" in value and not isinstance(value["value"], (dict, list))


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    if isinstance(value, list):
        texts = [_text(item) for item in value]
        return (" " if any(text.endswith(".") for text in texts) else ", ").join(texts)
    if isinstance(value, dict):
        return _figure_text(value)
    text = " ".join(str(value).split())
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def _figure_text(figure: Mapping[str, Any]) -> str:
    """``0.94 [0.90, 1.00]``: a value with its first range."""
    ends = next((ends for _, ends in _ranges(figure)), None)
    return _text(figure["value"]) + (f" [{_text(ends[0])}, {_text(ends[1])}]" if ends else "")


def _figure_notes(figure: Mapping[str, Any]) -> Iterator[str]:
    """What its brackets are, and why there is no value or no interval."""
    for kind, _ in list(_ranges(figure))[:1]:
        resampled = f"95 % interval over {_words(kind)}" if kind != "one left out" else "with one left out"
        yield f"In brackets: {resampled}."
    if figure.get("why"):
        yield _text(str(figure["why"]))


def _ranges(figure: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    ranges = figure.get("ranges")
    for kind, ends in ranges.items() if isinstance(ranges, dict) else ():
        if isinstance(ends, list) and len(ends) == 2 and None not in ends:
            yield str(kind), ends


def _dots(document: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The points of a correlation's first ranking: our score against theirs."""
    rankings = document.get("rankings")
    rows = []
    for ranking in rankings[:1] if isinstance(rankings, list) else ():
        for point in ranking.get("points") or () if isinstance(ranking, dict) else ():
            x, y = point.get("their_score"), point.get("our_score")
            if isinstance(x, (int, float)) and isinstance(y, (int, float)):
                rows.append({"label": _text(point.get("ours", ""))[:24], "x": x, "y": y})
    place_labels(rows)
    ours, theirs = document.get("ours"), document.get("reference")
    names = [
        part.get("title") or part.get("name") if isinstance(part, dict) else part for part in (theirs, ours)
    ]
    return rows, {"x": _text(names[0] or "theirs")[:60], "y": _text(names[1] or "ours")[:60]}


def _words(name: str) -> str:
    return str(name).replace("_", " ").replace("-", " ").replace("icc ", "ICC ")[:_TEXT]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:] if len(words) > 1 else words
