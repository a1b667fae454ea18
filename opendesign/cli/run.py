"""``opendesign run``."""

from __future__ import annotations

import click

from opendesign.cli.output import finish, parse_names, parse_pairs, print_json, with_progress


@click.command(context_settings={"show_default": True})
@click.option("--model", "-m", required=True, help="builtin/template, openai/…, a name in models.toml …")
@click.option("--benchmark", "-b", default="opendesign")
@click.option("--split", help="A named part of the benchmark, e.g. smoke.")
@click.option("--category", help="Of pages: website, 3d, game, component, dataviz; of plots: the library.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many cases, taken from all categories.")
@click.option("--samples", default=1, type=click.IntRange(min=1), help="Answers a case.")
@click.option("--judges", help="With commas; default: those of the protocol.")
@click.option("--judge-model", "judge_models", multiple=True, metavar="JUDGE=MODEL", help="Repeatable.")
@click.option("--protocol", help="One of the benchmark's; default: its own choice.")
@click.option("--concurrency", default=16, type=click.IntRange(min=1), help="Cases in flight at once.")
@click.option("--repairs", default=0, type=click.IntRange(min=0), help="Tries to repair a plot's code.")
@click.option("--unsafe-plots", is_flag=True, help="Run the code of plots even where nothing isolates it.")
@click.option("--budget", type=float, metavar="USD", help="Spend at most so much, resumes included.")
@click.option("--estimate", is_flag=True, help="Say what the run would ask for and cost; send nothing.")
@click.option("--run", "folder", metavar="DIR", help="The run's folder; default: under runs/.")
@click.option("--base-url", help="Address of a local or other OpenAI-compatible server.")
@click.option("--models-file", type=click.Path(dir_okay=False), help="Described models, else ./models.toml.")
@click.option("--browser", help="Path of the browser to use.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def run(
    model: str,
    benchmark: str,
    split: str | None,
    category: str | None,
    limit: int | None,
    samples: int,
    judges: str | None,
    judge_models: tuple[str, ...],
    protocol: str | None,
    concurrency: int,
    repairs: int,
    unsafe_plots: bool,
    budget: float | None,
    estimate: bool,
    folder: str | None,
    base_url: str | None,
    models_file: str | None,
    browser: str | None,
    as_json: bool,
) -> int:
    """Score a model: answer → page → verdicts → summary. The same command again resumes."""
    import opendesign

    plan = opendesign.plan(
        model,
        benchmark=benchmark,
        split=split,
        category=category,
        limit=limit,
        samples=samples,
        judges=parse_names(judges),
        judge_models=parse_pairs(judge_models, "--judge-model"),
        protocol=protocol,
        budget=budget,
        folder=folder,
        base_url=base_url,
        models_file=models_file,
        repairs=repairs,
        need_keys=not estimate,
    )
    if estimate:
        from opendesign.running.estimate import estimate_plan

        for sentence in plan.notes:
            click.echo(f"Note: {sentence}", err=True)
        expected = estimate_plan(plan)
        if as_json:
            print_json(expected.to_dict())
        else:
            click.echo(str(expected))
        return 0
    return finish(
        with_progress(
            lambda progress: opendesign.api.carry_out(
                plan,
                concurrency=concurrency,
                browser=browser,
                unsafe_plots=unsafe_plots,
                report=progress,
            )
        ),
        as_json=as_json,
    )
