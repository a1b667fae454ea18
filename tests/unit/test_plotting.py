"""Code → plot: what is caught, what it is told to be, whose fault a failure is."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image

from opendesign.errors import UsageError
from opendesign.plotting import AxesFacts, Plot, Plotter, SeriesFacts, parent
from opendesign.plotting import task as watching
from opendesign.types import PlotSettings
from tests.hostile import plot_code
from tests.hostile.plot_code import task

pytestmark = pytest.mark.skipif(not parent.isolation_here()[0], reason="code cannot be isolated here")

SETTINGS = PlotSettings(deadline_s=100, cpu_s=20)
PLT = "import matplotlib.pyplot as plt\n"
SNS = "import seaborn as sns\nimport matplotlib.pyplot as plt\n"
FIGURE = "from matplotlib.figure import Figure\nf = Figure()\n"
LINE = "plt.plot(df.a, df.b, label='b')\nplt.title('T')\n"
Run = Callable[..., Plot]


@pytest.fixture(scope="module")
def plotter() -> Iterator[Plotter]:
    made = Plotter(SETTINGS, at_once=2)
    asyncio.run(made.__aenter__())
    yield made
    asyncio.run(made.__aexit__(None, None, None))


@pytest.fixture
def run(plotter: Plotter, tmp_path: Path) -> Run:
    return lambda code, **changes: asyncio.run(plotter.plot(code, task(tmp_path, **changes)))


def _axes(plot: Plot) -> tuple[AxesFacts, ...]:
    assert plot.facts is not None, (plot.failure, plot.output)
    return plot.facts.axes


# What is caught


@pytest.mark.parametrize(
    ("code", "figures", "title"),
    [
        (f"{LINE}plt.show()", 1, "T"),
        (LINE, 1, "T"),
        (f"{LINE}plt.savefig('a.png')", 1, "T"),
        (f"{LINE}plt.savefig('a.pdf')\nplt.close()", 1, "T"),
        (f"{LINE}plt.close('all')", 1, "T"),
        (f"{LINE}plt.savefig('a.png')\nplt.clf()", 1, "T"),
        (f"{LINE}plt.show()\nplt.savefig('a.png')", 2, "T"),  # the second is a new one, and blank
        (f"{LINE}plt.figure()\nplt.plot([1, 2])\nplt.title('U')", 2, "U"),
        (f"{LINE}plt.subplots()", 2, "T"),
        (f"{LINE}import sys\nsys.exit()", 1, "T"),
        (f"import matplotlib\nmatplotlib.use('TkAgg')\n{LINE}plt.show()", 1, "T"),
        (f"plt.switch_backend('QtAgg')\n{LINE}plt.show(block=False)\nplt.title('V')", 1, "V"),
        ("df.plot(x='a', y='b', title='P')", 1, "P"),
        (f"{FIGURE}f.add_subplot(title='F').plot([1])\nf.savefig('f')", 1, "F"),
        ("from matplotlib.pyplot import show, plot, title\nplot([1, 2])\ntitle('I')\nshow()", 1, "I"),
        ("if __name__ == '__main__':\n    plt.plot([1])\n    plt.title(open('data.csv').read(3))", 1, "a,b"),
    ],
)  # fmt: skip
def test_figures_are_caught(run: Run, code: str, figures: int, title: str) -> None:
    plot = run(PLT + code)
    assert plot.failure is None
    assert plot.facts is not None
    assert (plot.facts.figures, plot.facts.blank) == (figures, False)
    assert _axes(plot)[0].title == title


@pytest.mark.parametrize(
    "code", ["plt.figure()", "plt.subplots(2, 2)\nplt.show()", "plt.figure(facecolor='red')\nplt.axis('off')"]
)
def test_a_blank_figure_is_told_and_no_failure(run: Run, code: str) -> None:
    plot = run(PLT + code)
    assert plot.failure is None
    assert plot.facts is not None
    assert plot.facts.blank
    assert plot.picture


@pytest.mark.parametrize("code", ["plt.figtext(0.5, 0.5, 'x')", "plt.axis('off')\nplt.table([['1']])"])
def test_texts_and_tables_are_not_blank(run: Run, code: str) -> None:
    facts = run(PLT + code).facts
    assert facts is not None
    assert not facts.blank


def test_the_picture_is_the_figure_s_own(run: Run) -> None:
    code = f"{PLT}plt.figure(figsize=(5, 3), dpi=80)\n{LINE}"
    plot, again = run(code), run(code)
    with Image.open(io.BytesIO(plot.picture or b"")) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "RGB", (400, 240))
    assert (plot.width, plot.height) == (400, 240)
    assert plot.thumbnail is not None
    assert 0 < len(plot.thumbnail) <= 15_000
    assert (plot.picture, plot.facts, plot.thumbnail) == (again.picture, again.facts, again.thumbnail)
    tight = run(f"{code}plt.savefig('a.png', bbox_inches='tight', dpi=300)\nplt.close()")
    assert tight.width < 400, "cut as it was saved, in the figure's own resolution"


def test_too_many_pixels_are_drawn_smaller(run: Run) -> None:
    plot = run(f"{PLT}plt.figure(figsize=(80, 80), dpi=200)\n{LINE}")
    assert plot.failure is None
    assert plot.facts is not None
    assert plot.facts.truncated
    assert 0.9 * SETTINGS.most_pixels < plot.width * plot.height <= SETTINGS.most_pixels


def test_what_is_too_long_is_drawn_smaller(run: Run) -> None:
    plot = run(f"{PLT}plt.figure(figsize=(1000, 1), dpi=100)\n{LINE}")
    assert (plot.failure, plot.width) == (None, 65_535)


def test_what_is_transparent_is_on_white(run: Run) -> None:
    plot = run(f"{PLT}{LINE}plt.savefig('a.png', transparent=True)\nimport os\nos._exit(0)")
    assert plot.failure is not None
    assert "before the code had come to its end" in plot.failure.detail
    with Image.open(io.BytesIO(plot.picture or b"")) as image:
        assert image.getpixel((2, 2)) == (255, 255, 255)


# What it is told to be


def _one(plot: Plot) -> SeriesFacts:
    (axes,) = (one for one in _axes(plot) if not one.colorbar)
    assert len(axes.series) == 1, axes.series
    return axes.series[0]


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("plt.plot(df.a, df.b, label='b')", {"kind": "line", "label": "b", "x": (1, 2, 3), "y": (2, 4, 9)}),
        ("plt.plot(df.a, df.b, 'o')", {"kind": "scatter", "y": (2, 4, 9)}),
        ("plt.scatter(df.a, df.b)", {"kind": "scatter", "x": (1, 2, 3), "y": (2, 4, 9)}),
        ("plt.bar(['p', 'q'], [3, 5], bottom=1)", {"kind": "bar", "x": (0, 1), "y": (3, 5), "base": (1, 1)}),
        ("plt.barh([7, 8], [3, 5])", {"kind": "bar", "x": (3, 5), "y": (7, 8), "horizontal": True}),
        ("plt.hist([1, 1, 2], bins=[0, 1.5, 3])", {"kind": "bar", "y": (2, 1), "n": 2}),
        ("plt.fill_between(df.a, df.b)", {"kind": "area"}),
        ("plt.imshow([[1, 2, 3], [4, 5, 6]])", {"kind": "image", "z": (1, 2, 3, 4, 5, 6), "shape": (2, 3)}),
        ("plt.pcolormesh([[1, 2], [4, 5]])\nplt.colorbar()", {"kind": "image", "z": (1, 2, 4, 5)}),
        ("plt.pie([1, 3], labels=['p', 'q'])", {"kind": "pie", "x": ("p", "q"), "y": (0.25, 0.75)}),
        ("plt.boxplot([[1, 2, 3, 9]])", {"kind": "box"}),
        ("plt.violinplot([[1, 2, 3, 9]])", {"kind": "violin"}),
        ("plt.errorbar(df.a, df.b, yerr=0.5)", {"kind": "errorbar", "y": (2, 4, 9), "z": (0.5, 0.5, 0.5)}),
        ("plt.contour([[1, 2], [3, 5]], levels=[2, 3])", {"kind": "contour", "z": (2, 3)}),
        ("plt.plot([1, float('nan'), float('inf')])", {"kind": "line", "y": (1, None, None)}),
        ("plt.plot(range(1000))", {"kind": "line", "n": 1000}),
        (
            "import numpy as np\nx, y = np.mgrid[0:3, 0:3]\n"
            "plt.figure().add_subplot(projection='3d').plot_surface(x, y, x + y)",
            {"kind": "surface"},
        ),
        ("plt.figure().add_subplot(projection='3d').scatter([1], [2], [3])", {"kind": "scatter", "z": (3,)}),
    ],
)
def test_series_of_matplotlib(run: Run, code: str, wanted: dict[str, Any]) -> None:
    series = _one(run(f"{PLT}{code}"))
    assert {name: getattr(series, name) for name in wanted} == wanted
    assert len(series.y) <= 200


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("sns.boxplot(df, x='a', y='b')", "box"),
        ("sns.catplot(df, x='a', y='b', kind='violin')", "violin"),
        ("sns.barplot(df, x='a', y='b', errorbar=None)", "bar"),
        ("sns.heatmap([[1, 2], [3, 4]])", "image"),
        ("sns.lineplot(df, x='a', y='b')", "line"),
        ("sns.scatterplot(df, x='a', y='b', hue='a')", "scatter"),
    ],
)
def test_series_of_seaborn(run: Run, code: str, kind: str) -> None:
    plot = run(f"{SNS}{code}", library="seaborn")
    assert plot.failure is None
    assert _one(plot).kind == kind
    assert plot.facts is not None
    assert plot.facts.library == "seaborn"


def test_axes_are_told(run: Run) -> None:
    code = f"""{PLT}
fig, (left, right) = plt.subplots(1, 2)
left.plot(df.a, df.b, label="squares")
left.set(title="L", xlabel="a", ylabel="b", yscale="log", xlim=(0, 4), ylim=(1, 10), xticks=[1, 2])
left.annotate("here", (1, 2))
left.legend()
right.remove()
fig.add_subplot(122, projection="polar").plot([0, 1], [1, 2])
fig.suptitle("Both")
"""
    plot = run(code)
    left, right = _axes(plot)
    assert plot.facts is not None
    assert plot.facts.title == "Both"
    assert (left.title, left.xlabel, left.ylabel, left.xscale, left.yscale) == (
        "L",
        "a",
        "b",
        "linear",
        "log",
    )
    assert (left.xlim, left.ylim, left.xticks, left.legend) == ((0, 4), (1, 10), ("1", "2"), ("squares",))
    assert left.annotations == ("here",)
    assert right.projection == "polar"
    assert left.box[0] + left.box[2] < right.box[0] + 0.05


# Whose fault a failure is

SLEEP = "import time\ntime.sleep(1000)"


@pytest.mark.parametrize(
    ("code", "library", "reason", "detail"),
    [
        ("x = 1\ny = (", "matplotlib", "syntax_error", "'(' was never closed (line 2)"),
        ("x = '\0'", "matplotlib", "syntax_error", "null bytes"),
        ("x = '\ud800'", "matplotlib", "syntax_error", "surrogate"),
        (f"{PLT}plt.plot(df.c)", "matplotlib", "exception", "no attribute 'c' (line 2)"),
        (f"\n\n{PLT}plt.plot(df['c'])", "matplotlib", "exception", "KeyError: 'c' (line 4)"),
        (
            f"{PLT}plt.figure(figsize=(0.001, 0.001))",
            "matplotlib",
            "exception",
            "A figure of 0.1 × 0.1 pixels",
        ),
        (f"{PLT}plt.figure(figsize=(float('nan'), 3))", "matplotlib", "exception", "ValueError"),
        (f"{PLT}plt.title('$x^$')\nplt.show()", "matplotlib", "exception", "ValueError"),
        ("import sys\nsys.exit('bad data')", "matplotlib", "exception", "SystemExit: bad data (line 2)"),
        ("x = df", "matplotlib", "no_plot", "no figure"),
        ("import no_such_thing", "matplotlib", "exception", "No module named 'no_such_thing'"),
        ("import altair.vegalite", "matplotlib", "wrong_library", "needs Altair"),
        (f"{SNS}sns.lineplot(df, x='a', y='b')", "matplotlib", "wrong_library", "with seaborn, not"),
        (f"{PLT}{LINE}", "seaborn", "wrong_library", "matplotlib alone, not with seaborn"),
        (f"{PLT}{LINE}", "plotly", "wrong_library", "with matplotlib, not with plotly"),
        ("import plotly.express as px\nf = px.line(df)", "seaborn", "wrong_library", "with plotly, not"),
    ],
)
def test_reasons(run: Run, code: str, library: str, reason: str, detail: str) -> None:
    plot = run(code, library=library)
    assert plot.failure is not None
    assert plot.failure.reason == reason
    assert detail in plot.failure.detail
    assert plot.failure.status == "model_failure"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("sys.stdout = None\nraise ValueError('x')", "ValueError: x (line 7)."),
        ("sys.stdout.close()\nraise ValueError('x')", "ValueError: x (line 7)."),
        ("import traceback\ntraceback.print_exception = 0\nraise ValueError('x')", "ValueError: x (line 8)."),
        ("import os\nos.write = None\nraise ValueError('x')", "ended before the code had come to its end."),
        ("class M(type):\n    __name__ = 7\nraise M('E', (Exception,), {})('x')", "a name: x (line 8)."),
        ("class E(ModuleNotFoundError):\n    name = property(repr)\nraise E('x')", "E: x (line 8)."),
    ],
)  # fmt: skip
def test_an_error_after_the_plot_is_never_lost(run: Run, change: str, told: str) -> None:
    plot = run(f"{PLT}{LINE}plt.show()\nimport sys\n{change}")
    assert plot.picture
    assert plot.failure is not None
    assert plot.failure.reason == "exception"
    assert told in plot.failure.detail


def test_seaborn_may_style_a_plot_of_matplotlib_and_the_other_way_round(run: Run) -> None:
    styled = f"{SNS}sns.set_theme()\n{LINE}"
    assert run(styled).failure is None
    assert run(styled, library="seaborn").failure is None


def test_a_traceback_shows_the_code_s_own_lines(run: Run) -> None:
    plot = run("def f():\n    return df['nothing']\nprint('before')\nf()")
    assert plot.output.startswith("before\nTraceback")
    assert "return df['nothing']" in plot.output
    assert "opendesign" not in plot.output


def test_code_that_sleeps_is_ended(tmp_path: Path) -> None:
    async def once() -> Plot:
        async with Plotter(PlotSettings(deadline_s=5), at_once=1) as plotter:
            return await plotter.plot(SLEEP, task(tmp_path))

    plot = asyncio.run(once())
    assert plot.failure is not None
    assert (plot.failure.reason, plot.failure.detail) == ("timeout", "The code had not ended after 5 s.")


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [
        (SLEEP, "deadline_under_load", "instrument_failure"),
        (f"import os\nif not os.fork():\n    while True: pass\n{SLEEP}", "timeout", "model_failure"),
    ],
    ids=["waits for others", "may have waited for its own child"],
)
def test_a_machine_that_is_too_busy_is_no_fault_of_the_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, reason: str, status: str
) -> None:
    async def once() -> Plot:
        async with Plotter(PlotSettings(deadline_s=5, cpu_s=60), at_once=1) as plotter:
            return await plotter.plot(code, task(tmp_path))

    monkeypatch.setattr(watching, "_scheduled", lambda pid: (0.5, 3.0))
    plot = asyncio.run(once())
    assert plot.failure is not None
    assert (plot.failure.reason, plot.failure.status) == (reason, status)


@pytest.mark.parametrize(
    ("setup", "told"),
    [
        ("import pandas\npandas.read_csv('data.csv')['c']", r"KeyError: 'c' \(line 2\)"),
        ("df = = 1", "SyntaxError: invalid syntax"),
        ("x = '\0'", "SyntaxError: source code string cannot contain null bytes"),
    ],
)
def test_a_setup_that_fails_is_the_benchmark_s_fault(run: Run, setup: str, told: str) -> None:
    with pytest.raises(UsageError, match=rf"The setup of the case fails \({told}"):
        run(f"{PLT}{LINE}", setup=setup)


def test_data_that_have_no_room_are_the_benchmark_s_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def once() -> Plot:
        async with Plotter(PlotSettings(deadline_s=100, disk_mb=1), at_once=1) as plotter:
            return await plotter.plot(f"{PLT}{LINE}", task(tmp_path))

    monkeypatch.setattr(plot_code, "DATA", bytes(2 << 20))
    with pytest.raises(UsageError, match=r"The setup of the case fails \(OSError: .*File too large"):
        asyncio.run(once())


# The process that is forked


def test_a_parent_that_ended_is_replaced(plotter: Plotter, run: Run) -> None:
    before = run(f"{PLT}{LINE}")
    (process,) = psutil.Process().children()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    after = run(f"{PLT}{LINE}")
    assert (after.failure, after.picture) == (None, before.picture)


def _until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.02)


def test_a_plot_that_is_not_waited_for_is_ended(plotter: Plotter, run: Run, tmp_path: Path) -> None:
    async def given_up() -> None:
        work = asyncio.create_task(plotter.plot(SLEEP, task(tmp_path)))
        await asyncio.to_thread(_until, lambda: bool(psutil.Process().children()[0].children()))
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(given_up())
    assert psutil.Process().children()[0].children() == []
    assert run(f"{PLT}{LINE}").failure is None


# Where there is no isolation


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def enter(self: parent.Parent, *, isolated: bool, probe: bool = False) -> None:
        if isolated:
            raise parent.Refused("unshare: Operation not permitted")
        start(self, isolated=isolated, probe=probe)

    start = parent.Parent.__init__
    monkeypatch.setattr(parent.Parent, "__init__", enter)


@pytest.mark.usefixtures("refused")
def test_without_isolation_it_refuses_in_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"cannot be isolated .*not permitted.*--unsafe-plots"):
        asyncio.run(Plotter(SETTINGS).__aenter__())
    ok, detail = parent.isolation_here()
    assert not ok
    assert "not permitted" in detail


@pytest.mark.usefixtures("refused")
def test_where_that_is_allowed_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def twice() -> tuple[str, Plot, Plot]:
        async with Plotter(SETTINGS, unsafe=True) as plotter:
            failed = await plotter.plot("import os\nos.remove('data.csv')\nos._exit(7)", task(tmp_path))
            return plotter.isolation, failed, await plotter.plot(f"{PLT}{LINE}", task(tmp_path))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    isolation, failed, plot = asyncio.run(twice())
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"], "its folders are removed"
    assert isolation.startswith("none (unshare: Operation not permitted)")
    assert failed.failure is not None
    assert (plot.failure, plot.width) == (None, 640)


@pytest.mark.parametrize("isolated", [True, False])
def test_no_folder_stays_where_the_harness_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated: bool
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    warm = parent.Parent(isolated=isolated)
    assert len(list(tmp_path.iterdir())) == (not isolated)
    warm._control.close()  # all that the kernel does for one that is killed
    assert warm._process.wait(60) == 0
    assert list(tmp_path.iterdir()) == []
    warm.close()


def test_another_system_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent.platform, "system", lambda: "Darwin")
    with pytest.raises(UsageError, match="on Linux only"):
        asyncio.run(Plotter(SETTINGS).__aenter__())


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "find_spec", lambda name: None if name == "plotly" else name)
    with pytest.raises(UsageError, match=r"without plotly: `pip install 'opendesign\[plots\]'` gets"):
        asyncio.run(Plotter(SETTINGS).__aenter__())
