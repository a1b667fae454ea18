"""Cases about plots: read from a benchmark's folder, and made into the prompt that a model is sent.

    cases/<library>.jsonl      one task a line, see ``PlotLine``; its files are named from the folder
    data/*.csv                 what is plotted
    reference/*.py             code that draws the ground truth
    truth/*.png, *.json        what it drew: the picture, and beside it the facts read from its figures

A prompt is a file with named slots, ``{{description}}``, and no logic. Its parts, their order and the ways to
describe the data are those of PandasPlotBench (arXiv 2412.02764); the words are ours.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.canonical import digest
from opendesign.cases.reading import inside, read_text, shown
from opendesign.errors import UsageError
from opendesign.types import Blob, Case, Difficulty, Library, PlotSettings, PlotTask

if TYPE_CHECKING:
    import pandas as pd

SETUP = 'import pandas as pd\n\ndf = pd.read_csv("data.csv")\n'
SLOTS = ("library", "data", "description", "style")
MOST_DATA = 4_000  # characters of the data's description, as in the released code
_SLOT = re.compile(r"\{\{([^{}]*)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotLine:
    """One line of cases/<library>.jsonl. ``data``, ``reference`` and ``truth`` name files."""

    id: str
    library: Library
    chart: str
    description: str
    style: str = ""
    difficulty: Difficulty = "medium"
    tags: tuple[str, ...] = ()
    data: str
    reference: str
    truth: str
    setup: str = SETUP


def plot_case(line: PlotLine, folder: Path, where: str) -> Case:
    """The case of a line, with its files. ``prompt`` is the task as written; see ``compose``."""
    if not line.description.strip():
        raise UsageError(f"{where}: 'description' is empty.")
    truth = inside(folder, line.truth, where)
    facts = facts_beside(truth)
    task = PlotTask(
        library=line.library,
        chart=line.chart,
        description=line.description,
        style=line.style,
        setup=line.setup,
        reference=read_text(inside(folder, line.reference, where)),
        data=_blob(inside(folder, line.data, where), where),
        truth=_blob(truth, where),
        facts=_blob(facts, where) if facts.is_file() else None,
    )
    return Case(
        id=line.id,
        category=line.library,
        prompt="\n\n".join(part for part in (line.description, line.style) if part.strip()),
        topic=line.chart,
        difficulty=line.difficulty,
        tags=line.tags,
        task=task,
    )


def facts_beside(truth: Path) -> Path:
    """Where the facts of a ground truth are, if there are any."""
    return truth.with_suffix(".json")


def without_facts(case: Case) -> Case:
    """The case as far as it is given. Facts are read off its reference, by whatever libraries are there."""
    return (
        case
        if case.task is None
        else dataclasses.replace(case, task=dataclasses.replace(case.task, facts=None))
    )


def _blob(file: Path, where: str) -> Blob:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{where}: '{file.name}' cannot be read: {error.strerror}.") from error
    return Blob(digest=digest(data), suffix=file.suffix.removeprefix("."), root=file.parent, at=file)


def check_instructions(prompts: Mapping[str, str], where: str) -> None:
    """Refuse a prompt that names a slot there is not, or leaves out what is to be plotted."""
    for text in prompts.values():
        found = _SLOT.findall(text)
        for slot in found:
            if slot not in SLOTS:
                known = ", ".join(SLOTS)
                raise UsageError(
                    f"{where}: 'plots.instructions' has no slot '{slot}': the slots are {known}."
                )
        if "description" not in found:
            raise UsageError(f"{where}: 'plots.instructions': a prompt lacks the slot {{{{description}}}}.")


def compose(case: Case, settings: PlotSettings) -> Case:
    """The case with the whole prompt that a model is sent.

    Raises ``UsageError`` where the protocol has no prompt for the library, or the data is no table.
    """
    if case.task is None:
        raise UsageError(f"The case '{case.id}' is about a page: choose a protocol without [plots].")
    task, prompts = case.task, settings.instructions
    prompt = prompts.get(task.library, prompts.get(""))
    if prompt is None:
        raise UsageError(
            f"The protocol has no prompt for {task.library}: name a file in [plots.instructions]."
        )
    slots = {
        "library": task.library,
        "data": describe(task.data, settings.data),
        "description": task.description.strip(),
        "style": task.style.strip(),
    }
    return dataclasses.replace(case, prompt=_SLOT.sub(lambda slot: slots[slot[1]], prompt).strip())


def describe(data: Blob, kind: str) -> str:
    """A CSV in words, read by pandas: at most ``MOST_DATA`` characters. ``kind`` as in ``PlotSettings.data``.

    All but ``none`` count rows and columns and name the columns' types; ``head`` adds the first five rows as
    JSON, ``describe`` what pandas' ``describe()`` says, ``columns`` each column's range and mean, ``lida`` a
    summary by column as JSON in the manner of Dibia, *LIDA* (arXiv 2303.02927).
    """
    if kind == "none":
        return "(not described)"
    import numpy as np

    with np.errstate(all="ignore"):  # statistics of infinite numbers
        text = _DESCRIPTIONS[kind](_table(data))
    return text if len(text) <= MOST_DATA else text[: MOST_DATA - 1] + "…"


def count_rows(data: Blob) -> int:
    """Rows of a CSV. Raises ``UsageError`` where it is none."""
    return len(_table(data))


def _table(data: Blob) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(data.path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{shown(data.path)} is not a table in CSV: {str(error).strip()}.") from error


def _head(frame: pd.DataFrame) -> str:
    return f"{_shape(frame)}\nThe first five rows, by column:\n{frame.head().to_json(force_ascii=False)}"


def _describe(frame: pd.DataFrame) -> str:
    statistics = frame.describe(include="all").to_json(force_ascii=False)
    return f"{_shape(frame)}\nWhat describe() says, by column:\n{statistics}"


def _shape(frame: pd.DataFrame) -> str:
    columns = ", ".join(f"{name} ({_type(frame[name])})" for name in frame.columns)
    return f"{len(frame)} rows and {len(frame.columns)} columns: {columns}"


def _columns(frame: pd.DataFrame) -> str:
    lines = [f"{len(frame)} rows and {len(frame.columns)} columns:"]
    for name in frame.columns:
        column = frame[name]
        line = f"- {name} ({_type(column)}), {column.count()} values"
        if _is_number(column) and column.count():
            line += f" from {column.min():.6g} to {column.max():.6g}, mean {column.mean():.6g}"
        lines.append(line)
    return "\n".join(lines)


def _lida(frame: pd.DataFrame) -> str:
    return json.dumps([_properties(frame[name]) for name in frame.columns], ensure_ascii=False, indent=1)


def _properties(column: pd.Series[Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"column": str(column.name), "type": _meaning(column)}
    if _is_number(column) and column.count():
        said |= {
            key: float(f"{value:.6g}")
            for key, value in (("min", column.min()), ("max", column.max()), ("std", column.std()))
            if math.isfinite(value)
        }
    different = column.dropna().unique().tolist()
    # Spread over the column, so that a sorted one shows more than its beginning; no draw, no seed.
    samples = [different[place * (len(different) - 1) // 2] for place in range(3)] if different else []
    return {**said, "samples": list(dict.fromkeys(samples)), "different_values": len(different)}


def _meaning(column: pd.Series[Any]) -> str:
    import pandas as pd

    if _is_number(column):
        return "number"
    if _type(column) == "bool":
        return "boolean"
    if not pd.to_datetime(column, errors="coerce", format="ISO8601").isna().any():
        return "date"
    return "category" if column.nunique() < len(column) / 2 else "text"


def _is_number(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "iuf"


def _type(column: pd.Series[Any]) -> str:
    """The column's type; texts are ``str``, whatever this version of pandas keeps them as."""
    return str(column.dtype) if column.dtype.kind in "iufbM" else "str"


_DESCRIPTIONS: dict[str, Callable[[pd.DataFrame], str]] = {
    "head": _head,
    "describe": _describe,
    "columns": _columns,
    "lida": _lida,
}
