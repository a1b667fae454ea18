"""The studies as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from opendesign.cli.output import print_table

if TYPE_CHECKING:
    from opendesign.studying.agreement import Agreement, Bin
    from opendesign.studying.correlation import Correlation
    from opendesign.studying.figure import Figure
    from opendesign.studying.power import Power
    from opendesign.studying.robustness import Pairing, Robustness
    from opendesign.studying.weights import Weights

_MOST = 12  # discordant pairs that are named


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
    """A table under its title, which a narrow table would break."""
    if title:
        click.echo(title)
    print_table(columns, rows)


def cell(figure: Figure) -> str:
    """A value with its first range."""
    if figure.value is None:
        return "–"
    ends = next(iter(figure.ranges.values()), None)
    return f"{figure.value:.2f}" + (f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "")


def print_correlation(found: Correlation) -> None:
    ours, theirs = found.ours, found.reference
    click.echo(
        f"{ours['name']} ({ours['score']}) against {theirs['title'] or theirs['name']} {theirs['date']}"
    )
    if theirs["credit"]:
        click.echo(f"Credit: {theirs['credit']}")
    _table(
        ["ours", "theirs", "how", "nearest name"],
        [[m.ours, m.theirs, m.how, m.near if m.theirs is None else None] for m in found.matches],
        title="Models",
    )
    _table(
        ["category", ">n", ">Spearman", ">p", ">Kendall", ">p", ">Footrule", ">ties", ">discordant"],
        [
            [r.category, r.n, cell(r.spearman), _p(r.spearman_p), cell(r.kendall), _p(r.kendall_p),
             cell(r.footrule), f"{r.our_ties}/{r.their_ties}", len(r.discordant)]
            for r in found.rankings
        ],
    )  # fmt: skip
    _legend(f for r in found.rankings for f in (r.spearman,))
    methods = "; ".join(dict.fromkeys(r.p_method for r in found.rankings if r.spearman_p is not None))
    if methods:
        click.echo(f"p: two-sided, {methods}.")
    for ranking in found.rankings:
        if ranking.spearman.value is None:
            click.echo(f"{ranking.category}: {ranking.spearman.why}")
        if ranking.discordant:
            named = "; ".join(f"{a} over {b}" for a, b in ranking.discordant[:_MOST])
            rest = len(ranking.discordant) - _MOST
            more = f"; and {rest} more" if rest > 0 else ""
            click.echo(f"Discordant, {ranking.category}: we have {named}{more}")
    _notes(found.notes)


def print_agreement(found: Agreement) -> None:
    counts = found.counts
    click.echo(
        f"{counts['votes']} votes by {counts['raters']} raters on {counts['pairs']} pairs of "
        f"{counts['pages']} pages; {counts['pairs_with_two_votes']} pairs have two votes or more; "
        f"{counts['ties']} ties"
        + (f", {counts['both_bad']} of the rows said both are bad" if counts["both_bad"] else "")
    )
    _figures("People among each other", found.people)
    for judge, judged in found.judges.items():
        _figures(f"{judge} against people", judged)
    if found.by_category:
        who = list(next(iter(found.by_category.values())))
        _table(
            ["category", *(f">{name}" for name in who)],
            [[category, *(cell(row[name]) for name in who)] for category, row in found.by_category.items()],
            title="By category",
        )
    _bins("People, by the gap of Elo ratings", found.people_by_gap)
    for judge, bins in found.judges_by_gap.items():
        _bins(f"{judge}, by the gap of its scores", bins)
    ends = [*found.ratings[:5], *found.ratings[max(5, len(found.ratings) - 5) :]]
    _table(
        ["page", ">Elo", ">95 % interval", ">votes", ">won"],
        [[r.name, f"{r.rating:.0f}", _ends(r.low, r.high), r.votes, f"{r.won:g}"] for r in ends],
        title="Bradley–Terry" + (", first and last five" if len(found.ratings) > 10 else ""),
    )
    for name, figure in found.rated.items():
        click.echo(
            f"{name.replace('_', ' ')} of the ratings: {figure}{' · ' + figure.why if figure.why else ''}"
        )
    _notes(found.notes)


def print_robustness(found: Robustness) -> None:
    click.echo(f"{len(found.judges)} judges over {len(found.models)} models and {found.cases} cases")
    _table(
        ["judges", ">Spearman", ">Kendall", ">per case", ">shift"],
        [[f"{p.first} – {p.second}", *map(cell, _compared(p).values())] for p in found.pairings],
    )
    for p in found.pairings:
        _gaps({f"{n} of {p.first} and {p.second}": f for n, f in _compared(p).items() if f.value is None})
    click.echo(f"ICC(2,1) {found.icc_2_1}; ICC(3,1) {found.icc_3_1}")
    _gaps({"ICC": found.icc_2_1})
    _table(
        ["judge", ">mean", ">coverage", ">own family", ">repeat ICC", ">repeat spread"],
        [
            [
                j.judge,
                cell(j.mean),
                f"{j.coverage:.0%}",
                *map(cell, (j.own_family, j.repeat_icc, j.repeat_spread)),
            ]
            for j in found.judges
        ],
    )
    _gaps({f"own-family bias of {j.judge}": j.own_family for j in found.judges if j.own_family.value is None})
    _gaps({f"repeatability of {j.judge}": j.repeat_icc for j in found.judges if j.repeat_icc.value is None})
    names = list(found.judges[0].size_bias)
    if names:
        _table(
            ["judge", *(f">{name}" for name in names)],
            [[j.judge, *(cell(j.size_bias[name]) for name in names)] for j in found.judges],
            title="Correlation with size, within a case",
        )
    _table(
        ["model", *(f">{j.judge}" for j in found.judges)],
        [[model, *(cell(j.by_model[model]) for j in found.judges)] for model in found.models],
        title="How much a judge favours a model, points",
    )
    rows = [("all", found.averaged), *((f"without {w.left_out}", w) for w in found.without)]
    rows += [(f"{w.judges[0]} alone", w) for w in found.alone]
    _table(
        ["ranking by", "leader", ">Kendall with all", "most moved", ">places"],
        [[name, w.leader, cell(w.kendall), w.most_moved, w.places] for name, w in rows],
    )
    _notes(found.notes)


def _compared(pairing: Pairing) -> dict[str, Figure]:
    return {
        "Spearman": pairing.spearman,
        "Kendall": pairing.kendall,
        "correlation per case": pairing.per_case,
        "shift": pairing.shift,
    }


def print_weights(found: Weights) -> None:
    used = ", ".join(f"{name} {weight:.2f}" for name, weight in found.weights.items())
    click.echo(f"Reward with {used}{'' if found.gated else ', ungated'}")
    channels = list(found.weights)
    _table(
        ["model", ">score", ">leads", *(f">{c}" for c in channels)],
        [
            [
                model,
                cell(score),
                f"{found.leads[model]:.0%}",
                *(cell(found.channel_means[model][c]) for c in channels),
            ]
            for model, score in found.scores.items()
        ],
    )
    _table(
        ["weight of", "leader from 0 to 1", "changes at", ">rank changes", ">leader stays"],
        [
            [s.channel, " → ".join(s.leaders), ", ".join(f"{c.weight:.3f}" for c in s.leader_changes) or None,
             s.rank_changes, f"{s.stable[0]:.3f} – {s.stable[1]:.3f}"]
            for s in found.sweeps
        ],
    )  # fmt: skip
    _notes(found.notes)


def print_power(found: Power) -> None:
    click.echo(f"Cases that separate two models by {found.score} with a chance of {found.power:.0%}")
    first = next((s for s in found.spreads if s.needs), None)
    columns = [f">d = {need.d:g}" for need in first.needs] if first else []
    rows: list[Sequence[Any]] = []
    for s in found.spreads:
        smallest = None if s.smallest is None else f"{s.smallest:.2f}"
        needs: list[int | None] = [need.cases for need in s.needs]
        needs = needs or [None] * len(columns)
        rows.append([s.category, s.cases, cell(s.spread), smallest, *needs])
    _table(["category", ">cases", ">spread", ">separates", *columns], rows)
    for s in found.spreads:
        if s.why:
            click.echo(f"{s.category}: {s.why}")
    simulated = first.needs[0].simulated_power if first else None
    if first and simulated and simulated.value is not None:
        click.echo(f"Simulated power at {first.needs[0].cases} cases: {simulated}")
    _notes(found.notes)


def _figures(title: str, figures: Any) -> None:
    named: dict[str, Figure] = {
        one.name.replace("_", " "): getattr(figures, one.name) for one in fields(figures)
    }
    rows = []
    for name, figure in named.items():
        value = None if figure.value is None else f"{figure.value:.3f}"
        kinds = [_ends(*figure.ranges[k]) if k in figure.ranges else None for k in _KINDS]
        rows.append([name, value, *kinds, figure.n])
    _table(["figure", ">value", *(f">by {kind}" for kind in _KINDS), ">votes"], rows, title)
    _gaps(named)


def _gaps(named: Mapping[str, Figure]) -> None:
    """Why a value or an interval is missing: each reason once, with the figures it holds for."""
    for missing, prefix in ((True, "No "), (False, "No interval of ")):
        reasons: dict[str, list[str]] = {}
        for name, figure in named.items():
            if figure.why and (figure.value is None) == missing:
                reasons.setdefault(figure.why, []).append(name)
        for why, names in reasons.items():
            click.echo(f"{prefix}{', '.join(names)}: {why}" if missing or len(names) < len(named) else why)


_KINDS = ("cases", "raters", "cases and raters")


def _bins(title: str, bins: Sequence[Bin]) -> None:
    if bins:
        _table(
            [">gap from", ">to", ">agreement", ">votes"],
            [[f"{b.least:.1f}", f"{b.most:.1f}", cell(b.agreement), b.agreement.n] for b in bins],
            title=title,
        )


def _ends(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:.2f} – {high:.2f}"


def _p(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _legend(figures: Iterable[Figure]) -> None:
    names = list(dict.fromkeys(next(iter(f.ranges)) for f in figures if f.ranges))
    if names:
        click.echo(f"In brackets: {', '.join(_MEANING.get(name, name) for name in names)}.")


_MEANING = {
    "models": "95 % interval over resampled models",
    "cases": "95 % interval over resampled cases",
    "one left out": "least and most with one model left out",
}


def _notes(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(f"Note: {note}")
