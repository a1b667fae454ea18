"""``opendesign doctor``: what works here, and what mends the rest."""

from __future__ import annotations

import asyncio

import click

from opendesign.cli.output import print_json
from opendesign.errors import OpenDesignError


@click.command(short_help="What works on this machine, and what mends the rest.")
@click.option("--browser", help="Path of a browser; otherwise the best one that is found.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def doctor(browser: str | None, as_json: bool) -> int:
    """Look at browser, sandbox, WebGL, fonts, keys (names only) and network.

    Exit code 1 when something is missing without which no page can be rendered.
    """
    from opendesign.canonical import plain
    from opendesign.rendering.inspection import inspect

    findings = asyncio.run(inspect(browser, _hosts()))
    works = all(finding.ok for finding in findings if finding.needed)
    if as_json:
        print_json({"works": works, "findings": plain(findings)})
        return 0 if works else 1
    for finding in findings:
        mark = "ok " if finding.ok else ("NO " if finding.needed else "-- ")
        click.echo(f"{mark} {finding.name:<8} {finding.detail}")
        if finding.mend:
            click.echo(f"{'':<13}mend: {finding.mend}")
    return 0 if works else 1


def _hosts() -> tuple[str, ...]:
    """Hosts that the default benchmark lets pages load from."""
    from opendesign.cases.benchmark import load_protocol

    try:
        return load_protocol("opendesign", "standard").render.hosts
    except OpenDesignError:
        return ()
