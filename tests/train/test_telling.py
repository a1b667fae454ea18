"""What a training says on its way, and at its end."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opendesign.cli import train_runs
from opendesign.train.telling import evaluation_line, quiet, step_line


def evaluated(step: int, *means: float, spreads: tuple[float, float] = (0.1, 20.0)) -> dict[str, Any]:
    row: dict[str, Any] = {"step": step, "eval_held_out/unscored": 0.0}
    for name, mean, spread in zip(("training", "held_out"), means, spreads, strict=True):
        row |= {f"eval_held_out/{name}": mean, f"eval_held_out/{name}_square": mean**2 + spread**2}
    return row


def test_a_step_is_a_line() -> None:
    logged = {
        "loss": 0.5,
        "reward": 0.0621,
        "reward_std": 3.0,
        "rewards/execution/mean": 0.62,
        "rewards/execution/std": 9.0,
        "rewards/static/mean": 0.41,
        "judges/gated": 0.19,
        "judges/unscored": 0.0,
        "judges/cost_usd": 0.012,
        "step_time": 117.8,
    }
    assert step_line(logged, 3, 200) == (
        "Step 3 of 200: reward 0.062, execution 0.62, static 0.41, 19 % fail the gate, 0 % unscored, $0.012, "
        "118 s"
    )
    # Nothing is said of what is not known, and a reward of judges that failed is none.
    unknown = logged | {"rewards/static/mean": None, "judges/cost_usd": float("nan"), "judges/failed": 1.0}
    line = step_line(unknown, 3, 200) or ""
    assert "static" not in line
    assert "$" not in line
    assert line.endswith("the judges failed")
    fitted = step_line({"loss": 1.25, "mean_token_accuracy": 0.5, "grad_norm": 1.0}, 1, 2)
    assert fitted == "Step 1 of 2: loss 1.250, token accuracy 0.50"
    assert step_line({"train_runtime": 3.0, "train_loss": 1.0}, 2, 2) is None
    assert step_line({"eval_reward": 3.0, "eval_rewards/static/mean": 1.0}, 2, 2) is None


def test_an_evaluation_is_a_line() -> None:
    history = [evaluated(0, 0.4, 40.0), {"step": 1, "reward": 9.0}, evaluated(20, 0.52, 38.0)]
    assert evaluation_line(history, 20) == (
        "Step 20: held-out prompts: training judge 0.520 (+1.2 sd), held-out judge 38.000 (-0.1 sd), gap 1.3"
    )
    flat = [evaluated(step, 0.4, 40.0 + step, spreads=(0.1, 0.0)) for step in (0, 5)]
    assert evaluation_line(flat, 5) == (
        "Step 5: held-out prompts: training judge 0.400 (+0.0 sd), held-out judge 45.000 "
        "(no spread at step 0), gap unknown"
    )
    silent = {"step": 40, "eval_loss": 0.0, "eval_held_out/unscored": 1.0}
    assert evaluation_line([*history, silent], 40).endswith("no score of both judges, the gap is unknown")


@pytest.mark.train
def test_a_training_says_these_lines_and_no_others(
    tiny: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from opendesign.train.trl import for_trl
    from tests.train.support import Table

    scores = Table(lambda _: [(True, 10.0), (True, 20.0), (True, 60.0), (False, None)])
    judges = for_trl(scores, held_out=scores)  # type: ignore[arg-type]
    config = GRPOConfig(
        str(tmp_path),
        max_steps=2,
        num_generations=2,
        num_generations_eval=1,
        per_device_train_batch_size=4,
        per_device_eval_batch_size=4,
        max_completion_length=4,
        logging_steps=1,
        save_steps=2,
        eval_strategy="steps",
        eval_steps=2,
        eval_on_start=True,
        report_to="none",
        bf16=False,
        use_cpu=True,
        **judges.settings,
    )
    rows = [{"prompt": prompt, "held_out": True} for prompt in "abcd"]
    trained = [row | {"held_out": False} for row in rows]
    trainer = GRPOTrainer(
        str(tiny),
        judges.functions,
        config,
        train_dataset=Dataset.from_list(trained),
        eval_dataset=Dataset.from_list(rows),
    )
    quiet(trainer)
    capfd.readouterr()
    trainer.train()
    said = capfd.readouterr()
    of_judges = r"reward -?\d\.\d{3}, execution 0\.50, static -?\d\.\d\d, 25 % fail the gate, 0 % unscored"
    expected = [
        r"Step 0: held-out prompts: .* \(\+0\.0 sd\), held-out judge .* \(\+0\.0 sd\), gap 0\.0",
        rf"Step 1 of 2: {of_judges}, \$0\.000, \d+ s",
        rf"Step 2 of 2: {of_judges}, \$0\.000, \d+ s",
        r"Step 2: held-out prompts: .*, gap 0\.0",
        r"Step 2: checkpoint-2 is saved\.",
    ]
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) == len(expected), lines
    for line, pattern in zip(lines, expected, strict=True):
        assert re.fullmatch(pattern, line), line


@pytest.mark.parametrize(("options", "heard"), [((), ["mine"]), (("-W", "default"), ["theirs", "mine"])])
def test_only_warnings_of_others_are_hushed(options: tuple[str, ...], heard: list[str]) -> None:
    code = (
        "import warnings; from opendesign.train.telling import hush; hush()\n"
        "for name, text in (('torch.utils.data', 'theirs'), ('opendesign.train', 'mine')):\n"
        "    warnings.warn_explicit(text, UserWarning, 'x.py', 1, module=name)"
    )
    done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, check=True)
    assert re.findall(r"UserWarning: (\w+)", done.stderr) == heard


def run(tmp_path: Path, stage: Any, *, as_json: bool = False) -> int:
    file = tmp_path / "x.toml"
    file.write_text(f'model = "m"\nout = "{tmp_path / "out"}"', encoding="utf-8")
    return train_runs._run(stage, file, False, as_json)


def test_ctrl_c_says_where_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    assert run(tmp_path, stopped) == 130
    assert capsys.readouterr().err == "Stopped. There was no checkpoint yet: the same command begins anew.\n"
    for name in ("checkpoint-9", "checkpoint-40", "checkpoint-best"):
        (tmp_path / "out" / name).mkdir(parents=True)
        (tmp_path / "out" / name / "trainer_state.json").touch()
    (tmp_path / "out" / "checkpoint-60").mkdir()  # not whole
    assert run(tmp_path, stopped) == 130
    assert capsys.readouterr().err == (
        "Stopped. The same command again goes on from the last checkpoint (checkpoint-40).\n"
    )


OUTCOME: dict[str, Any] = {
    "model": "m",
    "curves": "c",
    "steps": 2,
    "of": 2,
    "resumed": "checkpoint-1",
    "ended": None,
    "limit_acted": False,
}


def test_the_end_says_where_it_began_and_what_did_not_guard_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, lambda *_, **__: OUTCOME) == 0
    said = capsys.readouterr()
    assert "Resumed from checkpoint-1." in said.out
    assert "The limit could not act" in said.err
    run(tmp_path, lambda *_, **__: OUTCOME | {"resumed": None, "limit_acted": None})
    said = capsys.readouterr()
    assert "Resumed" not in said.out
    assert "limit" not in said.err
    run(tmp_path, lambda *_, **__: OUTCOME, as_json=True)
    assert "ended_early" not in capsys.readouterr().out
