"""``opendesign judges``: who scores, with which settings, and how to start a judge of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from opendesign.types import Card

_json = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, and nothing else there."
)


@click.group()
def judges() -> None:
    """List, show and copy the judge cards."""


@judges.command("list")
@_json
def list_(as_json: bool) -> None:
    """The judges, with what each looks at and its headline measure."""
    from opendesign.cli.output import print_json, print_rows
    from opendesign.judging.cards import cards

    found, unsound = cards()
    for error in unsound:
        click.echo(f"Note: {error}", err=True)
    if as_json:
        print_json({"judges": [_document(card) for card in found]})
        return
    rows = [[card.name, card.version, _headline(card), _needs(card), card.about] for card in found]
    print_rows(["judge", ">version", "headline", "needs", "about"], rows)


@judges.command()
@click.argument("name")
@_json
def show(name: str, as_json: bool) -> None:
    """One judge in full: its measures, settings and every text of its card."""
    from opendesign.cli.output import print_json, print_rows
    from opendesign.judging.cards import load_card

    card = load_card(name)
    if as_json:
        print_json({**_document(card), "settings": card.settings, "files": card.files})
        return
    click.echo(f"{card.name} {card.version} ({card.hash}), engine {card.engine}, in {card.path}")
    click.echo(card.about)
    if card.stands_in_for:
        click.echo(f"Stands in for {card.stands_in_for} where no model is configured for that.")
    rows = [
        [f"{card.name}.{key}", f"{m.low:g} to {m.high:g}", m.kind, m.about]
        for key, m in card.measures.items()
    ]
    print_rows(["measure", ">range", "kind", "about"], rows)
    for file in (card.path / "judge.toml", *(card.path / name for name in card.files)):
        click.echo(f"\n── {file.relative_to(card.path).as_posix()} ──")
        click.echo(file.read_text(encoding="utf-8").rstrip())


@judges.command()
@click.argument("name")
@click.argument("dest", required=False, type=click.Path(path_type=Path))
@_json
def copy(name: str, dest: Path | None, as_json: bool) -> None:
    """Copy a judge to edit it.

    DEST is the new card's folder, and its last part the new card's name: judges/mine. Without it the copy
    goes into ./judges and takes the place of the judge it was copied from.
    """
    from opendesign import content
    from opendesign.cli.output import print_json
    from opendesign.judging.cards import copy_card, read_card

    card = read_card(copy_card(name, dest))
    if as_json:
        print_json(_document(card))
        return
    click.echo(f"The judge '{name}' was copied to {card.path}: edit it there.")
    if content.listing("judges").get(card.name, Path()).absolute() != card.path.absolute():
        click.echo("It is found by name only in ./judges or in $OPENDESIGN_HOME/judges.", err=True)


def _document(card: Card) -> dict[str, Any]:
    from opendesign.canonical import plain

    document: dict[str, Any] = plain(card)
    del document["settings"], document["files"]
    return document


def _headline(card: Card) -> str:
    name, measure = next((name, m) for name, m in card.measures.items() if m.headline)
    return f"{name}, {measure.low:g} to {measure.high:g}"


def _needs(card: Card) -> str:
    return " and ".join(["a live page"] * card.live + ["a model"] * card.needs_model) or "the stored page"
