"""What a plot shows, read off the figure object. Frozen, JSON only, bounded.

A matplotlib figure is read in the process that runs the answer's code, so what it tells of axes and series
is the word of an untrusted process: it may be believed where it lowers a score, never where it raises one.
Measured outside of that process, and so to be trusted: ``library``, ``width``, ``height``, and ``blank``
where the picture has a single colour. Of plotly all is measured outside: its figure is data that we draw.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from opendesign.errors import StoreError

__all__ = ["LIMITS", "AxesFacts", "PlotFacts", "SeriesFacts"]

#: What is kept at most; ``truncated`` says that something was left out.
LIMITS = {"axes": 64, "series": 100, "values": 200, "texts": 100, "characters": 200}

Text = Annotated[str, Field(max_length=LIMITS["characters"])]
Texts = Annotated[tuple[Text, ...], Field(max_length=LIMITS["texts"])]
Value = float | Text | None  # None: not a number, or infinite
Values = Annotated[tuple[Value, ...], Field(max_length=LIMITS["values"])]
Pair = tuple[float, float] | None
_strict = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, slots=True, kw_only=True, config=_strict)
class SeriesFacts:
    """What one call drew: a line, the bars of one colour, the points of one scatter, an image.

    ``x``, ``y``, ``z`` are in data coordinates, evenly sampled to ``LIMITS["values"]`` of ``n`` values.
    Matplotlib has dates as days since 1970-01-01 and categories as positions 0, 1 …, plotly both as texts.
    Bars: centre, height, in ``base`` where they start (horizontal: length in ``x``, centre in ``y``). Pie:
    labels in ``x``, shares of the whole in ``y``. Image: values in ``z``, row by row, ``shape`` rows ×
    columns. Box, violin and area: the points of the outline. Contour: levels in ``z``. Error bars: the
    points, in ``z`` half their lengths. Plotly's boxes, violins, histograms: the values they are made of.
    Series without a value, as a legend's entries have them, and those that cannot be seen are left out.
    """

    kind: Literal[
        "line",
        "scatter",
        "bar",
        "area",
        "image",
        "pie",
        "box",
        "violin",
        "errorbar",
        "contour",
        "surface",
        "other",
    ]
    label: Text = ""
    x: Values = ()
    y: Values = ()
    z: Values = ()
    n: Annotated[int, Field(ge=0, le=10**12)] = 0
    base: Values = ()  # of bars
    shape: tuple[int, int] | None = None  # of an image
    horizontal: bool = False  # bars; with plotly boxes and violins too


@dataclass(frozen=True, slots=True, kw_only=True, config=_strict)
class AxesFacts:
    """One pair of axes. ``box`` is (left, bottom, width, height) in fractions of the figure.

    ``marks`` counts everything drawn inside, what ``series`` does not know (arrows, tables, text) included.
    """

    projection: Text = "rectilinear"  # "polar", "3d" …
    title: Text = ""
    xlabel: Text = ""
    ylabel: Text = ""
    zlabel: Text = ""
    xscale: Text = "linear"
    yscale: Text = "linear"
    xticks: Texts = ()
    yticks: Texts = ()
    xlim: Pair = None
    ylim: Pair = None
    legend: Texts = ()
    annotations: Texts = ()
    colorbar: bool = False  # these axes are the colour bar of others
    box: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    series: Annotated[tuple[SeriesFacts, ...], Field(max_length=LIMITS["series"])] = ()
    marks: Annotated[int, Field(ge=0, le=10**9)] = 0


@dataclass(frozen=True, slots=True, kw_only=True, config=_strict)
class PlotFacts:
    """What is known of the figure that is scored: the last of ``figures`` that is not blank.

    ``blank``: the picture has a single colour, or nothing is drawn in any axes. ``width`` and ``height`` are
    the picture's, in pixels. ``library``: seaborn draws on matplotlib's axes, so it is named where the code
    calls a function of seaborn that draws, or uses seaborn at all in a task for it.
    """

    library: Literal["matplotlib", "seaborn", "plotly"]
    figures: int = 1
    chosen: int = 1  # 1: the first
    blank: bool = False
    title: Text = ""  # of the whole figure
    width: int = 0
    height: int = 0
    axes: Annotated[tuple[AxesFacts, ...], Field(max_length=LIMITS["axes"])] = ()
    truncated: bool = False
    schema: Literal[1] = 1

    def to_json(self) -> str:
        """One line of canonical JSON: equal facts give equal bytes."""
        return json.dumps(
            asdict(self), sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> PlotFacts:
        """Facts as stored, or as an untrusted process sends them. Raises ``StoreError`` for anything else."""
        try:
            return _reader().validate_json(text)
        except (ValidationError, RecursionError) as error:
            told = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "too deep"}
            where = ".".join(map(str, told["loc"])) or "the text"
            raise StoreError(
                f"The facts of a plot cannot be read ({where}: {told['msg']}): draw it again."
            ) from error


@cache
def _reader() -> TypeAdapter[PlotFacts]:
    return TypeAdapter(PlotFacts)
