"""Cases about plots: the shipped ones, the prompts made of them, what is refused, and their check."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from opendesign.cases.benchmark import load_benchmark, load_card, load_protocol, select
from opendesign.cases.check import check
from opendesign.cases.plots import MOST_DATA, SETUP, check_instructions, compose, describe
from opendesign.content import shipped
from opendesign.errors import UsageError
from opendesign.plotting import PlotFacts
from opendesign.running.references import check_references, difference
from opendesign.types import LIBRARIES, Blob, Case, PlotSettings

FOLDER = shipped() / "benchmarks" / "plots-mini"
SHIPPED = load_benchmark("plots-mini")
STANDARD = load_protocol("plots-mini", "standard")
CHARTS = {
    *("line", "bar", "grouped-bar", "stacked-bar", "histogram", "box", "violin", "scatter", "heatmap", "pie"),
    *("area", "error-bars", "polar", "surface-3d", "contour", "small-multiples", "twin-axes", "dates"),
    *("log-scale", "annotations"),
}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A local copy of the shipped benchmark, which takes its place."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(FOLDER, tmp_path / "benchmarks" / "plots-mini")


def change(folder: Path, library: str, edit: Callable[[dict[str, object]], object]) -> None:
    """Edit the first case of a library."""
    file = folder / "cases" / f"{library}.jsonl"
    first, *rest = file.read_text(encoding="utf-8").splitlines()
    line = json.loads(first)
    edit(line)
    file.write_text("\n".join([json.dumps(line), *rest]) + "\n", encoding="utf-8")


def table(folder: Path, text: str) -> Blob:
    file = folder / "table.csv"
    file.write_text(text, encoding="utf-8")
    return Blob(digest="", suffix="csv", root=folder, at=file)


def test_the_shipped_tasks_are_what_the_card_says() -> None:
    assert SHIPPED.kind == "plots"
    assert Counter(case.category for case in SHIPPED.cases) == dict.fromkeys(LIBRARIES, 12)
    assert {case.topic for case in SHIPPED.cases} == CHARTS == set(load_card("plots-mini").charts)
    for case in SHIPPED.cases:
        task = case.task
        assert task is not None
        assert task.facts is not None
        facts = PlotFacts.from_json(task.facts.read_text())
        with Image.open(io.BytesIO(task.truth.read_bytes())) as picture:
            assert picture.size == (facts.width, facts.height)
        assert (facts.library, facts.blank, facts.figures) == (case.category, False, 1)
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 2_500_000


def test_benchmarks_of_pages_are_what_they_were() -> None:
    assert load_benchmark("opendesign").hash == "103729c444f9e1ea"
    assert load_protocol("opendesign", "standard").hash == "4482db66ecd798be"


def test_a_limit_and_a_category_go_by_library() -> None:
    assert [case.id for case in select(SHIPPED, limit=3)] == [f"{name}-001" for name in LIBRARIES]
    assert {case.category for case in select(SHIPPED, category="Plotly Express")} == {"plotly"}
    with pytest.raises(UsageError, match="No case of 'plots-mini' is in category 'game'"):
        select(SHIPPED, category="game")


def test_the_hash_covers_data_reference_and_truth(mine: Path) -> None:
    hashes = {SHIPPED.hash}
    for name in ("data/coffee.csv", "reference/seaborn-001.py", "truth/seaborn-001.png"):
        (mine / name).write_bytes((mine / name).read_bytes() + b"\n")
        hashes.add(load_benchmark("plots-mini").hash)
    assert len(hashes) == 4
    (mine / "truth" / "seaborn-001.json").unlink()  # facts depend on the libraries that are there
    assert load_benchmark("plots-mini").hash in hashes


def test_the_prompt_has_its_parts_in_the_published_order_and_no_answer() -> None:
    assert STANDARD.plots is not None
    assert STANDARD.generation.temperature == 0
    for case in SHIPPED.cases:
        task, prompt = case.task, compose(case, STANDARD.plots).prompt
        assert task is not None
        parts = (
            "Write a Python program",
            f"Draw with {task.library} ",
            "rows and",
            task.description,
            task.style,
        )
        places = [prompt.index(part) for part in parts]
        assert places == sorted(places)
        assert "{{" not in prompt
        assert not any(len(line) > 30 and line in prompt for line in task.reference.splitlines())
        assert SETUP.splitlines()[-1] in prompt  # the prompt says how df was loaded, as it was


def test_what_fills_a_slot_is_not_looked_at_again(tmp_path: Path) -> None:
    case = SHIPPED.cases[0]
    assert case.task is not None
    odd = replace(case, task=replace(case.task, description="Plot {{style}} \\1", style="S"))
    settings = PlotSettings(data="none", instructions={"": "{{description}}|{{style}}"})
    assert compose(odd, settings).prompt == "Plot {{style}} \\1|S"
    other = replace(settings, instructions={"matplotlib": "M {{description}}", "": "{{description}}"})
    assert compose(odd, other).prompt.startswith("M ")


@pytest.mark.parametrize(
    ("kind", "says", "not_"),
    [
        ("head", ["3 rows and 3 columns", "day (str)", '"0":1.5'], ["mean"]),
        ("describe", ["n (float64)", '"mean":2.25', '"count"'], ["2024-01-03"]),
        ("columns", ["- n (float64), 2 values from 1.5 to 3, mean 2.25", "- day (str), 3 values"], ["2024"]),
        ("lida", ['"type": "date"', '"type": "number"', '"type": "text"', '"different_values": 2'], ["mean"]),
        ("none", ["not described"], ["day"]),
    ],
)
def test_the_data_is_described_in_five_ways(
    kind: str, says: list[str], not_: list[str], tmp_path: Path
) -> None:
    text = describe(table(tmp_path, "day,n,who\n2024-01-01,1.5,A\n2024-01-02,,B\n2024-01-03,3,C\n"), kind)
    assert [part for part in says if part not in text] == []
    assert [part for part in not_ if part in text] == []


def test_a_description_is_bounded_and_an_odd_table_is_no_crash(tmp_path: Path) -> None:
    wide = ",".join(f"column_{n}" for n in range(900))
    assert len(describe(table(tmp_path, wide + "\n" + ",".join("1" * 900) + "\n"), "head")) == MOST_DATA
    for text in (
        "a,b\n",
        "a\n\n",
        "a,a\n1,2\n",
        "x\ninf\n-inf\n",
        "t\n" + "é" * 50 + "\n",
        "b\nTrue\nFalse\n",
    ):
        for kind in ("head", "describe", "columns", "lida"):
            assert "a table" not in describe(table(tmp_path, text), kind)
    with pytest.raises(UsageError, match="is not a table in CSV"):
        describe(table(tmp_path, ""), "head")


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ({"truth": "truth/none.png"}, r"matplotlib.jsonl, line 1: the file 'truth/none.png' does not exist"),
        ({"data": "../../secret.csv"}, r"line 1: '../../secret.csv' lies outside"),
        ({"description": " "}, "'description' is empty"),
        ({"library": "seaborn"}, "a case of category 'seaborn' belongs in another file"),
        ({"library": "bokeh"}, "'library' is \"bokeh\""),
        ({"referense": "x"}, "did you mean 'reference'"),
        ({"id": "A plot"}, "ids are lowercase words"),
    ],
)
def test_a_wrong_line_is_named(edit: dict[str, str], says: str, mine: Path) -> None:
    change(mine, "matplotlib", lambda line: line.update(edit))
    with pytest.raises(UsageError, match=says):
        load_benchmark("plots-mini")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("cpu_s = 15.0", "cpu_s = 0.0", "'plots.cpu_s' is 0.0, but it must be above zero"),
        ('data = "head"', 'data = "tail"', "'plots.data' is \"tail\""),
        ('"" = "plots.md"', '"" = "plot.md"', "the file 'plot.md' does not exist"),
        ('"" = "plots.md"', 'bokeh = "plots.md"', "no category named 'bokeh'"),
    ],
)
def test_a_wrong_protocol_is_named(old: str, new: str, says: str, mine: Path) -> None:
    file = mine / "protocols" / "standard.toml"
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        load_protocol("plots-mini", "standard")


def test_prompts_and_cases_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="no slot 'descripton'"):
        check_instructions({"": "{{descripton}}"}, "here")
    with pytest.raises(UsageError, match=r"lacks the slot \{\{description\}\}"):
        check_instructions({"": "Draw {{library}}"}, "here")
    with pytest.raises(UsageError, match="has no prompt for matplotlib"):
        compose(SHIPPED.cases[0], PlotSettings())
    with pytest.raises(UsageError, match="is about a page"):
        compose(Case(id="game-001", category="game", prompt="Snake"), PlotSettings())


def test_the_shipped_benchmark_keeps_every_rule_and_a_spoiled_one_does_not(mine: Path) -> None:
    assert check(load_benchmark("plots-mini")).problems == ()
    change(mine, "matplotlib", lambda line: line.update(chart="lines", style=" "))
    (mine / "truth" / "seaborn-001.json").unlink()
    (mine / "data" / "exchange.csv").write_text("date,rate\n2024-01-01,1\n", encoding="utf-8")
    report = check(load_benchmark("plots-mini"))
    assert [(problem.case, problem.rule) for problem in report.problems] == [
        ("matplotlib-001", "chart"),
        ("matplotlib-001", "style"),
        ("seaborn-001", "facts"),
        ("plotly-001", "data"),
    ]


def test_a_reference_that_draws_something_else_is_found(mine: Path) -> None:
    references = mine / "reference"
    for name, old, new in (("003", "range(150", "range(140"), ("006", '"dose_mg"', '"dose"')):
        file = references / f"matplotlib-{name}.py"
        file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    (references / "seaborn-001.py").write_text("import seaborn\n", encoding="utf-8")
    loaded = load_benchmark("plots-mini")
    chosen = {"matplotlib-001", "matplotlib-003", "matplotlib-006", "seaborn-001"}
    some = replace(loaded, cases=tuple(case for case in loaded.cases if case.id in chosen))
    report = asyncio.run(check_references(some, check(loaded), unsafe=True))
    found = {problem.case: problem.text for problem in report.problems}
    assert set(found) == chosen - {"matplotlib-001"}
    assert "of the pixels differ" in found["matplotlib-003"]
    assert "KeyError" in found["matplotlib-006"]
    assert found["seaborn-001"].startswith("it does not run")
    assert "matplotlib" in str(report.drawn_with)


def test_pictures_differ_from_a_tolerance_on() -> None:
    def png(size: tuple[int, int] = (100, 100), dots: int = 0, level: int = 0) -> bytes:
        image = Image.new("RGB", size, "white")
        for place in range(dots):
            image.putpixel((place % 100, place // 100), (level, 255, 255))
        out = io.BytesIO()
        image.save(out, "PNG")
        return out.getvalue()

    assert difference(png(), png(dots=10)) == ""
    assert difference(png(), png(dots=11)) == "0.11% of the pixels differ"
    assert difference(png(), png(dots=5_000, level=250)) == ""
    assert difference(png(), png(size=(100, 90))) == "100 × 90 pixels, not 100 × 100"
    assert difference(b"", png()) == "the ground truth is not a picture"
