"""What the commands share: JSON on stdout, tables, progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from opendesign.running.report import Tally

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from opendesign.running.statistics import Estimate
    from opendesign.running.summary import Summary
    from opendesign.types import Answer, Artifact, Verdict


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def console(*, err: bool = False) -> Console:
    """A rich console; plain text where the stream is no terminal, and never cut there."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    # A pipe has no width: what is written there is as wide as it has to be.
    return Console(file=stream, width=None if stream.isatty() else 1_000, highlight=False)


def is_terminal() -> bool:
    """Whether stdout is read by a person."""
    return sys.stdout.isatty()


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A list on stdout: a table on a terminal, elsewhere one line a row with tabs, which nothing cuts."""
    if is_terminal():
        print_table(columns, rows)
    else:
        for row in rows:
            click.echo("\t".join("" if cell is None else " ".join(str(cell).split()) for cell in row))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str | None = None) -> None:
    """A table on stdout. ``>`` before a column's name sets it to the right, ``~`` cuts it to one line."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    one_line = any(column.startswith("~") for column in columns)
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, expand=one_line)
    for at, column in enumerate(columns):
        right, cut = column.startswith(">"), column.startswith("~")
        # Beside a column that is cut, the others keep their width.
        widest = max((len(str(row[at])) for row in rows), default=0) if one_line and not cut else None
        table.add_column(
            column.lstrip(">~"),
            justify="right" if right else "left",
            no_wrap=right or one_line or column in ("run", "score", "case"),
            overflow="ellipsis" if cut else "fold",
            ratio=1 if cut else None,
            min_width=widest,
        )
    for row in rows:
        table.add_row(*(Text("–" if cell is None else str(cell).replace("\n", " ")) for cell in row))
    console().print(table)


def parse_pairs(values: Sequence[str], option: str) -> dict[str, str]:
    """``NAME=VALUE`` arguments as a dict."""
    pairs = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not equals or not name or not rest:
            raise click.UsageError(f"{option} takes JUDGE=MODEL, not '{value}'.")
        pairs[name.strip()] = rest.strip()
    return pairs


def parse_names(value: str | None) -> tuple[str, ...]:
    """A list with commas."""
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


class Progressing(Tally):
    """Progress on stderr: a live line on a terminal, a plain one every few seconds otherwise."""

    def __init__(self, *, every_s: float = 10.0) -> None:
        super().__init__()
        self._every_s, self._last = every_s, time.monotonic()
        self._live: Progress | None = None
        self._console = console(err=True)

    def note(self, sentence: str) -> None:
        from rich.text import Text

        self._console.print(Text(f"Note: {sentence}"))

    def begin(self, journeys: int, judges: list[str]) -> None:
        super().begin(journeys, judges)
        if self._console.is_terminal:
            from rich.progress import BarColumn, Progress, TextColumn

            columns = [BarColumn(bar_width=24), TextColumn("{task.description}")]
            self._live = Progress(*columns, console=self._console, transient=True)
            self._live.start()
            self._live.add_task(self.line(), total=journeys)

    def step(self, step: str, outcome: Answer | Artifact | Verdict, *, fresh: bool) -> None:
        super().step(step, outcome, fresh=fresh)
        self._show()

    def finished(self) -> None:
        super().finished()
        self._show()

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(self._live.task_ids[0], completed=self.done, description=self.line())
        elif time.monotonic() - self._last >= self._every_s:
            self._last = time.monotonic()
            click.echo(self.line(), err=True)

    def line(self) -> str:
        """``12/60 cases · answer 20 · artifact 15 · … · $0.12 · 1 failed (truncated 1) · 2 min left``."""
        parts = [f"{self.done}/{self.journeys} cases"]
        parts += [f"{step.removeprefix('verdict-')} {count}" for step, count in self.steps.items()]
        if self.cost_usd is None:
            parts.append("cost unknown")
        elif self.cost_usd:
            parts.append(f"${self.cost_usd:.2f}")
        if self.failures:
            reasons = ", ".join(f"{reason} {count}" for reason, count in self.failures.most_common())
            parts.append(f"{sum(self.failures.values())} failed ({reasons})")
        if (left := self.seconds_left) is not None and self.done < self.journeys:
            parts.append(f"{duration(left)} left")
        return " · ".join(parts)

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def with_progress(work: Callable[[Progressing], Summary]) -> Summary:
    """Do ``work`` with a progress display that is taken away again, whatever happens."""
    progress = Progressing()
    try:
        return work(progress)
    finally:
        progress.close()


def finish(summary: Summary, *, as_json: bool, judges: Sequence[str] = ()) -> int:
    """Print a summary; the exit code is 1 where a judge, of those named, has not scored everything."""
    if as_json:
        print_json(summary.to_dict())
    else:
        print_summary(summary)
    asked = {name: share for name, share in summary.coverage.items() if name in judges} or summary.coverage
    return 0 if asked and min(asked.values()) >= 1.0 else 1


def print_summary(summary: Summary, *, every: bool = False) -> None:
    """The summary for a person: each judge's headline, or ``every`` measure."""
    out = click.echo
    benchmark, protocol = summary.benchmark, summary.protocol
    out(
        f"{summary.model} on {benchmark['name']} {benchmark['version']} ({benchmark['hash']}), "
        f"protocol {protocol['name']} ({protocol['hash']})"
    )
    samples = f" × {summary.samples} samples" if summary.samples > 1 else ""
    out(f"{summary.cases} cases{samples} · {cost(summary.cost_usd)} · {duration(summary.seconds)}")
    rows = []
    shown = {n: e for n, e in summary.scores.items() if every or n in summary.headlines.values()}
    for name, estimate in shown.items():
        judge = name.partition(".")[0]
        stands = summary.judges[judge].get("stands_in_for")
        label = f"{name}  (for {stands})" if stands and name == summary.headlines.get(judge) else name
        rows.append([label, *_cells(estimate), f"{summary.coverage[judge]:.0%}"])
    rows += [[j, "–", "–", "0", "0%"] for j, share in summary.coverage.items() if not share]
    print_table(["score", ">mean", ">95 % interval", ">n", ">coverage"], rows)
    if any(estimate.low is None for estimate in shown.values()):
        out("No interval below five cases: so few say too little about the rest.")
    heads = [name for name in summary.scores if name in summary.headlines.values()]
    if heads and len(summary.by_category) > 1:
        print_table(
            ["category", *(f">{name}" for name in heads)],
            [
                [category, *(short(scores.get(name)) for name in heads)]
                for category, scores in summary.by_category.items()
            ],
        )
    if summary.plots:
        from opendesign.cli.plot_table import print_plot_rates

        print_plot_rates(summary.plots, every=every)
    if summary.failures:
        counts = ", ".join(f"{reason} {count}" for reason, count in summary.failures.items())
        owners = ", ".join(f"{owner} {count}" for owner, count in summary.failures_by_owner.items())
        out(f"Failures: {counts} (by owner: {owners})")
        for reason in summary.failures:
            out(f"  {reason}: {summary.failure_details.get(reason, '')}")
    if summary.affected_by_network:
        out(f"{summary.affected_by_network:.0%} of the pages had requests that were refused or failed.")
    if summary.changed_resources:
        out(f"{summary.changed_resources} addresses gave different bytes to pages of this run.")
    if all(judge.get("model") is None for judge in summary.judges.values()):
        out("Key-free judges: a smoke test, not the benchmark's quality score.")
    out(f"Stored in {summary.run}")


def _cells(estimate: Estimate) -> list[str]:
    low, high = estimate.low, estimate.high
    interval = "–" if low is None or high is None else f"{_number(low)} – {_number(high)}"
    return [_number(estimate.mean), interval, str(estimate.n)]


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00")


def short(estimate: Estimate | None) -> str:
    """``71.2 [69.1, 73.0]``."""
    if estimate is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return _number(estimate.mean)
    return f"{_number(estimate.mean)} [{_number(estimate.low)}, {_number(estimate.high)}]"


def cost(usd: float | None) -> str:
    return "cost unknown" if usd is None else f"${usd:.2f}"


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def mean_of(scores: Mapping[str, Estimate], name: str | None) -> str | None:
    return f"{scores[name].mean:.2f}" if name is not None and name in scores else None
