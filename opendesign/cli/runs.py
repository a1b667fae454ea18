"""``opendesign runs list / show / compare``."""

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
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def show(run: str, aggregation: str | None, as_json: bool) -> None:
    """The summary of a RUN, by path or by name under runs/."""
    import opendesign

    summary = opendesign.load(run, aggregation=aggregation)  # type: ignore[arg-type]
    if as_json:
        print_json(summary.to_dict())
    else:
        print_summary(summary)


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
        click.echo(f"Mark: {mark}")
