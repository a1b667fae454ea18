"""The datasheets say what the cases are, and the lite split is the one that is drawn."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opendesign.cases.benchmark import load_benchmark
from opendesign.cases.check import check
from opendesign.errors import UsageError
from opendesign.types import CATEGORIES, Benchmark
from tests.unit.making_cases import CARD, PROMPTS, case, write
from tools import datasheet, similar

ROOT = Path(__file__).parents[2]
SHEET = """# Mine
<!-- begin identity -->
<!-- end identity -->
By hand.
<!-- begin difficulty --><!-- end difficulty -->
"""


@pytest.fixture(scope="module")
def shipped() -> Benchmark:
    return load_benchmark("opendesign")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small benchmark with a datasheet, which the tool takes for the one it works on."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasheet, "BENCHMARKS", ("mine",))
    folder = write(tmp_path / "benchmarks" / "mine", card=CARD + 'lite = "splits/lite.txt"\n')
    (folder / "splits").mkdir()
    (folder / "splits" / "lite.txt").write_text("website-001\n", encoding="utf-8")
    (folder / "README.md").write_text(SHEET, encoding="utf-8")
    return folder


def test_the_shipped_datasheets_and_the_lite_split_are_up_to_date(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert datasheet.main(["--check"]) == 0, capsys.readouterr().err


def test_check_tells_what_is_out_of_date_and_changes_nothing(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert datasheet.main(["--check"]) == 1
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Out of date: ")]
    files = ("mine/README.md", "mine/make-up.svg", "splits/lite.txt")
    assert sorted(told) == [f"Out of date: {file}" for file in files]
    assert (mine / "README.md").read_text(encoding="utf-8") == SHEET
    assert not (mine / "make-up.svg").exists()
    assert datasheet.main(["--lite"]) == 0
    assert datasheet.main(["--check"]) == 0


def test_a_changed_case_makes_the_datasheet_out_of_date(mine: Path) -> None:
    datasheet.main(["--lite"])
    before = (mine / "README.md").read_text(encoding="utf-8")
    rows = [case(name) for name in PROMPTS]
    rows[0]["difficulty"] = "hard"
    write(mine, rows, card=CARD + 'lite = "splits/lite.txt"\n')
    assert datasheet.main(["--check"]) == 1
    datasheet.main([])
    after = (mine / "README.md").read_text(encoding="utf-8")
    assert "| website | 2 | 0 | 0 | 2 | 0 |" in before
    assert "| website | 1 | 0 | 1 | 2 | 0 |" in after
    assert load_benchmark("mine").hash in after
    assert after.startswith("# Mine\n"), "the prose stays"
    assert "\nBy hand.\n" in after


def test_without_lite_the_split_stays_as_it_is(mine: Path) -> None:
    assert datasheet.main([]) == 0
    assert (mine / "splits" / "lite.txt").read_text(encoding="utf-8") == "website-001\n"


def test_cases_that_cannot_be_read_are_one_sentence(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (mine / "cases" / "game.jsonl").write_text("{\n", encoding="utf-8")
    assert datasheet.main(["--check"]) == 2
    assert "game.jsonl, line 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no marker", "go in pairs"),
        ("<!-- begin splits -->", "go in pairs"),
        ("<!-- end splits --> <!-- begin splits -->", "go in pairs"),
        ("<!-- begin splits --><!-- end splits --> <!-- begin splits --><!-- end splits -->", "each once"),
        ("<!-- begin weather --><!-- end weather -->", "no part 'weather'"),
    ],
)
def test_wrong_markers_are_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        datasheet.fill(text, {"splits": "x\n"}, "README.md")


weights = st.dictionaries(st.text(min_size=1, max_size=3), st.integers(1, 600), min_size=1, max_size=6)


@given(weights, st.integers(0, 200))
def test_seats_are_shared_in_proportion(given_weights: dict[str, int], seats: int) -> None:
    shares = datasheet.apportion(given_weights, seats)
    assert sum(shares.values()) == seats
    total = sum(given_weights.values())
    assert all(abs(shares[name] - seats * weight / total) < 1 for name, weight in given_weights.items())


@given(weights, st.integers(0, 200), st.data())
def test_those_who_must_be_in_are_in(given_weights: dict[str, int], seats: int, data: st.DataObject) -> None:
    names = sorted(given_weights)
    least = Counter(data.draw(st.lists(st.sampled_from(names), max_size=seats)))
    shares = datasheet.apportion(given_weights, seats, least)
    assert sum(shares.values()) == seats
    assert all(shares[name] >= least[name] for name in names)


def test_more_who_must_be_in_than_seats_are_refused() -> None:
    with pytest.raises(UsageError, match="room for 1"):
        datasheet.apportion({"a": 1, "b": 1}, 1, {"a": 1, "b": 1})


def test_lite_is_stratified_spread_and_holds_smoke(shipped: Benchmark) -> None:
    drawn = set(datasheet.draw_lite(shipped))
    cases = [case for case in shipped.cases if case.id in drawn]
    assert len(cases) == len(drawn) == 100
    found = Counter(case.category for case in cases)
    assert found == {"website": 61, "3d": 15, "game": 13, "component": 6, "dataviz": 5}
    assert drawn >= set(shipped.splits["smoke"])
    for category in CATEGORIES:
        whole = Counter(case.difficulty for case in shipped.cases if case.category == category)
        part = Counter(case.difficulty for case in cases if case.category == category)
        for level, count in whole.items():
            assert abs(part[level] - found[category] * count / whole.total()) < 1.01, (category, level)
        topics = Counter(case.topic for case in cases if case.category == category)
        assert max(topics.values()) <= 2, category


def test_lite_hangs_on_the_seed_alone(shipped: Benchmark) -> None:
    assert datasheet.draw_lite(shipped) == datasheet.draw_lite(shipped)
    assert datasheet.draw_lite(shipped) != datasheet.draw_lite(shipped, seed=1)


def test_readings_have_wilson_intervals() -> None:
    from scipy.stats import binomtest

    rounds = [datasheet.Round(round=1, seed="round 1", prompts=(58, 60), requirements=(254, 264))]
    row = datasheet._readings(rounds).splitlines()[-1]
    for passed, of in ((58, 60), (254, 264)):
        interval = binomtest(passed, of).proportion_ci(method="wilson")
        assert f"{passed} of {of} ({passed / of:.1%}) | {interval.low:.1%} to {interval.high:.1%}" in row
    assert row.startswith("| 1 | round 1 |")


@pytest.mark.parametrize("counts", [(61, 60), (-1, 60), (0, 0)])
def test_readings_that_are_no_share_are_refused(counts: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="no share"):
        datasheet._share(counts)


def test_the_similarity_of_an_earlier_state_is_called_that(mine: Path) -> None:
    report = check(load_benchmark("mine"))
    found = {"threshold": 0.8, "above": 12, "same": 3}
    now = datasheet._similar(datasheet.Similar(hash=report.hash, **found), report)  # type: ignore[arg-type]
    then = datasheet._similar(datasheet.Similar(hash="0" * 16, **found), report)  # type: ignore[arg-type]
    assert "on these cases" in now
    assert "earlier state" in then
    assert all("12 pairs" in text and "0.80" in text for text in (now, then))


def test_the_picture_shows_every_count_as_a_share(mine: Path) -> None:
    report = check(load_benchmark("mine"))
    root = ElementTree.fromstring(datasheet.picture(report))
    bars: dict[tuple[int, str], float] = defaultdict(float)
    for bar in root.iterfind(".//{*}rect[@height='24']"):
        column = 0 if float(bar.attrib["x"]) < 450 else 1
        bars[column, bar.attrib["y"]] += float(bar.attrib["width"])
    assert len(bars) == 2 * (len(CATEGORIES) + 1)
    assert all(abs(width - 285) < 0.5 for width in bars.values())
    titles = [title.text or "" for title in root.iterfind(".//{*}rect/{*}title")]
    told = Counter(re.sub(r" \(.*", "", title) for title in titles)
    assert told["behaviour: 1 of 2"] == 4, "four categories of one case with two requirements"
    assert told["easy: 6 of 6"] == 1, "the row of all"


def test_similar_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, similar.MODEL, None)
    assert similar.main([]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "pip install" in said


def test_similar_finds_the_nearest_pairs_of_all_prompts_first() -> None:
    vectors = [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [1.0, 0.0]]
    pairs = similar.nearest(vectors, 0.6)
    assert [(one, other) for one, other, _ in pairs] == [(0, 3), (0, 1), (1, 3), (1, 2)]
    assert [round(cosine, 3) for _, _, cosine in pairs] == [1.0, 0.8, 0.8, 0.6]


def test_every_case_is_counted_in_the_splits_table(shipped: Benchmark) -> None:
    whole, lite, smoke = datasheet._splits(shipped).splitlines()[2:]
    assert whole.startswith("| whole | 512 | 123 | 114 | 50 | 41 | 840 |")
    assert lite.startswith("| lite | 61 | 15 | 13 | 6 | 5 | 100 |")
    assert smoke.startswith("| smoke | 2 | 2 | 2 | 2 | 2 | 10 |")


def test_languages_are_named(mine: Path) -> None:
    rows = [case(name) for name in PROMPTS]
    rows[0] |= {"language": "ja", "prompt": "灯台守が編んだ靴下を売るお店のページを作ってください"}
    rows[1] |= {"language": "eo"}
    (mine / "cases" / "website.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows[:2]), encoding="utf-8"
    )
    text = datasheet._languages(check(load_benchmark("mine")))
    assert text == "4 prompts are in English, 2 in 2 other languages: eo 1, Japanese 1.\n"
