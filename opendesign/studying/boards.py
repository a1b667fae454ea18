"""Rankings as tables: published ones out of ``leaderboard/references/``, CSV files, stored runs.

A reference is a folder with ``reference.toml`` (where it is from, of which day, whom to credit, which columns
mean what) and its rows. Looked up in ``./leaderboard/references``, then in ``$OPENDESIGN_HOME``, then in the
package.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opendesign.content import shipped
from opendesign.errors import UnknownName, UsageError
from opendesign.studying.scores import CaseScores, load_scores, mean_scores
from opendesign.studying.tables import column, first_column, number, numbered, read_csv
from opendesign.types import CATEGORIES

OVERALL = "overall"
_CARD = "reference.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Models and their scores, by category and ``overall``. Higher is better.

    ``cases`` is there where the board was made of runs, or of a CSV with a row a case.
    """

    name: str
    score: str
    scores: Mapping[str, Mapping[str, float]]  # category → model → score
    title: str = ""
    date: str = ""
    credit: str = ""
    source: str = ""
    note: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)  # model → how it is shown
    cases: CaseScores | None = None
    marks: tuple[str, ...] = ()

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(model for scores in self.scores.values() for model in scores))

    def about(self) -> dict[str, str]:
        """Where the numbers are from."""
        fields = ("name", "title", "date", "credit", "source", "note", "score")
        return {name: str(getattr(self, name)) for name in fields}


def reference_places() -> list[Path]:
    """Folders that are searched for references, first to last."""
    found = [Path.cwd()]
    if home := os.environ.get("OPENDESIGN_HOME"):
        found.append(Path(home).expanduser())
    return list(dict.fromkeys(place / "leaderboard" / "references" for place in (*found, shipped())))


def references() -> dict[str, Path]:
    """Name → folder of every reference, sorted by name."""
    names: dict[str, Path] = {}
    for place in reference_places():
        for card in sorted(place.glob(f"*/{_CARD}")):
            names.setdefault(card.parent.name, card.parent)
    return dict(sorted(names.items()))


def load_board(sources: Sequence[str], *, score: str | None = None) -> Board:
    """A board out of one reference (``design-arena``; ``paper:interactive`` is another of its scores), out of
    one CSV file, or out of any number of stored runs.

    Raises ``UsageError`` for what cannot be read or compared.
    """
    if len(sources) == 1:
        name, _, chosen = sources[0].partition(":")
        if name in references():
            return load_reference(name, chosen or score)
        if sources[0].lower().endswith(".csv"):
            return csv_board(Path(sources[0]), score)
    if any(source.lower().endswith(".csv") for source in sources):
        raise UsageError("Give either one CSV file or runs: the two are not put together.")
    try:
        cases = load_scores(sources, score=score)
    except UnknownName as error:
        if error.kind != "run" or len(sources) > 1:
            raise
        raise UnknownName("reference, CSV file or run", sources[0], [*references(), *error.near]) from None
    return Board(name=cases.name, score=cases.name, scores=mean_scores(cases), cases=cases, marks=cases.marks)


def load_against(source: str) -> Board:
    """What a board is held against: a reference (``paper:interactive``), or a CSV file."""
    name, _, score = source.partition(":")
    if source.lower().endswith(".csv") and name not in references():
        return csv_board(Path(source), None)
    return load_reference(name, score or None)


def load_reference(name: str, score: str | None = None) -> Board:
    """A published ranking by name. ``score``: one of its ``[scores]``, the first by default."""
    known = references()
    if name not in known:
        raise UnknownName("reference", name, known)
    return _described(known[name] / _CARD, None, name, score)


def csv_board(path: Path, score: str | None = None) -> Board:
    """A board out of a CSV: ``model,score`` and, where there are such columns, ``category`` and ``case``.

    A file with the columns of a shipped reference is read as a newer state of that reference.
    """
    header, rows = read_csv(path)
    for name, folder in references().items():
        card = _card(folder / _CARD)
        wanted = {card["model"], *card["scores"].values(), card.get("category"), card.get("label")} - {None}
        if "category" in card and wanted <= set(header):
            return _described(folder / _CARD, path, f"{path.stem} (as {name})", score)
    model = column(header, ("model", "model_id", "model_name", "name"), path)
    wanted_score = column(header, (score,) if score else ("score", "elo", "rating", "total"), path)
    category, case = first_column(header, ("category",)), first_column(header, ("case",))
    if case:
        return _by_case(path, rows, model, wanted_score, category, case)
    return Board(
        name=path.stem,
        score=wanted_score,
        scores=_by_category(path, rows, model, wanted_score, category, {}),
    )


def _card(path: Path) -> dict[str, Any]:
    try:
        card = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML ({error}).") from None
    for name, kind in (("file", str), ("model", str), ("scores", dict)):
        if not isinstance(card.get(name), kind) or not card[name]:
            raise UsageError(f"{path} has no '{name}': a reference names its file, model column and scores.")
    return card


def _described(path: Path, rows_at: Path | None, name: str, score: str | None) -> Board:
    """A board as a reference's card describes it; with ``rows_at`` the rows of another file."""
    card = _card(path)
    chosen = score or next(iter(card["scores"]))
    if chosen not in card["scores"]:
        raise UnknownName(f"score of {path.parent.name}", chosen, card["scores"])
    file = rows_at or path.parent / card["file"]
    header, rows = read_csv(file)
    for needed in (card["model"], card["scores"][chosen], *card.get("where", {})):
        column(header, (needed,), file)
    kept = [row for row in rows if all(row[key] == value for key, value in card.get("where", {}).items())]
    category = card.get("category")
    label = card.get("label")
    dates = sorted({row["board_date"] for row in kept if row.get("board_date")})
    return Board(
        name=name,
        score=chosen,
        scores=_by_category(
            file, kept, card["model"], card["scores"][chosen], category, card.get("categories", {})
        ),
        title=str(card.get("title", name)),
        date=(dates[-1] if dates else "") if rows_at else str(card.get("date", "")),
        credit=str(card.get("credit", "")),
        source=str(rows_at or card.get("source", "")),
        note=str(card.get("note", "")),
        labels={row[card["model"]]: row[label] for row in kept} if label else {},
    )


def _by_category(
    path: Path,
    rows: Sequence[Mapping[str, str]],
    model: str,
    score: str,
    category: str | None,
    words: Mapping[str, str],
) -> dict[str, dict[str, float]]:
    """Category → model → score; a category that nobody knows keeps its own name."""
    scores: dict[str, dict[str, float]] = {}
    for at, row in numbered(rows):
        value = number(row, score, at, path)
        if not row[model]:
            raise UsageError(f"Row {at} of {path} names no model.")
        if value is None:
            continue
        theirs = row[category] if category else OVERALL
        group = scores.setdefault(words.get(theirs, theirs), {})
        if row[model] in group:
            where = f" under {theirs}" if category else ""
            raise UsageError(f"{path} has the model '{row[model][:80]}' twice{where}: keep one of the rows.")
        group[row[model]] = value
    if not scores:
        raise UsageError(f"{path} has no score under {score}.")
    order = [OVERALL, *CATEGORIES]
    return {
        c: scores[c] for c in [*(c for c in order if c in scores), *(c for c in scores if c not in order)]
    }


def _by_case(
    path: Path, rows: Sequence[Mapping[str, str]], model: str, score: str, category: str | None, case: str
) -> Board:
    import numpy as np

    models = list(dict.fromkeys(row[model] for row in rows))
    cases = list(dict.fromkeys(row[case] for row in rows))
    kinds: dict[str, str] = {}
    values = np.full((len(cases), len(models)), np.nan)
    place, column_of = {c: i for i, c in enumerate(cases)}, {m: i for i, m in enumerate(models)}
    seen: set[tuple[str, str]] = set()
    for at, row in numbered(rows):
        key = (row[case], row[model])
        if key in seen:
            raise UsageError(f"{path} has case '{key[0][:60]}' of model '{key[1][:60]}' twice: keep one row.")
        seen.add(key)
        kinds.setdefault(row[case], row[category] if category else OVERALL)
        value = number(row, score, at, path)
        if value is not None:
            values[place[row[case]], column_of[row[model]]] = value
    table = CaseScores(
        name=score,
        models=tuple(models),
        cases=tuple(cases),
        categories=tuple(kinds[c] for c in cases),
        values=values,
    )
    return Board(name=path.stem, score=score, scores=mean_scores(table), cases=table)
