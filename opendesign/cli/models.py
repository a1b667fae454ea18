"""``opendesign models``: what can be asked from here."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def models() -> None:
    """What can be asked from here."""


@models.command("list")
@click.option(
    "--models-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Described models, else ./models.toml.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def list_models(models_file: Path | None, as_json: bool) -> None:
    """Builtin controls, models described in models.toml, and providers with the variable of their key."""
    from opendesign.answering.models import listed
    from opendesign.canonical import plain
    from opendesign.cli.output import print_json, print_rows

    rows = listed(models_file)
    if as_json:
        print_json({"models": plain(rows)})
        return
    keys = ["" if row.key is None else f"{row.key} is {'set' if row.ready else 'not set'}" for row in rows]
    print_rows(
        ["model", "about", "key"], [[row.name, row.about, key] for row, key in zip(rows, keys, strict=True)]
    )
