"""What is trained on: the paper's settings, prompts, and the refusal of test cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opendesign.cases.benchmark import load_benchmark
from opendesign.errors import UsageError
from opendesign.train.config import Prompts, read_settings, spread
from opendesign.train.prompts import among_test_cases, ask, rows_for

CASE = load_benchmark("opendesign").cases[17]


def test_the_prompts_for_training_are_no_test_cases() -> None:
    asked = ask(Prompts(), held_out=20)
    assert (len(asked.train), len(asked.held_out), asked.test_cases) == (180, 20, ())
    assert not {case.id for case in asked.train} & {case.id for case in asked.held_out}
    assert len({case.category for case in asked.held_out}) == 5


def test_a_benchmark_for_testing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'opendesign' is for testing.*--allow-test-cases"):
        ask(Prompts(benchmark="opendesign"))
    allowed = ask(Prompts(benchmark="opendesign", limit=10), allow_test_cases=True)
    assert set(allowed.test_cases) >= {f"opendesign/{case.id}" for case in allowed.train}


@pytest.mark.parametrize("change", [str, str.upper, lambda text: text.replace(",", "") + " Thanks!"])
def test_a_case_and_its_near_duplicates_are_refused(tmp_path: Path, change) -> None:
    file = tmp_path / "mine.jsonl"
    prompts = ["a page about my very own bicycle collection", change(CASE.prompt)]
    file.write_text("\n".join(json.dumps({"prompt": prompt}) for prompt in prompts), encoding="utf-8")
    with pytest.raises(UsageError, match=rf"1 of the prompts .*{CASE.id}.*--allow-test-cases"):
        ask(Prompts(file=str(file)))
    assert ask(Prompts(file=str(file)), allow_test_cases=True).test_cases == (f"opendesign/{CASE.id}",)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ([{"role": "system", "content": "x"}, {"role": "user", "content": "y"}], "'system' of \\[prompts\\]"),
        (
            [{"role": "user", "content": "y"}, {"role": "assistant", "content": "x"}],
            "'system' of \\[prompts\\]",
        ),
        ([{"role": "user", "content": None}], "content is no text"),
        (5, "'prompt' is no text"),
        ("", "'prompt' is empty"),
        (None, "'prompt' is no text"),
    ],
)
def test_a_prompt_that_would_lose_words_is_refused_with_its_line(tmp_path: Path, prompt, said: str) -> None:
    file = tmp_path / "mine.jsonl"
    rows = [{"prompt": [{"role": "user", "content": "a page about tin toys"}]}, {"prompt": prompt}]
    file.write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(UsageError, match=f"line 3: .*{said}"):
        ask(Prompts(file=str(file)))


@pytest.mark.parametrize("limit", [0, -3])
@pytest.mark.parametrize("source", ["benchmark", "file"])
def test_less_than_one_prompt_is_no_limit(tmp_path: Path, limit: int, source: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(json.dumps({"prompt": f"toy {at}"}) for at in range(5)), encoding="utf-8")
    with pytest.raises(UsageError, match=f"'limit' of .prompts. is {limit}; it has to be 1 or more"):
        ask(Prompts(file=str(file) if source == "file" else None, limit=limit))


def test_words_of_a_released_prompt_are_known_by_their_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    from opendesign.cases.overlap import run_hashes

    mine = "eight words in a row that nobody else would ever have written"
    hashes = frozenset(list(run_hashes(mine, "salt"))[:1])
    monkeypatch.setattr("opendesign.train.prompts.read_runs", lambda _: ("salt", hashes))
    (found,) = among_test_cases([mine, "something else"])
    assert "a released prompt" in found


def test_rows_ask_as_the_benchmark_does() -> None:
    (row,) = rows_for([CASE], chat=True, held_out=True)
    assert [turn["role"] for turn in row["prompt"]] == ["system", "user"]
    assert row["prompt"][1]["content"] == CASE.prompt
    assert (row["category"], row["case_id"], row["held_out"]) == (CASE.category, CASE.id, True)
    assert json.loads(row["requirements"])[0]["text"] == CASE.requirements[0].text
    assert rows_for([CASE], chat=False)[0]["prompt"].strip() == CASE.prompt


def test_rows_ask_as_the_settings_say() -> None:
    (row,) = rows_for([CASE], chat=True, system="")
    assert [turn["role"] for turn in row["prompt"]] == ["user"]
    (row,) = rows_for([CASE], chat=True, system="One page.")
    assert row["prompt"][0] == {"role": "system", "content": "One page."}
    assert rows_for([CASE], chat=False, system="One page.")[0]["prompt"].startswith("One page.\n\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'model' is missing"),
        ('model = "m"\nout = "o"\nlimt = 3', "line 3: there is no field 'limt'"),
        ('model = "m"\nout = "o"\nanswers = 1', "2 or more"),
        ('model = "m"\nout = "o"\nbatch = 0', "has to be 1 or more"),
        ('model = "m"\nout = "o"\nmode = "sum"', "line 3: 'mode' is \"sum\""),
        ('model = "m"\nout = "o"\n[trainer]\nnum_generations = 4', "is said as 'answers' here"),
        (
            'model = "m"\nout = "o"\n[held_out]\njudges = ["computed"]\nlimit = -0.5',
            "'limit' of .* above 0",
        ),
        ('model = "m"\nout = "o"\n[held_out]\nevery = 5', "line 3: the field 'held_out.judges' is missing"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_settings(tmp_path / "x.toml")


def test_rows_of_a_step_are_spread_over_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    assert spread(512, 8) == 64
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert spread(512, 8) == 8
    with pytest.raises(UsageError, match="cannot be split"):
        spread(512, 100)
