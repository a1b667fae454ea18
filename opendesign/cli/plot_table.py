"""The rates of a run of plots as tables in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from opendesign.cli.output import cost, print_table, short

if TYPE_CHECKING:
    from opendesign.running.plot_rates import PlotRates, Rates
    from opendesign.running.statistics import Estimate


def print_plot_rates(plots: PlotRates, *, every: bool = False) -> None:
    """Errors, nothing drawn and blanks, with each judge's median and good rate; ``every``: by chart too."""
    judges = list(plots.all.judges)
    columns = ["plots", ">error", ">no plot", ">blank"]
    columns += [f">{judge} {what}" for judge in judges for what in ("median", "good")]
    groups = {"all": plots.all, **plots.by_library, **(plots.by_chart if every else {})}
    print_table(columns, [[name, *_cells(rates, judges)] for name, rates in groups.items()])
    if plots.repairs:
        shares = " → ".join(percent(share) for share in plots.repairs.runs)
        click.echo(
            f"Repairs, apart from the scores: code that draws after 0, 1 … tries {shares}; "
            f"{plots.repairs.asked} calls, {cost(plots.repairs.cost_usd)}"
        )


def _cells(rates: Rates, judges: list[str]) -> list[str]:
    cells = [percent(rates.error), percent(rates.no_plot), percent(rates.blank)]
    for judge in judges:
        one = rates.judges[judge]
        cells += [short(one.median), percent(one.good)]
    return cells


def percent(share: Estimate | None) -> str:
    """``12 % [4, 28]``."""
    if share is None:
        return "–"
    interval = "" if share.low is None or share.high is None else f" [{share.low:.0%}, {share.high:.0%}]"
    return f"{share.mean:.0%}" + interval.replace("%", "")
