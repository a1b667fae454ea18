"""Benchmarks and protocols as they are read from their folders, and the choice of cases."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opendesign.cases.benchmark import benchmarks, load_benchmark, load_card, load_protocol, protocols, select
from opendesign.cases.categories import CATEGORY_NAMES, category_of
from opendesign.content import shipped
from opendesign.errors import UnknownName, UsageError
from opendesign.types import CATEGORIES, LIBRARIES
from tests.unit.making_cases import CARD, PROMPTS, case, write

SHIPPED = load_benchmark("opendesign")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "benchmarks" / "mine")


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A local copy of the shipped benchmark, which takes its place."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(shipped() / "benchmarks" / "opendesign", tmp_path / "benchmarks" / "opendesign")


def test_the_shipped_benchmark_has_what_its_card_says() -> None:
    benchmark = load_benchmark("opendesign")
    assert Counter(c.category for c in benchmark.cases) == load_card("opendesign").counts
    assert len({c.id for c in benchmark.cases}) == len(benchmark.cases) >= 60
    assert Counter(c.category for c in select(benchmark, split="smoke")) == dict.fromkeys(CATEGORIES, 2)
    assert "opendesign" in benchmarks()


def test_cases_come_by_category_and_line_with_every_field(mine: Path) -> None:
    benchmark = load_benchmark("mine")
    assert [c.id for c in benchmark.cases] == list(PROMPTS)
    first = benchmark.cases[0]
    assert (first.prompt, first.topic, first.difficulty) == (PROMPTS["website-001"], "website-topic", "easy")
    assert [r.kind for r in first.requirements] == ["content", "behaviour"]
    assert first.has_behaviour


def test_a_byte_order_mark_and_empty_lines_do_no_harm(mine: Path) -> None:
    before = load_benchmark("mine").hash
    file = mine / "cases" / "game.jsonl"
    file.write_bytes(b"\xef\xbb\xbf\n" + file.read_bytes() + b"\n\n")
    assert load_benchmark("mine").hash == before


def test_the_hash_covers_every_case_and_the_version_but_not_their_order(mine: Path) -> None:
    rows = [case(name) for name in PROMPTS]
    hashes = {"as it is": load_benchmark("mine").hash}
    write(mine, [rows[1], rows[0], *rows[2:]])
    assert load_benchmark("mine").hash == hashes["as it is"]
    for name, changed in {
        "prompt": {**rows[3], "prompt": rows[3]["prompt"] + "!"},
        "requirement": {**rows[3], "requirements": rows[3]["requirements"][:1]},
        "difficulty": {**rows[3], "difficulty": "hard"},
    }.items():
        write(mine, [*rows[:3], changed, *rows[4:]])
        hashes[name] = load_benchmark("mine").hash
    write(mine, card=CARD.replace('version = "1"', 'version = "2"'))
    hashes["version"] = load_benchmark("mine").hash
    assert len(set(hashes.values())) == len(hashes)


WRONG_LINES = {
    "unknown field": (case("game-001", topik="x"), ["game.jsonl, line 1", "'topik'", "did you mean 'topic'"]),
    "bad value": (case("game-001", difficulty="eazy"), ["line 1", "'difficulty' is \"eazy\"", "'medium'"]),
    "wrong type": (case("game-001", prompt=7), ["line 1", "'prompt' is 7", "string"]),
    "bad kind": (
        case("game-001", requirements=[{"kind": "look", "text": "x"}]),
        ["'requirements[0].kind'", "'behaviour'"],
    ),
    "unknown inner field": (
        case("game-001", requirements=[{"kind": "style", "txt": "x"}]),
        ["'requirements[0].txt'", "did you mean 'text'"],
    ),
    "other category": (case("game-001", category="3d"), []),
    "empty prompt": (case("game-001", prompt="  "), ["'prompt' is empty"]),
    "bad id": (case("game-001", id="../up"), ["'../up'", "lowercase"]),
    "half a character": (case("game-001", prompt="\ud800 is half"), ["line 1", "invalid JSON"]),
    "not an object": (["game-001"], ["line 1"]),
}


@pytest.mark.parametrize("name", WRONG_LINES)
def test_a_wrong_case_is_refused_with_its_place(mine: Path, name: str) -> None:
    row, words = WRONG_LINES[name]
    (mine / "cases" / "game.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UsageError) as caught:
        load_benchmark("mine")
    for word in words or ["belongs in another file"]:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_field_broken_json_and_a_taken_id_are_refused(mine: Path) -> None:
    file = mine / "cases" / "game.jsonl"
    row = case("game-001")
    del row["prompt"]
    file.write_text(json.dumps(row))
    with pytest.raises(UsageError, match=r"line 1: the field 'prompt' is missing"):
        load_benchmark("mine")
    file.write_text('{"id": "game-001",')
    with pytest.raises(UsageError, match=r"game.jsonl, line 1: not valid JSON"):
        load_benchmark("mine")
    file.write_text("\n".join(json.dumps(case("game-001")) for _ in range(2)))
    with pytest.raises(UsageError, match=r"line 2: the id 'game-001' is taken by .*line 1"):
        load_benchmark("mine")


def test_a_wrong_card_is_refused_with_its_line(mine: Path) -> None:
    for text, words in {
        CARD.replace(
            "title", "titel"
        ): "benchmark.toml, line 3: there is no field 'titel': did you mean 'title'",
        CARD.replace('"Little to do."', "3"): "line 6: 'difficulty.easy' is 3",
        CARD.replace('"mine"', '"yours"'): "the name is 'yours', but its folder is 'mine'",
        CARD.replace("3d-001", "3d-01"): "There is no case named '3d-01': did you mean 3d-001",
        CARD + "[splits": "not valid TOML",
        CARD + 'all = "../../secret.txt"\n': "lies outside of its folder",
    }.items():
        (mine / "benchmark.toml").write_text(text)
        with pytest.raises(UsageError) as caught:
            load_benchmark("mine")
        assert words in str(caught.value)


def test_files_that_are_no_category_or_no_text_are_refused(mine: Path) -> None:
    (mine / "cases" / "games.jsonl").write_text("")
    with pytest.raises(UsageError, match=r"games.jsonl: files of cases are named website"):
        load_benchmark("mine")
    (mine / "cases" / "games.jsonl").unlink()
    (mine / "cases" / "game.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not text in UTF-8"):
        load_benchmark("mine")
    for file in (mine / "cases").iterdir():
        file.write_text("")
    with pytest.raises(UsageError, match="has no cases"):
        load_benchmark("mine")


def test_a_split_may_be_a_file_of_ids(mine: Path) -> None:
    (mine / "lite.txt").write_text("# two\nwebsite-002\n\ngame-001\n")
    (mine / "benchmark.toml").write_text(CARD + 'lite = "lite.txt"\n')
    benchmark = load_benchmark("mine")
    assert benchmark.splits["lite"] == ("website-002", "game-001")
    assert [c.id for c in select(benchmark, split="lite")] == ["website-002", "game-001"]


def test_a_limit_is_spread_over_the_categories() -> None:
    benchmark = load_benchmark("opendesign")
    assert Counter(c.category for c in select(benchmark, limit=10)) == dict.fromkeys(CATEGORIES, 2)
    assert {c.category for c in select(benchmark, limit=5)} == set(CATEGORIES)
    assert len(select(benchmark, limit=10_000)) == len(benchmark.cases)


@settings(deadline=None)
@given(st.integers(1, 70), st.integers(1, 70))
def test_a_larger_limit_contains_a_smaller_one(one: int, other: int) -> None:
    small, large = (select(SHIPPED, limit=limit) for limit in sorted((one, other)))
    assert {c.id for c in small} <= {c.id for c in large}
    assert len(small) == min(len(SHIPPED.cases), one, other)
    assert list(large) == [c for c in SHIPPED.cases if c in large]


def test_a_category_answers_to_its_other_names_and_combines_with_the_rest() -> None:
    benchmark = load_benchmark("opendesign")
    games = select(benchmark, category="Game Dev", split="smoke", limit=1)
    assert [c.category for c in games] == ["game"]
    assert select(benchmark, category="gamedev") == tuple(c for c in benchmark.cases if c.category == "game")


def test_what_is_not_there_is_refused_with_the_nearest(mine: Path) -> None:
    benchmark = load_benchmark("mine")
    with pytest.raises(UnknownName, match=r"split named 'fw'.*did you mean few"):
        select(benchmark, split="fw")
    with pytest.raises(UnknownName, match=r"category named 'websit'.*website"):
        select(benchmark, category="websit")
    with pytest.raises(UnknownName, match=r"protocol named 'standart'.*standard"):
        load_protocol("mine", "standart")
    with pytest.raises(UnknownName, match=r"benchmark named 'min'.*mine"):
        load_benchmark("min")
    with pytest.raises(UsageError, match="at least one"):
        select(benchmark, limit=0)
    (mine / "benchmark.toml").write_text(CARD + 'only = ["game-001"]\n')
    with pytest.raises(UsageError, match="No case of 'mine'"):
        select(load_benchmark("mine"), split="only", category="3d")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Website", "website"),
        ("3D Design", "3d"),
        ("Game Dev", "game"),
        ("Game dev", "game"),
        ("gamedev", "game"),
        ("UI Component", "component"),
        ("uicomponent", "component"),
        ("Data Visualization", "dataviz"),
        ("data-visualization", "dataviz"),
    ],
)
def test_every_source_name_has_one_slug(name: str, slug: str) -> None:
    assert category_of(name) == slug
    assert tuple(CATEGORY_NAMES) == (*CATEGORIES, *LIBRARIES)


def test_the_shipped_protocols_are_as_the_design_has_them() -> None:
    assert protocols("opendesign") == ("paper", "standard")
    paper, standard = load_protocol("opendesign", "paper"), load_protocol("opendesign", "standard")
    assert (paper.generation.temperature, paper.generation.max_tokens) == (0.7, 8192)
    assert (standard.generation.temperature, standard.generation.max_tokens) == (None, None)
    assert standard.generation.min_max_tokens >= 32_000
    assert set(paper.generation.system) == set(CATEGORIES)
    assert len(set(paper.generation.system.values())) == len(CATEGORIES)
    assert set(standard.generation.system) == {""}
    for render in (paper.render, standard.render):
        assert (render.width, render.height, render.scale, render.freeze) == (1280, 960, 1.0, True)
    assert (paper.render.wait_until, paper.render.idle_s, paper.render.network) == (
        "domcontentloaded",
        3.0,
        "open",
    )
    assert (standard.render.wait_until, standard.render.scroll) == ("load", True)
    assert standard.render.network == "allowlist"
    assert {"cdn.jsdelivr.net", "fonts.gstatic.com", "images.unsplash.com"} <= set(standard.render.hosts)
    assert paper.judges[0] == "execution-paper"
    assert standard.judges == ("execution", "static", "interactive")
    assert standard.stand_ins == {"static": "computed", "interactive": "probe"}
    assert paper.hash != standard.hash


def test_the_hash_of_a_protocol_covers_prompts_hosts_and_numbers(copy: Path) -> None:
    seen = {load_protocol("opendesign", "standard").hash}
    for name, old, new in (
        ("prompts/standard.md", "request", "wish"),
        ("hosts.toml", '"unpkg.com"', '"unpkg.example"'),
        ("protocols/standard.toml", "settle_s = 3.0", "settle_s = 2.5"),
        ("protocols/standard.toml", '"computed"', '"other"'),
    ):
        file = copy / name
        file.write_text(file.read_text().replace(old, new))
        seen.add(load_protocol("opendesign", "standard").hash)
    assert len(seen) == 5


def test_a_folder_without_protocols_shares_the_shipped_ones(mine: Path) -> None:
    assert load_protocol("mine", "standard") == load_protocol("opendesign", "standard")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("width = 1280", "width = 0", "'render.width' is 0, but it must be above zero"),
        ("width = 1280", 'width = "wide"', "line LINE: 'render.width' is \"wide\""),
        ("width = 1280", "widht = 1280", "line LINE: there is no field 'render.widht': did you mean 'width'"),
        ("settle_s = 3.0", "settle_s = inf", "a number is infinite"),
        ("settle_s = 3.0", "settle_s = -1", "cannot be below zero"),
        ("minimum_coverage = 0.95", "minimum_coverage = 95", "is a share from 0 to 1"),
        ('network = "allowlist"', 'network = "some"', "'render.network' is \"some\""),
        ('static = "computed"', 'statik = "computed"', "'statik', which is none of its judges"),
        ('"standard.md"', '"standart.md"', "the file 'standart.md' does not exist"),
        ('"standard.md"', '"../../hosts.toml"', "lies outside of its folder"),
        ('"" = ', 'games = "standard.md"\n"" = ', "did you mean game"),
        ('name = "standard"', 'name = "other"', "the name is 'other'"),
        ('version = "1"\n', "", "the field 'version' is missing"),
    ],
)
def test_a_wrong_protocol_is_refused(copy: Path, old: str, new: str, words: str) -> None:
    file = copy / "protocols" / "standard.toml"
    before = file.read_text()
    assert old in before
    file.write_text(before.replace(old, new))
    with pytest.raises(UsageError) as caught:
        load_protocol("opendesign", "standard")
    line = before[: before.index(old)].count("\n") + 1
    assert words.replace("LINE", str(line)) in str(caught.value)


@pytest.mark.parametrize(
    "host", ["https://cdn.example.org", "cdn.example.org/path", "*", "localhost", "a b.org"]
)
def test_a_host_that_is_none_is_refused(copy: Path, host: str) -> None:
    file = copy / "hosts.toml"
    file.write_text(file.read_text().replace('"unpkg.com"', f'"{host}"'))
    with pytest.raises(UsageError, match="is not a host"):
        load_protocol("opendesign", "standard")
