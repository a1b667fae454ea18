"""RFT and DPO data: which answers are learned from."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import opendesign
from opendesign.answering.models import BuiltinModel, Reply
from opendesign.answering.outcome import answer_of
from opendesign.cli.train import train
from opendesign.errors import UsageError
from opendesign.train.data import Kind, Sample, pick, read_samples, write_data
from opendesign.types import Answer, Case
from tests.unit.test_reward import GOOD

SAMPLES = [
    Sample(prompt="a", completion="a1", reward=0.2),
    Sample(prompt="a", completion="a2", reward=0.9),
    Sample(prompt="a", completion="a3", reward=-0.1, gated=True),
    Sample(prompt="a", completion="a4", reward=None),
    Sample(prompt="b", completion="b1", reward=-0.1, gated=True),
    Sample(prompt="c", completion="c1", reward=0.5),
    Sample(prompt="c", completion="c2", reward=0.5),
    Sample(prompt="d", completion="d1", reward=0.95, gated=True),
    Sample(prompt="d", completion="d2", reward=0.6),
    Sample(prompt="d", completion="d3", reward=0.55),
]


def test_rft_learns_from_the_best_that_passes() -> None:
    picked = pick(SAMPLES, "rft")
    assert [row["completion"] for row in picked.rows] == ["a2", "c1", "d2"]
    assert (picked.prompts, picked.samples, picked.unscored) == (4, 10, 1)
    assert picked.reward == pytest.approx((0.9 + 0.5 + 0.6) / 3)


@pytest.mark.parametrize(
    ("margin", "expected"), [(0.0, [("a2", "a3"), ("d2", "d3")]), (0.1, [("a2", "a3")]), (2.0, [])]
)
def test_dpo_sets_the_best_against_the_worst(margin: float, expected: list[tuple[str, str]]) -> None:
    rows = pick(SAMPLES, "dpo", margin=margin).rows
    assert [(row["chosen"], row["rejected"]) for row in rows] == expected


def test_of_a_stored_run_the_verdicts_are_used(tmp_path: Path) -> None:
    for control in ("template", "broken"):
        opendesign.run(
            f"builtin/{control}",
            benchmark="opendesign-train",
            limit=2,
            judges=["execution"],
            folder=tmp_path / control,
        )
    runs, out = [str(tmp_path / name) for name in ("broken", "template")], tmp_path / "dpo.jsonl"
    picked = write_data(runs, out, "dpo")
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == picked.prompts == 2
    for row in rows:
        assert [turn["role"] for turn in row["prompt"]] == ["system", "user"]
        assert len(row["chosen"][0]["content"]) != len(row["rejected"][0]["content"])
    assert picked.reward == pytest.approx(0.1)
    assert picked.reward_of_all == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("reply", "judge"),
    [
        ("I am sorry, I cannot.", "computed"),  # which is no gate: the lowest score is a score
        (
            "<!doctype html><h1>A real page</h1><p>about bees</p>",
            "execution",
        ),  # no rule is broken, and it is no page
    ],
)
def test_of_a_stored_run_what_is_no_page_is_never_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: str, judge: str
) -> None:
    monkeypatch.setattr(BuiltinModel, "answer", _said(reply))
    run = tmp_path / "run"
    opendesign.run("builtin/template", benchmark="opendesign-train", limit=1, judges=[judge], folder=run)
    (sample,) = read_samples(str(run))
    floor = {"computed": 0.0, "execution": -0.1}[judge]
    assert (sample.reward, sample.gated) == (pytest.approx(floor), True)
    with pytest.raises(UsageError, match="none can be learned from"):
        write_data([str(run)], tmp_path / "rft.jsonl", "rft")


def _said(reply: str) -> Any:
    async def answer(model: BuiltinModel, case: Case, sample: int, settings: Any) -> Answer:
        return answer_of(case, sample, Reply(text=reply, finish_reason="stop"))

    return answer


@pytest.mark.parametrize("kind", ["rft", "dpo"])
def test_conversations_that_were_scored_are_read(tmp_path: Path, kind: Kind) -> None:
    asked = [{"role": "user", "content": "A page about bees"}]
    rows = [
        {"messages": [*asked, {"role": "assistant", "content": GOOD}]},
        {"messages": [*asked, {"role": "assistant", "content": "I cannot."}]},
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    scored = ["score", str(tmp_path / "rows.jsonl"), "--judges", "execution"]
    CliRunner().invoke(
        train,
        [*scored, "--out", str(tmp_path / "scored.jsonl")],
        catch_exceptions=False,
        standalone_mode=False,
    )
    write_data([str(tmp_path / "scored.jsonl")], tmp_path / "out.jsonl", kind)
    (row,) = map(json.loads, (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines())
    best, worst = ([one["messages"][-1]] for one in rows)
    expected = {"rft": {"completion": best}, "dpo": {"chosen": best, "rejected": worst}}[kind]
    assert row == {"prompt": asked, **expected}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: not valid JSON"),
        ('{"prompt": "x", "completion": "y"}', "has no 'reward'"),
        ('{"messages": [{"role": "user"}], "reward": 1}', "the assistant says something"),
        ('{"prompt": "x", "completion": "y", "reward": "high"}', "is no number"),
        (
            f'{{"prompt": "x", "completion": "y", "reward": 1{"0" * 400}}}',
            "line 1: 'reward' is no number from",
        ),
        (
            '{"prompt": "x", "completion": "y", "reward": 1, "gated": "false"}',
            "line 1: 'gated' is neither true nor false",
        ),
        ('{"prompt": "x", "completion": "y", "reward": null}', "none can be learned from"),
        ('{"prompt": "x", "completion": "y", "reward": 0.5, "gated": true}', "none can be learned from"),
    ],
)
def test_what_cannot_be_learned_from_is_said(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "rows.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        write_data([str(tmp_path / "rows.jsonl")], tmp_path / "out.jsonl", "rft")
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("link", [False, True])
def test_the_source_is_never_written_over(tmp_path: Path, link: bool) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text('{"prompt": "x", "completion": "y", "reward": 1, "mine": 2}', encoding="utf-8")
    before, out = source.read_text(encoding="utf-8"), tmp_path / "link.jsonl" if link else source
    if link:
        out.symlink_to(source)
    with pytest.raises(UsageError, match="name another"):
        write_data([str(source)], out, "rft")
    assert source.read_text(encoding="utf-8") == before


def test_a_file_stays_as_it_was_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"prompt": "x", "completion": "y", "reward": 1}', encoding="utf-8")
    out.write_text("mine", encoding="utf-8")
    monkeypatch.setattr("opendesign.train.data.json.dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_data([str(source)], out, "rft")
    assert out.read_text(encoding="utf-8") == "mine"
    assert {file.name for file in tmp_path.iterdir()} == {"rows.jsonl", "out.jsonl"}


@pytest.mark.parametrize("command", ["sft", "grpo"])
def test_without_the_extra_the_way_to_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "x.toml").write_text('model = "m"\nout = "o"', encoding="utf-8")
    done = CliRunner().invoke(train, [command, str(tmp_path / "x.toml")], standalone_mode=False)
    assert isinstance(done.exception, UsageError)
    assert "pip install 'opendesign[train]'" in str(done.exception)


def test_the_command_says_what_was_picked(tmp_path: Path) -> None:
    rows = [{"prompt": one.prompt, "completion": one.completion, "reward": one.reward} for one in SAMPLES[:2]]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    arguments = ["data", str(tmp_path / "rows.jsonl"), "--out", str(tmp_path / "out.jsonl"), "--kind"]
    done = CliRunner().invoke(train, [*arguments, "rft", "--json"], standalone_mode=False)
    assert json.loads(done.stdout)["reward"] == 0.9
    assert json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8")) == {
        "prompt": "a",
        "completion": "a2",
    }
    done = CliRunner().invoke(train, [*arguments, "dpo"], standalone_mode=False)
    assert done.stdout.startswith(
        "1 rows from 2 samples of 1 prompts; mean reward 0.900, of all samples 0.550"
    )
