"""The result of ``judges check`` for a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from opendesign.errors import UsageError

if TYPE_CHECKING:
    from opendesign.running.check_result import Check, KindResult
    from opendesign.running.statistics import Estimate

_MUST = {"sees": "fall", "resists": "not rise", "other": "", "harmless": "not fall"}


def print_check(found: Check) -> None:
    """A table, one row a kind of change, and what it comes to in a few sentences."""
    from opendesign.cli.output import cost, duration, print_table

    judge = f"{found.judge} ({found.judge_hash})" + (
        f" with {found.judge_model}" if found.judge_model else ""
    )
    pages = " and ".join(f"{count} {_SOURCES[source]}" for source, count in found.good_pages.items())
    click.echo(f"{judge}, by {found.judge}.{found.measure}, on {pages}")
    columns = ["change", "must", ">pages", ">fell (95 %)", ">rose", ">mean", ">median", "holds"]
    print_table(columns, [_row(kind) for kind in found.kinds])
    click.echo(f"Mean and median: of the falls, in points of {found.judge}.{found.measure}.")
    for sentence in _sentences(found):
        click.echo(sentence)
    click.echo(f"{cost(found.cost_usd)} · {found.calls} model calls · {duration(found.seconds)}")
    click.echo(f"Stored in {found.run}")


_SOURCES = {"template": "pages of the builtin template", "given": "given pages"}


def _row(kind: KindResult) -> list[str]:
    holds = {True: "yes", False: "NO", None: ""}[kind.holds]
    return [
        kind.kind,
        _MUST[kind.role],
        str(kind.pages),
        _share(kind.fell) + _interval(kind.fell),
        _share(kind.rose),
        _points(kind.mean_fall),
        _points(kind.median_fall),
        holds,
    ]


def write_markdown(found: Check, path: Path) -> None:
    """The table as a file. Raises ``UsageError`` where it cannot be written."""
    try:
        path.write_text(markdown(found), encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise UsageError(
            f"Cannot write {path} ({reason}): name another file with --markdown and repeat the command."
        ) from error


def markdown(found: Check) -> str:
    """The result as a table for a document: one row a kind of change."""
    pages = " and ".join(f"{count} {_SOURCES[source]}" for source, count in found.good_pages.items())
    judge = f"`{found.judge}`" + (f" with {found.judge_model}" if found.judge_model else "")
    lines = [
        f"**{judge}** (card {found.judge_hash}), by `{found.judge}.{found.measure}`, on {pages}, "
        f"seed {found.seed}",
        "",
        "| kind | meant to | pages | fell, % [95 %] | mean fall |",
        "|---|---|---:|---:|---:|",
    ]
    lines += [
        f"| {kind.kind} | {_MUST[kind.role] or '–'} | {kind.pages} | {_percent(kind.fell)} | "
        f"{_points(kind.mean_fall)} |"
        for kind in found.kinds
    ]
    if found.harmless is not None:
        lines.append(
            f"| all harmless edits | not fall | {found.harmless.n} | {_percent(found.harmless)} | |",
        )
    lines += ["", *(f"{sentence}  " for sentence in _sentences(found))]
    return "\n".join(lines).rstrip() + "\n"


def _percent(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    interval = _interval(estimate).strip(" ()")
    return f"{100 * estimate.mean:.1f}" + (f" [{interval}]" if interval else "")


def _interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    return f" ({100 * estimate.low:.0f}–{100 * estimate.high:.0f})"


def _share(estimate: Estimate | None) -> str:
    return "–" if estimate is None else f"{estimate.mean:.0%}"


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _sentences(found: Check) -> list[str]:
    said = []
    if found.meets:
        said.append(f"Told at 95 % of the pages or more: {', '.join(found.meets)}.")
    if found.misses:
        said.append(f"Missed: {', '.join(found.misses)}.")
    if found.harmless is not None:
        rule = "at most 5 %, as it should be" if found.spares else "more than the 5 % that may be"
        said.append(
            f"Harmless edits lowered the score at {found.harmless.mean:.1%} of {found.harmless.n}: {rule}."
        )
    noise = "the judge's own noise" if found.judge_model else "the page, rendered twice,"
    said.append(f"A fall counts beyond {found.tolerance:.3g} points, and beyond what {noise} makes.")
    left: dict[str, int] = {}
    for kind in found.kinds:
        for status, count in kind.left_out.items():
            left[status] = left.get(status, 0) + count
    said += [f"{count} pairs left out: {_WHY[status]}" for status, count in sorted(left.items())]
    return said


_WHY = {
    "absent": "the page has nothing that this can happen to.",
    "floor": "the good page has the lowest score already, or none.",
    "unseen": "the change does not show on that page as it is meant.",
    "unscored": "a page could not be rendered or judged; the same command tries it again.",
}
