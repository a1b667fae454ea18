"""What cannot be seen in a plot is no series of it, whichever way it was hidden."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from opendesign.plotting import reading
from opendesign.plotting.plotly_page import parse

X = [1, 2, 3]
GRID = np.arange(6.0).reshape(2, 3)
CLEAR = ListedColormap([(0, 0, 0, 0)])
DRAWN: dict[str, Callable[[Axes], Any]] = {
    "line": lambda a: a.plot(X),
    "scatter": lambda a: a.scatter(X, X, c=X),
    "hollow": lambda a: a.plot(X, "o", mfc="none"),
    "crosses": lambda a: a.plot(X, "x"),
    "bar": lambda a: a.bar(X, X),
    "hatched": lambda a: a.bar(X, X, facecolor="none", edgecolor="k", hatch="/", linewidth=0),
    "steps": lambda a: a.hist(X, histtype="step"),
    "pie": lambda a: a.pie(X),
    "area": lambda a: a.fill_between(X, X),
    "image": lambda a: a.imshow(GRID),
    "photograph": lambda a: a.imshow(np.ones((2, 2, 3))),
    "mesh": lambda a: a.pcolormesh(GRID),
    "contours": lambda a: a.contour(GRID),
    "filled contours": lambda a: a.contourf(GRID),
    "boxes": lambda a: a.boxplot(X),
    "violins": lambda a: a.violinplot(X),
    "error bars": lambda a: a.errorbar(X, X, X, fmt="none"),
    "segments": lambda a: a.hlines(X, 0, 1),
    "arrows": lambda a: a.quiver(X, X, X, X),
}
HIDDEN: dict[str, Callable[[Axes], Any]] = {
    "thin": lambda a: a.plot(X, linewidth=0),
    "no colour": lambda a: a.plot(X, color="none"),
    "transparent": lambda a: a.plot(X, color=(1, 0, 0, 0)),
    "faint": lambda a: a.plot(X, alpha=0.002),
    "neither line nor marker": lambda a: a.plot(X, linestyle=""),
    "markers of no size": lambda a: a.plot(X, "o", markersize=0),
    "markers of no colour": lambda a: a.plot(X, "o", mfc="none", mec="none"),
    "points of no size": lambda a: a.scatter(X, X, s=0),
    "points of no colour": lambda a: a.scatter(X, X, facecolors="none", edgecolors="none"),
    "thin outlines": lambda a: a.scatter(X, X, facecolors="none", edgecolors="r", linewidths=0),
    "all alphas": lambda a: a.scatter(X, X, alpha=[0.0, 0.0, 0.0]),
    "clear scale": lambda a: a.imshow(GRID, cmap=CLEAR),
    "clear mesh": lambda a: a.pcolormesh(GRID, cmap=CLEAR),
    "clear photograph": lambda a: a.imshow(np.zeros((2, 2, 4))),
    "bars one by one": lambda a: [bar.set_visible(False) for bar in a.bar(X, X)],
}


@pytest.fixture
def axes() -> Iterator[Axes]:
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def read(axes: Axes) -> dict[str, Any]:
    axes.figure.canvas.draw()
    facts = reading.read(axes.figure)
    assert facts is not None
    found: dict[str, Any] = facts["axes"][0]
    return found


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_is_there_until_it_is_made_transparent(axes: Axes, name: str) -> None:
    DRAWN[name](axes)
    assert read(axes)["series"]
    assert read(axes)["marks"]
    for one in (*axes.lines, *axes.patches, *axes.collections, *axes.images):
        one.set_alpha(0)
    assert read(axes)["series"] == []
    assert read(axes)["marks"] == len(axes.texts)


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_hidden_is_not_there(axes: Axes, name: str) -> None:
    HIDDEN[name](axes)
    assert (read(axes)["series"], read(axes)["marks"]) == ([], 0)


def test_what_is_left_of_it_counts(axes: Axes) -> None:
    axes.bar(X, X).patches[0].set_alpha(0)
    axes.plot(X, "o-", linewidth=0)
    assert [(one["kind"], one["n"]) for one in read(axes)["series"]] == [("scatter", 3), ("bar", 2)]


CLEAR_SCALE = [[0, "rgba(0, 0, 0, 0)"], [1, "rgba(9,9,9,0.0)"]]


@pytest.mark.parametrize(
    ("trace", "kinds"),
    [
        ({}, ["line"]),
        ({"opacity": 0.5}, ["line"]),
        ({"opacity": 0}, []),
        ({"visible": False}, []),
        ({"visible": "legendonly"}, []),
        ({"mode": "lines", "line": {"width": 0}}, []),
        ({"mode": "lines", "line": {"color": "rgba(1, 2, 3, 0)"}}, []),
        ({"mode": "lines", "line": {"color": "rgba(1, 2, 3, .5)"}}, ["line"]),
        ({"mode": "lines+markers", "line": {"width": 0}}, ["scatter"]),
        ({"mode": "lines", "line": {"width": 0}, "error_y": {"array": X}}, ["errorbar"]),
        ({"mode": "markers", "marker": {"opacity": [0, 0, 0]}}, []),
        ({"mode": "markers", "marker": {"size": 0}}, []),
        ({"mode": "markers", "marker": {"color": "#11223300"}}, []),
        ({"mode": "markers", "marker": {"color": ["#1230", "red"]}}, ["scatter"]),
        (
            {"mode": "markers", "marker": {"color": "transparent", "line": {"width": 2, "color": "red"}}},
            ["scatter"],
        ),
        ({"mode": "none", "fill": "tozeroy"}, ["area"]),
        ({"mode": "none", "fill": "tozeroy", "fillcolor": "transparent"}, []),
        ({"mode": "text", "text": X}, ["scatter"]),
        ({"type": "bar", "marker": {"color": "rgba(0,0,0,0)"}}, []),
        ({"type": "bar", "marker": {"color": X}}, ["bar"]),
        ({"type": "pie", "values": X, "labels": X, "marker": {"colors": ["transparent"] * 3}}, []),
        ({"type": "box", "fillcolor": "transparent"}, ["box"]),
        ({"type": "box", "fillcolor": "transparent", "line": {"color": "transparent"}}, []),
        ({"type": "heatmap", "z": [X], "colorscale": CLEAR_SCALE}, []),
        ({"type": "heatmap", "z": [X], "colorscale": "Viridis"}, ["image"]),
        ({"opacity": "x", "line": 3, "marker": [1], "visible": []}, ["line"]),
    ],
)
def test_traces_of_plotly_that_are_hidden(trace: dict[str, Any], kinds: list[str]) -> None:
    figure = parse(json.dumps({"data": [{"y": X, **trace}], "layout": {}}).encode())
    assert [series.kind for one in figure.axes() for series in one.series] == kinds
    assert sum(one.marks for one in figure.axes()) == len(kinds)
