"""Pages that exist already, as a run: each becomes a case of its own, or answers a benchmark's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import opendesign
from opendesign.canonical import hash_of, plain
from opendesign.errors import UsageError
from opendesign.running.plan import Plan, composed, plan_run, seats_for
from opendesign.types import Answer, Benchmark, Case, Category, GenerationSettings

if TYPE_CHECKING:
    from opendesign.answering.disk import DiskModel
    from opendesign.answering.models import Reply

_PAGES = (".html", ".htm", ".xhtml")
_ROWS = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the answer of a case lies: among which answers, and under which name there."""

    answers: DiskModel
    case: str


class Pages:
    """A model whose answers are pages gathered from files, folders and JSONL files."""

    def __init__(self, name: str, places: Mapping[str, _Place]) -> None:
        self.name = name
        self._places = places

    async def answer(self, case: Case, sample: int, settings: GenerationSettings) -> Answer:
        from dataclasses import replace

        place = self._places[case.id]
        inner = await place.answers.answer(replace(case, id=place.case), sample, settings)
        return replace(inner, case=case.id)

    async def chat(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Reply:
        raise UsageError("Pages on disk answer cases only: name a LiteLLM model where a judge needs one.")

    def config(self, settings: GenerationSettings) -> dict[str, Any]:
        """All that decides an answer: which page is which case, and what is in it."""
        answers = {
            id: [place.case, place.answers.config(settings)["answers"]] for id, place in self._places.items()
        }
        return {"model": "pages", "answers": hash_of(answers)}


def plan_pages(
    paths: Sequence[Path],
    *,
    benchmark: str | None,
    category: str,
    judges: Sequence[str],
    judge_models: Mapping[str, str] | None,
    protocol: str | None,
    budget: float | None,
    folder: Path | None,
) -> Plan:
    """The plan of ``opendesign score``. Raises ``UsageError`` where there is nothing to score."""
    from opendesign.answering.budget import Budget
    from opendesign.cases.benchmark import load_benchmark, load_card, load_protocol

    if not paths:
        raise UsageError("There is nothing to score: name pages, folders of pages, or a JSONL of answers.")
    home = benchmark or "opendesign"
    rules = load_protocol(home, protocol or load_card(home).protocol)
    money = Budget(budget) if budget is not None else None
    seats, notes = seats_for(rules, judges, judge_models, budget=money)
    if benchmark is not None:
        asked = load_benchmark(benchmark)
        model, cases, more = _answers_of(asked, paths)
        cases = composed(cases, rules)
    else:
        model, cases, more = _own_cases(paths, category)
        asked = Benchmark(
            name="pages",
            version=opendesign.__version__,
            title="Pages that exist already",
            cases=cases,
            splits={},
            path=Path(),
            hash=hash_of(plain(cases)),
        )
    return plan_run(model, asked, rules, seats, cases, folder=folder, notes=(*notes, *more))


def _answers_of(benchmark: Benchmark, paths: Sequence[Path]) -> tuple[Any, tuple[Case, ...], list[str]]:
    """Answers on disk to the cases of a benchmark; cases without an answer are left out, and counted."""
    from opendesign.answering.disk import DiskModel

    if len(paths) != 1:
        raise UsageError("Answers to a benchmark are scored from one folder or file at a time.")
    model = DiskModel(paths[0])
    coverage = model.coverage([case.id for case in benchmark.cases])
    if not coverage.answered:
        raise UsageError(f"No answer in {paths[0]} is named after a case of '{benchmark.name}'.")
    cases = tuple(case for case in benchmark.cases if case.id in set(coverage.answered))
    return model, cases, [coverage.sentence] if coverage.sentence else []


def _own_cases(paths: Sequence[Path], category: str) -> tuple[Pages, tuple[Case, ...], list[str]]:
    from opendesign.answering.disk import DiskModel
    from opendesign.cases.categories import category_of

    slug: Category = category_of(category)
    places: dict[str, _Place] = {}
    more = 0
    for path in paths:
        if not (path.is_dir() or path.is_file()):
            raise UsageError(
                f"There is no file or folder {path}: give HTML files, folders of them, or a JSONL."
            )
        if path.suffix.lower() == ".py":
            raise UsageError(f"{path} draws a plot, which is held against its task: add --benchmark.")
        found = _pages_in(path) if path.is_dir() else [path]
        if not found:
            raise UsageError(f"There is no page in {path}: give HTML files, folders of them, or a JSONL.")
        for page in found:
            answers = DiskModel(page)
            more += answers.repeats
            inside = answers.ids if page.suffix.lower() in _ROWS else [page.stem]
            base = page.relative_to(path).with_suffix("").as_posix() if path.is_dir() else page.stem
            for id in inside:
                name = _unused(id if page.suffix.lower() in _ROWS else base, places)
                places[name] = _Place(answers, id)
    cases = tuple(Case(id=name, category=slug, prompt="") for name in places)
    notes = _beside(paths)
    if more:
        notes.append(f"{more} further answers to the same ids were left out: the first of each is scored.")
    return Pages(paths[0].name or "pages", places), cases, notes


def _beside(paths: Sequence[Path]) -> list[str]:
    """A page is one document, as a model's answer is; files beside it are not served."""
    folders = {path if path.is_dir() else path.parent for path in paths}
    kinds = ("*.css", "*.js", "*.png", "*.jpg", "*.svg")
    if any(next(folder.rglob(kind), None) for folder in folders if folder != Path() for kind in kinds):
        return ["Each page is scored as one file: styles, scripts and pictures beside it are not loaded."]
    return []


def _pages_in(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix.lower() in (*_PAGES, *_ROWS) and p.is_file())


def _unused(name: str, taken: Mapping[str, object]) -> str:
    """A case id out of a file's name, with a number where it is taken already."""
    slug = re.sub(r"[^\w.]+", "-", name, flags=re.UNICODE).strip("-") or "page"
    candidate, number = slug, 1
    while candidate in taken:
        number += 1
        candidate = f"{slug}-{number}"
    return candidate
