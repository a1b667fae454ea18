"""Every rule of ``cases check`` finds what breaks it, and nothing in what keeps it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opendesign.cases.benchmark import load_benchmark
from opendesign.cases.check import RUNS_FILE, CheckReport, check
from opendesign.cases.overlap import jaccard, near_duplicates, read_runs, run_hashes, shingles, write_runs
from opendesign.cases.wording import faults
from opendesign.content import shipped
from opendesign.errors import UsageError
from tests.unit.making_cases import CARD, PROMPTS, case, write

RELEASED = Path(__file__).parents[3] / "shared" / "data" / "official_opendesign_prompts.jsonl"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "benchmarks" / "mine")


def report(name: str = "mine") -> CheckReport:
    return check(load_benchmark(name))


def rules(found: CheckReport) -> set[tuple[str, str]]:
    return {(problem.case, problem.rule) for problem in found.problems}


def test_the_shipped_benchmark_is_sound() -> None:
    found = report("opendesign")
    assert found.problems == ()
    assert found.ok


def test_a_sound_benchmark_has_no_problem_and_its_make_up_is_counted(mine: Path) -> None:
    found = report()
    assert found.problems == ()
    assert found.cases == len(PROMPTS)
    assert found.make_up["difficulty"]["website"] == {"easy": 2}
    assert found.make_up["requirements"]["game"] == {"content": 1, "behaviour": 1}
    assert found.make_up["topic"]["website"] == {"website-topic": 2}
    lengths = sorted(len(PROMPTS[name]) for name in ("website-001", "website-002"))
    assert (found.lengths["website"]["0%"], found.lengths["website"]["100%"]) == tuple(lengths)


def requirements(*texts: str, kind: str = "behaviour") -> list[dict[str, str]]:
    return [{"kind": kind, "text": text} for text in texts]


SOUND = ("Pressing the blue button stops the wheel.", "Dragging the handle tilts the whole table.")

BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "an id without a number": ({"id": "game-x"}, "id"),
    "a topic of another category": ({"topic": "website-topic"}, "topic"),
    "a difficulty that is not defined": ({"difficulty": "hard"}, "difficulty"),
    "a tag that is not defined": ({"tags": ["fun"]}, "tag"),
    "no language tag": ({"language": "English"}, "language"),
    "a language that the script denies": ({"language": "ja"}, "language"),
    "a script that the language denies": ({"prompt": "桜の花びらを集めるゲームを作ってほしい"}, "language"),
    "stray white space": ({"prompt": " Catch falling apples in a basket"}, "prompt"),
    "too short a prompt": ({"prompt": "a game"}, "prompt"),
    "one requirement": ({"requirements": requirements(SOUND[0])}, "requirements"),
    "nine requirements": (
        {
            "requirements": requirements(
                *(f"Pressing the {n} key plays note {n * 'do'}." for n in range(1, 10))
            )
        },
        "requirements",
    ),
    "a repeated requirement": (
        {"requirements": requirements(SOUND[0], SOUND[0].upper() + ".")},
        "requirements",
    ),
    "an adverb of degree": (
        {"requirements": requirements(SOUND[0], "The wheel turns very fast.")},
        "wording",
    ),
    "nothing to operate, untagged": ({"requirements": requirements(*SOUND, kind="content")}, "static"),
    "static with a behaviour": ({"tags": ["static"]}, "static"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_found_at_its_case_and_no_other(mine: Path, name: str) -> None:
    changes, rule = BROKEN[name]
    spoiled = case("game-001") | changes
    write(
        mine, [spoiled if n == "game-001" else case(n) for n in PROMPTS], CARD.split("\n[splits]")[0] + "\n"
    )
    assert rules(report()) == {(spoiled["id"], rule)}


def numbered(category: str, count: int, **changes: Any) -> list[dict[str, Any]]:
    """Cases of one category that share little text and no topic."""
    return [
        case(
            f"{category}-{n:03d}",
            prompt=f"{hashlib.sha256(f'{category} {n}'.encode()).hexdigest()[:40]} number {n}",
            topic=f"{category}-{n % 15}",
            **changes,
        )
        for n in range(1, count + 1)
    ]


def test_numbers_must_grow_and_prefixes_agree(mine: Path) -> None:
    rows = [case(name) for name in PROMPTS]
    write(mine, [rows[1], rows[0], *rows[2:]])
    assert rules(report()) == {("website-001", "id")}
    other = {**case("website-002"), "id": "other-002"}
    write(mine, [rows[0], other, *rows[2:]])
    assert rules(report()) == {("other-002", "id")}


def test_no_topic_has_more_than_its_share(mine: Path) -> None:
    rows = numbered("website", 40)
    assert rules_of(mine, rows) == set()
    for row in rows[:2]:
        row["topic"] = "website-5"  # which has three already
    assert rules_of(mine, rows) == {("", "topic")}


def test_few_of_what_is_to_be_operated_may_be_static(mine: Path) -> None:
    still = {"tags": ["static"], "requirements": requirements(*SOUND, kind="content")}
    for category, others in (("game", {("", "static")}), ("website", set())):
        rows = numbered(category, 20)
        rows[:2] = [row | still for row in rows[:2]]
        assert rules_of(mine, rows) == set()
        rows[2] |= still
        assert rules_of(mine, rows) == others


def rules_of(folder: Path, rows: list[dict[str, Any]]) -> set[tuple[str, str]]:
    write(folder, rows, CARD.split("\n[splits]")[0] + "\n")
    return rules(report())


def test_counts_splits_and_the_vocabulary_are_held_to(mine: Path) -> None:
    (mine / "benchmark.toml").write_text(
        CARD + 'half = ["game-001"]\n[counts]\ngame = 2\nwebsite = 2\ngames = 1\n'
    )
    found = report()
    assert {problem.rule for problem in found.problems} == {"counts", "split"}
    texts = " ".join(problem.text for problem in found.problems)
    assert "game has 1 cases; the card says 2" in texts
    assert "'games', which is no category" in texts
    assert "split 'half' has no case of website" in texts
    write(mine)
    (mine / "topics.toml").write_text('[website]\nwebsite-topic = "x"\n')
    assert "at least 60" in " ".join(problem.text for problem in report().problems)


def test_near_duplicates_are_found_in_the_benchmark_and_in_those_it_is_apart_from(mine: Path) -> None:
    copy = PROMPTS["website-001"].upper() + ", please"
    rows = [case(name) for name in PROMPTS]
    write(mine, [*rows[:2], case("website-003", prompt=copy), *rows[2:]])
    assert rules(report()) == {("website-003", "near-duplicate")}
    write(mine)
    card = 'name = "train"\nversion = "1"\ntitle = "T"\nrequirements = false\napart_from = ["mine"]\n'
    train = write(
        mine.parent / "train",
        [
            case("website-001", prompt=copy, requirements=[]),
            case("website-002", prompt="A quite different request"),
        ],
        card + '[difficulty]\neasy = "e"\n',
    )
    (train / "topics.toml").unlink()  # it is held to the topics of the other
    assert rules(report("train")) == {("website-001", "near-duplicate")}


def test_a_run_of_a_released_prompt_is_found_by_its_hash_alone(mine: Path) -> None:
    secret = "Build me the one and only page about seven silver spoons, now"
    write_runs([secret], mine / RUNS_FILE, salt="pepper", about="For a test.")
    assert "spoons" not in (mine / RUNS_FILE).read_text()
    eight = "please, one and ONLY page about seven silver spoons here"
    seven = "please, only page about seven silver spoons now and then"
    for prompt, expected in ((eight, {("game-001", "released")}), (seven, set())):
        write(mine, [case(name, **({"prompt": prompt} if name == "game-001" else {})) for name in PROMPTS])
        assert rules(report()) == expected


def test_the_shipped_hashes_are_those_of_the_released_prompts(tmp_path: Path) -> None:
    file = shipped() / "benchmarks" / "opendesign" / RUNS_FILE
    salt, hashes = read_runs(file)
    assert len(hashes) > 12_000
    if not RELEASED.is_file():
        pytest.skip("the released prompts are not beside this checkout")
    texts = [json.loads(line)["prompt"] for line in RELEASED.read_text().splitlines()]
    assert hashes == {digest for text in texts for digest in run_hashes(text, salt)}


def test_a_spoiled_file_of_hashes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / RUNS_FILE
    for text in ("# salt: a\nnot-a-hash\n", "0123456789\n"):
        file.write_text(text)
        with pytest.raises(UsageError, match="not a file of hashed runs"):
            read_runs(file)


def test_an_imported_benchmark_is_as_its_source_made_it(mine: Path) -> None:
    rows = [
        case("website-007", prompt="twice", requirements=[]),
        case("website-003", prompt="twice", requirements=[]),
    ]
    card = 'name = "mine"\nversion = "1"\ntitle = "M"\nimported = true\n[source]\nverified = '
    write(mine, rows, card + "true\n")
    assert report().ok
    write(mine, rows, card + "false\n")
    assert rules(report()) == {("", "source")}


@pytest.mark.parametrize(
    "text",
    [
        "Pressing the right arrow moves the ship to the right.",
        "Choosing a month filters the bars.",
        "The page shows opening hours rather than dates.",
        "Clicking a key of the piano moves that key down.",
        "The house has a window and a pitched roof.",
    ],
)
def test_a_plain_statement_has_no_fault(text: str) -> None:
    assert list(faults(text)) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A ship is shown.", "has 16 characters"),
        ("The ship " + "moves " * 30 + "on.", "characters; write 20 to 160"),
        ("The ship moves extremely fast.", "'extremely'"),
        ("The text is large enough to read.", "'enough'"),
        ("The page uses appropriate colours.", "'appropriate'"),
        ("The menu opens smoothly on a click.", "'smoothly'"),
        ("The ship should move to the right.", "'should'"),
        ("The ship moves. The score goes up.", "two claims"),
        ("The ship moves; the score goes up.", "two claims"),
        ("The button copies the code, and the page says so.", "two claims"),
        ("The page has a title as well as a footer.", "two claims"),
        ("the ship moves to the right.", "capital letter"),
        ("The ship moves to the right", "full stop"),
    ],
)
def test_a_fault_in_the_wording_is_named(text: str, fault: str) -> None:
    assert any(fault in found for found in faults(text))


def test_identical_texts_are_one_and_unlike_texts_are_not() -> None:
    assert jaccard(shingles("A Red  House!"), shingles("a red house")) == 1.0
    assert jaccard(shingles("a red house"), shingles("thirty yellow boats")) == 0.0
    assert jaccard(shingles(""), shingles("")) == 1.0


@given(st.lists(st.text("abc ", min_size=1, max_size=12), max_size=8), st.floats(0.1, 1.0))
def test_near_duplicates_are_all_pairs_above_the_threshold(texts: list[str], threshold: float) -> None:
    expected = [
        (i, j)
        for i in range(len(texts))
        for j in range(i + 1, len(texts))
        if jaccard(shingles(texts[i]), shingles(texts[j])) >= threshold
    ]
    assert [(i, j) for i, j, _ in near_duplicates(texts, threshold)] == expected
