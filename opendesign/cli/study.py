"""``opendesign study correlation / agreement / robustness / weights / power / references``."""

from __future__ import annotations

from pathlib import Path

import click

from opendesign.cli.output import parse_names, print_json, print_rows

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
_SCORE = click.option(
    "--score",
    metavar="NAME",
    help="JUDGE.MEASURE of the runs (their headline by default), or a CSV's column.",
)


@click.group()
def study() -> None:
    """What the numbers are worth.

    RUN is a path, or a name under runs/. Runs that are put together have the same benchmark, protocol, cases,
    judge and kind of browser, one run a model.

    With --json a study is one document: saved as results/studies/NAME.json it is a section of the site.
    """


@study.command("references")
@_JSON
def list_references(as_json: bool) -> None:
    """Published rankings that a board can be held against."""
    from opendesign.studying.boards import load_reference, references

    boards = [load_reference(name) for name in references()]
    if as_json:
        print_json({"references": [{**b.about(), "models": len(b.models)} for b in boards]})
    else:
        print_rows(
            ["reference", "date", ">models", "score", "credit"],
            [[b.name, b.date, len(b.models), b.score, b.credit] for b in boards],
        )


@study.command()
@click.argument("sources", nargs=-1, required=True, metavar="RUN…|CSV|REFERENCE")
@click.option(
    "--reference", default="design-arena", show_default=True, help="A name of `study references`, or a CSV."
)
@click.option(
    "--match", "matches", type=click.Path(path_type=Path), metavar="FILE", help="Which names mean one model."
)
@_SCORE
@_JSON
def correlation(
    sources: tuple[str, ...], reference: str, matches: Path | None, score: str | None, as_json: bool
) -> None:
    """Does a ranking of ours agree with another one?

    A CSV has the columns model and score, and where there are such: category, case. One with the columns of a
    reference is read as a newer state of it. NAME:SCORE is another score of a reference (paper:interactive).

    \b
    opendesign study correlation paper
    opendesign study correlation RUN RUN RUN … --reference board.csv

    Names match where they are equal but for case, punctuation and the provider; nothing else is guessed. A
    --match FILE is TOML with lines "our name" = "their name", or "" for none.
    """
    from opendesign.cli.study_tables import print_correlation
    from opendesign.studying.boards import load_against, load_board
    from opendesign.studying.correlation import correlate
    from opendesign.studying.names import read_matches

    given = read_matches(matches) if matches is not None else None
    found = correlate(load_board(sources, score=score), load_against(reference), matches=given)
    if as_json:
        print_json(found.to_dict())
    else:
        print_correlation(found)


@study.command()
@click.argument("votes", type=click.Path(path_type=Path), metavar="VOTES.csv")
@click.option("--judge", "files", multiple=True, type=click.Path(path_type=Path), metavar="CSV",
              help="Scores of pages: page, score; judge, case where there are any. Repeatable.")  # fmt: skip
@click.option("--run", "runs", multiple=True, metavar="RUN",
              help="A run whose judges have scored the pages; a page is a model. Repeatable.")  # fmt: skip
@click.option("--judges", metavar="J,…", help="Which of the runs' judges; all by default.")
@_JSON
def agreement(
    votes: Path, files: tuple[Path, ...], runs: tuple[str, ...], judges: str | None, as_json: bool
) -> None:
    """Do judges agree with people, and people with each other?

    VOTES.csv has the columns rater (or session), left, right and choice (left, right, tie or both_bad), and
    where there are such: case, category. Ratings are taken too: rater, page, rating.
    """
    from opendesign.cli.study_tables import print_agreement
    from opendesign.studying.agreement import agree, judges_of
    from opendesign.studying.votes import read_votes

    read = read_votes(votes)
    scores, categories = judges_of(read, files=files, runs=runs, judges=parse_names(judges))
    found = agree(read, scores, categories=categories)
    if as_json:
        print_json(found.to_dict())
    else:
        print_agreement(found)


@study.command()
@click.argument("sources", nargs=-1, required=True, metavar="RUN…|CSV")
@click.option("--judges", metavar="J,…", help="Judges, or judge.measure; every judge by default.")
@_JSON
def robustness(sources: tuple[str, ...], judges: str | None, as_json: bool) -> None:
    """How far do scores and ranking depend on who judges?

    A CSV has the columns judge, model, case and score, and where there are such: category, repeat,
    judge_model, length, height.
    """
    from opendesign.cli.study_tables import print_robustness
    from opendesign.studying.panel import load_panel
    from opendesign.studying.robustness import robustness as study_robustness

    found = study_robustness(load_panel(sources, judges=parse_names(judges)))
    if as_json:
        print_json(found.to_dict())
    else:
        print_robustness(found)


@study.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option("--weight", "given", multiple=True, metavar="CHANNEL=NUMBER",
              help="Of execution, static or interactive; 0.1, 0.8 and 0.1 by default.")  # fmt: skip
@click.option("--ungated", is_flag=True, help="Pages that fail execution keep their other scores.")
@_JSON
def weights(runs: tuple[str, ...], given: tuple[str, ...], ungated: bool, as_json: bool) -> None:
    """What do the reward's weights do to the ranking?

    One weight at a time goes from 0 to 1 while the others share the rest in proportion.
    """
    from opendesign.cli.study_tables import print_weights
    from opendesign.studying.weights import load_channels, parse_weights
    from opendesign.studying.weights import weights as study_weights

    found = study_weights(load_channels(runs), given=parse_weights(given), gated=not ungated)
    if as_json:
        print_json(found.to_dict())
    else:
        print_weights(found)


@study.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN…|CSV")
@click.option("--difference", "differences", type=float, multiple=True, metavar="D",
              help="To separate; 1, 2, 3, 5 and 10 by default. Repeatable.")  # fmt: skip
@click.option("--power", default=0.8, show_default=True, help="Chance to separate them.")
@_SCORE
@_JSON
def power(
    runs: tuple[str, ...], differences: tuple[float, ...], power: float, score: str | None, as_json: bool
) -> None:
    """How many cases separate two models that differ by D?

    Out of the paired differences of two runs or more. A CSV has the columns model, case and score.
    """
    from opendesign.cli.study_tables import print_power
    from opendesign.studying.power import DIFFERENCES, power_study, power_table

    found = power_study(power_table(runs, score), differences=differences or DIFFERENCES, power=power)
    if as_json:
        print_json(found.to_dict())
    else:
        print_power(found)
