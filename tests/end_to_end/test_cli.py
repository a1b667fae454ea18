"""What the command line says: help that is quick, errors of one sentence, JSON alone on stdout."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import opendesign as package

from .conftest import Command, document, environment

HEAVY = ("litellm", "playwright", "pandas", "scipy", "numpy", "pydantic", "PIL", "torch", "rich", "selenium")


@pytest.mark.parametrize("statement", ["import opendesign", "import opendesign.cli"])
def test_nothing_heavy_is_imported(statement: str) -> None:
    script = f"{statement}; import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_names_every_verb_and_nothing_else_is_imported_for_it(opendesign: Command) -> None:
    done = opendesign("--help")
    assert done.returncode == 0
    for verb in ("run", "score", "judge", "runs", "cases", "judges", "models", "doctor"):
        assert re.search(rf"^  {verb} ", done.stdout, re.MULTILINE)
        assert opendesign(verb, "--help").returncode == 0


def test_the_public_names_are_exactly_all() -> None:
    public = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and not isinstance(value, type(package))
    }
    assert public | {"__version__"} == set(package.__all__)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("rum",), "no command named 'rum': did you mean run"),
        (
            ("run", "--model", "builtin/templat"),
            "no model named 'builtin/templat': did you mean builtin/template",
        ),
        (("run", "--model", "builtin/plain", "--benchmark", "opendesing"), "did you mean opendesign"),
        (
            ("run", "--model", "builtin/plain", "--category", "gme"),
            "no category named 'gme': did you mean game",
        ),
        (("run", "--model", "builtin/plain", "--split", "smok"), "did you mean smoke"),
        (("run", "--model", "builtin/plain", "--protocol", "papr"), "did you mean paper"),
        (("run", "--model", "builtin/plain", "--judges", "execution,computd"), "did you mean computed"),
        (
            ("run", "--model", "builtin/plain", "--judge-model", "computed=openai/x"),
            "takes no model|not among",
        ),
        (("run", "--model", "builtin/plain", "--budget", "-1"), "above 0"),
        (("judge", "nothing", "--judges", "execution"), "no run named 'nothing'"),
        (("runs", "show", "nothing"), "no run named 'nothing'"),
        (("cases", "show", "game-9999"), "game-"),
        (("judges", "show", "exekution"), "did you mean execution"),
        (("score", "nowhere.html"), "nowhere.html"),
    ],
)
def test_bad_input_gets_one_sentence(opendesign: Command, arguments: tuple[str, ...], sentence: str) -> None:
    done = opendesign(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("Error: ")
    assert re.search(sentence, lines[0])


@pytest.mark.parametrize(
    "arguments",
    [
        ("cases", "list", "--json"),
        ("cases", "show", "game-001", "--json"),
        ("judges", "list", "--json"),
        ("models", "list", "--json"),
        ("runs", "list", "--json"),
        ("run", "--model", "builtin/plain", "--estimate", "--json"),
    ],
)
def test_json_is_one_document_and_nothing_else(opendesign: Command, arguments: tuple[str, ...]) -> None:
    done = opendesign(*arguments)
    assert done.returncode == 0, done.stderr
    assert document(done) is not None


def test_an_estimate_sends_and_writes_nothing(opendesign: Command, tmp_path) -> None:  # type: ignore[no-untyped-def]
    done = opendesign(
        *("run", "--model", "openai/gpt-4.1", "--limit", "3", "--estimate", "--json"),
        *("--judges", "execution,static", "--judge-model", "static=openai/gpt-4o"),
    )
    assert done.returncode == 0, done.stderr
    expected = document(done)
    answering, judging = expected["parts"]
    assert (answering["role"], answering["calls"], answering["most"]) == ("answer", 3, True)
    assert (judging["role"], judging["model"], judging["calls"]) == ("static", "openai/gpt-4o", 3)
    assert judging["pictures"] >= 3
    assert 0 < judging["usd"] < expected["usd"]
    assert list(tmp_path.iterdir()) == []


def test_help_costs_little() -> None:
    """CPU time of the process, the median of five; a benchmark holds it to 0.3 s, this to no blunder."""
    import resource

    costs = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "opendesign", "--help"], capture_output=True, check=True, env=environment()
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert sorted(costs)[2] < 1.0
