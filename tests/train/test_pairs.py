"""Rows that SFT and DPO learn from: what of them would be learned as something else is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from opendesign.errors import UsageError
from opendesign.train.data import Kind, write_data
from opendesign.train.pairs import read_pairs

ASKED = [{"role": "user", "content": "Bees"}]
SAID = [{"role": "assistant", "content": "<p>"}]
TEXTS = {"prompt": "Bees", "completion": "<p>"}
TURNS = {"prompt": ASKED, "completion": SAID}


def turn(**fields: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": "<p>", **fields}]


#: A row and what is said of it. ``train data`` refuses the first ones too; the others are answers that say
#: nothing, which it passes over.
BROKEN: list[tuple[dict[str, Any], str]] = [
    ({**TURNS, "completion": turn(content=None, tool_calls=[{"id": "x"}])}, "'tool_calls'"),
    ({**TURNS, "completion": ASKED}, "'completion', turn 1: the role is 'user'"),
    ({**TURNS, "completion": [*SAID, *ASKED]}, "'completion', turn 2: the role is 'user'"),
    ({**TURNS, "completion": turn(content=[{"type": "text", "text": "<p>"}])}, "content is no text"),
    ({**TURNS, "completion": [1, 2]}, "'completion', turn 1 is no object"),
    ({**TURNS, "completion": ["<p>"]}, "'completion', turn 1 is no object"),
    ({**TURNS, "completion": [{"content": "<p>"}]}, "the role is missing"),
    ({**TURNS, "completion": {"a": 1}}, "'completion' is no text and no conversation"),
    ({**TURNS, "completion": "<p>"}, "no two texts"),
    ({**TURNS, "prompt": None}, "'prompt' is no text and no conversation"),
    ({**TURNS, "prompt": []}, "'prompt' is no text and no conversation"),
    ({**TURNS, "prompt": [{"role": "wizard", "content": "x"}, *ASKED]}, "the role is 'wizard'"),
    ({**TURNS, "prompt": [{"role": "system", "content": "x"}]}, "no turn of the user"),
    ({**TEXTS, "prompt": " "}, "'prompt' is empty"),
]
SILENT: list[tuple[dict[str, Any], str]] = [
    ({**TURNS, "completion": turn(content=None)}, "content is no text"),
    ({**TURNS, "completion": turn(content="\n")}, "content is empty"),
    ({**TEXTS, "completion": None}, "'completion' is no text"),
    ({**TEXTS, "completion": ""}, "'completion' is empty"),
]


def write(file: Path, *rows: dict[str, Any]) -> Path:
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def good(row: dict[str, Any]) -> dict[str, Any]:
    return TEXTS if isinstance(row["prompt"], str) else TURNS


@pytest.mark.parametrize(("row", "said"), BROKEN + SILENT)
def test_sft_refuses_what_it_would_learn_as_something_else(
    tmp_path: Path, row: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=f"line 2: .*{re.escape(said)}"):
        read_pairs(write(tmp_path / "rows.jsonl", good(row), row))


def test_rows_of_texts_and_rows_of_conversations_are_no_one_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"line 3: .*texts"):
        read_pairs(write(tmp_path / "rows.jsonl", TURNS, TURNS, TEXTS))


def test_a_turn_keeps_what_is_learned_and_fields_that_say_nothing_are_left_out(tmp_path: Path) -> None:
    asked = [{"role": "system", "content": "One page."}, *ASKED, *SAID, *ASKED]
    row = {"prompt": asked, "completion": turn(tool_calls=None, refusal=None), "reward": 1}
    assert read_pairs(write(tmp_path / "rows.jsonl", row)) == [{"prompt": asked, "completion": SAID}]
    texts = {"prompt": " Bees\n", "completion": "<p>\n"}
    assert read_pairs(write(tmp_path / "rows.jsonl", texts)) == [texts]


@pytest.mark.parametrize(("row", "said"), BROKEN)
def test_data_writes_no_row_that_sft_would_refuse(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    file = write(tmp_path / "rows.jsonl", {**good(row), "reward": 0.5}, {**row, "reward": 0.9})
    with pytest.raises(UsageError, match=f"line 2: .*{re.escape(said)}"):
        write_data([str(file)], tmp_path / "out.jsonl", "rft")
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(("row", "said"), SILENT)
@pytest.mark.parametrize("kind", ["rft", "dpo"])
def test_answers_without_words_count_and_are_not_learned_from(
    tmp_path: Path, row: dict[str, Any], said: str, kind: Kind
) -> None:
    fine = good(row)
    worse = turn(content="<b>") if fine is TURNS else "<b>"
    # Without a gate an answer without words has a reward like others, and the same one wherever it is.
    rows = [{**row, "reward": 0.9}, {**fine, "reward": 0.5}, {**fine, "completion": worse, "reward": 0.4}]
    file = write(tmp_path / "rows.jsonl", *rows, {**row, "reward": -0.9})
    picked = write_data([str(file)], tmp_path / "out.jsonl", kind)
    (made,) = picked.rows
    assert (made.get("completion") or made["chosen"], picked.samples) == (fine["completion"], 4)
    assert made.get("rejected", worse) == worse


def test_data_of_texts_and_of_conversations_is_no_one_file(tmp_path: Path) -> None:
    texts = write(tmp_path / "texts.jsonl", {**TEXTS, "reward": 1})
    turns = write(tmp_path / "turns.jsonl", {**TURNS, "reward": 1})
    with pytest.raises(UsageError, match=r"turns.jsonl, line 1: .*texts"):
        write_data([str(texts), str(turns)], tmp_path / "out.jsonl", "rft")


def test_an_answer_is_not_set_against_itself(tmp_path: Path) -> None:
    rows = [{**TEXTS, "reward": 0.9}, {**TEXTS, "completion": "<b>", "reward": 0.5}, {**TEXTS, "reward": 0.1}]
    file = write(tmp_path / "rows.jsonl", *rows)
    (row,) = write_data([str(file)], tmp_path / "out.jsonl", "dpo").rows
    assert (row["chosen"], row["rejected"]) == ("<p>", "<b>")
    with pytest.raises(UsageError, match="none can be learned from"):
        write_data([str(write(file, rows[0], rows[2]))], tmp_path / "out.jsonl", "dpo")


@pytest.mark.train
@pytest.mark.parametrize("lacking", ["chat_template.jinja", "everything"])
def test_a_model_that_cannot_be_set_up_is_told_in_one_sentence(
    tmp_path: Path, tiny: Path, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    from opendesign.train.sft import run_sft
    from tests.train.test_trainings import settings_of

    model = shutil.copytree(tiny, tmp_path / "model")
    if lacking == "everything":
        monkeypatch.setattr("opendesign.train.sft.load_model", lambda *_: (None, None))
    else:
        (model / lacking).unlink()
    data = write(tmp_path / "rows.jsonl", TURNS)
    with pytest.raises(UsageError, match=r"^The training cannot be set up: [^\n]+$"):
        run_sft(settings_of(tmp_path, model, f'data = "{data}"\nbatch = 4', "max_steps = 1"))
