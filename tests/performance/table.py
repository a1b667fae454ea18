"""The table of the bench, as text."""

from __future__ import annotations

from collections.abc import Sequence

from tests.performance.bench import Row

_HEADS = ("quantity", "target", "median", "range", "ratio", "met", "")


def text(rows: Sequence[Row], notes: Sequence[str] = ()) -> str:
    """Columns as wide as they need, a line a row, and the notes under them."""
    lines = [_HEADS, *(_cells(row) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(_HEADS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    return "\n".join(line.rstrip() for line in [*table, "", *notes]).rstrip() + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    low, high = min(row.values), max(row.values)
    return (
        row.quantity,
        row.target,
        f"{_number(row.value)} {row.unit}".rstrip(),
        f"{_number(low)} to {_number(high)}" if low != high else "",
        f"{row.ratio:.2f}" if row.ratio is not None else "",
        {True: "yes", False: "NO", None: ""}[row.met],
        row.note,
    )


def _number(value: float) -> str:
    """Three digits that say something; whole numbers as they are."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"
