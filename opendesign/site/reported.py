"""Published numbers that were not measured here, as ``leaderboard/site.toml`` names them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opendesign.errors import UsageError

__all__ = ["Reported", "read_reported", "read_site"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A table with its source. Cells are texts as printed there; "" where nothing was reported."""

    title: str
    source: str
    url: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # name, cells


def read_site(folder: Path) -> dict[str, Any]:
    """``site.toml`` of a leaderboard folder. Raises ``UsageError`` where it cannot be read."""
    import tomllib

    path = folder / "site.toml"
    try:
        site = tomllib.loads(path.read_text(encoding="utf-8"))
        return {
            "title": str(site["title"]),
            "tagline": str(site["tagline"]),
            "reported": site.get("reported", []),
        }
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} cannot be used ({error}): mend it, or build without it.") from error


def read_reported(folder: Path, wanted: Mapping[str, Any]) -> Reported | None:
    """One ``[[reported]]`` table; None where its file is not there. Raises ``UsageError``."""
    path = folder / str(wanted.get("file", ""))
    if not path.is_file():
        return None
    try:
        columns: dict[str, str] = dict(wanted["columns"])
        with path.open(encoding="utf-8", newline="") as file:
            rows = [
                row
                for row in csv.DictReader(line for line in file if not line.startswith("#"))
                if all(row.get(key) == value for key, value in dict(wanted.get("where", {})).items())
            ]
        sort, name = str(wanted.get("sort", "")), str(wanted["name"])
        rows.sort(key=lambda row: -_number(row.get(sort)))
        return Reported(
            title=str(wanted["title"]),
            source=str(wanted["source"]),
            url=str(wanted.get("url", "")),
            columns=tuple(columns),
            rows=tuple((row[name], tuple(row[field] or "" for field in columns.values())) for row in rows),
        )
    except (OSError, KeyError, ValueError, csv.Error) as error:
        raise UsageError(f"The reported table {path} does not fit site.toml: {error}.") from error


def _number(text: str | None) -> float:
    try:
        return float(text or "")
    except ValueError:
        return float("-inf")
