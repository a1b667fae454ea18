"""What a model is trained on, and what it must not be: the cases that it will be tested with.

A benchmark whose card keeps it ``apart_from`` others is one for training. The cases of every other benchmark
that can be found here, and prompts that are nearly theirs, are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opendesign.canonical import hash_of, plain
from opendesign.cases.benchmark import benchmarks, load_benchmark, load_card, load_protocol, select
from opendesign.cases.check import NEAR, RUNS_FILE
from opendesign.cases.overlap import near_duplicates, read_runs, run_hashes, words
from opendesign.cases.reading import read_jsonl, shown
from opendesign.errors import UsageError
from opendesign.train.config import Prompts
from opendesign.train.pairs import checked
from opendesign.train.rows import rows_of
from opendesign.types import Case

__all__ = ["Asked", "among_test_cases", "ask", "refuse_test_cases", "rows_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Cases to train on, others to hold out, where they come from, and the test cases among all of them."""

    source: str
    train: tuple[Case, ...]
    held_out: tuple[Case, ...]
    test_cases: tuple[str, ...]

    @property
    def hash(self) -> str:
        return hash_of([plain(case) for case in (*self.train, *self.held_out)])


def ask(prompts: Prompts, *, held_out: int = 0, allow_test_cases: bool = False) -> Asked:
    """The cases that the settings name, ``held_out`` of them, evenly spaced, held out.

    Raises ``UsageError`` where test cases are among them and not allowed, and where too few are left.
    """
    if prompts.limit is not None and prompts.limit < 1:
        raise UsageError(f"'limit' of [prompts] is {prompts.limit}; it has to be 1 or more.")
    if prompts.file is not None:
        source, cases = shown(Path(prompts.file)), cases_of(Path(prompts.file))[: prompts.limit]
    else:
        benchmark = load_benchmark(prompts.benchmark)
        if not (allow_test_cases or load_card(benchmark.name).apart_from):
            raise UsageError(
                f"'{benchmark.name}' is for testing: name one whose card keeps it apart_from others, such "
                "as opendesign-train, or add --allow-test-cases."
            )
        source, cases = f"{benchmark.name} {benchmark.version}", select(benchmark, limit=prompts.limit)
    if len(cases) <= held_out:
        raise UsageError(f"{source} has {len(cases)} prompts, and {held_out} are to be held out: take fewer.")
    found = refuse_test_cases([case.prompt for case in cases], allow=allow_test_cases)
    # Evenly spaced, so that the categories, which come one after the other, all have their share.
    apart = {round(at * len(cases) / held_out) for at in range(held_out)} if held_out else set()
    return Asked(
        source=source,
        train=tuple(case for at, case in enumerate(cases) if at not in apart),
        held_out=tuple(case for at, case in enumerate(cases) if at in apart),
        test_cases=found,
    )


def cases_of(file: Path) -> tuple[Case, ...]:
    """The cases of a JSONL of prompts, with the columns that the reward knows."""
    rows = []
    for number, row in read_jsonl(file, Mapping[str, Any]):  # type: ignore[type-abstract]
        where = f"{shown(file)}, line {number}"
        prompt = checked(row.get("prompt"), "prompt", where)
        turns = prompt if isinstance(prompt, list) else []
        if others := [turn["role"] for turn in turns if turn["role"] != "user"]:
            raise UsageError(
                f"{where}: 'prompt' has a turn of the {others[0]}, which is not asked: take it out, and say "
                "what is said before each prompt as 'system' of [prompts]."
            )
        rows.append({**row, "prompt": prompt})
    if not rows:
        raise UsageError(f"{shown(file)} has no prompts: give one JSON object a line.")
    names = ("category", "case_id", "requirements")
    columns = {name: [row.get(name) for row in rows] for name in names}
    prompts = [row["prompt"] for row in rows]
    return tuple(row.case for row in rows_of(prompts, [""] * len(prompts), columns))


def rows_for(
    cases: Sequence[Case], *, chat: bool, system: str | None = None, **more: Any
) -> list[dict[str, Any]]:
    """Rows of a data set: the prompt as the benchmark would ask it, and what the reward wants to know.

    ``system`` is said in place of what the benchmark says first; of "" nothing is. Without ``chat`` nothing
    is said but ``system`` and the prompt.
    """
    import json

    usual = load_protocol("opendesign", "standard").generation.system
    rows = []
    for case in cases:
        said = (usual.get(case.category) or usual.get("", "")) if system is None else system
        turns = [{"role": "system", "content": said}] if said else []
        text = "\n\n".join([*filter(None, [system]), case.prompt, ""])
        rows.append(
            {
                "prompt": [*turns, {"role": "user", "content": case.prompt}] if chat else text,
                "category": case.category,
                "case_id": case.id,
                "requirements": json.dumps(plain(case.requirements), ensure_ascii=False),
                **more,
            }
        )
    return rows


def refuse_test_cases(prompts: Sequence[str], *, allow: bool) -> tuple[str, ...]:
    """The test cases among the prompts. Raises ``UsageError`` where there are some that are not allowed."""
    found = among_test_cases(prompts)
    if found and not allow:
        named = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
        raise UsageError(
            f"{len(found)} of the prompts are test cases or nearly so ({named}): a model that learned them "
            "cannot be tested with them. Take them out, or add --allow-test-cases."
        )
    return found


def among_test_cases(prompts: Sequence[str]) -> tuple[str, ...]:
    """Test cases that a prompt is equal or nearly equal to, as 'benchmark/case', each once."""
    unique = list(dict.fromkeys(prompts))
    found: dict[str, None] = {}
    for name, card in benchmarks().items():
        if card.apart_from:
            continue
        benchmark = load_benchmark(name)
        asked = [case.prompt for case in benchmark.cases]
        for _, at, _ in near_duplicates(unique, NEAR, against=asked):
            found[f"{name}/{benchmark.cases[at].id}"] = None
        if (benchmark.path / RUNS_FILE).is_file():
            salt, hashes = read_runs(benchmark.path / RUNS_FILE)
            for prompt in unique:
                if hashes & run_hashes(prompt, salt).keys():
                    found[f"{name}: a released prompt ('{' '.join(words(prompt)[:6])} …')"] = None
    return tuple(found)
