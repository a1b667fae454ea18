"""The columns of a board: which numbers a run shows, as text and as what it is sorted by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from opendesign.site.ranking import ALL, Group, scores_in
from opendesign.site.reading import Entry
from opendesign.site.writing import short

__all__ = ["Cell", "Column", "fact_columns", "score_columns"]


@dataclass(frozen=True, slots=True)
class Cell:
    """``text`` is shown, ``value`` sorted by (None: at the end), ``sub`` is a second, quieter line."""

    text: str
    value: float | None = None
    sub: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    key: str
    title: str
    about: str
    cell: Callable[[Entry, str], Cell]  # of a run in a view
    low_is_good: bool = False
    scores: bool = True  # whether it differs between views


NONE = Cell("–")
#: measure of a role → title, scale, digits, what it means
_SCORES: tuple[tuple[str, str, str, str, float, int, str], ...] = (
    ("static", "alignment", "align", "Align", 1, 1, "Alignment with the request, 0 to 40"),
    ("static", "aesthetics", "aesth", "Aesth.", 1, 1, "Aesthetics, 0 to 30"),
    ("static", "structure", "struct", "Struct.", 1, 1, "Structure, 0 to 30"),
    ("static", "good", "good", "Good", 100, 0, "Share of pages with a total of 75 or more, in percent"),
    ("interactive", "points", "points", "Inter. pts", 1, 2, "Interactions that worked, of those planned"),
    (
        "interactive",
        "rate",
        "rate",
        "Inter. %",
        100,
        0,
        "Interactions that worked, in percent of those planned",
    ),
    (
        "execution",
        "passed",
        "exec",
        "Exec.",
        100,
        0,
        "Share of pages that keep every rule of sound HTML, in percent",
    ),
    ("plot-visual", "good", "good", "Good", 100, 0, "Share of plots with 75 or more, in percent"),
    ("plot-task", "score", "task", "Task", 1, 1, "The plot against its description alone, 0 to 100"),
)


#: share of a run's plots → title, what it means
_RATES: tuple[tuple[str, str, str], ...] = (
    ("error", "Error %", "Share of answers without code that runs, in percent"),
    ("no_plot", "No plot %", "Share of answers whose code drew nothing, in percent"),
    ("blank", "Blank %", "Share of answers whose plot is blank, in percent"),
)


def score_columns(group: Group) -> list[Column]:
    """Columns of scores that at least one run of the group has, the headline first."""
    headline = group.headline or ""
    title = "Total" if group.kind == "pages" else "Plot"
    columns = [Column("total", title, f"{headline}, 0 to 100, with its 95 % interval", _total(headline))]
    for role, measure, key, title, scale, digits, about in _SCORES:
        name = group.first.score_of(role, measure)
        # A part of that name may be another thing in a stand-in: it is shown for the role's own judge only.
        if name and (role != "static" or not group.smoke):
            columns.append(Column(key, title, f"{about} ({name})", _score(name, scale, digits)))
    if group.kind == "plots":
        columns += [Column(key, title, about, _rate(key), low_is_good=True) for key, title, about in _RATES]
    return columns


def fact_columns(group: Group) -> list[Column]:
    """What a run took, and what of it failed: the same in every view."""
    return [
        *_plot_columns(group),
        Column("cost", "$ / case", "Cost of answering and judging, in US dollars", _cost, True, False),
        Column("seconds", "s / case", "Mean seconds until an answer was there", _seconds, True, False),
        Column("tokens", "Tokens", "Completion tokens a case, judges' included", _tokens, True, False),
        Column(
            "cover",
            "Coverage",
            "Share of answers scored, of the least covered judge",
            _coverage,
            scores=False,
        ),
        Column(
            "failed",
            "Failed",
            "Answers ended by the model, by a judge, by the instrument",
            _failed,
            True,
            False,
        ),
    ]


def _plot_columns(group: Group) -> list[Column]:
    """What models of this group did on plots, where they were asked for some."""
    found = [entry for entry in group.entries if entry.model in group.beside]
    if not found:
        return []
    one = group.beside[found[0].model]
    title = short(str(one.manifest["benchmark"].get("title") or one.summary["benchmark"]["name"]))

    def plot(entry: Entry, view: str) -> Cell:
        there = group.beside.get(entry.model)
        return _total(there.headline or "")(there, ALL) if there else NONE

    def error(entry: Entry, view: str) -> Cell:
        there = group.beside.get(entry.model)
        return _rate("error")(there, ALL) if there else NONE

    return [
        Column("plots", "Plots", f"{title}: {one.headline}, 0 to 100", plot, scores=False),
        Column("plot-errors", "Plot err. %", f"{title}: answers without code that runs", error, True, False),
    ]


def _rate(key: str) -> Callable[[Entry, str], Cell]:
    def cell(entry: Entry, view: str) -> Cell:
        plots = entry.summary.get("plots") or {}
        rates = plots.get("all") if view == ALL else (plots.get("by_library") or {}).get(view)
        share = (rates or {}).get(key)
        return (
            Cell(f"{share['mean']:.0%}".rstrip("%"), share["mean"], interval(share, 100, 0))
            if share
            else NONE
        )

    return cell


def _total(name: str) -> Callable[[Entry, str], Cell]:
    def cell(entry: Entry, view: str) -> Cell:
        found = scores_in(entry, view).get(name)
        if not found:
            return NONE
        return Cell(f"{found['mean']:.1f}", found["mean"], interval(found, 1, 1))

    return cell


def _score(name: str, scale: float, digits: int) -> Callable[[Entry, str], Cell]:
    def cell(entry: Entry, view: str) -> Cell:
        found = scores_in(entry, view).get(name)
        return Cell(f"{found['mean'] * scale:.{digits}f}", found["mean"] * scale) if found else NONE

    return cell


def interval(estimate: Mapping[str, Any], scale: float = 1, digits: int = 1) -> str:
    """``69.1 – 73.0``, or nothing where there is no interval."""
    low, high = estimate.get("low"), estimate.get("high")
    return "" if low is None or high is None else f"{low * scale:.{digits}f} – {high * scale:.{digits}f}"


def _coverage(entry: Entry, view: str) -> Cell:
    share = min(entry.summary["coverage"].values(), default=None)
    return NONE if share is None else Cell(_percent(share), share)


def _percent(share: float) -> str:
    """Rounded, but never up to a whole that was not reached."""
    return f"{min(share, 0.99) if share < 1 else share:.0%}"


def _failed(entry: Entry, view: str) -> Cell:
    owners = entry.summary.get("failures_by_owner") or {}
    counts = [int(owners.get(owner, 0)) for owner in ("model", "judge", "instrument")]
    return Cell(" · ".join(map(str, counts)), float(sum(counts)))


def _cost(entry: Entry, view: str) -> Cell:
    cost = cost_of(entry)
    return Cell("unknown") if cost is None else Cell(f"{cost:.4f}" if 0 < cost < 0.1 else f"{cost:.2f}", cost)


def cost_of(entry: Entry) -> float | None:
    """US dollars an answer."""
    cost = entry.summary.get("cost_usd")
    answers = len(entry.cases) * int(entry.manifest["samples"])
    return None if cost is None or not answers else float(cost) / answers


def _seconds(entry: Entry, view: str) -> Cell:
    seconds = entry.summary.get("answer_seconds")
    return NONE if seconds is None else Cell(f"{seconds:.1f}", float(seconds))


def _tokens(entry: Entry, view: str) -> Cell:
    answers = len(entry.cases) * int(entry.manifest["samples"])
    tokens = entry.summary.get("completion_tokens") or 0
    return NONE if not answers else Cell(f"{tokens / answers:,.0f}", tokens / answers)
