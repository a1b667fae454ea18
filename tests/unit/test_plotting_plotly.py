"""Figures of plotly: the code makes data, our own browser draws it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PIL import Image

from opendesign.errors import UsageError
from opendesign.plotting import Plot, Plotter, parent
from opendesign.rendering import Renderer
from opendesign.rendering.browser import browsers
from opendesign.types import PlotSettings, RenderSettings
from tests.hostile.plot_code import task

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not any(True for _ in browsers()), reason="there is no browser here"),
    pytest.mark.skipif(not parent.isolation_here()[0], reason="code cannot be isolated here"),
]
SETTINGS = PlotSettings(deadline_s=100)
RENDER = RenderSettings(network="offline", deadline_s=150, load_s=60, settle_s=10, cpu_s=60)
PX = "import plotly.express as px\nimport plotly.graph_objects as go\n"
BARS = "fig = px.bar(df, x='a', y='b', title='Bars', width=400, height=300)\n"
CODE = {
    "shown": f"{PX}{BARS}fig.show()",
    "left": f"{PX}{BARS}",
    "written": f"{PX}{BARS}fig.write_image('a.png')\nfrom PIL import Image\nImage.open('a.png').load()",
    "html": f"{PX}{BARS}fig.write_html('a.html')\nopen('a.html').read(9)",
    "offline": f"import plotly.offline\n{PX}{BARS}plotly.offline.plot(fig, filename='a.html')",
    "on a page of its own": f"{PX}{BARS}fig.update_layout(meta='prototype').show()",
    "too large": f"{PX}go.Figure(go.Bar(text=['x' * 999] * 21_000)).show()",
    "before a blank one": f"{PX}{BARS}fig.show()\ngo.Figure().show()",
    "blank": f"{PX}go.Figure().show()",
    "3d": f"{PX}go.Figure(go.Surface(z=[[1, 2], [3, 5]]), {{'width': 400, 'height': 300}}).show()",
    "wide": f"{PX}px.line(df, width=2560, height=600).show()",
    "hostile": f"{PX}import plotly.io as pio\n"
    "pio.show({'data': [{'type': 'scatter', 'y': [1, 2]}], 'layout':"
    " {'title': {'text': '<script>document.body.remove()</script>'}}}, validate=False)",
    "beside matplotlib": f"import matplotlib.pyplot as p\np.plot([1, 2])\np.show()\n{PX}{BARS}fig.show()",
    "broken": f"{PX}from plotly.basedatatypes import BaseFigure\nBaseFigure.to_json = lambda f: '[1]'\n"
    "go.Figure().show()",
}


@pytest.fixture(scope="module")
def plots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plot]:
    folder: Path = tmp_path_factory.mktemp("plots")

    async def all_of_them() -> list[Plot]:
        async with Renderer(RENDER) as renderer, Plotter(SETTINGS, renderer=_giving(renderer)) as plotter:
            return await asyncio.gather(
                *(plotter.plot(code, task(folder, library="plotly")) for code in CODE.values())
            )

    return dict(zip(CODE, asyncio.run(all_of_them()), strict=True))


def _giving(renderer: Renderer) -> Callable[[], Awaitable[Renderer]]:
    async def give() -> Renderer:
        return renderer

    return give


@pytest.mark.parametrize(
    "name",
    [
        *("shown", "left", "written", "html", "offline"),
        *("before a blank one", "beside matplotlib", "on a page of its own"),
    ],
)
def test_figures_are_caught_and_drawn(plots: dict[str, Plot], name: str) -> None:
    plot = plots[name]
    assert plot.failure is None, plot.output
    assert plot.facts is not None
    assert (plot.facts.library, plot.facts.title, plot.facts.blank) == ("plotly", "Bars", False)
    assert plot.picture == plots["shown"].picture, "however it was caught, it is the same picture"
    with Image.open(io.BytesIO(plot.picture or b"")) as image:
        assert image.size == (plot.width, plot.height) == (400, 300)
        colours = image.convert("RGB").getcolors(1 << 20) or []
    assert any(colour == (99, 110, 250) and count > 5_000 for count, colour in colours), "plotly's first blue"


def test_a_blank_one_is_told(plots: dict[str, Plot]) -> None:
    assert plots["blank"].failure is None
    assert plots["blank"].facts is not None
    assert plots["blank"].facts.blank


def test_a_scene_is_drawn(plots: dict[str, Plot]) -> None:
    with Image.open(io.BytesIO(plots["3d"].picture or b"")) as image:
        assert len(image.convert("RGB").getcolors(1 << 20) or []) > 100


def test_one_that_is_too_wide_is_drawn_smaller(plots: dict[str, Plot]) -> None:
    facts = plots["wide"].facts
    assert facts is not None
    assert (facts.width, facts.height, facts.truncated) == (1280, 300, True)


def test_its_texts_are_no_script(plots: dict[str, Plot]) -> None:
    assert plots["hostile"].failure is None, plots["hostile"].output
    assert plots["hostile"].facts is not None
    assert not plots["hostile"].facts.blank


def test_what_is_no_figure_is_the_code_s_fault(plots: dict[str, Plot]) -> None:
    failure = plots["broken"].failure
    assert failure is not None
    assert failure.reason == "exception"
    assert "cannot be drawn" in failure.detail


def test_one_that_is_too_large_is_told(plots: dict[str, Plot]) -> None:
    failure = plots["too large"].failure
    assert failure is not None
    assert "A figure may take 20,000,000 bytes as JSON; this one takes 21," in failure.detail


async def test_without_a_browser_it_is_told(tmp_path: Path) -> None:
    async with Plotter(SETTINGS) as plotter:
        with pytest.raises(UsageError, match="drawn by a browser"):
            await plotter.plot(CODE["shown"], task(tmp_path, library="plotly"))
