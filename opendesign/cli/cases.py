"""``opendesign cases``: what is asked, and whether it is sound."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opendesign.canonical import plain
from opendesign.cli.output import is_terminal, print_json, print_rows, print_table

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
        print_json({**_heading(loaded), "cases": plain(chosen)})
        return
    if is_terminal():
        of_all = f"{len(chosen)} of {len(loaded.cases)} cases"
        click.echo(f"{loaded.title} {loaded.version} ({loaded.hash}): {of_all}")
    rows = [[case.id, case.topic, case.difficulty, case.language, case.prompt] for case in chosen]
    print_rows(["id", "topic", "difficulty", "language", "~prompt"], rows)


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
        print_json({**_heading(loaded), "splits": splits, "case": plain(case)})
    else:
        _print_case(loaded, case, splits)


@cases.command()
@_benchmark
@click.option(
    "--unsafe-plots", is_flag=True, help="Run references of plots even where nothing isolates them."
)
@_json
@click.pass_context
def check(context: click.Context, benchmark: str, unsafe_plots: bool, as_json: bool) -> None:
    """What a benchmark is made of, and every rule that a case of it breaks. Exit code 1 with problems.

    Of a benchmark of plots every reference is run again, and what it draws is held against the ground truth.
    """
    from opendesign.cases.benchmark import load_benchmark
    from opendesign.cases.check import check as check_benchmark

    loaded = load_benchmark(benchmark)
    report = check_benchmark(loaded)
    if loaded.kind == "plots":
        from opendesign.running.execute import run_sync
        from opendesign.running.references import check_references

        report = run_sync(lambda: check_references(loaded, report, unsafe=unsafe_plots))
    if as_json:
        print_json({**plain(report), "ok": report.ok})
    else:
        _print_report(report)
    context.exit(0 if report.ok else 1)


@cases.command("import")
@click.argument("source", type=click.Choice(["opendesign-official", "pandasplotbench"]))
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder that holds benchmarks. [default: ./benchmarks]",
)
@click.option(
    "--instructs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The released instructs.json of pandasplotbench, for a protocol with its wording.",
)
@click.option("--revision", metavar="HASH", help="Another revision of pandasplotbench on the hub.")
@click.option(
    "--force", is_flag=True, help="Take a file that is not the released one, or replace an earlier import."
)
@_json
def import_(
    source: str,
    path: Path | None,
    into: Path | None,
    instructs: Path | None,
    revision: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Make a local benchmark of one that was released elsewhere.

    PATH is your own copy: all_prompt.jsonl of opendesign-official, or a parquet file of pandasplotbench.
    The latter is fetched from the hub where no PATH is given.
    """
    from opendesign.cases.benchmark import BenchmarkCard
    from opendesign.cases.reading import read_toml
    from opendesign.errors import UsageError

    if source == "pandasplotbench":
        if path is not None and revision is not None:
            raise UsageError("Name a file or a revision, not both: a file is taken as it is.")
        folder = _import_plots(path, into, revision, instructs, force)
        protocol = "released" if instructs else "standard"
    else:
        from opendesign.cases.official import import_official

        if path is None or instructs or revision:
            raise UsageError("'opendesign-official' is made from your own copy of its file alone: name it.")
        folder, protocol = import_official(path, into, force=force), "paper"
    card = read_toml(folder / "benchmark.toml", BenchmarkCard)
    if as_json:
        print_json(
            {
                "benchmark": source,
                "version": card.version,
                "path": str(folder),
                "counts": dict(card.counts),
                "source": dict(card.source),
            }
        )
        return
    click.echo(
        f"{sum(card.counts.values())} cases are in {folder}: "
        + ", ".join(f"{n} {c}" for c, n in card.counts.items())
    )
    click.echo(str(card.source["note"]))
    click.echo(f"Use them with: opendesign run --benchmark {source} --protocol {protocol} --model MODEL")


def _import_plots(
    path: Path | None, into: Path | None, revision: str | None, instructs: Path | None, force: bool
) -> Path:
    from opendesign.cases.benchmark import read_cases
    from opendesign.cases.pandasplotbench import REVISION, import_pandasplotbench
    from opendesign.errors import UsageError
    from opendesign.running.execute import run_sync
    from opendesign.running.references import add_facts

    made = import_pandasplotbench(path, into, revision=revision or REVISION, instructs=instructs, force=force)
    warnings = list(made.warnings)
    cases = read_cases(made.folder, "plots")
    try:
        # The references are matplotlib's, and the cases of a row share one.
        if without := run_sync(lambda: add_facts([case for case in cases if case.category == "matplotlib"])):
            warnings.append(
                f"The references of {len(without)} rows draw nothing here, the first {without[0]}."
            )
    except UsageError as error:
        said = str(error)  # it may quote what a setup prints
        said = said if len(said) <= 200 else f"{said[:199]}…"
        warnings.append(f"The references were not run, so 'plot-computed' cannot score here. {said}")
    for warning in warnings:
        click.echo(f"Warning: {warning}", err=True)
    return made.folder


def _heading(benchmark: Benchmark) -> dict[str, Any]:
    return {"benchmark": benchmark.name, "version": benchmark.version, "hash": benchmark.hash}


def _print_case(benchmark: Benchmark, case: Case, splits: list[str]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from opendesign.cases.reading import shown

    console = Console(highlight=False)
    facts = [case.category, case.topic, case.difficulty, f"language {case.language}", *case.tags]
    facts += [f"split {split}" for split in splits]
    console.print(Text(f"{case.id} · {benchmark.name} {benchmark.version}", style="bold"))
    console.print(Text(" · ".join(fact for fact in facts if fact), style="dim"))
    console.print(Padding(Text(case.prompt), (1, 0, 1, 2)))
    if case.task is not None:
        for name, blob in (("data", case.task.data), ("ground truth", case.task.truth)):
            console.print(Text(f"  {name}: {shown(blob.path)}", style="dim"))
        return
    table = Table.grid(padding=(0, 1, 0, 2))
    for requirement in case.requirements:
        table.add_row(Text(requirement.kind, style="cyan"), Text(requirement.text))
    console.print(table)
    if not case.requirements:
        console.print(Text("  no requirements", style="dim"))


def _print_report(report: CheckReport) -> None:
    click.echo(f"{report.benchmark} {report.version} ({report.hash}): {report.cases} cases")
    for aspect, rows in _aspects(report).items():
        columns = list(dict.fromkeys(value for values in rows.values() for value in values))
        if len(columns) > 8:
            found = [[c, ", ".join(f"{k} {n}" for k, n in values.items() if n)] for c, values in rows.items()]
            print_table(["category", aspect], found)
        elif columns:
            table = [[c, *(values.get(column, 0) for column in columns)] for c, values in rows.items()]
            print_table(["category", *(f">{column}" for column in columns)], table, aspect)
    if report.drawn_with:
        click.echo(f"References were run with {report.drawn_with}.")
    for problem in report.problems:
        click.echo(f"{problem.case or report.benchmark}: {problem.rule}: {problem.text}")
    click.echo(f"{len(report.problems)} problems." if report.problems else "No problem found.")


def _aspects(report: CheckReport) -> dict[str, Mapping[str, Mapping[str, int]]]:
    """Aspect → category → value → count."""
    # A vocabulary of hundreds makes no columns; how many of it are in use says what matters.
    topics = {
        category: {"topics in use": len(values), "cases on the most used": max(values.values(), default=0)}
        for category, values in report.make_up["topic"].items()
    }
    return {**report.make_up, "topic": topics, "characters a prompt": report.lengths}
