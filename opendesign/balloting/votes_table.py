"""Counted votes as the CSV that ``study agreement`` reads, and what its Bradley–Terry says of them."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterable
from pathlib import Path

from opendesign.balloting.key import Key
from opendesign.balloting.votes_file import Cast
from opendesign.errors import StoreError
from opendesign.running.blobs import cannot_write
from opendesign.studying.bradley_terry import Rated, bradley_terry
from opendesign.studying.votes import read_votes

__all__ = ["COLUMNS", "rated", "table_of", "write_table"]

COLUMNS = ("rater", "case", "category", "left", "right", "choice", "seconds", "comment")


def table_of(votes: Iterable[Cast], key: Key) -> str:
    """One row a vote; a page is known by its model, as in a run's scores. Repeats follow what they repeat."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for vote in votes:
        left, right = key.pages[vote.left], key.pages[vote.right]
        facts = (vote.rater, left.case, key.categories[left.case], left.model, right.model, vote.choice)
        writer.writerow([*facts, f"{vote.seconds:g}", _no_formula(vote.comment)])
    return out.getvalue()


def rated(table: str) -> tuple[Rated, ...]:
    """Ratings of the models, from the very rows that a study would read."""
    with tempfile.TemporaryDirectory(prefix="opendesign-ballot-") as folder:
        path = Path(folder) / "votes.csv"
        write_table(path, table)
        return bradley_terry(read_votes(path).votes)


def write_table(path: Path, table: str) -> None:
    """Raises ``StoreError`` where it cannot be written."""
    try:
        path.write_text(table, encoding="utf-8", errors="backslashreplace", newline="")
    except OSError as error:
        raise StoreError(cannot_write(path, error)) from error


def _no_formula(text: str) -> str:
    """A stranger's text that a spreadsheet would run gets a quote in front."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
