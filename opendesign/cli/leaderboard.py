"""``opendesign leaderboard build / serve``."""

from __future__ import annotations

from pathlib import Path

import click

from opendesign.cli.output import print_json


@click.group()
def leaderboard() -> None:
    """The static site."""


@leaderboard.command(context_settings={"show_default": True})
@click.option("--results", default="results", type=click.Path(file_okay=False), help="Published runs.")
@click.option(
    "--runs", multiple=True, metavar="RUN", help="A run to show besides, published or not. Repeatable."
)
@click.option("--out", default="dist/leaderboard", type=click.Path(file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def build(results: str, runs: tuple[str, ...], out: str, as_json: bool) -> None:
    """Write the site to files that work from a folder and behind any web server."""
    from opendesign.errors import UsageError
    from opendesign.running.plan import RUNS
    from opendesign.running.store import find_run
    from opendesign.site import build_site

    published = Path(results)
    named = click.get_current_context().get_parameter_source("results")
    if not published.is_dir():
        if named is not click.core.ParameterSource.DEFAULT:
            raise UsageError(f"There is no folder {published}: `opendesign runs publish RUN` makes one.")
        click.echo(
            f"Note: there is no folder {published} here: only runs named with --runs are shown.", err=True
        )
    built = build_site(
        Path(out),
        results=published if published.is_dir() else None,
        runs=[find_run(run, RUNS) for run in runs],
        note=lambda sentence: click.echo(f"Note: {sentence}", err=True),
    )
    if as_json:
        print_json(built.to_dict())
        return
    click.echo(
        f"{built.runs} runs, {built.pages} pages, {built.pictures} pictures; {built.written} files are new."
    )
    click.echo(f"Open {Path(out) / 'index.html'}, or: opendesign leaderboard serve --out {out}")


@leaderboard.command(context_settings={"show_default": True})
@click.option("--out", default="dist/leaderboard", type=click.Path(file_okay=False), help="A built site.")
@click.option("--port", default=8000, type=click.IntRange(0, 65535), help="0 takes any free one.")
def serve(out: str, port: int) -> None:
    """Show a built site on this machine until Ctrl-C."""
    from opendesign.site.serve import serve_site

    serve_site(Path(out), port, lambda address: click.echo(f"{address}  (Ctrl-C ends it)"))
