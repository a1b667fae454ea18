"""``opendesign ballot build / tally``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opendesign.cli.output import percent, print_json, print_table

if TYPE_CHECKING:
    from opendesign.balloting import Built, Tally

_MOST = 40  # of what was dropped, shown on a terminal
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")


@click.group()
def ballot() -> None:
    """A blind pairwise vote for people, and its counts.

    RUN is a path, or a name under runs/.
    """


@ballot.command(context_settings={"show_default": True})
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN…")
@click.option("--pairs", default=30, metavar="N", help="Pairs to ask about, balanced by case and models.")
@click.option("--seed", default=0, metavar="S", help="Another seed draws other pairs, sides and order.")
@click.option("--repeats", default=3, metavar="K", help="Pairs that are asked again, sides swapped.")
@click.option(
    "--checks", default=3, metavar="K", help="Attention checks: a good page against the same one spoilt."
)
@click.option("--out", default="ballot.html", type=click.Path(path_type=Path), metavar="FILE")
@_JSON
def build(
    runs: tuple[str, ...], pairs: int, seed: int, repeats: int, checks: int, out: Path, as_json: bool
) -> None:
    """Write a ballot: one HTML file for people, and FILE.key.json for you.

    The runs are of different models on the same cases, with their pictures on this machine. The ballot names
    neither; who opens it votes offline and saves a file of votes, for `ballot tally`.
    """
    from opendesign.balloting import build_ballot

    built = build_ballot(runs, out, pairs=pairs, seed=seed, repeats=repeats, checks=checks)
    if as_json:
        print_json(built.to_dict())
    else:
        _print_built(built)


def _print_built(built: Built) -> None:
    from opendesign.balloting.pictures import BYTES, HEIGHT, WIDTH

    for note in built.notes:
        click.echo(f"Note: {note}", err=True)
    click.echo(
        f"{built.pairs} pairs, {built.repeats} repeats and {built.checks} attention checks over "
        f"{built.pictures} pictures: {built.file} ({built.bytes / 1e6:.1f} MB)"
    )
    click.echo(
        f"Pictures are WebP, at most {WIDTH} pixels wide, {HEIGHT} tall and {BYTES // 1000} kB each; "
        "what is cut is marked."
    )
    click.echo(f"Give people that file, and keep {built.key}: without it votes cannot be counted.")


@ballot.command(context_settings={"show_default": True})
@click.argument("key", type=click.Path(path_type=Path))
@click.argument("votes", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="VOTES…")
@click.option("--fastest", default=2.0, metavar="SECONDS", help="A vote that took less is not counted.")
@click.option("--most-hasty", default=0.5, metavar="SHARE",
              help="Of a rater's votes that are too fast; beyond it none of them count.")  # fmt: skip
@click.option("--most-failed", default=1 / 3, show_default="1/3", metavar="SHARE",
              help="Of a rater's attention checks that are failed; beyond it no vote counts.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the counted votes there as CSV, for `study agreement`.")  # fmt: skip
@_JSON
def tally(
    key: Path,
    votes: tuple[Path, ...],
    fastest: float,
    most_hasty: float,
    most_failed: float,
    out: Path | None,
    as_json: bool,
) -> int:
    """Count the votes that people saved.

    KEY is the file that `ballot build` wrote beside the ballot, VOTES are files saved from it. Says what is
    not counted and why. With --json the document is a study's: saved as results/studies/NAME.json it is a
    section of the site. The exit code is 1 where a file could not be used or no vote counts.
    """
    from opendesign.balloting import Limits, read_key
    from opendesign.balloting import tally as count
    from opendesign.balloting.votes_table import write_table

    limits = Limits(fastest_s=fastest, most_hasty=most_hasty, most_failed=most_failed)
    found = count(read_key(key), votes, limits)
    if out is not None:
        write_table(out, found.table)
    if as_json:
        print_json(found.to_dict())
    else:
        _print_tally(found, out)
    return (
        1 if not found.votes or any(f.reason in ("unreadable", "other_ballot") for f in found.dropped) else 0
    )


def _print_tally(found: Tally, out: Path | None) -> None:
    counts, limits = found.counts, found.limits
    counting = sum(not rater.dropped for rater in found.raters)
    click.echo(
        f"Ballot {found.ballot}: {found.votes} votes by {counting} of {len(found.raters)} raters count. "
        f"{counts['left'] + counts['right']} choose a page ({percent(found.left_share)} the left one), "
        f"{counts['tie']} are ties, {counts['both_bad']} say both are bad, which counts as a tie."
    )
    if found.repeats:
        click.echo(f"Asked again, {found.consistent} of {found.repeats} votes said the same.")
    if found.ratings:
        _print_ratings(found)
    print_table(
        ["rater", ">answered", ">counted", ">too fast", ">checks failed", ">repeats alike", "dropped"],
        [
            [r.rater, r.answered, r.counted, r.too_fast, f"{r.failed}/{r.checks}",
             f"{r.consistent}/{r.repeats}", r.dropped or None]
            for r in found.raters
        ],
    )  # fmt: skip
    click.echo(
        f"Limits: a vote takes {limits.fastest_s:g} s or more; of a rater's votes at most "
        f"{limits.most_hasty:.0%} are faster, and of the attention checks at most {limits.most_failed:.0%} "
        "failed."
    )
    _print_dropped(found)
    if out is not None:
        click.echo(f"Votes written to {out}: opendesign study agreement {out} --run RUN …")


def _print_ratings(found: Tally) -> None:
    from opendesign.site.writing import short

    print_table(
        ["model", ">Elo", ">95 % interval", ">votes", ">won, ties as half"],
        [
            [short(r.name), f"{r.rating:.0f}", _ends(r.low, r.high), r.votes, f"{r.won:g}"]
            for r in found.ratings
        ],
        title="Bradley–Terry on the Elo scale",
    )
    if any(r.low is None for r in found.ratings):
        click.echo("No interval below five raters: so few say too little about the rest.")
    print_table(
        ["first", "second", ">first won", ">second won", ">tie", ">both bad"],
        [
            [short(p.first), short(p.second), p.first_won, p.second_won, p.tie, p.both_bad]
            for p in found.pairs
        ],
    )


def _print_dropped(found: Tally) -> None:
    from opendesign.balloting.votes_file import REASONS

    if not found.dropped:
        click.echo("Nothing was dropped.")
        return
    click.echo("Not counted: " + "; ".join(f"{n} {reason}" for reason, n in found.lost.items()))
    rows: list[Sequence[object]] = [
        [d.file, d.rater or None, d.question or None, d.votes, REASONS[d.reason], d.detail or None]
        for d in found.dropped[:_MOST]
    ]
    print_table(["file", "rater", "question", ">votes", "why", "in detail"], rows)
    if len(found.dropped) > _MOST:
        click.echo(f"… and {len(found.dropped) - _MOST} more: --json lists them all.")


def _ends(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:.0f} – {high:.0f}"
