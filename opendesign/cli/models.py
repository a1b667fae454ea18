"""``opendesign models``: what can be asked from here."""

from __future__ import annotations

from pathlib import Path

import click


@click.group("models", help="What can be asked from here.")
def models() -> None:
    pass


@models.command(
    "list", help="Builtin controls, models described in models.toml, and providers with their keys."
)
@click.option("--models-file", type=click.Path(path_type=Path), help="Models described in TOML.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def list_models(models_file: Path | None, as_json: bool) -> None:
    from opendesign.answering.models import listed
    from opendesign.canonical import to_json

    rows = listed(models_file)
    if as_json:
        click.echo(to_json(rows))
        return
    width = max(len(row.name) for row in rows)
    for row in rows:
        key = "" if row.key is None else f"  {row.key} is {'set' if row.ready else 'not set'}"
        click.echo(f"{row.name:<{width}}  {row.about}{key}")
