"""``opendesign train score``: rows in, the same rows with rewards out."""

from __future__ import annotations

import json
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
        ("[" * 100_000, "Line 2 of .* is not JSON"),
    ],
)
def test_a_bad_line_is_named_before_anything_is_evaluated(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        score(tmp_path, [json.dumps(ROWS[0]), line], "--out", str(tmp_path / "out.jsonl"))
    assert (tmp_path / "out.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--json"], "--out"),
        (["--weight", "static=much"], "CHANNEL=NUMBER"),
        (["--out", "/no/such/folder/out"], "cannot be written"),
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
