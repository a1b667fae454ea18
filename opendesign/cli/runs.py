"""``opendesign runs list / show / compare / publish``."""

from __future__ import annotations

import click

from opendesign.cli.output import (
    cost,
    mean_of,
    percent,
    print_json,
    print_rows,
    print_summary,
    print_table,
    short,
)


@click.group()
def runs() -> None:
    """What was measured."""


@runs.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def list_runs(as_json: bool) -> None:
    """Every run under runs/."""
    from opendesign.errors import StoreError
    from opendesign.running.plan import RUNS
    from opendesign.running.store import runs as stored
    from opendesign.running.summary import summarize

    summaries = []
    for folder in stored(RUNS).values():
        try:
            summaries.append(summarize(folder))
        except StoreError as error:
            click.echo(f"Note: {error}", err=True)
    if as_json:
        print_json({"runs": [summary.to_dict() for summary in summaries]})
    elif not summaries:
        click.echo(f"There is no run under {RUNS}: `opendesign run --model builtin/template` makes one.")
    else:
        print_rows(
            ["run", "model", "benchmark", ">cases", "score", ">mean", ">coverage", ">cost"],
            [
                [
                    s.run,
                    s.model,
                    s.benchmark["name"],
                    s.cases,
                    s.headline,
                    mean_of(s.scores, s.headline),
                    percent(min(s.coverage.values(), default=None)),
                    cost(s.cost_usd),
                ]
                for s in summaries
            ],
        )


@runs.command()
@click.argument("run")
@click.option("--aggregation", type=click.Choice(["ours", "released"]), help="How failures enter the means.")
@click.option("--all", "every", is_flag=True, help="Every measure, not the judges' headlines alone.")
@click.option("--cases", is_flag=True, help="One line a case, with its headline scores.")
@click.option(
    "--case", metavar="ID", help="One case: where its page and picture are, and what each judge says."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def show(
    run: str, aggregation: str | None, every: bool, cases: bool, case: str | None, as_json: bool
) -> None:
    """A RUN by path, by name under runs/, or by the beginning or last part of a name."""
    import opendesign

    if case is not None:
        _show_case(run, case, as_json)
        return
    summary = opendesign.load(run, aggregation=aggregation)  # type: ignore[arg-type]
    if as_json:
        print_json({**summary.to_dict(), **({"rows": [dict(row) for row in summary.rows]} if cases else {})})
    elif cases:
        heads = list(summary.headlines.values())
        rows = [
            [row["case"], row["sample"], row["reason"], *(_number(row.get(name)) for name in heads)]
            for row in summary.rows
        ]
        print_rows(["case", ">sample", "failure", *(f">{name}" for name in heads)], rows)
    else:
        print_summary(summary, every=every)


def _number(score: float | None) -> str | None:
    return None if score is None else f"{score:.2f}"


def _show_case(run: str, case: str, as_json: bool) -> None:
    from opendesign.running.inspect import case_in_full
    from opendesign.running.plan import RUNS
    from opendesign.running.store import find_run

    found = case_in_full(find_run(run, RUNS), case)
    if as_json:
        print_json(found)
        return
    click.echo(f"{case}: {found['prompt']}")
    for sample in found["samples"]:
        click.echo(f"sample {sample['sample']}")
        for name in ("failure", "page", "picture", "facts"):
            if sample.get(name):
                click.echo(f"  {name}: {sample[name]}")
        for judge, verdict in sample["verdicts"].items():
            scores = ", ".join(f"{name} {value:g}" for name, value in verdict["scores"].items())
            click.echo(f"  {judge}: {scores or 'unscored'}")
            for reason in verdict["reasons"]:
                click.echo(f"    {reason}")


@runs.command()
@click.argument("first")
@click.argument("second")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def compare(first: str, second: str, as_json: bool) -> None:
    """Paired differences of two runs, FIRST minus SECOND, with intervals."""
    import opendesign

    comparison = opendesign.compare(first, second)
    if as_json:
        print_json(comparison.to_dict())
        return
    click.echo(f"{comparison.first.model} minus {comparison.second.model}, paired by case")
    print_table(
        ["score", ">difference [95 %]", ">won", ">lost", ">tied", "separated"],
        [
            [name, short(d.estimate), d.won, d.lost, d.tied, "yes" if d.separated else "no"]
            for name, d in comparison.differences.items()
        ],
    )
    headline = comparison.first.headline
    rows = [
        [category, short(d.estimate), d.won, d.lost, d.tied]
        for category, differences in comparison.by_category.items()
        if headline and (d := differences.get(headline))
    ]
    if len(rows) > 1:
        print_table(["category", f">{headline}", ">won", ">lost", ">tied"], rows)
    for mark in comparison.marks:
        click.echo(f"Note: {mark}")


@runs.command(context_settings={"show_default": True})
@click.argument("run")
@click.option("--results", default="results", type=click.Path(file_okay=False), help="Where it is put.")
@click.option(
    "--pictures", type=click.Choice(["lite", "all"]), default="lite", help="all: full pictures, archived."
)
@click.option(
    "--archive", type=click.Path(dir_okay=False), help="The archive; default: dist/<run>-pictures.zip."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def publish(run: str, results: str, pictures: str, archive: str | None, as_json: bool) -> None:
    """Copy the small part of a RUN into results/: what the leaderboard shows and git keeps."""
    from pathlib import Path

    from opendesign.running.plan import RUNS
    from opendesign.running.publish import publish as write
    from opendesign.running.store import find_run

    folder = find_run(run, RUNS)
    if archive is not None and pictures != "all":
        raise click.UsageError("--archive goes with --pictures all.")
    target = Path(archive or f"dist/{folder.resolve().name}-pictures.zip") if pictures == "all" else None
    published = write(folder, Path(results), archive=target)
    if as_json:
        print_json(published.to_dict())
        return
    size = published.bytes / 1_000_000
    click.echo(
        f"{published.folder}: {published.records} records, {published.pictures} pictures, {size:.1f} MB."
    )
    if published.missing:
        click.echo(f"Cases to be shown without a picture, which the site marks: {published.missing}.")
    if published.archive:
        click.echo(f"{published.archive}: {published.archived} full pictures, for a release page.")
