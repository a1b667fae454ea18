"""A plotly figure, as JSON, becomes a page for our browser, and facts. No code of the answer runs here."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from opendesign.plotting.facts import LIMITS, AxesFacts, SeriesFacts
from opendesign.plotting.reading import sample

__all__ = ["PlotlyFigure", "document", "parse"]

WIDTH, HEIGHT = 700, 500  # in pixels, where the figure does not say; as plotly writes pictures
_KINDS = {
    **{"bar": "bar", "histogram": "bar", "waterfall": "bar", "funnel": "bar", "barpolar": "bar"},
    **{"heatmap": "image", "image": "image", "histogram2d": "image", "pie": "pie", "sunburst": "pie"},
    **{"funnelarea": "pie", "box": "box", "violin": "violin", "contour": "contour", "surface": "surface"},
    **{"histogram2dcontour": "contour", "contourcarpet": "contour", "mesh3d": "surface"},
}
_LEAST = 1 / 255  # opacity, or pixels: less changes no pixel
_VALUES, _TRACES = 2_000_000, 1_000  # of one figure, at most
_DATE = re.compile(r"\d{4}-\d\d")
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Plot</title>
<style>html, body {{ margin: 0; background: #fff }}
#hold {{ overflow: hidden }} #plot {{ transform-origin: 0 0 }}</style>
<script>{script}</script></head>
<body><div id="hold"></div>
<script>
let plot;
async function draw(figure, width, height, scale) {{
  if (plot) Plotly.purge(plot);
  plot = document.createElement("div");
  plot.id = "plot";
  const hold = document.getElementById("hold");
  hold.replaceChildren(plot);
  for (const [box, by] of [[hold, scale], [plot, 1]]) {{
    box.style.width = `${{Math.floor(width * by)}}px`;
    box.style.height = `${{Math.floor(height * by)}}px`;
  }}
  plot.style.transform = scale < 1 ? `scale(${{scale}})` : "none";
  const layout = Object.assign({{}}, figure.layout, {{width, height, autosize: false}});
  await Plotly.newPlot(plot, figure.data, layout, {{displayModeBar: false, responsive: false}});
}}
{first}
</script></body></html>
"""
_FIRST = "draw({arguments}).catch(error => setTimeout(() => {{ throw error; }}));"


@dataclass(frozen=True, slots=True)
class PlotlyFigure:
    """A figure of plotly. ``width`` and ``height`` in pixels, as it is to be seen."""

    data: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    script: str  # both, as an expression of JavaScript that may stand in a page
    width: int
    height: int

    def shown(self, width: int, height: int) -> tuple[int, int]:
        """The size it is drawn in where there is room for ``width`` × ``height`` CSS pixels."""
        scale = self._scale(width, height)
        return max(1, int(self.width * scale)), max(1, int(self.height * scale))

    def arguments(self, width: int, height: int) -> str:
        """What the page's function ``draw`` is given, in JavaScript."""
        return f"{self.script}, {self.width}, {self.height}, {self._scale(width, height)}"

    def page(self, width: int, height: int) -> str:
        """A document with nothing but the figure."""
        return document(_FIRST.format(arguments=self.arguments(width, height)))

    def _scale(self, width: int, height: int) -> float:
        return min(1.0, width / self.width, height / self.height)

    @property
    def title(self) -> str:
        return _title(self.layout)

    def axes(self) -> tuple[AxesFacts, ...]:
        """Facts of each pair of axes, scene, polar plot or pie, in the order of their first trace."""
        groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
        for number, trace in enumerate(self.data):
            groups.setdefault(_place(trace, number), []).append(trace)
        found = [_axes(place, traces, self.layout) for place, traces in groups.items()]
        return tuple(found[: LIMITS["axes"]])


def parse(text: bytes) -> PlotlyFigure:
    """The figure that ``text`` tells. Raises ``ValueError`` for anything else, and for one that is too large
    to be drawn.
    """
    if sum(map(text.count, (b",", b"[", b"{"))) > _VALUES:  # before any of them takes memory
        raise ValueError(f"it has more than {_VALUES:,} values")
    try:
        value = json.loads(text, parse_constant=lambda _: None)
        # Inside a script element, "<" could end it or open a comment.
        script = json.dumps(value).replace("<", "\\u003c")
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    data, layout = (value.get(key) for key in ("data", "layout")) if isinstance(value, dict) else (0, 0)
    data, layout = [] if data is None else data, {} if layout is None else layout
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise ValueError("'data' is no list of traces")
    if len(data) > _TRACES:
        raise ValueError(f"it has {len(data):,} traces, and {_TRACES:,} are drawn at most")
    if not isinstance(layout, dict):
        raise ValueError("'layout' is no object")
    width, height = _length(layout.get("width"), WIDTH), _length(layout.get("height"), HEIGHT)
    return PlotlyFigure(data, layout, script, width, height)


def document(first: str = "") -> str:
    """The page on which figures are drawn; ``first`` is what its script does at once."""
    return _PAGE.format(script=_script(), first=first)


@cache
def _script() -> str:
    spec = find_spec("plotly")
    assert spec is not None, "a figure of plotly was made without plotly"
    folder = Path(next(iter(spec.submodule_search_locations or ())))
    return (folder / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def _length(value: Any, default: int) -> int:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 10 <= value <= 100_000
    return round(value) if usable else default


# Facts


def _place(trace: Mapping[str, Any], number: int) -> tuple[str, ...]:
    """Where a trace is drawn: names of a pair of axes, or of a scene or the like; a pie has its own place."""
    kind = str(trace.get("type", "scatter"))
    if "3d" in kind or kind in ("surface", "cone", "isosurface", "volume"):
        return ("scene", str(trace.get("scene", "scene")))
    if "polar" in kind:
        return ("polar", str(trace.get("subplot", "polar")))
    if _KINDS.get(kind) == "pie" or kind in ("treemap", "indicator", "table", "sankey", "icicle"):
        return (kind, str(number))
    return ("xy", str(trace.get("xaxis", "x")), str(trace.get("yaxis", "y")))


def _axes(
    place: tuple[str, ...], traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]
) -> AxesFacts:
    traces = [trace for trace in traces if _seen(trace)]
    series = tuple(_series(trace) for trace in traces[: LIMITS["series"]])
    names = [one.label for one in series if one.label] if _has_legend(traces, layout) else []
    x, y, z, domain = _scales(place, layout)
    across, up = _span(domain.get("x")), _span(domain.get("y"))
    return AxesFacts(
        projection={"scene": "3d", "polar": "polar", "xy": "rectilinear"}.get(place[0], place[0]),
        title="",
        xlabel=_title(x),
        ylabel=_title(y),
        zlabel=_title(z),
        xscale=_text(x.get("type") or "linear"),
        yscale=_text(y.get("type") or "linear"),
        xticks=_ticks(x, [one.x for one in series]),
        yticks=_ticks(y, [one.y for one in series]),
        xlim=_range(x),
        ylim=_range(y),
        legend=tuple(names),
        annotations=tuple(_text(_object(one).get("text")) for one in _list(layout.get("annotations"))[:100]),
        colorbar=any(_shows_scale(trace) for trace in traces),
        box=(across[0], up[0], across[1] - across[0], up[1] - up[0]),
        series=series,
        marks=len(traces),
    )


def _scales(place: tuple[str, ...], layout: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """What the layout tells of the three axes, and where they lie: ``{"x": [0, 0.5], "y": [0, 1]}``."""
    if place[0] == "xy":
        x, y = (_object(layout.get(f"{name[:1]}axis{name[1:]}")) for name in place[1:])
        return x, y, {}, {"x": x.get("domain"), "y": y.get("domain")}
    holder = _object(layout.get(place[1]))
    x, y, z = (_object(holder.get(f"{name}axis")) for name in "xyz")
    return x, y, z, _object(holder.get("domain"))


def _series(trace: Mapping[str, Any]) -> SeriesFacts:
    kind = _kind(trace)
    columns = {name: _values(trace.get(name)) for name in "xyz"}
    shape = None
    if kind == "pie":
        shares = _values(trace.get("values"))
        whole = sum(one for one in shares if isinstance(one, int | float)) or 1.0
        columns = {
            "x": _values(trace.get("labels")),
            "y": [one / whole if isinstance(one, int | float) else None for one in shares],
            "z": [],
        }
    elif "polar" in str(trace.get("type")):
        columns = {"x": _values(trace.get("theta")), "y": _values(trace.get("r")), "z": []}
    elif kind == "image":
        shape = _shape(trace.get("z"))
    count = max(len(column) for column in columns.values())
    x, y, z = (tuple(sample(columns[name])) for name in "xyz")
    return SeriesFacts(
        kind=kind,
        label=_text(trace.get("name")),
        x=x,
        y=y,
        z=z,
        n=count,
        shape=shape,
        horizontal=trace.get("orientation") == "h",
    )


def _kind(trace: Mapping[str, Any]) -> Any:
    kind = str(trace.get("type", "scatter"))
    if not kind.startswith("scatter"):
        return _KINDS.get(kind, "other")
    if trace.get("fill") not in (None, "none") or trace.get("stackgroup"):
        return "area"
    if any(_object(trace.get(name)) for name in ("error_x", "error_y")):
        return "errorbar"
    default = "lines" if kind in ("scatter", "scattergl") else "markers"
    lines = "lines" in str(trace.get("mode") or default) and _inked(trace.get("line"))
    return "line" if lines else "scatter"


def _seen(trace: Mapping[str, Any]) -> bool:
    """Whether a trace leaves a mark in the picture, as far as its own colours, widths and sizes tell."""
    if trace.get("visible") in (False, "legendonly") or not _some(trace.get("opacity")):
        return False
    kind, filled = _kind(trace), _coloured(trace.get("fillcolor"))
    if kind in ("bar", "pie"):
        return _marked(trace)
    if kind in ("box", "violin"):
        return filled or _inked(trace.get("line"))
    if not str(trace.get("type", "scatter")).startswith("scatter"):
        return _inked(trace)
    mode = str(trace.get("mode") or "lines+markers")
    errors = (trace.get(name) for name in ("error_x", "error_y", "error_z"))
    return (
        "text" in mode
        or ("lines" in mode and _inked(trace.get("line")))
        or ("markers" in mode and _marked(trace))
        or (kind == "area" and filled)
        or any(_object(error) and _inked(error) for error in errors)
    )


def _marked(trace: Mapping[str, Any]) -> bool:
    """Whether its markers, bars or slices have a colour of their own or an outline."""
    marker = _object(trace.get("marker"))
    outline = _object(marker.get("line"))
    if not _some(marker.get("opacity")) or not _some(marker.get("size")):
        return False
    return _inked(marker) or (bool(outline.get("width")) and _inked(outline))


def _inked(part: Any) -> bool:
    """Whether a line, a marker or a scale of colours is neither thin as nothing nor all transparent."""
    part = _object(part)
    sizes, colours = ("width", "thickness"), ("color", "colors", "colorscale")
    return all(_some(part.get(name)) for name in sizes) and all(_coloured(part.get(name)) for name in colours)


def _some(value: Any) -> bool:
    """Whether one of the numbers, or the only one, is seen at all; where nothing is said, plotly decides."""
    numbers = [one for one in (_values(value) or [value]) if _finite(one)]
    return not numbers or max(numbers) > _LEAST


def _coloured(value: Any) -> bool:
    colours = [one for one in (_values(value) or [value]) if isinstance(one, str)]
    return not colours or not all(map(_transparent, colours))


def _transparent(colour: str) -> bool:
    text = "".join(colour[:100].lower().split())
    try:
        if text.startswith(("rgba(", "hsla(")):
            return float(text.rstrip(")").rpartition(",")[2]) <= _LEAST
        if text.startswith("#") and len(text) in (5, 9):
            return int(text[7:] or text[4:], 16) == 0
    except ValueError:  # no colour: plotly takes another
        return False
    return text == "transparent"


def _values(value: Any) -> list[Any]:
    """A column as a flat list: plotly writes lists, or the bytes of an array."""
    if isinstance(value, list):
        return [one for part in value for one in (part if isinstance(part, list) else [part])]
    packed = _object(value)
    if "bdata" not in packed:
        return []
    import numpy

    try:
        data = base64.b64decode(str(packed["bdata"]), validate=True)
        array: list[Any] = numpy.frombuffer(data, dtype=_dtype(packed.get("dtype"))).tolist()
    except (ValueError, TypeError, binascii.Error):
        return []
    return array


def _dtype(name: Any) -> str:
    text = str(name)
    if text not in ("f4", "f8", "i1", "i2", "i4", "u1", "u2", "u4"):
        raise ValueError(f"{text} is no type of plotly's arrays")
    return f"<{text}"


def _shape(value: Any) -> tuple[int, int] | None:
    if isinstance(value, list) and value and isinstance(value[0], list):
        return len(value), len(value[0])
    sides = [part.strip() for part in str(_object(value).get("shape", "")).split(",")]
    return (int(sides[0]), int(sides[1])) if len(sides) == 2 and all(map(str.isdecimal, sides)) else None


def _ticks(axis: Mapping[str, Any], columns: Iterable[Sequence[Any]]) -> tuple[str, ...]:
    """Texts given, or categories; numbers and dates on a scale are only known where it is drawn."""
    texts = _values(axis.get("ticktext")) or [
        one for column in columns for one in column if isinstance(one, str) and not _DATE.match(one)
    ]
    return tuple(dict.fromkeys(_text(one) for one in texts))[: LIMITS["texts"]]


def _has_legend(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> bool:
    shown = [trace for trace in traces if trace.get("showlegend") is not False]
    automatic = len(shown) > 1 or any(trace.get("showlegend") for trace in shown)
    return bool(shown) and bool(layout.get("showlegend", automatic))


def _shows_scale(trace: Mapping[str, Any]) -> bool:
    by_colour = _object(trace.get("marker"))
    if by_colour.get("coloraxis") or trace.get("coloraxis"):
        return True
    scaled = trace.get("type") in ("heatmap", "contour", "surface", "histogram2d", "histogram2dcontour")
    return bool(trace.get("showscale", scaled) or by_colour.get("showscale"))


def _title(holder: Mapping[str, Any]) -> str:
    title = holder.get("title")
    return _text(_object(title).get("text") if isinstance(title, dict) else title)


def _range(axis: Mapping[str, Any]) -> tuple[float, float] | None:
    ends = _list(axis.get("range"))
    return (float(ends[0]), float(ends[1])) if len(ends) == 2 and all(map(_finite, ends)) else None


def _span(value: Any) -> tuple[float, float]:
    ends = _list(value)
    return (float(ends[0]), float(ends[1])) if len(ends) == 2 and all(map(_finite, ends)) else (0.0, 1.0)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _text(value: Any) -> str:
    return "" if value is None else str(value)[: LIMITS["characters"]].encode("utf-8", "replace").decode()


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
