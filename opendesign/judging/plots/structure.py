"""What two plots have in common, read off their facts: kinds of marks, axes, texts, data.

Each part is a share from 0 to 1, or None where the reference has nothing of it. Axes are compared in reading
order; colour bars are counted, not compared. Series are paired by what they have most in common.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from opendesign.judging.plots.values import Closeness, Marks, marks_alike, marks_of, pooled

if TYPE_CHECKING:
    from opendesign.plotting.facts import AxesFacts, PlotFacts, SeriesFacts

__all__ = ["PARTS", "Part", "compare"]

PARTS = ("kind", "axes", "texts", "data")
_MOST = 20  # texts that are not found as they are, for which the nearest is looked for
_ROW = 0.02  # of the figure's height: tops closer than this are one row of panels


@dataclass(slots=True)
class Part:
    """Scores of one part, their weights, and what differs, in sentences."""

    scores: list[tuple[float, float]] = field(default_factory=list)  # score, weight
    differs: list[str] = field(default_factory=list)

    def add(self, score: float, differs: str = "", weight: float = 1.0) -> None:
        self.scores.append((score, weight))
        if differs and score < 1:
            self.differs.append(differs)

    @property
    def score(self) -> float | None:
        whole = sum(weight for _, weight in self.scores)
        return sum(score * weight for score, weight in self.scores) / whole if whole else None


def compare(reference: PlotFacts, plot: PlotFacts, close: Closeness) -> Mapping[str, Part]:
    """Every part of ``PARTS``, of ``plot`` against ``reference``."""
    from opendesign.plotting.facts import AxesFacts

    wanted, drawn = _in_order(reference), _in_order(plot)
    parts = {name: Part() for name in PARTS}
    if len(wanted) != len(drawn):
        told = f"There are {len(drawn)} axes instead of {len(wanted)}."
        parts["axes"].differs.append(told)
    _titles(reference, plot, parts["texts"])
    for a, b in zip(wanted, drawn, strict=False):
        _kinds(a, b, parts["kind"])
        _frame(a, b, parts["axes"])
        _texts(a, b, parts["texts"])
        _data(a, b, close, parts["data"])
    for _ in range(abs(len(wanted) - len(drawn))):  # missing axes, and axes that nobody asked for
        for name in ("kind", "axes", "data"):
            parts[name].add(0.0)
    for a in wanted[len(drawn) :]:
        _texts(a, AxesFacts(), parts["texts"])
    bars = [sum(axes.colorbar for axes in facts.axes) for facts in (reference, plot)]
    if bars[0]:
        parts["texts"].add(min(bars) / max(bars), f"There are {bars[1]} colour bars instead of {bars[0]}.")
    return parts


def _in_order(facts: PlotFacts) -> list[AxesFacts]:
    """Axes from the top left to the bottom right; those in one place, as twins are, as they were made.

    A colour bar is a pair of axes in matplotlib, which draw nothing themselves; in plotly it is part of one.
    """

    def place(axes: AxesFacts) -> tuple[int, int]:
        left, bottom, _, height = axes.box
        return -round((bottom + height) / _ROW), round(left / _ROW)

    return sorted((axes for axes in facts.axes if axes.series or not axes.colorbar), key=place)


def _kinds(a: AxesFacts, b: AxesFacts, part: Part) -> None:
    wanted, drawn = ({_kind(series) for series in axes.series} for axes in (a, b))
    if wanted or drawn:
        score = len(wanted & drawn) / len(wanted | drawn)
        part.add(score, f"Drawn: {_listed(drawn)}; wanted: {_listed(wanted)}.")


def _kind(series: SeriesFacts) -> str:
    return f"horizontal {series.kind}" if series.horizontal else series.kind


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _frame(a: AxesFacts, b: AxesFacts, part: Part) -> None:
    """One score a pair of axes, so that axes too many or too few weigh as much as others."""
    frame = Part(differs=part.differs)
    for name in ("projection", "xscale", "yscale"):
        wanted, drawn = getattr(a, name), getattr(b, name)
        frame.add(float(wanted == drawn), f"The {name} is {drawn} instead of {wanted}.")
    for name, scale in (("xlim", a.xscale), ("ylim", a.yscale)):
        wanted, drawn = getattr(a, name), getattr(b, name)
        if wanted is not None:
            told = f"The {name} is {_told(drawn)} instead of {_told(wanted)}."
            frame.add(_overlap(wanted, drawn, scale), told)
    part.add(frame.score or 0.0)


def _told(limits: tuple[float, float] | None) -> str:
    return "not there" if limits is None else f"{limits[0]:.4g} to {limits[1]:.4g}"


def _overlap(a: tuple[float, float], b: tuple[float, float] | None, scale: str) -> float:
    """What two ranges share of what they cover; 0 where one of them runs the other way."""
    if b is None:
        return 0.0
    if scale == "log" and min(*a, *b) > 0:
        a, b = (math.log(a[0]), math.log(a[1])), (math.log(b[0]), math.log(b[1]))
    if (a[0] > a[1]) != (b[0] > b[1]):
        return 0.0
    whole = max(*a, *b) - min(*a, *b)
    if not math.isfinite(whole):
        return 0.0
    shared = min(max(a), max(b)) - max(min(a), min(b))
    return max(0.0, shared) / whole if whole else 1.0


def _titles(reference: PlotFacts, plot: PlotFacts, part: Part) -> None:
    """All titles together: the one over the axes and the figure's own are the same to who looks."""
    wanted, drawn = (
        [text for text in (facts.title, *(axes.title for axes in _in_order(facts))) if text]
        for facts in (reference, plot)
    )
    if wanted:
        score = _found(wanted, drawn) / len(wanted)
        told = f"The title is {_quoted(' / '.join(drawn))} instead of {_quoted(' / '.join(wanted))}."
        part.add(score, told, weight=len(wanted))


def _texts(a: AxesFacts, b: AxesFacts, part: Part) -> None:
    for name in ("xlabel", "ylabel", "zlabel"):
        if wanted := getattr(a, name):
            drawn = getattr(b, name)
            part.add(_alike(wanted, drawn), f"The {name} is {_quoted(drawn)} instead of {_quoted(wanted)}.")
    for name in ("xticks", "yticks", "legend", "annotations"):
        wanted, drawn, ticks = getattr(a, name), getattr(b, name), name.endswith("ticks")
        if wanted:
            score = _found(wanted, drawn, exact=ticks) / max(len(wanted), len(drawn))
            # Ticks are chosen by the library as a rule: the two rows of them count as one text.
            part.add(
                score,
                f"The {name} {'differs' if name == 'legend' else 'differ'}.",
                weight=0.5 if ticks else 1.0,
            )


def _quoted(text: str) -> str:
    return f"'{text if len(text) <= 60 else f'{text[:59]}…'}'" if text else "not there"


def _same(text: str) -> float | str:
    """What makes two texts one: numbers are numbers, written with a true minus and in several ways."""
    try:
        number = float(text.replace("−", "-").replace(",", ""))
    except ValueError:
        number = math.nan
    return number if math.isfinite(number) else " ".join(text.casefold().replace("<br>", " ").split())


def _alike(a: str, b: str) -> float:
    one, other = _same(a), _same(b)
    if one == other:
        return 1.0
    return SequenceMatcher(None, str(one), str(other), autojunk=False).ratio()


def _found(wanted: Sequence[str], drawn: Sequence[str], *, exact: bool = False) -> float:
    """How many texts are drawn too, of one that is not the likeness of the text left that is most like it."""
    left = Counter(map(_same, drawn))
    total, missing = 0.0, []
    for text in wanted:
        if left[same := _same(text)]:
            left[same] -= 1
            total += 1
        else:
            missing.append(text)
    others = list(map(str, left.elements()))[:_MOST]
    for text in [] if exact else missing[:_MOST]:
        if others:
            scores = [_alike(text, other) for other in others]
            total += max(scores)
            others.pop(scores.index(max(scores)))
    return total


def _data(a: AxesFacts, b: AxesFacts, close: Closeness, part: Part) -> None:
    """Mean of two views: series by series, and all marks of a kind together.

    The second gives half of the credit to the same points in other groups.
    """
    if not a.series:
        return
    wanted, drawn = [marks_of(series) for series in a.series], [marks_of(series) for series in b.series]
    single = _matched(wanted, drawn, close)
    together = _matched(pooled(wanted), pooled(drawn), close)
    score = (single + together) / 2
    part.add(score, f"The values drawn agree by {100 * score:.0f} of 100.")


def _matched(wanted: Sequence[Marks], drawn: Sequence[Marks], close: Closeness) -> float:
    """Likeness of the pairs that have most in common, over the number of series of the fuller side."""
    pairs = sorted(
        (-marks_alike(a, b, close), i, j) for i, a in enumerate(wanted) for j, b in enumerate(drawn)
    )
    taken: tuple[set[int], set[int]] = (set(), set())
    total = 0.0
    for score, i, j in pairs:
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            total -= score
    return total / max(len(wanted), len(drawn))
