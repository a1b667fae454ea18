"""The released benchmark as a local one: a user's own copy of its file becomes ``opendesign-official``.

Its prompts have no licence that would let this project carry them, so the file stays the user's.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from opendesign.canonical import digest, to_json
from opendesign.cases.categories import category_of
from opendesign.cases.reading import read_jsonl, shown
from opendesign.cases.writing import new_folder
from opendesign.errors import UsageError
from opendesign.types import CATEGORIES, Case

NAME = "opendesign-official"
SHA256 = "cb8f487ea6e398b30932586b0af05b2236c2a276807a928011bcd5d8edcf3942"
COUNTS = {"website": 512, "3d": 123, "game": 114, "component": 50, "dataviz": 41}
SOURCE = "repository bangx7/code_aesthetics, OpenDesign/benchmark_data/all_prompt.jsonl, commit e7b4e60"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Released:
    """One line of the released file."""

    id: int
    prompt: str
    category: str


def import_official(path: Path, destination: Path | None = None, *, force: bool = False) -> Path:
    """Write the benchmark ``opendesign-official`` from the released JSONL file; returns its folder.

    ``destination`` is the folder that holds benchmarks, ``./benchmarks`` when it is None. A file whose counts
    or SHA-256 are not those of the released one is refused, unless ``force``; then the version says
    ``-unverified``, and so does every result. An existing folder is replaced only with ``force``.
    """
    cases = _cases(path)
    counts: Counter[str] = Counter(case.category for case in cases)
    checksum = digest(path.read_bytes())
    difference = _difference(counts, checksum)
    if difference and not force:
        raise UsageError(
            f"{shown(path)} is not the released file: {difference}; get the file of {SOURCE}, "
            "or import this one with --force, which marks its results as unverified."
        )
    folder = (destination or Path.cwd() / "benchmarks") / NAME
    card = _card(checksum, {c: counts[c] for c in CATEGORIES if counts[c]}, difference)
    with new_folder(folder, force=force) as new:
        _write(new, card, cases)
    return folder


def _cases(path: Path) -> list[Case]:
    cases: list[Case] = []
    for line, released in read_jsonl(path, _Released):
        if not released.prompt.strip() or released.id < 0:
            raise UsageError(f"{shown(path)}, line {line}: a case needs a prompt and an id of 0 or above.")
        cases.append(
            Case(
                id=f"official-{released.id:03d}",
                category=category_of(released.category),
                prompt=released.prompt,
            )
        )
    twice = [name for name, count in Counter(case.id for case in cases).items() if count > 1]
    if twice or not cases:
        what = f"holds the id {twice[0].removeprefix('official-')} twice" if twice else "holds no cases"
        raise UsageError(f"{shown(path)} {what}; it is not the released file.")
    return cases


def _difference(counts: Counter[str], checksum: str) -> str:
    """What is not as published, as a phrase; "" when all is."""
    if counts.total() != sum(COUNTS.values()):
        return f"it has {counts.total()} cases and not {sum(COUNTS.values())}"
    for category, count in COUNTS.items():
        if counts[category] != count:
            return f"it has {counts[category]} {category} cases and not {count}"
    return "" if checksum == SHA256 else f"its SHA-256 begins with {checksum[:12]} and not with {SHA256[:12]}"


def _card(checksum: str, counts: dict[str, int], difference: str) -> str:
    """Text of the benchmark.toml. A TOML string may be written as JSON writes it."""
    note = (
        f"Imported with --force: {difference}."
        if difference
        else "The file is the released one, byte for byte."
    )
    quoted = {
        "version": checksum[:12] + ("-unverified" if difference else ""),
        "about": "The prompts of the released benchmark, from your own copy of its file.",
        "note": note,
    }
    text = {key: json.dumps(value, ensure_ascii=False) for key, value in quoted.items()}
    return f"""name = "{NAME}"
version = {text["version"]}
title = "OpenDesign, released prompts"
about = {text["about"]}
protocols = "opendesign"
protocol = "standard"
imported = true
requirements = false

[source]
origin = "{SOURCE}"
sha256 = "{checksum}"
verified = {"false" if difference else "true"}
note = {text["note"]}

[counts]
""" + "".join(f"{category} = {count}\n" for category, count in counts.items())


def _write(folder: Path, card: str, cases: list[Case]) -> None:
    (folder / "cases").mkdir()
    (folder / "benchmark.toml").write_text(card, encoding="utf-8")
    for category in CATEGORIES:
        lines = "".join(f"{to_json(case)}\n" for case in cases if case.category == category)
        if lines:
            (folder / "cases" / f"{category}.jsonl").write_text(lines, encoding="utf-8")
