"""The cases that are shipped: their number, make-up and soundness."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from opendesign.cases.benchmark import load_benchmark
from opendesign.cases.check import CheckReport, check
from opendesign.cases.overlap import near_duplicates, read_runs, run_hashes
from opendesign.types import CATEGORIES, Benchmark

ROOT = Path(__file__).parents[2]
COUNTS = {"website": 512, "3d": 123, "game": 114, "component": 50, "dataviz": 41}
TRAIN_COUNTS = {"website": 122, "3d": 29, "game": 27, "component": 12, "dataviz": 10}
RIGHT_TO_LEFT = {"ar", "fa", "he", "ur"}
CJK = {"zh", "ja", "ko"}


@pytest.fixture(scope="module")
def ours() -> Benchmark:
    return load_benchmark("opendesign")


@pytest.fixture(scope="module")
def training() -> Benchmark:
    return load_benchmark("opendesign-train")


@pytest.fixture(scope="module")
def report(ours: Benchmark) -> CheckReport:
    return check(ours)


def test_840_cases_with_the_counts_of_the_released_file(ours: Benchmark) -> None:
    assert len(ours.cases) == 840
    assert Counter(case.category for case in ours.cases) == COUNTS


def test_the_check_finds_no_problem(report: CheckReport) -> None:
    assert [f"{p.case}: {p.rule}: {p.text}" for p in report.problems] == []
    assert report.cases == 840


def test_ids_are_the_category_and_every_number_from_one(ours: Benchmark, training: Benchmark) -> None:
    for benchmark, prefix, counts in ((ours, "", COUNTS), (training, "train-", TRAIN_COUNTS)):
        expected = [f"{prefix}{c}-{n:03d}" for c in CATEGORIES for n in range(1, counts[c] + 1)]
        assert [case.id for case in benchmark.cases] == expected


def test_splits(ours: Benchmark) -> None:
    categories = {case.id: case.category for case in ours.cases}
    assert set(ours.splits) == {"lite", "smoke"}
    lite, smoke = ours.splits["lite"], ours.splits["smoke"]
    assert Counter(map(categories.__getitem__, lite)) == {
        "website": 61,
        "3d": 15,
        "game": 13,
        "component": 6,
        "dataviz": 5,
    }
    assert Counter(map(categories.__getitem__, smoke)) == dict.fromkeys(CATEGORIES, 2)
    assert set(smoke) <= set(lite)


def test_forty_prompts_are_in_other_languages(ours: Benchmark) -> None:
    languages = Counter(case.language for case in ours.cases if case.language != "en")
    assert languages.total() == 40
    assert len(languages) >= 8
    assert RIGHT_TO_LEFT & languages.keys()
    assert languages.keys() >= CJK
    assert len({case.category for case in ours.cases if case.language != "en"}) == len(CATEGORIES)


def test_requirements(ours: Benchmark) -> None:
    for case in ours.cases:
        assert 2 <= len(case.requirements) <= 8, case.id
        assert all(20 <= len(requirement.text) <= 160 for requirement in case.requirements), case.id
        assert case.has_behaviour != ("static" in case.tags), case.id
    for category in ("3d", "game", "component"):
        static = [c.id for c in ours.cases if c.category == category and "static" in c.tags]
        assert len(static) <= 0.1 * COUNTS[category], (category, static)


def test_topics_are_many_and_none_is_crowded(ours: Benchmark) -> None:
    topics = Counter((case.category, case.topic) for case in ours.cases)
    assert len({topic for _, topic in topics}) >= 60
    for (category, topic), count in topics.items():
        assert count <= max(3, 0.04 * COUNTS[category]), (category, topic, count)


def test_all_levels_of_difficulty_are_in_every_category(ours: Benchmark) -> None:
    for category in CATEGORIES:
        levels = Counter(case.difficulty for case in ours.cases if case.category == category)
        shares = {level: count / levels.total() for level, count in levels.items()}
        assert set(shares) == {"easy", "medium", "hard"}
        assert min(shares.values()) >= 0.1, (category, shares)
        assert max(shares.values()) <= 0.65, (category, shares)


# Median and ninth decile of the released prompts' lengths, by category.
LENGTHS = {
    "website": (126, 241),
    "3d": (104, 153),
    "game": (129, 211),
    "component": (121, 211),
    "dataviz": (135, 181),
}


def test_prompts_are_as_long_as_those_of_the_released_file(report: CheckReport) -> None:
    for category, (median, decile) in LENGTHS.items():
        found = report.lengths[category]
        assert abs(found["50%"] - median) <= 0.15 * median, (category, found)
        assert abs(found["90%"] - decile) <= 0.20 * decile, (category, found)


def test_training_prompts_are_200_without_requirements(training: Benchmark) -> None:
    assert Counter(case.category for case in training.cases) == TRAIN_COUNTS
    assert len(training.cases) == 200
    assert not any(case.requirements for case in training.cases)
    assert not training.splits


def test_training_prompts_are_sound_and_apart_from_the_test(ours: Benchmark, training: Benchmark) -> None:
    found = check(training)
    assert [f"{p.case}: {p.rule}: {p.text}" for p in found.problems] == []
    assert not {case.prompt for case in training.cases} & {case.prompt for case in ours.cases}


def test_a_test_prompt_among_the_training_prompts_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: Benchmark
) -> None:
    """The check on the shipped cases is able to fail."""
    folder = tmp_path / "benchmarks" / "opendesign-train"
    (folder / "cases").mkdir(parents=True)
    card = ROOT / "benchmarks" / "opendesign-train" / "benchmark.toml"
    (folder / "benchmark.toml").write_text(card.read_text(encoding="utf-8"), encoding="utf-8")
    stolen = next(case for case in ours.cases if case.category == "dataviz")
    row = {
        "id": "train-dataviz-001",
        "category": "dataviz",
        "topic": stolen.topic,
        "prompt": stolen.prompt + "!",
    }
    (folder / "cases" / "dataviz.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = {(p.case, p.rule): p.text for p in check(load_benchmark("opendesign-train")).problems}
    assert stolen.id in found["train-dataviz-001", "near-duplicate"]


def test_no_run_of_words_is_shared_between_training_and_test(ours: Benchmark, training: Benchmark) -> None:
    runs = {run: case.id for case in ours.cases for run in run_hashes(case.prompt, "").values()}
    shared = {(case.id, runs[run]) for case in training.cases
              for run in run_hashes(case.prompt, "").values() if run in runs}  # fmt: skip
    assert shared == set()


def test_the_hashes_of_the_released_prompts_are_there(ours: Benchmark) -> None:
    salt, hashes = read_runs(ours.path / "released-runs.txt")
    assert salt
    assert len(hashes) > 10_000
    assert all(run_hashes(case.prompt, salt).keys().isdisjoint(hashes) for case in ours.cases)


def test_the_hash_covers_every_prompt(
    ours: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal hashes mean equal cases: one letter more in one prompt is another hash."""
    folder = tmp_path / "benchmarks" / "opendesign"
    for file in [*ours.path.glob("cases/*.jsonl"), *ours.path.glob("splits/*"), ours.path / "benchmark.toml"]:
        copy = folder / file.relative_to(ours.path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    before = load_benchmark("opendesign").hash
    last = folder / "cases" / "dataviz.jsonl"
    rows = [json.loads(line) for line in last.read_text(encoding="utf-8").splitlines()]
    rows[-1]["prompt"] += "!"
    last.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert load_benchmark("opendesign").hash != before


def test_prompts_open_in_many_ways(ours: Benchmark) -> None:
    """Templates show in their openings: three words in a row open few of the prompts."""
    openings = Counter(" ".join(case.prompt.casefold().split()[:3]) for case in ours.cases)
    opening, count = openings.most_common(1)[0]
    assert count <= 0.05 * len(ours.cases), (opening, count)


def test_requirements_of_two_cases_are_not_one_list(ours: Benchmark) -> None:
    """No case has the requirements of another."""
    for category in CATEGORIES:
        cases = [case for case in ours.cases if case.category == category]
        lists = [" ".join(requirement.text for requirement in case.requirements) for case in cases]
        close = [(cases[one].id, cases[other].id) for one, other, _ in near_duplicates(lists, 0.7)]
        assert close == []
