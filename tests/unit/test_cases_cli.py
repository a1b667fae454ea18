"""``opendesign cases`` as a person and as a program sees it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from opendesign.cases.benchmark import load_benchmark, select
from opendesign.cli import output
from opendesign.cli.cases import cases
from opendesign.errors import UnknownName
from tests.unit.making_cases import PROMPTS, case, write

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "benchmarks" / "mine")
    return lambda *arguments: CliRunner().invoke(cases, list(map(str, arguments)))


def test_list_prints_one_case_a_line_with_its_whole_prompt(run: Run) -> None:
    result = run("list", "--benchmark", "mine")
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert {row[0]: row[-1] for row in rows} == PROMPTS
    assert result.exit_code == 0


def test_list_takes_the_choice_of_select_and_prints_one_document(run: Run) -> None:
    result = run("list", "--split", "smoke", "--category", "Game Dev", "--limit", 1, "--json")
    document = json.loads(result.stdout)
    benchmark = load_benchmark("opendesign")
    chosen = select(benchmark, split="smoke", category="game", limit=1)
    assert [item["id"] for item in document["cases"]] == [c.id for c in chosen]
    assert document["cases"][0]["requirements"][0]["text"] == chosen[0].requirements[0].text
    assert (document["benchmark"], document["hash"]) == ("opendesign", benchmark.hash)


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stdout is a terminal of 80 columns."""
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setattr("opendesign.cli.cases.is_terminal", lambda: True)
    monkeypatch.setattr(output, "console", lambda: Console(file=sys.stdout, width=80, highlight=False))


def test_a_terminal_gets_a_table_with_whole_ids(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_terminal(monkeypatch)
    lines = run("list", "--split", "smoke").stdout.splitlines()
    for chosen in select(load_benchmark("opendesign"), split="smoke"):
        assert any(f" {chosen.id} " in line and chosen.topic in line for line in lines)
    assert "10 of" in lines[0]
    assert max(map(len, lines)) <= 80


def test_text_in_a_prompt_is_never_taken_for_markup(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_terminal(monkeypatch)
    prompt = "[red]Show[/red] [link=x]"
    write(
        Path("benchmarks/mine"), [case(n, **({"prompt": prompt} if n == "game-001" else {})) for n in PROMPTS]
    )
    assert prompt in run("list", "-b", "mine", "-c", "game").stdout
    assert prompt in run("show", "game-001", "-b", "mine").stdout


def test_show_prints_the_case_with_every_requirement(run: Run) -> None:
    chosen = select(load_benchmark("opendesign"), split="smoke")[0]
    result = run("show", chosen.id)
    words = " ".join(result.stdout.split())
    assert chosen.prompt in words
    assert all(requirement.text in words for requirement in chosen.requirements)
    document = json.loads(run("show", chosen.id, "--json").stdout)
    assert document["case"]["prompt"] == chosen.prompt
    assert "smoke" in document["splits"]


def test_what_is_not_there_is_left_to_the_one_place_that_says_so(run: Run) -> None:
    for arguments in (
        ("show", "game-999"),
        ("list", "--benchmark", "opendesing"),
        ("list", "--split", "smok"),
    ):
        result = run(*arguments)
        assert isinstance(result.exception, UnknownName)
        assert result.stdout == ""


def test_check_ends_with_one_when_something_is_wrong(run: Run) -> None:
    assert run("check", "--benchmark", "mine").exit_code == 0
    spoiled = [case(n, **({"difficulty": "hard"} if n == "game-001" else {})) for n in PROMPTS]
    write(Path("benchmarks/mine"), spoiled)
    result = run("check", "--benchmark", "mine")
    assert result.exit_code == 1
    assert "game-001: difficulty:" in result.stdout
    result = run("check", "--benchmark", "mine", "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["ok"] is False
    assert [problem["case"] for problem in document["problems"]] == ["game-001"]
    assert document["make_up"]["difficulty"]["website"] == {"easy": 2}


def test_import_says_what_came_and_how_to_use_it(run: Run) -> None:
    Path("some.jsonl").write_text('{"id": 1, "prompt": "A page", "category": "Website"}\n')
    result = run("import", "opendesign-official", "some.jsonl", "--into", "there", "--force", "--json")
    document = json.loads(result.stdout)
    assert document["counts"] == {"website": 1}
    assert document["version"].endswith("-unverified")
    assert (Path(document["path"]) / "benchmark.toml").is_file()
    result = run("import", "opendesign-official", "some.jsonl", "--force")
    assert "1 cases are in" in result.stdout
    assert "it has 1 cases and not 840" in result.stdout
    assert run("import", "something", "some.jsonl").exit_code == 2
    assert run("import", "opendesign-official", "nothing.jsonl").exit_code == 2
