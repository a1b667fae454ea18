"""What the tests of plots share: a task, facts and pictures made by hand, and plots as they are stored."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from opendesign.plotting.facts import AxesFacts, PlotFacts, SeriesFacts
from opendesign.types import Artifact, Case, PlotTask
from tests.unit.static_support import blob

MONTHS = tuple(float(month) for month in range(12))
WARM = (3.0, 4.0, 7.0, 11.0, 15.0, 18.0, 20.0, 20.0, 16.0, 12.0, 7.0, 4.0)
WET = (52.0, 41.0, 44.0, 40.0, 47.0, 49.0, 46.0, 55.0, 52.0, 66.0, 63.0, 58.0)
LINE = SeriesFacts(kind="line", label="warm", x=MONTHS, y=WARM, n=12)
AXES = AxesFacts(
    title="Weather of a year",
    xlabel="Month",
    ylabel="°C",
    xticks=("0", "5", "10"),
    yticks=("0", "10", "20"),
    xlim=(-0.5, 11.5),
    ylim=(0.0, 21.0),
    legend=("warm", "wet"),
    annotations=("hottest",),
    series=(LINE, replace(LINE, label="wet", y=WET)),
)
FACTS = PlotFacts(library="matplotlib", width=320, height=240, axes=(AXES,))


@cache
def drawn(
    values: tuple[float, ...] = WARM, *, colour: str = "navy", ground: str = "white", bars: bool = False
) -> bytes:
    """A PNG of a frame with a line, or bars, through the values."""
    image = Image.new("RGB", (320, 240), ground)
    draw = ImageDraw.Draw(image)
    draw.rectangle((40, 20, 300, 210), outline="black" if ground == "white" else "white")
    low, high = min(values), max(values)
    at = [(50 + 20 * i, 200 - 170 * (value - low) / (high - low)) for i, value in enumerate(values)]
    if bars:
        for x, y in at:
            draw.rectangle((x - 6, y, x + 6, 210), fill=colour)
    else:
        draw.line(at, fill=colour, width=3)
    return encoded(image)


def encoded(image: Image.Image) -> bytes:
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def plot_case(folder: Path, *, facts: PlotFacts | None = FACTS, **changes: Any) -> Case:
    task = PlotTask(
        library="matplotlib",
        chart="line",
        description="Temperature and rain by month, one line each.",
        style="A legend at the top left.",
        setup="import pandas as pd\ndf = pd.read_csv('data.csv')",
        reference="df.plot()",
        data=blob(folder, b"warm,wet\n3,52\n", "csv"),
        truth=blob(folder, drawn(), "png"),
        facts=blob(folder, facts.to_json().encode(), "json") if facts else None,
    )
    case = Case(id="matplotlib-01", category="matplotlib", topic="line", prompt="Draw it.", task=task)
    return replace(case, **changes)


def plot_artifact(
    folder: Path,
    *,
    picture: bytes | None = None,
    facts: PlotFacts | None = FACTS,
    code: str = "df.plot()",
    **changes: Any,
) -> Artifact:
    """A stored plot; by default the one that was wanted."""
    made: dict[str, Any] = {
        "case": "matplotlib-01",
        "sample": 0,
        "document": blob(folder, code.encode(), "py"),
        "picture": blob(folder, picture or drawn(), "png"),
        "facts": blob(folder, facts.to_json().encode(), "json") if facts else None,
        "width": 320,
        "height": 240,
    }
    return Artifact(**{**made, **changes})
