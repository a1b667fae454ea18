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
    """List, show, copy, check and import the judge cards."""


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


@judges.command()
@click.argument("name")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=1), help="Good pages.")
@click.option("--seed", default=0, show_default=True, help="Draws the pages and what is done to them.")
@click.option(
    "--pages",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of good HTML pages, for half of them; the rest is the builtin template.",
)
@click.option("--kinds", help="With commas, or all; default: those the judge is meant to see, and harmless.")
@click.option(
    "--judge-model", "judge_models", multiple=True, metavar="JUDGE=MODEL", help="Which model judges."
)
@click.option("--budget", type=float, metavar="USD", help="Spend at most so much, resumes included.")
@click.option("--concurrency", default=16, show_default=True, type=click.IntRange(min=1), help="At once.")
@click.option("--browser", help="Path of the browser to use.")
@click.option(
    "--run", "folder", type=click.Path(path_type=Path), help="Where it is kept; default: under runs/."
)
@click.option(
    "--markdown",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the table to this file too, as Markdown.",
)
@_json
def check(
    name: str,
    limit: int,
    seed: int,
    pages: Path | None,
    kinds: str | None,
    judge_models: tuple[str, ...],
    budget: float | None,
    concurrency: int,
    browser: str | None,
    folder: Path | None,
    markdown: Path | None,
    as_json: bool,
) -> int:
    """What a judge can tell apart: good pages against copies that are damaged in one known way each.

    Exit code 1 where it misses what it is meant to see, lowers the score of harmless edits, or leaves a page
    unscored. The same command again resumes.
    """
    from opendesign.cli import check_table
    from opendesign.cli.output import Progressing, parse_names, parse_pairs, print_json
    from opendesign.errors import UsageError
    from opendesign.running.check import carry_out_check, plan_check
    from opendesign.running.execute import run_sync

    if markdown is not None and not markdown.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {markdown.parent} for --markdown: make it first.")
    plan = plan_check(
        name,
        limit=limit,
        seed=seed,
        pages=pages,
        kinds=parse_names(kinds),
        judge_models=parse_pairs(judge_models, "--judge-model"),
        budget=budget,
        folder=folder,
    )
    progress = Progressing()
    try:
        found = run_sync(lambda: carry_out_check(plan, progress, concurrency=concurrency, browser=browser))
    finally:
        progress.close()
    if markdown is not None:
        check_table.write_markdown(found, markdown)
    if as_json:
        print_json(found.to_dict())
    else:
        check_table.print_check(found)
    return 0 if found.sound and not found.unscored else 1


@judges.command("import")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("dest", required=False, default=Path("judges"), type=click.Path(path_type=Path))
@_json
def import_(path: Path, dest: Path, as_json: bool) -> None:
    """Make cards with the released prompts, from your own checkout of the released benchmark at PATH.

    They are static-released and interactive-released, in DEST (default: ./judges). Nothing of the checkout is
    executed.
    """
    from opendesign.cli.output import print_json
    from opendesign.judging.importing import import_judges

    made = import_judges(path, dest)
    if as_json:
        print_json({"judges": [_document(card) for card in made]})
        return
    for card in made:
        click.echo(f"The judge '{card.name}' was written to {card.path}.")


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
