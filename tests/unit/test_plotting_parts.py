"""Parts of plotting that need no sandbox: what is read of code, of messages, of a figure of plotly."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import numpy as np
import pytest

from opendesign.errors import StoreError
from opendesign.plotting import AxesFacts, PlotFacts, SeriesFacts, reading
from opendesign.plotting.board import Board
from opendesign.plotting.plotly_page import parse
from opendesign.plotting.sources import look, other_library
from opendesign.plotting.task import _Messages

FACTS = PlotFacts(
    library="seaborn", axes=(AxesFacts(series=(SeriesFacts(kind="bar", x=("p", 2.0, None), n=3),)),)
)


# Facts


def test_facts_come_back_as_they_were() -> None:
    assert PlotFacts.from_json(FACTS.to_json()) == FACTS


@pytest.mark.parametrize(
    "change",
    [
        {"library": "ggplot"},
        {"width": 1.5},
        {"width": True},
        {"extra": 1},
        {"axes": {}},
        {"axes": [{"series": [{"kind": "sculpture"}]}]},
        {"axes": [{"series": [{"kind": "bar", "x": [0.0] * 201}]}]},
        {"axes": [{"series": [{"kind": "bar", "x": [[1.0]]}]}]},
        {"axes": [{"title": "x" * 201}]},
        {"axes": [{"xlim": [1.0]}]},
        {"axes": [{}] * 65},
    ],
)
def test_facts_are_strict_and_bounded(change: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="facts of a plot cannot be read"):
        PlotFacts.from_json(json.dumps({**json.loads(FACTS.to_json()), **change}))


@pytest.mark.parametrize("text", ["", "[", "null", "[" * 100_000, '{"library": "seaborn", "width": NaN}'])
def test_what_is_no_facts_is_told(text: str) -> None:
    with pytest.raises(StoreError):
        PlotFacts.from_json(text)


def test_samples_keep_both_ends() -> None:
    assert reading.sample([1, float("nan"), "x" * 300]) == [1.0, None, "x" * 200]
    long = reading.sample(range(100_000))
    assert (len(long), long[0], long[-1]) == (200, 0.0, 99_999.0)
    assert long == sorted(long)


# Code


@pytest.mark.parametrize(
    ("code", "uses", "draws"),
    [
        ("import seaborn as sns\nsns.lineplot(x=[1])", True, True),
        ("import seaborn\nseaborn.axisgrid.FacetGrid(df)", True, True),
        ("from seaborn import heatmap as h\nh([[1]])", True, True),
        ("from seaborn import *\nboxplot(df)", True, True),
        ("import seaborn.objects as so\nso.Plot(df)", True, True),
        ("import seaborn as sns\nsns.set_theme()\nsns.color_palette()", True, False),
        ("import seaborn as sns", False, False),
        ("import matplotlib.pyplot as plt\nplt.boxplot([1])", False, False),
        ("def boxplot(): pass\nboxplot()", False, False),
    ],
)
def test_seaborn_is_found_in_the_code(code: str, uses: bool, draws: bool) -> None:
    source = look(code)
    assert (source.uses_seaborn, source.draws_with_seaborn) == (uses, draws)


def test_imports_of_the_setup_count_as_the_code_s() -> None:
    assert look("sns.barplot(df)", "import seaborn as sns").draws_with_seaborn
    assert not look("sns.barplot(df)").draws_with_seaborn
    assert look("import bokeh.plotting\nfrom . import x\nfrom pandas import io").imports == (
        "bokeh",
        "pandas",
    )
    assert (other_library("bokeh.plotting"), other_library("requests")) == ("Bokeh", "")


@pytest.mark.parametrize(
    ("code", "error", "line"),
    [
        ("a = 1\nb = = 2", "SyntaxError: invalid syntax", 2),
        ("return 1", "SyntaxError: 'return' outside function", 1),
        ("  x", "IndentationError: unexpected indent", 1),
        ("-" * 100_000 + "1", "Python cannot read it (", None),
    ],
)
def test_code_that_does_not_parse(code: str, error: str, line: int | None) -> None:
    source = look(code)
    assert source.error.startswith(error)
    assert source.line == line


# Messages


def _message(head: object, payload: bytes = b"") -> bytes:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("!I", len(text)) + text + payload


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_messages_come_in_any_pieces(step: int) -> None:
    data = _message({"kind": "a", "bytes": 3}, b"xyz") + _message({"kind": "b", "bytes": 0})
    messages = _Messages(100)
    found = [one for at in range(0, len(data), step) for one in messages.feed(data[at : at + step])]
    assert found == [({"kind": "a", "bytes": 3}, b"xyz"), ({"kind": "b", "bytes": 0}, b"")]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff" * 8,
        _message(b"no JSON"),
        _message([]),
        _message({}),
        _message({"bytes": -1}),
        _message({"bytes": 10**9}),
        _message({"bytes": "3"}),
        _message(b"\xff\xfe"),
    ],
)
def test_what_is_no_message_is_told(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        list(_Messages(100).feed(data))


# Plotly


def _figure(*data: dict[str, Any], **layout: Any) -> bytes:
    return json.dumps({"data": data, "layout": layout}).encode()


def _packed(values: list[list[float]] | list[float], kind: str) -> dict[str, str]:
    array = np.array(values, kind)
    shape = {"shape": ", ".join(map(str, array.shape))} if array.ndim > 1 else {}
    return {"dtype": kind, "bdata": base64.b64encode(array.tobytes()).decode(), **shape}


@pytest.mark.parametrize(
    ("trace", "wanted"),
    [
        ({"x": [1, 2], "y": [3, 4], "name": "n"}, {"kind": "line", "x": (1, 2), "y": (3, 4), "label": "n"}),
        ({"type": "scatter", "mode": "markers", "y": [3]}, {"kind": "scatter"}),
        ({"type": "scatter", "fill": "tozeroy", "y": [3]}, {"kind": "area"}),
        ({"type": "scatter", "stackgroup": "one", "y": [3]}, {"kind": "area"}),
        ({"type": "scatter", "y": [3], "error_y": {"array": [1]}}, {"kind": "errorbar"}),
        ({"type": "bar", "x": [3], "y": ["p"], "orientation": "h"}, {"kind": "bar", "horizontal": True}),
        ({"type": "histogram", "x": [1, 1, 2]}, {"kind": "bar", "n": 3}),
        ({"type": "pie", "labels": ["p", "q"], "values": [1, 3]}, {"kind": "pie", "y": (0.25, 0.75)}),
        ({"type": "heatmap", "z": [[1, 2, 3], [4, 5, 6]]}, {"kind": "image", "shape": (2, 3), "n": 6}),
        ({"type": "heatmap", "z": _packed([[1, 2], [4, 5]], "i1")}, {"shape": (2, 2), "z": (1, 2, 4, 5)}),
        ({"type": "bar", "y": _packed([1.5, 2.5], "f8")}, {"y": (1.5, 2.5)}),
        ({"type": "bar", "y": {"dtype": "O", "bdata": "AAAA"}}, {"y": (), "n": 0}),
        ({"type": "bar", "y": {"dtype": "f8", "bdata": "AA"}}, {"y": ()}),
        ({"type": "scatterpolar", "theta": ["p"], "r": [2], "mode": "lines"}, {"kind": "line", "y": (2,)}),
        ({"type": "surface", "z": [[1, 2]]}, {"kind": "surface", "z": (1, 2)}),
        ({"type": "sankey"}, {"kind": "other"}),
        ({"type": "bar", "y": [10**400, True, {"a": 1}]}, {"n": 3}),
        ({"type": 7, "y": {"a": 1}, "name": 5}, {"kind": "other", "label": "5"}),
    ],
)
def test_series_of_plotly(trace: dict[str, Any], wanted: dict[str, Any]) -> None:
    ((series,),) = (one.series for one in parse(_figure(trace)).axes())
    assert {name: getattr(series, name) for name in wanted} == wanted


def test_axes_of_plotly() -> None:
    data = (
        {"type": "bar", "x": ["p", "q"], "y": [1, 2], "name": "one"},
        {"type": "bar", "x": ["p", "q"], "y": [1, 2], "name": "two"},
        {"type": "scatter", "x": ["2024-01-01"], "y": [1], "xaxis": "x2", "yaxis": "y2", "showlegend": False},
        {"type": "scatter3d", "x": [1], "y": [1], "z": [1]},
    )
    layout = {
        "title": {"text": "T"},
        "xaxis": {"title": {"text": "a"}, "domain": [0, 0.4]},
        "yaxis": {"title": {"text": "b"}, "type": "log", "range": [0, 2]},
        "xaxis2": {"domain": [0.6, 1]},
        "scene": {"zaxis": {"title": {"text": "c"}}},
        "annotations": [{"text": "here"}],
    }
    figure = parse(_figure(*data, **layout))
    first, second, third = figure.axes()
    assert (figure.title, figure.width, figure.height) == ("T", 700, 500)
    assert (first.xlabel, first.ylabel, first.yscale, first.ylim) == ("a", "b", "log", (0, 2))
    assert (first.xticks, first.legend, first.annotations) == (("p", "q"), ("one", "two"), ("here",))
    assert (first.box, second.box) == ((0, 0, 0.4, 1), (0.6, 0, 0.4, 1))
    assert (second.xticks, second.legend) == ((), ())
    assert (third.projection, third.zlabel) == ("3d", "c")


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"data": 1}', b'{"data": [1]}', b'{"layout": []}', b"[" * 100_000, b"\xff\xfe\xfa"]
)
def test_what_is_no_figure_is_told(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'{"data": [' + b"{}," * 1_000 + b"{}]}", "1,001 traces, and 1,000 are drawn"),
        (b'{"data": [{"y": [' + b"0," * 2_000_000 + b"0]}]}", "more than 2,000,000 values"),
        (b'{"data": [{"y": [' + b"[[[[]]]]," * 400_000 + b"0]}]}", "more than 2,000,000 values"),
    ],
    ids=["traces", "numbers", "lists"],
)
def test_a_figure_that_is_too_large_is_told(text: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parse(text)


@pytest.mark.parametrize(
    "text", [b'{"layout": {"meta": "prototype"}}', rb'{"layout": {"\u005f_proto__": {"width": 1}}}']
)
async def test_what_could_stay_on_a_shared_page_is_not_drawn_there(text: bytes) -> None:
    no_browser: Any = None
    assert await Board(no_browser).picture(parse(text)) is None


@pytest.mark.parametrize("size", [None, "wide", -5, 10**9, True, [1]])
def test_a_size_that_is_none_is_the_usual_one(size: object) -> None:
    assert parse(_figure(width=size, height=size)).width == 700


def test_the_page_is_never_left_by_its_figure() -> None:
    figure = parse(_figure({"name": "</script><script>alert(1)</script><!--"}, width=3000, height=1000))
    document = figure.page(1500, 16_000)
    assert figure.shown(1500, 16_000) == (1500, 500)
    assert "</script><script>alert" not in document
    assert "alert(1)" in document
