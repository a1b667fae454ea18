"""CSV files from outside: read whole, checked row by row, every complaint one sentence."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from opendesign.errors import UsageError

LONGEST = 1_000_000  # characters of one cell


def read_csv(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Column names (lower case, trimmed) and rows. Raises ``UsageError`` for what is no table."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {(error.strerror or str(error)).lower()}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8: save it as CSV in UTF-8.") from None
    csv.field_size_limit(LONGEST)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if any(map(str.strip, row))]
    except csv.Error as error:
        raise UsageError(f"{path} is not a CSV file ({error}).") from None
    if len(rows) < 2:
        raise UsageError(f"{path} has no rows under its header: a line of column names, then one line a row.")
    header = [name.strip().lower() for name in rows[0]]
    if twice := next((name for name in header if header.count(name) > 1), None):
        raise UsageError(f"{path} has two columns '{twice[:40]}': keep one of them.")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise UsageError(f"Row {number} of {path} has {len(row)} cells; its header names {len(header)}.")
    return header, [dict(zip(header, (cell.strip() for cell in row), strict=True)) for row in rows[1:]]


def column(header: Sequence[str], names: Sequence[str], path: Path) -> str:
    """The first of ``names`` that the header has. Raises ``UsageError`` where it has none."""
    for name in names:
        if name in header:
            return name
    raise UsageError(
        f"{path} has no column {' or '.join(repr(name) for name in names)}: it has {', '.join(header)}."
    )


def first_column(header: Sequence[str], names: Iterable[str]) -> str | None:
    """The first of ``names`` that the header has, or None."""
    return next((name for name in names if name in header), None)


def number(row: Mapping[str, str], name: str, at: int, path: Path) -> float | None:
    """A cell as a number; None where it is empty, which means unscored."""
    text = row[name]
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(
            f"Row {at} of {path} says '{text[:40]}' under {name}: a number or nothing belongs there."
        )
    return value


def numbered(rows: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Rows with the line each would be at in a file without blank lines."""
    return enumerate(rows, start=2)
