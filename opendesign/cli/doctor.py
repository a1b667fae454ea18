"""``opendesign doctor``: what works here, and what mends the rest."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opendesign.cli.output import print_json
from opendesign.errors import OpenDesignError

if TYPE_CHECKING:
    from opendesign.rendering.inspection import Finding

#: Settings of the kernel by which systems keep ordinary users from namespaces, and the value that does not.
_NAMESPACES = {"apparmor_restrict_unprivileged_userns": "0", "unprivileged_userns_clone": "1"}


@click.command(short_help="What works on this machine, and what mends the rest.")
@click.option("--browser", help="Path of a browser; otherwise the best one that is found.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def doctor(browser: str | None, as_json: bool) -> int:
    """Look at browser, sandbox, WebGL, fonts, keys (names only), network and the isolation of plots' code.

    Exit code 1 when something is missing without which no page can be rendered.
    """
    from opendesign.canonical import plain
    from opendesign.rendering.inspection import inspect

    findings = (*asyncio.run(inspect(browser, _hosts())), _plots())
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


def _plots() -> Finding:
    """What protects this machine from the code of plots: a process is started and isolated to know it."""
    from opendesign.plotting.parent import GET_LIBRARIES, isolation_here, missing_libraries
    from opendesign.rendering.inspection import Finding

    ok, detail = isolation_here()
    if not ok:
        return Finding(name="plots", ok=False, detail=f"no isolation: {detail}", mend=_namespaces())
    missing = missing_libraries()
    if missing:
        detail = f"isolated, but without {' and '.join(missing)} none is drawn"
        return Finding(name="plots", ok=False, detail=detail, mend=GET_LIBRARIES)
    return Finding(name="plots", ok=True, detail=detail)


def _namespaces() -> str | None:
    """The command that lets ordinary users have namespaces, where a setting of the kernel does not."""
    for name, value in _NAMESPACES.items():
        file = Path("/proc/sys/kernel", name)
        if file.exists() and file.read_text(encoding="ascii").strip() != value:
            return f"sysctl -w kernel.{name}={value}"
    return None
