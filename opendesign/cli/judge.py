"""``opendesign judge``."""

from __future__ import annotations

import click

from opendesign.cli.output import finish, parse_names, parse_pairs, with_progress


@click.command(context_settings={"show_default": True})
@click.argument("run")
@click.option("--judges", required=True, help="With commas.")
@click.option("--judge-model", "judge_models", multiple=True, metavar="JUDGE=MODEL", help="Repeatable.")
@click.option("--concurrency", default=16, type=click.IntRange(min=1), help="Pages in flight at once.")
@click.option("--budget", type=float, metavar="USD", help="Spend at most so much, earlier steps included.")
@click.option("--models-file", type=click.Path(dir_okay=False), help="Described models, else ./models.toml.")
@click.option("--browser", help="Path of the browser to use.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def judge(
    run: str,
    judges: str,
    judge_models: tuple[str, ...],
    concurrency: int,
    budget: float | None,
    models_file: str | None,
    browser: str | None,
    as_json: bool,
) -> int:
    """Judge a stored RUN (again): asks no model for an answer, changes no page and no picture."""
    import opendesign

    return finish(
        with_progress(
            lambda progress: opendesign.judge(
                run,
                parse_names(judges),
                judge_models=parse_pairs(judge_models, "--judge-model"),
                concurrency=concurrency,
                budget=budget,
                models_file=models_file,
                browser=browser,
                report=progress,
            )
        ),
        as_json=as_json,
    )
