"""``opendesign judge``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from opendesign.cli.output import (
    Progressing,
    cost,
    finish,
    parse_names,
    parse_pairs,
    print_json,
    print_table,
    with_progress,
)

if TYPE_CHECKING:
    from opendesign.running.tournament import Tournament, TournamentPlan


@click.command(context_settings={"show_default": True})
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--judges", required=True, help="With commas; for several runs one that compares: pairwise.")
@click.option("--judge-model", "judge_models", multiple=True, metavar="JUDGE=MODEL", help="Repeatable.")
@click.option("--concurrency", default=16, type=click.IntRange(min=1), help="Pages in flight at once.")
@click.option("--budget", type=float, metavar="USD", help="Spend at most so much, earlier steps included.")
@click.option("--matches", type=click.IntRange(min=1), help="Several runs: compare at most so many pages.")
@click.option("--seed", type=int, help="Several runs: draws which pages meet first; default 0.")
@click.option("--estimate", is_flag=True, help="Several runs: say what it would ask for; send nothing.")
@click.option("--models-file", type=click.Path(dir_okay=False), help="Described models, else ./models.toml.")
@click.option("--browser", help="Path of the browser to use.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def judge(
    runs: tuple[str, ...],
    judges: str,
    judge_models: tuple[str, ...],
    concurrency: int,
    budget: float | None,
    matches: int | None,
    seed: int | None,
    estimate: bool,
    models_file: str | None,
    browser: str | None,
    as_json: bool,
) -> int:
    """Judge a stored RUN (again): asks no model for an answer, changes no page and no picture.

    With several RUNs on the same cases a judge that compares plays a tournament: the better of two pages
    wins, and the ratings are Bradley-Terry's on the Elo scale. The same command again resumes, and a larger
    --matches or --budget plays on.
    """
    import opendesign

    names, models = parse_names(judges), parse_pairs(judge_models, "--judge-model")
    if len(runs) == 1:
        if estimate or matches is not None or seed is not None:
            raise click.UsageError("--matches, --seed and --estimate go with two RUNs or more.")
        return finish(
            with_progress(
                lambda progress: opendesign.judge(
                    runs[0],
                    names,
                    judge_models=models,
                    concurrency=concurrency,
                    budget=budget,
                    models_file=models_file,
                    browser=browser,
                    report=progress,
                )
            ),
            as_json=as_json,
            judges=names,
        )
    if len(names) != 1 or set(models) - set(names):
        raise click.UsageError("Several RUNs are compared by one judge, with its model: --judges pairwise.")
    plan = opendesign.api.plan_tournament(
        runs,
        names[0],
        model=models.get(names[0]),
        matches=matches,
        seed=seed or 0,
        budget=budget,
        models_file=models_file,
        need_keys=not estimate,
    )
    if estimate:
        _print_estimate(plan, as_json=as_json)
        return 0
    progress = Progressing()
    try:
        found = opendesign.api.play(plan, concurrency=concurrency, report=progress)
    finally:
        progress.close()
    if as_json:
        print_json(found.to_dict())
    else:
        _print_tournament(found)
    return 0 if found.coverage >= 1 else 1


def _print_estimate(plan: TournamentPlan, *, as_json: bool) -> None:
    expected = plan.estimate()
    if as_json:
        print_json(expected)
        return
    counts = {name: amount for name, amount in expected.items() if name != "usd"}
    parts = [f"{amount:,} {name.replace('_', ' ')}" for name, amount in counts.items()]
    click.echo(f"Still to ask for: {', '.join(parts)}; {cost(expected['usd'])}.")


def _print_tournament(found: Tournament) -> None:
    columns, rows = found.table()
    print_table(columns, rows)
    for sentence in found.sentences():
        click.echo(sentence)
    click.echo(f"{found.calls} calls, {cost(found.cost_usd)}. Stored in {found.folder}")
