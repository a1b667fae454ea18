"""Import of the released benchmark: its own file when that lies beside this checkout, else one like it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from opendesign.canonical import digest
from opendesign.cases import official
from opendesign.cases.benchmark import load_benchmark, load_card, load_protocol
from opendesign.cases.check import check
from opendesign.cases.official import COUNTS, NAME, import_official
from opendesign.errors import UnknownName, UsageError

RELEASED = Path(__file__).parents[3] / "shared" / "data" / "official_opendesign_prompts.jsonl"
SOURCE_NAMES = {
    "website": "Website",
    "3d": "3D Design",
    "game": "Game Dev",
    "component": "UI Component",
    "dataviz": "Data Visualization",
}


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The released file, or one of the same schema and counts that is taken for it."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "all_prompt.jsonl"
    if RELEASED.is_file():
        file.write_bytes(RELEASED.read_bytes())
        return file
    names = [SOURCE_NAMES[category] for category, count in COUNTS.items() for _ in range(count)]
    rows = [
        {"id": n, "prompt": f"Prompt {n} “as is”\u2028", "category": name} for n, name in enumerate(names, 1)
    ]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    monkeypatch.setattr(official, "SHA256", digest(file.read_bytes()))
    return file


def lines(file: Path) -> list[str]:
    return [line for line in file.read_text(encoding="utf-8").split("\n") if line]


def test_the_released_file_becomes_a_benchmark_word_for_word(released: Path) -> None:
    folder = import_official(released)
    assert folder == Path.cwd() / "benchmarks" / NAME
    benchmark = load_benchmark(NAME)
    assert Counter(case.category for case in benchmark.cases) == COUNTS
    rows = {f"official-{row['id']:03d}": row for row in map(json.loads, lines(released))}
    assert {case.id: case.prompt for case in benchmark.cases} == {
        id_: row["prompt"] for id_, row in rows.items()
    }
    assert all(SOURCE_NAMES[case.category] == rows[case.id]["category"] for case in benchmark.cases)
    assert not any(case.requirements for case in benchmark.cases)
    assert benchmark.version == official.SHA256[:12]
    assert load_card(NAME).source["verified"] is True
    assert check(benchmark).ok
    assert load_protocol(NAME, "paper").hash == load_protocol("opendesign", "paper").hash
    assert [path.name for path in folder.parent.iterdir()] == [NAME]


def test_two_imports_are_equal(released: Path, tmp_path: Path) -> None:
    one, other = (import_official(released, tmp_path / name) for name in ("a", "b"))
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert len(files) == 6
    for file in files:
        assert (one / file).read_bytes() == (other / file).read_bytes()


def test_another_count_is_refused_or_marked_in_every_result(released: Path) -> None:
    released.write_text("\n".join(lines(released)[:-1]) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="it has 839 cases and not 840"):
        import_official(released)
    assert not (Path.cwd() / "benchmarks").exists()
    import_official(released, force=True)
    benchmark = load_benchmark(NAME)
    assert len(benchmark.cases) == 839
    assert benchmark.version.endswith("-unverified")
    card = load_card(NAME)
    assert card.source["verified"] is False
    assert "839 cases" in str(card.source["note"])
    assert [problem.rule for problem in check(benchmark).problems] == ["source"]


def test_one_changed_letter_is_refused(released: Path) -> None:
    released.write_text(released.read_text(encoding="utf-8").replace("a", "e", 1), encoding="utf-8")
    with pytest.raises(UsageError, match="SHA-256 begins with"):
        import_official(released)


def test_other_categories_are_refused(released: Path) -> None:
    rows = [json.loads(line) for line in lines(released)]
    row = next(row for row in rows if row["category"] == "Website")
    row["category"] = "Game dev"
    released.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UsageError, match="511 website cases and not 512"):
        import_official(released)
    row["category"] = "Poetry"
    released.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UnknownName, match="category named 'Poetry'"):
        import_official(released, force=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no cases"),
        ('{"id": 1}\n', "line 1: the field 'prompt' is missing"),
        ('{"id": "1", "prompt": "p", "category": "Website"}\n', "'id' is \"1\""),
        ('{"id": 1, "prompt": " ", "category": "Website"}\n', "line 1: a case needs a prompt"),
        ('{"id": 1, "prompt": "p", "category": "Website"}\n' * 2, "holds the id 001 twice"),
        ('{"id": 1, "prompt": "p", "kind": "Website"}\n', "no field 'kind'"),
        ("[]\n", "line 1"),
        ("prompt,category\n", "not valid JSON"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        import_official(file, tmp_path, force=True)
    assert words in str(caught.value)
    assert not (tmp_path / NAME).exists()


def test_an_earlier_import_is_replaced_only_by_force(released: Path) -> None:
    folder = import_official(released)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        import_official(released)
    assert (folder / "notes.txt").exists()
    import_official(released, force=True)
    assert not (folder / "notes.txt").exists()
    assert len(load_benchmark(NAME).cases) == 840


def test_a_place_that_cannot_be_written_is_one_sentence(released: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        import_official(released, tmp_path / "file" / "below")
