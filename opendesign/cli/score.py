"""``opendesign score``."""

from __future__ import annotations

import click

from opendesign.cli.output import finish, parse_names, parse_pairs, with_progress


@click.command(context_settings={"show_default": True})
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--benchmark", "-b", help="The benchmark whose cases the answers belong to; default: none.")
@click.option("--category", default="website", help="Category of pages that belong to no benchmark.")
@click.option("--judges", help="With commas; default: those of the protocol.")
@click.option("--judge-model", "judge_models", multiple=True, metavar="JUDGE=MODEL", help="Repeatable.")
@click.option("--protocol", help="One of the benchmark's; default: its own choice.")
@click.option("--concurrency", default=16, type=click.IntRange(min=1), help="Pages in flight at once.")
@click.option("--budget", type=float, metavar="USD", help="Spend at most so much, resumes included.")
@click.option("--run", "folder", metavar="DIR", help="The run's folder; default: under runs/.")
@click.option("--browser", help="Path of the browser to use.")
@click.option("--unsafe-plots", is_flag=True, help="Run the code of plots even where nothing isolates it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def score(
    paths: tuple[str, ...],
    benchmark: str | None,
    category: str,
    judges: str | None,
    judge_models: tuple[str, ...],
    protocol: str | None,
    concurrency: int,
    budget: float | None,
    folder: str | None,
    browser: str | None,
    unsafe_plots: bool,
    as_json: bool,
) -> int:
    """Judge pages or plots that exist already: files, folders of them, or a JSONL of answers."""
    import opendesign

    return finish(
        with_progress(
            lambda progress: opendesign.score(
                *paths,
                benchmark=benchmark,
                category=category,
                judges=parse_names(judges),
                judge_models=parse_pairs(judge_models, "--judge-model"),
                protocol=protocol,
                budget=budget,
                folder=folder,
                concurrency=concurrency,
                browser=browser,
                unsafe_plots=unsafe_plots,
                report=progress,
            )
        ),
        as_json=as_json,
    )
