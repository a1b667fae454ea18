"""``opendesign cases``: what is asked, and whether it is sound."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from opendesign.cases.check import CheckReport
    from opendesign.types import Benchmark, Case

_benchmark = click.option(
    "--benchmark", "-b", default="opendesign", show_default=True, metavar="NAME", help="Which benchmark."
)
_json = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, and nothing else there."
)


@click.group()
def cases() -> None:
    """List, show, check and import what models are asked."""


@cases.command("list")
@_benchmark
@click.option("--category", "-c", metavar="NAME", help="Only one category, by any name a source gives it.")
@click.option("--split", metavar="NAME", help="Only one of the benchmark's splits.")
@click.option("--limit", type=int, metavar="N", help="At most N cases, spread over the categories.")
@_json
def list_(benchmark: str, category: str | None, split: str | None, limit: int | None, as_json: bool) -> None:
    """The cases of a benchmark, one a line."""
    from opendesign.cases.benchmark import load_benchmark, select

    loaded = load_benchmark(benchmark)
    chosen = select(loaded, split=split, category=category, limit=limit)
    if as_json:
        _document({**_heading(loaded), "cases": chosen})
    elif _terminal():
        _print_cases(loaded, chosen)
    else:
        for case in chosen:
            prompt = " ".join(case.prompt.split())
            click.echo("\t".join((case.id, case.category, case.difficulty, case.language, prompt)))


@cases.command()
@click.argument("case_id", metavar="ID")
@_benchmark
@_json
def show(case_id: str, benchmark: str, as_json: bool) -> None:
    """One case in full: what is asked, and what a good answer must do."""
    from opendesign.cases.benchmark import load_benchmark
    from opendesign.errors import UnknownName

    loaded = load_benchmark(benchmark)
    case = next((case for case in loaded.cases if case.id == case_id), None)
    if case is None:
        raise UnknownName("case", case_id, (case.id for case in loaded.cases))
    splits = [split for split, ids in loaded.splits.items() if case.id in ids]
    if as_json:
        _document({**_heading(loaded), "splits": splits, "case": case})
    else:
        _print_case(loaded, case, splits)


@cases.command()
@_benchmark
@_json
@click.pass_context
def check(context: click.Context, benchmark: str, as_json: bool) -> None:
    """What a benchmark is made of, and every rule that a case of it breaks. Exit code 1 with problems."""
    from opendesign.cases.benchmark import load_benchmark
    from opendesign.cases.check import check as check_benchmark

    report = check_benchmark(load_benchmark(benchmark))
    if as_json:
        from opendesign.canonical import plain

        _document({**plain(report), "ok": report.ok})
    else:
        _print_report(report)
    context.exit(0 if report.ok else 1)


@cases.command("import")
@click.argument("source", type=click.Choice(["opendesign-official"]))
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder that holds benchmarks. [default: ./benchmarks]",
)
@click.option(
    "--force", is_flag=True, help="Take a file that is not the released one, or replace an earlier import."
)
@_json
def import_(source: str, path: Path, into: Path | None, force: bool, as_json: bool) -> None:
    """Make a local benchmark of a file that was released elsewhere.

    PATH is your own copy of the released benchmark's all_prompt.jsonl.
    """
    from opendesign.cases.benchmark import BenchmarkCard
    from opendesign.cases.official import import_official
    from opendesign.cases.reading import read_toml

    folder = import_official(path, into, force=force)
    card = read_toml(folder / "benchmark.toml", BenchmarkCard)
    if as_json:
        _document(
            {
                "benchmark": source,
                "version": card.version,
                "path": folder,
                "counts": card.counts,
                "source": card.source,
            }
        )
        return
    click.echo(
        f"{sum(card.counts.values())} cases are in {folder}: "
        + ", ".join(f"{n} {c}" for c, n in card.counts.items())
    )
    click.echo(str(card.source["note"]))
    click.echo(f"Use them with: opendesign run --benchmark {source} --protocol paper --model MODEL")


def _heading(benchmark: Benchmark) -> dict[str, Any]:
    return {"benchmark": benchmark.name, "version": benchmark.version, "hash": benchmark.hash}


def _document(value: Mapping[str, Any]) -> None:
    import json

    from opendesign.canonical import plain

    click.echo(json.dumps(plain(dict(value)), ensure_ascii=False, indent=2))


def _terminal() -> bool:
    return sys.stdout.isatty()


def _print_cases(benchmark: Benchmark, chosen: Iterable[Case]) -> None:
    from rich.console import Console
    from rich.table import Table

    rows = list(chosen)
    table = Table(
        title=f"{benchmark.title} {benchmark.version} ({benchmark.hash})",
        caption=f"{len(rows)} of {len(benchmark.cases)} cases · opendesign cases show ID for one in full",
        title_justify="left",
        caption_justify="left",
        expand=True,
    )
    for name, field in (("id", "id"), ("topic", "topic"), ("difficulty", "difficulty"), ("lang", "language")):
        # Without a least width, the long prompts would squeeze these to nothing.
        widest = max(len(getattr(case, field)) for case in rows)
        table.add_column(name, no_wrap=True, min_width=max(len(name), widest))
    table.add_column("prompt", overflow="ellipsis", no_wrap=True, ratio=1)
    for case in rows:
        prompt = " ".join(case.prompt.split())
        table.add_row(*map(_escaped, (case.id, case.topic, case.difficulty, case.language, prompt)))
    Console().print(table)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _print_case(benchmark: Benchmark, case: Case, splits: list[str]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    facts = [case.category, case.topic, case.difficulty, f"language {case.language}", *case.tags]
    facts += [f"split {split}" for split in splits]
    console.print(Text(f"{case.id} · {benchmark.name} {benchmark.version}", style="bold"))
    console.print(Text(" · ".join(fact for fact in facts if fact), style="dim"))
    console.print(Padding(Text(case.prompt), (1, 0, 1, 2)))
    table = Table.grid(padding=(0, 1, 0, 2))
    for requirement in case.requirements:
        table.add_row(Text(requirement.kind, style="cyan"), Text(requirement.text))
    console.print(table)
    if not case.requirements:
        console.print(Text("  no requirements", style="dim"))


def _print_report(report: CheckReport) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(
        f"{report.benchmark} {report.version} ({report.hash}): {report.cases} cases",
        style="bold",
        markup=False,
    )
    for table in _make_up_tables(report):
        console.print(table)
    for problem in report.problems:
        console.print(
            f"{problem.case or report.benchmark}: {problem.rule}: {problem.text}", style="red", markup=False
        )
    summary = f"{len(report.problems)} problems." if report.problems else "No problem found."
    console.print(summary, style="bold", markup=False)


def _make_up_tables(report: CheckReport) -> Iterable[Any]:
    """Tables of rich: one row a category, one column a value."""
    from rich.table import Table

    aspects: dict[str, Mapping[str, Mapping[str, int]]] = {
        **report.make_up,
        "characters a prompt": report.lengths,
    }
    # A vocabulary of hundreds makes no columns; how many of it are in use says what matters.
    aspects["topic"] = {
        category: {"topics in use": len(values), "cases on the most used": max(values.values(), default=0)}
        for category, values in aspects["topic"].items()
    }
    for aspect, rows in aspects.items():
        columns = list(dict.fromkeys(value for values in rows.values() for value in values))
        if not any(any(values.values()) for values in rows.values()):
            continue
        table = Table(title=aspect, title_justify="left")
        table.add_column("category")
        for column in columns:
            table.add_column(column, justify="right")
        for category, values in rows.items():
            table.add_row(category, *(str(values.get(column, 0)) for column in columns))
        yield table
