"""What a matplotlib figure shows, as the JSON of ``facts.PlotFacts``. Runs beside the answer's code.

What drew an artist is not told by the artist (a violin is a polygon, a box some lines): so the functions
that draw are wrapped, and each artist added while one runs is marked with its kind, the outermost deciding.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from opendesign.plotting.facts import LIMITS

__all__ = ["install", "read", "sample"]

AXES, SERIES, VALUES, TEXTS, CHARACTERS = (
    LIMITS[name] for name in ("axes", "series", "values", "texts", "characters")
)
_MARK = "_opendesign_kind"

#: Function -> kind of what it adds. ``Axes3D`` has those of ``Axes`` that it does not redefine.
_AXES = {
    **{"plot": "line", "step": "line", "scatter": "scatter", "hexbin": "image", "bar": "bar", "barh": "bar"},
    **{"hist": "bar", "stem": "line", "fill_between": "area", "fill_betweenx": "area", "stackplot": "area"},
    **{"fill": "area", "imshow": "image", "pcolormesh": "image", "pcolor": "image", "hist2d": "image"},
    **{"pie": "pie", "bxp": "box", "violin": "violin", "errorbar": "errorbar", "contour": "contour"},
    **{"contourf": "contour", "tricontour": "contour", "tricontourf": "contour", "tripcolor": "image"},
    **{"broken_barh": "bar", "eventplot": "other", "quiver": "other", "streamplot": "other"},
}
_AXES_3D = {
    **{"plot": "line", "scatter": "scatter", "bar": "bar", "bar3d": "bar", "plot_surface": "surface"},
    **{"plot_trisurf": "surface", "plot_wireframe": "surface", "contour": "contour", "contourf": "contour"},
    **{"errorbar": "errorbar", "stem": "line", "quiver": "other", "voxels": "other"},
}
_SEABORN = {
    "plot_errorbars": "errorbar",
    "plot_violins": "violin",
    "plot_boxes": "box",
    "plot_boxens": "box",
    "plot_bars": "bar",
}

_kind = ""  # of what is being drawn


def install() -> None:
    """Mark artists from now on."""
    from matplotlib.axes import Axes, _base
    from mpl_toolkits.mplot3d import Axes3D
    from seaborn import categorical

    base: Any = _base._AxesBase
    added = base._set_artist_props

    def add(axes: Any, artist: Any) -> None:
        if _kind and not hasattr(artist, _MARK):
            setattr(artist, _MARK, _kind)
        added(axes, artist)

    base._set_artist_props = add
    plotter = getattr(categorical, "_CategoricalPlotter", None)
    for owner, kinds in ((Axes, _AXES), (Axes3D, _AXES_3D), (plotter, _SEABORN)):
        for name, kind in kinds.items():
            if owner is not None and name in vars(owner):
                setattr(owner, name, _marking(getattr(owner, name), kind))


def _marking(function: Callable[..., Any], kind: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def marked(*arguments: Any, **options: Any) -> Any:
        global _kind
        # Error bars are told from the bars they are on.
        before, _kind = _kind, kind if kind == "errorbar" else _kind or kind
        try:
            return function(*arguments, **options)
        finally:
            _kind = before

    return marked


def read(figure: Any) -> dict[str, Any] | None:
    """The facts of a figure; None where it holds something that cannot be read."""
    try:
        axes = [_axes(one) for one in figure.axes[:AXES]]
        title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) else ""
        cut = len(figure.axes) > AXES or any(len(one["series"]) >= SERIES for one in axes)
        return {"title": title[:CHARACTERS], "axes": axes, "truncated": cut, "loose": len(figure.texts)}
    except Exception:  # an artist of the answer's own making may raise anything
        return None


def _axes(axes: Any) -> dict[str, Any]:
    box = axes.get_position()
    legend = axes.get_legend()
    three = axes.name == "3d"
    marks = [*axes.lines, *axes.patches, *axes.collections, *axes.images]
    return {
        "projection": axes.name,
        "title": _text(" ".join(axes.get_title(loc=side) for side in ("left", "center", "right")).strip()),
        "xlabel": _text(axes.get_xlabel()),
        "ylabel": _text(axes.get_ylabel()),
        "zlabel": _text(axes.get_zlabel()) if three else "",
        "xscale": axes.get_xscale(),
        "yscale": axes.get_yscale(),
        "xticks": _ticks(axes.xaxis),
        "yticks": _ticks(axes.yaxis),
        "xlim": _pair(axes.get_xlim()),
        "ylim": _pair(axes.get_ylim()),
        "legend": [_text(one.get_text()) for one in legend.get_texts()[:TEXTS]] if legend else [],
        "annotations": [_text(one.get_text()) for one in axes.texts[:TEXTS] if one.get_text()],
        "colorbar": hasattr(axes, "_colorbar"),
        "box": [round(float(one), 4) for one in box.bounds],
        "series": [] if hasattr(axes, "_colorbar") or not axes.get_visible() else _series(axes)[:SERIES],
        "marks": (len(marks) if any(map(_seen, marks)) else 0) + len(axes.texts) + len(axes.tables),
    }


def _ticks(axis: Any) -> list[str]:
    if not axis.get_visible():
        return []
    low, high = sorted(axis.get_view_interval())
    shown = [
        tick.label1.get_text()
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high and tick.label1.get_visible()
    ]
    return [_text(one) for one in shown if one][:TEXTS]


# Series


def _series(axes: Any) -> list[dict[str, Any]]:
    """Lines, then bars, other patches, collections, images.

    None that is empty, as a legend's entries are, and none that cannot be seen.
    """
    found: list[dict[str, Any]] = []
    outlines: dict[str, list[Any]] = {"box": [], "violin": [], "errorbar": []}
    known = {id(part) for one in axes.containers if hasattr(one, "has_yerr") for part in one.get_children()}
    bars = [one for one in axes.containers if hasattr(one, "patches")]
    in_bars = {id(patch) for one in bars for patch in one.patches}
    for line in filter(_seen, axes.lines):
        kind = getattr(line, _MARK, "line")
        if kind in outlines and id(line) not in known:
            outlines[kind].append(line)
        elif id(line) not in known:
            found.append(_line(line))
    for one in bars:
        seen = [patch for patch in one.patches if _seen(patch)]
        found.append(_bars(seen, one.get_label(), getattr(one, "orientation", "vertical")))
    found += _errorbars(axes)
    loose: dict[str, list[Any]] = {}
    for patch in axes.patches:
        if id(patch) not in in_bars and _seen(patch):
            loose.setdefault(getattr(patch, _MARK, "other"), []).append(patch)
    for kind, patches in loose.items():
        if kind in outlines:
            outlines[kind] += patches
        elif kind == "pie":
            found.append(_pie(patches))
        elif kind == "bar" and all(hasattr(patch, "get_width") for patch in patches):
            found.append(_bars(patches, "", "vertical"))
        else:
            found += [_outline([one], kind) for one in patches]
    for collection in filter(_seen, axes.collections):
        kind = getattr(collection, _MARK, "other")
        if kind in outlines and id(collection) not in known:
            outlines[kind].append(collection)
        elif id(collection) not in known:
            found.append(_collection(collection, kind))
    found += [_image(image.get_array(), image) for image in filter(_seen, axes.images)]
    found += [_outline(parts, kind) for kind, parts in outlines.items() if parts]
    return [one for one in found if one["n"]]


def _line(line: Any) -> dict[str, Any]:
    if hasattr(line, "get_data_3d"):
        values = dict(zip("xyz", line.get_data_3d(), strict=True))
    else:
        values = {"x": line.get_xdata(orig=False), "y": line.get_ydata(orig=False)}
    return _one("line" if _stroked(line) else "scatter", line, **values)


def _bars(patches: Sequence[Any], label: Any, orientation: str) -> dict[str, Any]:
    across = orientation == "horizontal"
    boxes = [patch.get_bbox() for patch in patches]
    middle = [(box.y0 + box.y1) / 2 if across else (box.x0 + box.x1) / 2 for box in boxes]
    length = [patch.get_width() if across else patch.get_height() for patch in patches]
    start = [patch.get_x() if across else patch.get_y() for patch in patches]
    x, y = (length, middle) if across else (middle, length)
    return _one("bar", label, x=x, y=y, base=start, horizontal=across)


def _errorbars(axes: Any) -> list[dict[str, Any]]:
    found = []
    for container in axes.containers:
        if not hasattr(container, "has_yerr") or not any(map(_seen, container.get_children())):
            continue
        line, _, ranges = container.lines
        spans = [segment for one in ranges for segment in one.get_segments()]
        lengths = [max(abs(end - start)) / 2 for start, end in spans]
        if line is not None:
            x, y = line.get_xdata(orig=False), line.get_ydata(orig=False)
        else:
            x, y = ([(start[at] + end[at]) / 2 for start, end in spans] for at in (0, 1))
        found.append(_one("errorbar", container.get_label(), x=x, y=y, z=lengths))
    return found


def _pie(wedges: Sequence[Any]) -> dict[str, Any]:
    shares = [abs(wedge.theta2 - wedge.theta1) / 360 for wedge in wedges]
    return _one("pie", "", x=[wedge.get_label() for wedge in wedges], y=shares)


def _collection(collection: Any, kind: str) -> dict[str, Any]:
    three = getattr(collection, "_offsets3d", None)
    if three is not None:
        return _one(
            kind if kind != "other" else "scatter", collection, **dict(zip("xyz", three, strict=True))
        )
    if kind == "surface" and getattr(collection, "_vec", None) is not None:
        return _one(kind, collection, **dict(zip("xyz", collection._vec[:3], strict=True)))
    if kind == "contour" and hasattr(collection, "levels"):
        return _one(kind, collection, z=collection.levels)
    if kind == "image" and collection.get_array() is not None:
        return _image(collection.get_array(), collection)
    offsets = collection.get_offsets()
    if kind == "scatter" and len(offsets):
        return _one(kind, collection, x=offsets[:, 0], y=offsets[:, 1])
    return _outline([collection], kind)


def _image(array: Any, artist: Any) -> dict[str, Any]:
    rows, columns = (*array.shape, 1)[:2]
    return {**_one("image", artist, z=array.ravel()), "shape": [int(rows), int(columns)]}


def _outline(parts: Sequence[Any], kind: str) -> dict[str, Any]:
    """All points of the parts' outlines, in data coordinates."""
    points: list[tuple[float, float]] = []
    for part in parts:
        if hasattr(part, "get_xydata"):
            paths = [part.get_xydata()]
        elif hasattr(part, "get_paths"):
            paths = [path.vertices for path in part.get_paths()]
        else:
            paths = [part.get_patch_transform().transform(part.get_path().vertices)]
        points += [point for path in paths for point in path]
    label = parts[0] if len(parts) == 1 else ""
    return _one(kind, label, x=[point[0] for point in points], y=[point[1] for point in points])


def _one(kind: str, label: Any, *, horizontal: bool = False, **values: Any) -> dict[str, Any]:
    text = label if isinstance(label, str) else label.get_label() if label is not None else ""
    text = "" if str(text).startswith("_") else str(text)  # a name that matplotlib gave
    lists = {name: sample(column) for name, column in values.items()}
    count = max((len(column) for column in values.values()), default=0)
    return {"kind": kind, "label": _text(text), "n": count, "horizontal": horizontal, **lists}


# What can be seen


def _seen(artist: Any) -> bool:
    """Whether it leaves a trace in the picture, as far as its own colours, widths and sizes tell."""
    if not artist.get_visible() or not _opaque(artist.get_alpha()):
        return False
    if hasattr(artist, "get_marker"):
        return _stroked(artist) or _has_markers(artist)
    if hasattr(artist, "get_facecolor"):  # patches and collections; those coloured by value once drawn
        sizes = artist.get_sizes() if hasattr(artist, "get_sizes") else ()
        edged = bool(artist.get_hatch()) or _any(artist.get_linewidth())
        coloured = _coloured(artist.get_facecolor()) or (edged and _coloured(artist.get_edgecolor()))
        return coloured and (len(sizes) == 0 or _any(sizes))
    array = artist.get_array()
    if array is not None and array.ndim == 3:
        return bool(array.shape[2] < 4 or array[:, :, 3].any())
    return _coloured(artist.cmap(range(artist.cmap.N)))


def _stroked(line: Any) -> bool:
    drawn = line.get_linestyle() not in ("None", "none", " ", "")
    return drawn and line.get_linewidth() > 0 and _coloured(line.get_color())


def _has_markers(line: Any) -> bool:
    if line.get_marker() in ("None", "none", " ", "", None) or line.get_markersize() <= 0:
        return False
    edged = line.get_markeredgewidth() > 0 and _coloured(line.get_markeredgecolor())
    return edged or _coloured(line.get_markerfacecolor())


def _coloured(colours: Any) -> bool:
    from matplotlib.colors import to_rgba_array

    mapped = getattr(colours, "ndim", 0) > 1  # a mesh has them by row and column
    return _opaque(colours[..., 3] if mapped else to_rgba_array(colours)[:, 3])


def _opaque(alphas: Any) -> bool:
    return alphas is None or _any(alphas, 1 / 255)  # less changes no pixel


def _any(values: Any, least: float = 0.0) -> bool:
    """Whether one of them, or the only one, is above ``least``."""
    from numpy import asarray

    return bool((asarray(values) > least).any())


# Values


def sample(values: Sequence[Any], most: int = VALUES) -> list[Any]:
    """At most ``most`` of the values, evenly spaced, the first and the last among them, as JSON."""
    count = len(values)
    picked: Iterable[int] = range(count)
    if count > most:
        picked = (round(at * (count - 1) / (most - 1)) for at in range(most))
    return [_value(values[at]) for at in picked]


def _value(value: Any) -> float | str | None:
    if isinstance(value, str):
        return _text(value)
    try:
        number = float(value)  # a masked value is none
    except (TypeError, ValueError, OverflowError):
        return _text(str(value))
    return float(f"{number:.9g}") if math.isfinite(number) else None


def _pair(values: Sequence[Any]) -> list[float] | None:
    pair = [_value(value) for value in values]
    return pair if all(isinstance(value, float) for value in pair) else None  # type: ignore[return-value]


def _text(text: str) -> str:
    # Lone surrogates have no place in JSON that others are to read.
    return text[:CHARACTERS].encode("utf-8", "replace").decode()
