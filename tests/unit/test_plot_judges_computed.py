"""The computed judge of plots: the wanted plot gets everything, another one less, and a lie gains nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from opendesign.errors import Failed, UsageError
from opendesign.judging.cards import engine, kind_of, load_card, trait
from opendesign.judging.plots.computed import judge, score
from opendesign.judging.plots.similarity import Likeness, likeness
from opendesign.judging.plots.values import Closeness, marks_alike, marks_of
from opendesign.plotting.facts import AxesFacts, PlotFacts, SeriesFacts
from opendesign.types import Artifact, Verdict
from tests.unit.plot_support import AXES, FACTS, LINE, WARM, WET, drawn, encoded, plot_artifact, plot_case
from tests.unit.static_support import CASE as PAGE
from tests.unit.static_support import blob, edited

CARD = load_card("plot-computed")
CLOSE = Closeness(same=0.01, other=0.1)
SAME = Likeness(1.0, 1.0)


async def judged(folder: Path, plot: Artifact) -> Verdict:
    return await judge(plot_case(folder), plot, CARD, None, None)


def axes(**changes: Any) -> PlotFacts:
    """The wanted facts with other axes."""
    return replace(FACTS, axes=(replace(AXES, **changes),))


def series(*made: SeriesFacts) -> PlotFacts:
    return axes(series=made)


def test_the_card_is_for_plots_and_says_what_it_is_not() -> None:
    assert kind_of(CARD) == "plots"
    assert engine(CARD) is judge
    assert "NOT the quality score" in CARD.about
    assert "never raise it" in CARD.measures["total"].about


@pytest.mark.parametrize("text", ["nan", "inf", "1,000", "−3", "x" * 200, "1e999", "a<br>b"])
def test_whatever_a_text_is_it_is_like_itself(text: str) -> None:
    own = axes(title=text, xticks=(text,) * 3, legend=(text, text), annotations=(text,))
    assert score(own, own, SAME, CARD)[0]["total"] == 100


async def test_the_reference_itself_gets_everything(tmp_path: Path) -> None:
    verdict = await judged(tmp_path, plot_artifact(tmp_path))
    assert set(verdict.scores) == set(CARD.measures)
    assert {value for name, value in verdict.scores.items() if name != "good"} == {100}
    assert verdict.scores["good"] == 1
    assert verdict.reasons == ()


SECOND = replace(LINE, label="wet", y=WET)
BARS = tuple(replace(one, kind="bar", base=(0.0,) * 12) for one in AXES.series)
SWAPPED = tuple(replace(one, x=one.y, y=one.x) for one in AXES.series)


@pytest.mark.parametrize(
    ("plot", "part", "most"),
    [
        (series(*BARS), "kind", 0),
        (series(*BARS), "data", 0),
        (series(replace(LINE, y=WET), SECOND), "data", 60),
        (series(*SWAPPED), "data", 30),
        (series(LINE), "data", 50),
        (series(LINE, SECOND, LINE), "data", 70),
        (series(), "kind", 0),
        (series(), "data", 0),
        (axes(projection="polar"), "axes", 80),
        (axes(yscale="log"), "axes", 80),
        (axes(xlim=(11.5, -0.5)), "axes", 80),
        (axes(ylim=(0, 210)), "axes", 85),
        (axes(title="", xlabel="", legend=()), "texts", 60),
        (axes(xlabel="Weight", ylabel="kg", title="Of mice"), "texts", 70),
        (replace(FACTS, axes=(AXES, AXES)), "axes", 50),
        (replace(FACTS, axes=()), "data", 0),
        (replace(FACTS, axes=()), "texts", 0),
    ],
)
def test_what_differs_costs_its_own_part(plot: PlotFacts, part: str, most: float) -> None:
    scores, reasons, _ = score(FACTS, plot, SAME, CARD)
    assert scores[part] <= most
    assert scores["total"] == scores["structure"] < 100
    assert scores["picture"] == 100
    assert reasons, "what was lost is said"


@pytest.mark.parametrize("wrong", [series(*BARS), series(replace(LINE, y=WET), SECOND), series(*SWAPPED)])
def test_another_kind_and_another_column_are_not_good(wrong: PlotFacts) -> None:
    scores, _, _ = score(FACTS, wrong, SAME, CARD)
    assert scores["good"] == 0


@pytest.mark.parametrize(
    "plot",
    [
        series(SECOND, LINE),  # drawn in another order
        series(replace(LINE, x=LINE.x[::-1], y=LINE.y[::-1]), SECOND),  # from the end to the start
        series(*(replace(one, y=tuple(y * 1.0001 for y in one.y)) for one in AXES.series)),  # rounded
        axes(title="WEATHER  of a year", yticks=("0.0", "10.0", "20.0"), legend=("wet", "warm")),
        replace(axes(title=""), title="Weather of a year"),  # the figure's own title
        axes(annotations=("hottest", "coldest", "wettest"), title=AXES.title),
    ],
)
def test_what_makes_no_difference_costs_next_to_nothing(plot: PlotFacts) -> None:
    assert score(FACTS, plot, SAME, CARD)[0]["total"] >= 96


@pytest.mark.parametrize(
    "made",
    [
        (AXES, AxesFacts(colorbar=True, box=(0.9, 0.1, 0.05, 0.8))),  # matplotlib: axes of its own
        (replace(AXES, colorbar=True),),  # plotly: part of the axes
    ],
)
def test_a_colour_bar_is_counted_and_not_compared(made: tuple[AxesFacts, ...]) -> None:
    bar = replace(FACTS, axes=made)
    assert score(bar, bar, SAME, CARD)[0]["total"] == 100
    without = score(bar, FACTS, SAME, CARD)[0]
    assert without["texts"] < without["structure"] < 100
    assert (without["axes"], without["data"]) == (100, 100)


def test_parts_that_the_reference_lacks_are_left_out() -> None:
    bare = replace(FACTS, axes=(AxesFacts(series=(LINE,)),))
    scores, _, _ = score(bare, bare, SAME, CARD)
    assert "texts" not in scores
    assert scores["total"] == 100


async def test_facts_that_lie_gain_nothing(tmp_path: Path) -> None:
    """The code reports the very figure that was wanted, and draws another."""
    honest = await judged(
        tmp_path, plot_artifact(tmp_path, picture=drawn(WET, bars=True), facts=series(*BARS))
    )
    lying = await judged(tmp_path, plot_artifact(tmp_path, picture=drawn(WET, bars=True)))
    assert lying.scores["structure"] == 100
    assert lying.scores["total"] == lying.scores["picture"] < 75
    assert honest.scores["total"] <= lying.scores["picture"], (
        "the truth never gets more than the picture either"
    )
    assert lying.evidence["limited_by"] == "picture"
    assert "resembles the ground truth" in lying.reasons[0]


def test_likeness_leaves_colours_out_and_sees_other_data() -> None:
    wanted = drawn()
    assert likeness(wanted, wanted) == SAME
    assert likeness(wanted, drawn(colour="crimson")).lower > 0.98
    assert likeness(wanted, drawn(colour="orange", ground="black")).lower > 0.85
    other, bars = likeness(wanted, drawn(WET)), likeness(wanted, drawn(WET, bars=True))
    assert bars.lower < other.lower < 0.9
    assert likeness(drawn(WET), wanted).whole == pytest.approx(other.whole)


def crowded(*values: float, grid: bool = True) -> bytes:
    """A PNG with many texts, a grid, and a line through the values, if there are any."""
    image = Image.open(BytesIO(drawn(values) if values else framed()))
    draw = ImageDraw.Draw(image)
    for at in range(8):
        draw.text((40 + 32 * at, 215), f"{at}00 km")
        draw.text((5, 20 + 24 * at), f"{at} kg")
        if grid:
            draw.line((40, 30 + 24 * at, 300, 30 + 24 * at), fill="silver")
    return encoded(image)


def framed() -> bytes:
    image = Image.new("RGB", (320, 240), "white")
    ImageDraw.Draw(image).rectangle((40, 20, 300, 210), outline="black")
    return encoded(image)


INSIDE = (0.125, 0.125, 0.8125, 0.79)  # the frame's box, from the bottom up


def test_frame_and_texts_alone_are_not_alike_inside_the_axes() -> None:
    wanted = crowded(*WARM)
    assert likeness(wanted, wanted, [INSIDE]) == SAME
    hidden = likeness(wanted, crowded(), [INSIDE])
    assert hidden.whole > 0.6, "most of the edges are those of frame, grid and texts"
    assert hidden.inside < 0.1
    assert likeness(wanted, crowded(*WARM, grid=False), [INSIDE]).inside > 0.8, "a grid is no data"
    empty = likeness(crowded(), wanted, [INSIDE])
    assert empty.inside == empty.whole, "nothing to look for"


async def judged_against(truth: bytes, facts: PlotFacts, folder: Path, picture: bytes) -> Verdict:
    case = plot_case(folder, facts=facts)
    assert case.task is not None
    case = replace(case, task=replace(case.task, truth=blob(folder, truth, "png")))
    return await judge(case, plot_artifact(folder, picture=picture, facts=facts), CARD, None, None)


async def test_facts_that_lie_about_hidden_marks_gain_nothing(tmp_path: Path) -> None:
    wanted, told = crowded(*WARM), axes(box=INSIDE)
    assert (await judged_against(wanted, told, tmp_path, wanted)).scores["total"] == 100
    hidden = await judged_against(wanted, told, tmp_path, crowded())
    assert (hidden.scores["structure"], hidden.scores["total"]) == (100, 0)
    assert hidden.reasons[0] == "What is drawn inside the axes resembles the ground truth by 0 of 100."
    # Plotly's boxes are none of the picture, and its facts are not the code's word.
    plotly = await judged_against(wanted, replace(told, library="plotly"), tmp_path, crowded())
    assert plotly.evidence["inside"] == plotly.evidence["likeness"]


HUGE = (400_000_000).to_bytes(4, "big") + (1).to_bytes(4, "big") + bytes((8, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("truth", "told"),
    [
        (b"GIF89a", "one is no picture, or damaged"),
        (drawn()[:60], "one is no picture, or damaged"),
        (
            drawn()[:12] + b"IHDR" + HUGE + crc32(b"IHDR" + HUGE).to_bytes(4, "big") + drawn()[33:],
            "one has too many pixels",
        ),
    ],
)
async def test_a_ground_truth_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, truth: bytes, told: str
) -> None:
    with pytest.raises(UsageError, match=rf"'matplotlib-01' cannot be compared \({told}\): restore .*png or"):
        await judged_against(truth, FACTS, tmp_path, drawn())


@settings(deadline=None)
@given(st.lists(st.floats() | st.text(max_size=3) | st.none(), max_size=5), st.integers(0, 5))
def test_any_values_can_be_compared(values: list[Any], n: int) -> None:
    """Numbers near the end of their range, texts among numbers, nothing at all."""
    clean = tuple(
        None if value in (float("inf"), float("-inf")) or value != value else value for value in values
    )
    one = SeriesFacts(kind="line", x=clean, y=clean[::-1], n=n)
    other = SeriesFacts(kind="line", x=clean[:2], y=clean[:2], n=2)
    assert marks_alike(marks_of(one), marks_of(one), CLOSE) == 1
    assert 0 <= marks_alike(marks_of(one), marks_of(other), CLOSE) <= 1
    assert 0 <= marks_alike(marks_of(other), marks_of(one), CLOSE) <= 1


@pytest.mark.parametrize(
    ("written", "alike"),
    [("2024-01-{:02}T00:00:00.000000", 1.0), ("2024-01-{:02} 00:00", 1.0), ("2024-02-{:02}T12:30:00", 0.0)],
)
def test_a_date_is_the_same_however_it_is_written(written: str, alike: float) -> None:
    heights = tuple(float(day) for day in range(1, 13))
    days, others = (tuple(form.format(day) for day in range(1, 13)) for form in ("2024-01-{:02}", written))
    one, other = (SeriesFacts(kind="line", x=x, y=heights, n=12) for x in (days, others))
    assert (marks_alike(marks_of(one), marks_of(other), CLOSE) == 1.0) == (alike == 1.0)


def test_a_long_series_is_known_by_another_sample_of_it() -> None:
    def sampled(start: int) -> SeriesFacts:
        at = tuple(float(i) for i in range(start, 4000, 20))
        return SeriesFacts(kind="scatter", x=at, y=tuple((i * 37 % 1000) for i in at), n=4000)

    alike = marks_alike(marks_of(sampled(0)), marks_of(sampled(7)), CLOSE)
    assert alike > 0.8
    far = replace(sampled(0), x=tuple(x * 3 for x in sampled(0).x))
    assert marks_alike(marks_of(sampled(0)), marks_of(far), CLOSE) < 0.3


async def test_a_blank_plot_gets_the_lowest_score(tmp_path: Path) -> None:
    verdict = await judged(tmp_path, plot_artifact(tmp_path, facts=replace(FACTS, blank=True)))
    assert set(verdict.scores.values()) == {0}
    assert verdict.evidence["blank"] is True


async def test_what_is_not_there_is_never_scored(tmp_path: Path) -> None:
    plot = plot_artifact(tmp_path)
    with pytest.raises(Failed, match="not read") as raised:
        await judged(tmp_path, replace(plot, facts=None))
    assert raised.value.failure.status == "instrument_failure"
    with pytest.raises(Failed, match="import it again") as raised:
        await judge(plot_case(tmp_path, facts=None), plot, CARD, None, None)
    assert raised.value.failure.status == "instrument_failure"
    with pytest.raises(Failed, match="drew nothing") as raised:
        await judged(tmp_path, replace(plot, picture=None))
    assert raised.value.failure.status == "model_failure"
    with pytest.raises(UsageError, match="asks for a page"):
        await judge(PAGE, plot, CARD, None, None)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("kind = 20", "knd = 20", r"\[settings.weights\]"),
        ("kind = 20", "kind = -20", "from 0 on"),
        ("same = 0.01 ", "same = 0.2 ", r"\[settings.data\]"),
        ("same = 0.85 ", 'same = "a" ', r"\[settings.picture\]"),
        ("other = 0.35 ", "other = 0.95 ", r"\[settings.picture\]"),
        ("[measures.data]", "[measures.dato]", "measures.data"),
        ("good = 75 ", "good = true ", "settings.good"),
    ],
)
def test_a_card_that_makes_no_sense_is_one_sentence(tmp_path: Path, old: str, new: str, told: str) -> None:
    check: Callable[..., None] = trait(CARD, "CHECK")
    with pytest.raises(UsageError, match=told):
        check(edited(tmp_path, "plot-computed", old, new))
