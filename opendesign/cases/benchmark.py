"""What is asked, and how: a benchmark's cases and protocols, read from its folder.

    benchmark.toml             the card: name, version, title, where it comes from, splits
    cases/<category>.jsonl     one case a line
    protocols/<name>.toml      generation and render settings, judges, aggregation
    prompts/*.md               system prompts that protocols name
    hosts.toml                 public hosts that pages may load from, by kind
    topics.toml                the vocabulary of topics, by category (optional)

A benchmark of plots (``kind = "plots"``) has one file of cases a library, and the files that its cases name:
see ``plots``.

A folder without ``protocols/`` shares those of another benchmark, with their prompts and hosts. Everything is
checked while it is read; what is wrong raises ``UsageError`` with the file, the line and the field.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from opendesign import content
from opendesign.canonical import hash_of, plain
from opendesign.cases.categories import category_of
from opendesign.cases.plots import PlotLine, check_instructions, plot_case, without_facts
from opendesign.cases.reading import inside, read_jsonl, read_text, read_toml, shown
from opendesign.errors import UnknownName, UsageError
from opendesign.types import (
    CATEGORIES,
    LIBRARIES,
    Benchmark,
    Case,
    Category,
    GenerationSettings,
    Kind,
    PlotSettings,
    Protocol,
    RenderSettings,
)

CASE_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_HOST = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkCard:
    """A benchmark.toml. ``counts`` (category -> cases) is what ``cases check`` holds the cases to."""

    name: str
    version: str
    title: str
    about: str = ""
    kind: Kind = "pages"
    source: Mapping[str, str | int | bool] = field(default_factory=dict)
    imported: bool = False  # made elsewhere, and kept as it was made
    protocols: str = "opendesign"  # benchmark whose protocols it shares, when its folder has none
    protocol: str = "standard"  # the one used when none is named
    requirements: bool = True  # whether its cases must have requirements
    counts: Mapping[str, int] = field(default_factory=dict)
    apart_from: tuple[str, ...] = ()  # benchmarks with which it may share no case
    difficulty: Mapping[str, str] = field(default_factory=dict)  # level -> what makes a case that
    tags: Mapping[str, str] = field(default_factory=dict)  # tag -> what it says of a case
    charts: Mapping[str, str] = field(default_factory=dict)  # kind of chart -> what counts as one
    splits: Mapping[str, tuple[str, ...] | str] = field(
        default_factory=dict
    )  # ids, or a file with one a line


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hosts:
    """A hosts.toml: hosts by what pages load from them. ``*.example.org`` stands for a host's children."""

    scripts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    fonts: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProtocolFile:
    """A protocols/<name>.toml; ``generation.system`` and ``plots.instructions`` name files in prompts/."""

    name: str
    version: str
    about: str = ""
    judges: tuple[str, ...]
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, str] = field(default_factory=dict)
    resamples: int = 10_000
    minimum_coverage: float = 0.95
    aggregation: Literal["ours", "released"] = "ours"
    generation: GenerationSettings = field(default_factory=GenerationSettings)
    render: RenderSettings = field(default_factory=RenderSettings)
    plots: PlotSettings | None = None


def benchmarks() -> dict[str, BenchmarkCard]:
    """Name -> card of every benchmark that can be found, sorted by name."""
    return {name: load_card(name) for name in content.listing("benchmarks")}


def load_card(name: str) -> BenchmarkCard:
    """The named benchmark's card, without its cases. Raises ``UnknownName`` with the nearest names."""
    file = content.find("benchmarks", name) / "benchmark.toml"
    card = read_toml(file, BenchmarkCard)
    if card.name != name:
        raise UsageError(
            f"{shown(file)}: the name is '{card.name}', but its folder is '{name}'; make them equal."
        )
    return card


def load_benchmark(name: str) -> Benchmark:
    """The named benchmark with all its cases: by category in the order of its kind, then by line."""
    card = load_card(name)
    folder = content.find("benchmarks", name)
    cases = read_cases(folder, card.kind)
    known = {case.id for case in cases}
    splits = {split: _split(folder, split, ids, known) for split, ids in card.splits.items()}
    digest = hash_of(
        [card.name, card.version, [plain(without_facts(case)) for case in sorted(cases, key=lambda c: c.id)]]
    )
    return Benchmark(
        name=card.name,
        version=card.version,
        title=card.title,
        cases=cases,
        splits=splits,
        path=folder,
        hash=digest,
        kind=card.kind,
    )


def categories(kind: Kind) -> tuple[Category, ...]:
    """The categories of a kind of benchmark, in their order."""
    return LIBRARIES if kind == "plots" else CATEGORIES


def read_cases(folder: Path, kind: Kind) -> tuple[Case, ...]:
    """All cases of a benchmark's folder."""
    seen: dict[str, str] = {}
    cases: list[Case] = []
    for file in sorted((folder / "cases").glob("*.jsonl")):
        if file.stem not in categories(kind):
            raise UsageError(
                f"{shown(file)}: files of cases are named {', '.join(categories(kind))}; rename this one."
            )
    for category in categories(kind):
        file = folder / "cases" / f"{category}.jsonl"
        for line, case in _lines(folder, file, kind) if file.is_file() else ():
            where = f"{shown(file)}, line {line}"
            if case.category != category:
                raise UsageError(f"{where}: a case of category '{case.category}' belongs in another file.")
            if not CASE_ID.fullmatch(case.id):
                raise UsageError(
                    f"{where}: 'id' is '{case.id}', but ids are lowercase words joined by hyphens."
                )
            if not case.prompt.strip():
                raise UsageError(f"{where}: 'prompt' is empty.")
            if case.id in seen:
                raise UsageError(f"{where}: the id '{case.id}' is taken by {seen[case.id]}; ids are unique.")
            seen[case.id] = where
            cases.append(case)
    if not cases:
        raise UsageError(f"{shown(folder)} has no cases; put one a line into cases/<category>.jsonl.")
    return tuple(cases)


def _lines(folder: Path, file: Path, kind: Kind) -> Iterator[tuple[int, Case]]:
    if kind == "pages":
        yield from read_jsonl(file, Case)
        return
    for line, raw in read_jsonl(file, PlotLine):
        yield line, plot_case(raw, folder, f"{shown(file)}, line {line}")


def _split(folder: Path, split: str, ids: tuple[str, ...] | str, known: set[str]) -> tuple[str, ...]:
    where = f"{shown(folder / 'benchmark.toml')}, split '{split}'"
    if isinstance(ids, str):
        lines = read_text(inside(folder, ids, where)).splitlines()
        ids = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    for case in ids:
        if case not in known:
            raise UsageError(f"{where}: {UnknownName('case', case, known)}")
    if len(set(ids)) < len(ids) or not ids:
        raise UsageError(f"{where}: a split names at least one case, and each once.")
    return ids


def protocols(benchmark: str) -> tuple[str, ...]:
    """Names of the benchmark's protocols, sorted."""
    return tuple(sorted(file.stem for file in _protocol_folder(benchmark).glob("protocols/*.toml")))


def _protocol_folder(benchmark: str) -> Path:
    folder = content.find("benchmarks", benchmark)
    if (folder / "protocols").is_dir():
        return folder
    return content.find("benchmarks", load_card(benchmark).protocols)


def load_protocol(benchmark: str, name: str) -> Protocol:
    """The named protocol of a benchmark, with the text of its prompts and its hosts inside.

    ``hash`` covers every field. Raises ``UnknownName`` with the nearest protocols.
    """
    if name not in protocols(benchmark):
        raise UnknownName("protocol", name, protocols(benchmark))
    folder = _protocol_folder(benchmark)
    file = folder / "protocols" / f"{name}.toml"
    raw = read_toml(file, _ProtocolFile)
    if raw.name != name:
        raise UsageError(
            f"{shown(file)}: the name is '{raw.name}', but the file is '{file.name}'; make them equal."
        )
    _check_protocol(raw, shown(file))
    protocol = Protocol(
        name=raw.name,
        version=raw.version,
        generation=dataclasses.replace(
            raw.generation, system=_prompts(folder, raw.generation.system, shown(file))
        ),
        render=dataclasses.replace(raw.render, hosts=_hosts(folder, raw.render.hosts, shown(file))),
        judges=raw.judges,
        stand_ins=raw.stand_ins,
        cards=raw.cards,
        resamples=raw.resamples,
        minimum_coverage=raw.minimum_coverage,
        aggregation=raw.aggregation,
        plots=_plots(folder, raw.plots, shown(file)),
    )
    return dataclasses.replace(protocol, hash=hash_of(protocol))


def _check_protocol(raw: _ProtocolFile, where: str) -> None:
    """Refuse numbers that no run could use; types are checked already."""
    render, generation = raw.render, raw.generation
    above_zero = {
        "resamples": raw.resamples,
        "generation.max_tokens": generation.max_tokens,
        "generation.min_max_tokens": generation.min_max_tokens,
        "generation.timeout_s": generation.timeout_s,
        **{
            f"render.{key}": getattr(render, key)
            for key in (
                "width",
                "height",
                "scale",
                "max_height",
                "load_s",
                "deadline_s",
                "cpu_s",
                "memory_mb",
            )
        },
    }
    if raw.plots is not None:
        limits = ("cpu_s", "deadline_s", "memory_mb", "disk_mb", "output_kb", "processes", "most_pixels")
        above_zero |= {f"plots.{key}": getattr(raw.plots, key) for key in limits}
    for key, value in above_zero.items():
        if value is not None and value <= 0:
            raise UsageError(f"{where}: '{key}' is {value}, but it must be above zero.")
    not_below = {"render.idle_s": render.idle_s, "render.settle_s": render.settle_s}
    if raw.plots is not None:
        not_below["plots.repairs"] = raw.plots.repairs
    for key, number in not_below.items():
        if number < 0:
            raise UsageError(f"{where}: '{key}' is {number}, but it cannot be below zero.")
    if not 0 <= raw.minimum_coverage <= 1:
        raise UsageError(
            f"{where}: 'minimum_coverage' is {raw.minimum_coverage}, but it is a share from 0 to 1."
        )
    if not raw.judges:
        raise UsageError(f"{where}: 'judges' is empty; name at least one.")
    for key, table in (("stand_ins", raw.stand_ins), ("cards", raw.cards)):
        for judge in table:
            if judge not in raw.judges:
                raise UsageError(f"{where}: '{key}' has '{judge}', which is none of its judges.")


def _prompts(
    folder: Path, files: Mapping[str, str], where: str, key: str = "generation.system"
) -> dict[str, str]:
    known = (*CATEGORIES, *LIBRARIES)
    for category in files:
        if category and category not in known:
            raise UsageError(f"{where}: '{key}': {UnknownName('category', category, known)}")
    return {
        category: read_text(inside(folder / "prompts", name, where)).strip()
        for category, name in files.items()
    }


def _plots(folder: Path, plots: PlotSettings | None, where: str) -> PlotSettings | None:
    """The settings with the text of their prompts inside."""
    if plots is None:
        return None
    prompts = _prompts(folder, plots.instructions, where, "plots.instructions")
    check_instructions(prompts, where)
    return dataclasses.replace(plots, instructions=prompts)


def _hosts(folder: Path, own: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The protocol's own hosts and those of hosts.toml, sorted."""
    file = folder / "hosts.toml"
    kinds = plain(read_toml(file, _Hosts)) if file.is_file() else {}
    listed = [(host, where) for host in own]
    listed += [(host, shown(file)) for group in kinds.values() for host in group]
    for host, place in listed:
        if not _HOST.fullmatch(host):
            raise UsageError(f"{place}: '{host}' is not a host; write 'example.org' or '*.example.org'.")
    return tuple(sorted({host for host, _ in listed}))


def select(
    benchmark: Benchmark, *, split: str | None = None, category: str | None = None, limit: int | None = None
) -> tuple[Case, ...]:
    """The cases asked for, in the benchmark's order.

    ``category`` may be any name a source uses ("Game Dev"). ``limit`` takes cases in turn from every
    category, first lines first, so that ten see all five and a larger limit contains a smaller one. Raises
    ``UnknownName`` for a split or category that is not there, ``UsageError`` when nothing is left.
    """
    cases = benchmark.cases
    if split is not None:
        if split not in benchmark.splits:
            raise UnknownName("split", split, benchmark.splits)
        chosen = set(benchmark.splits[split])
        cases = tuple(case for case in cases if case.id in chosen)
    if category is not None:
        slug = category_of(category)
        cases = tuple(case for case in cases if case.category == slug)
    if limit is not None:
        if limit < 1:
            raise UsageError(f"The limit is {limit}; ask for at least one case.")
        cases = _spread(cases, limit)
    if not cases:
        within = f"split '{split}' and " if split is not None else ""
        raise UsageError(f"No case of '{benchmark.name}' is in {within}category '{category}'.")
    return cases


def _spread(cases: tuple[Case, ...], limit: int) -> tuple[Case, ...]:
    known: tuple[Category, ...] = (*CATEGORIES, *LIBRARIES)
    turns = dict.fromkeys(known, 0)
    order = []
    for place, case in enumerate(cases):
        order.append((turns[case.category], known.index(case.category), place))
        turns[case.category] += 1
    chosen = sorted(place for _, _, place in sorted(order)[:limit])
    return tuple(cases[place] for place in chosen)
