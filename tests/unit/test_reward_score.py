"""``opendesign train score``: rows in, the same rows with rewards out."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from opendesign.cli.train import train
from opendesign.errors import UsageError
from tests.unit.test_reward import BAD, GOOD

ROWS: list[dict[str, Any]] = [
    {"prompt": "Bees", "completion": GOOD, "category": "website", "mine": [1, {"é": None}]},
    {"messages": [{"role": "user", "content": "Bees"}, {"role": "assistant", "content": BAD}]},
    {"prompt": [{"role": "user", "content": "Bees"}], "completion": None, "case_id": "website-001"},
]


def score(folder: Path, lines: list[str], *options: str) -> tuple[int, str]:
    file = folder / "rows.jsonl"
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    done = CliRunner().invoke(
        train,
        ["score", str(file), "--judges", "execution", *options],
        catch_exceptions=False,
        standalone_mode=False,
    )
    return done.return_value, done.stdout


def test_rows_come_back_with_their_rewards(tmp_path: Path) -> None:
    code, stdout = score(tmp_path, [json.dumps(row) for row in ROWS])
    assert code == 0
    rows = [json.loads(line) for line in stdout.splitlines()]
    assert [row["reward"] for row in rows] == [0.1, -0.1, -0.1]
    assert [row["gated"] for row in rows] == [False, True, True]
    assert rows[2]["failures"] == {"execution": "empty"}
    assert [{name: row[name] for name in given} for row, given in zip(rows, ROWS, strict=True)] == ROWS


def test_counts_are_numbers_also_of_one_row(tmp_path: Path) -> None:
    code, stdout = score(tmp_path, [json.dumps(ROWS[0])], "--json", "--out", str(tmp_path / "out.jsonl"))
    found = json.loads(stdout)
    assert code == 0
    assert [type(found[name]) for name in ("rows", "unscored", "gated", "cached")] == [int] * 4


def test_the_summary_is_one_document(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    code, stdout = score(
        tmp_path, [json.dumps(ROWS[0])] * 3 + [json.dumps(ROWS[1]), ""], "--json", "--out", str(out)
    )
    assert code == 0
    found = json.loads(stdout)
    assert (found["rows"], found["gated"], found["cached"], found["unscored"]) == (4, 1, 2, 0)
    assert found["reward"] == pytest.approx((3 * 0.1 - 0.1) / 4)
    assert found["channels"] == {"execution": pytest.approx(0.5)}
    assert len(out.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "Line 2 of .* is not JSON"),
        ("[]", "Line 2 of .* is no object"),
        ('{"prompt": "Bees"}', "Line 2 of .* has no 'completion'"),
        ('{"completion": "x"}', "Line 2 of .* has no 'prompt'"),
        ('{"messages": [{"role": "user"}]}', "the assistant says something"),
        ('{"messages": "x"}', "the assistant says something"),
        ('{"prompt": NaN, "completion": "x"}', "Line 2 of .* is not JSON"),
        ('{"prompt": "x", "completion": "x", "mine": 1e999}', "Line 2 of .* a number is infinite"),
        ("[" * 100_000, "Line 2 of .* is not JSON"),
    ],
)
def test_a_bad_line_is_named_before_anything_is_evaluated(tmp_path: Path, line: str, says: str) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        score(tmp_path, [json.dumps(ROWS[0]), line], "--out", str(out))
    assert out.read_text(encoding="utf-8") == "mine"
    assert {file.name for file in tmp_path.iterdir()} == {"rows.jsonl", "out.jsonl"}


@pytest.mark.parametrize("lines", [[], ["", " "]])
def test_a_file_without_rows_is_refused(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(UsageError, match="has no rows"):
        score(tmp_path, lines)


def test_rows_that_can_be_read_only_once_are_refused(tmp_path: Path) -> None:
    from opendesign.train import AgenticReward
    from opendesign.train.scoring import score_rows

    os.mkfifo(tmp_path / "pipe")
    with AgenticReward(judges=["execution"]) as reward, pytest.raises(UsageError, match="is no file"):
        score_rows(tmp_path / "pipe", io.StringIO(), reward)


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    code, stdout = score(tmp_path, ["\ufeff" + json.dumps(ROWS[0])])
    assert (code, json.loads(stdout)["reward"]) == (0, 0.1)


def test_a_misspelt_column_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [
        {"prompt": "Bees", "completion": GOOD, "catgory": "website", "mine": 1},
        {"prompt": "Bees", "completion": GOOD, "catgory": "game", "category": "website", "model": "m"},
    ]
    score(tmp_path, [json.dumps(row) for row in [*rows, rows[0]]])
    (told,) = [record.message for record in caplog.records if "column" in record.message]
    assert "'catgory'" in told
    assert "'category'" in told


def test_an_interrupted_file_keeps_what_was_judged_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.exceptions import Abort

    from opendesign.train import scoring

    told, out = scoring.told, tmp_path / "out.jsonl"
    out.write_text("mine", encoding="utf-8")

    def twice(evaluation: Any, count: list[int] = []) -> Any:  # noqa: B006 (of the calls)
        count.append(1)
        if len(count) > 1:
            raise KeyboardInterrupt
        return told(evaluation)

    monkeypatch.setattr(scoring, "told", twice)
    with pytest.raises(Abort):
        score(tmp_path, [json.dumps(ROWS[0])] * 2, "--out", str(out))
    assert out.read_text(encoding="utf-8") == "mine"
    (part,) = tmp_path.glob("out.jsonl.*.part")
    assert [json.loads(line)["reward"] for line in part.read_text().splitlines()] == [0.1]


def test_what_is_no_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    from opendesign.train.scoring import written

    pipe, real, link = tmp_path / "pipe", tmp_path / "real", tmp_path / "link"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with written(pipe) as stream:
        stream.write("x")
    assert os.read(reader, 9) == b"x"
    os.close(reader)
    assert pipe.is_fifo()
    real.write_text("old", encoding="utf-8")
    link.symlink_to(real)
    with written(link) as stream:
        stream.write("new")
    assert (link.is_symlink(), real.read_text(encoding="utf-8")) == (True, "new")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--json"], "--out"),
        (["--weight", "static=much"], "CHANNEL=NUMBER"),
        (["--out", "/no/such/folder/out"], "cannot be written"),
        (["--out", __file__ + "/out"], "cannot be written"),
        (["--gate", "looks"], "no role named"),
    ],
)
def test_options_that_make_no_sense_are_told(tmp_path: Path, options: list[str], says: str) -> None:
    from click import UsageError as ClickError

    with pytest.raises((UsageError, ClickError)) as raised:
        score(tmp_path, [json.dumps(ROWS[0])], *options)
    assert says in str(getattr(raised.value, "message", raised.value))


def test_options_reach_the_reward(tmp_path: Path) -> None:
    code, stdout = score(
        tmp_path, [json.dumps(ROWS[0]), json.dumps(ROWS[1])], "--weight", "execution=2", "--gate", "none"
    )
    assert code == 0
    assert [json.loads(line)["reward"] for line in stdout.splitlines()] == [2, -2]
