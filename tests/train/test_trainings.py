"""``opendesign train sft`` and ``grpo`` with a tiny model: checkpoints, resuming, held-out judge."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from opendesign.cases.benchmark import load_benchmark
from opendesign.cli.train import train
from opendesign.errors import UsageError
from opendesign.train.config import read_settings, trainer_settings
from opendesign.train.grpo import run_grpo
from opendesign.train.loading import load_model
from opendesign.train.sft import run_sft
from tests.train.support import make_gguf

pytestmark = pytest.mark.train

CASE = load_benchmark("opendesign").cases[17]


def settings_of(folder: Path, model: Path, text: str, trainer: str = "") -> Any:
    """Of a file with ``text`` above and ``trainer`` within what keeps a training small."""
    small = "save_steps = 1\nlogging_steps = 1\ndisable_tqdm = true\nactivation_checkpointing = false"
    head = f'model = "{model}"\nout = "{folder / "out"}"\nper_device = 4\n'
    file = folder / "training.toml"
    file.write_text(f"{head}{text}\n[trainer]\nuse_cpu = true\n{small}\n{trainer}\n", encoding="utf-8")
    return read_settings(file)


def write_rows(file: Path, *prompts: str) -> str:
    """Rows to fit a model to; the file's name as TOML."""
    rows = [
        {
            "prompt": [{"role": "user", "content": prompt}],
            "completion": [{"role": "assistant", "content": "<p>"}],
        }
        for prompt in prompts
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return f'"{file}"'


def test_the_papers_settings_are_the_defaults(tmp_path: Path) -> None:
    from trl import GRPOConfig, SFTConfig

    (tmp_path / "x.toml").write_text('model = "m"\nout = "o"', encoding="utf-8")
    settings = read_settings(tmp_path / "x.toml")
    sft = SFTConfig(**trainer_settings("sft", settings))
    assert (sft.num_train_epochs, sft.learning_rate, sft.lr_scheduler_type) == (3, 1e-5, "cosine")
    assert (sft.optim[:5], sft.max_length, sft.get_warmup_steps(1000)) == ("adamw", 8192, 100)
    assert sft.per_device_train_batch_size * sft.gradient_accumulation_steps == 128
    grpo = GRPOConfig(**trainer_settings("grpo", settings))
    assert (grpo.learning_rate, grpo.lr_scheduler_type, grpo.beta, grpo.epsilon) == (
        3e-6,
        "constant",
        0.001,
        0.5,
    )
    assert (grpo.generation_batch_size, grpo.num_generations) == (512, 8)


def interrupted(out: Path, last: str) -> None:
    """As if the training had been killed after its checkpoint ``last``."""
    shutil.rmtree(out / "model")
    for later in out.glob("checkpoint-*"):
        if later.name > last:
            shutil.rmtree(later)
    kept = json.loads((out / "training.json").read_text(encoding="utf-8"))
    del kept["outcome"]
    (out / "training.json").write_text(json.dumps(kept), encoding="utf-8")


def test_sft_makes_checkpoints_and_goes_on_from_the_last(tiny: Path, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.jsonl", *"abcd")
    first = run_sft(settings_of(tmp_path, tiny, f"data = {data}\nbatch = 4", "num_train_epochs = 2"))
    assert (first["steps"], first["resumed"]) == (2, None)
    out = tmp_path / "out"
    for name in ("checkpoint-1", "checkpoint-2", "model"):
        assert "rows.jsonl, 4 rows" in (out / name / "README.md").read_text(encoding="utf-8")
        load_model(str(out / name))
    same = settings_of(tmp_path, tiny, f"data = {data}\nbatch = 4", "num_train_epochs = 2")
    assert run_sft(same) == first  # it is done
    interrupted(out, "checkpoint-1")
    assert run_sft(same) == {**first, "resumed": "checkpoint-1"}
    interrupted(out, "checkpoint-2")
    assert run_sft(same) == {**first, "resumed": "checkpoint-2"}
    load_model(str(out / "model"))
    with pytest.raises(UsageError, match="other settings"):
        run_sft(settings_of(tmp_path, tiny, f"data = {data}\nbatch = 4", "num_train_epochs = 3"))


GRPO = """answers = 2
prompts_a_step = 2
prompts = { limit = 10, held_out = 4 }
[reward]
judges = ["execution"]
[held_out]
judges = ["execution-literal"]
every = 1
"""
SHORT = "max_completion_length = 4\nmax_steps = 2"


def test_grpo_asks_the_held_out_judge_and_resumes(tiny: Path, tmp_path: Path) -> None:
    settings, out = settings_of(tmp_path, tiny, GRPO, SHORT), tmp_path / "out"
    made = run_grpo(settings)
    assert (made["steps"], made["of"]) == (2, 2)
    card = (out / "model" / "README.md").read_text(encoding="utf-8")
    assert "6 trained on, 4 held out" in card
    assert "execution: execution-literal" in card
    assert "| 0 | -0.100 | -0.100 | – |" in card
    curves = json.loads((out / "curves.json").read_text(encoding="utf-8"))
    assert {row["step"] for row in curves if row["panel"] == "held-out prompts"} == {0, 1, 2}
    assert (out / "curves.png").is_file()
    interrupted(out, "checkpoint-1")
    assert run_grpo(settings) == {**made, "resumed": "checkpoint-1"}
    assert (out / "model" / "README.md").read_text(encoding="utf-8").count("| 0 |") == 1


def test_a_gap_over_the_limit_ends_the_training(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The training judge is pleased more with every step, the held-out one never."""
    from opendesign.train import AgenticReward, Evaluation

    batches = 0

    async def evaluate(self: AgenticReward, prompts: Any, completions: Any, **_: Any) -> list[Evaluation]:
        nonlocal batches
        held_out = self.roles["execution"] == "execution-literal"
        batches += not held_out
        rise = 0.0 if held_out else 0.5 * batches
        return [
            Evaluation(channels={"execution": at + rise}, total=at + rise) for at in range(len(completions))
        ]

    monkeypatch.setattr(AgenticReward, "evaluate", evaluate)
    made = run_grpo(settings_of(tmp_path, tiny, GRPO, SHORT.replace("2", "50")))
    assert 1 <= made["steps"] <= 3
    assert (tmp_path / "out" / f"checkpoint-{made['steps']}").is_dir()


def test_a_checkpoint_that_saw_test_cases_says_so(tiny: Path, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.jsonl", CASE.prompt)
    settings = settings_of(tmp_path, tiny, f"data = {data}\nbatch = 4", "max_steps = 1")
    with pytest.raises(UsageError, match=f"{CASE.id}.*--allow-test-cases"):
        run_sft(settings)
    assert not (tmp_path / "out").exists()
    run_sft(settings, allow_test_cases=True)
    card = (tmp_path / "out" / "checkpoint-1" / "README.md").read_text(encoding="utf-8")
    assert "**Trained on test cases.** 1 prompts are of a benchmark or nearly so, on which" in card
    assert f"opendesign/{CASE.id}" in card


def test_the_command_prints_one_document(tiny: Path, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.jsonl", *"abcd")
    settings_of(tmp_path, tiny, f"data = {data}\nbatch = 4", "max_steps = 1")
    done = CliRunner().invoke(
        train, ["sft", str(tmp_path / "training.toml"), "--json"], standalone_mode=False
    )
    assert done.return_value == 0
    told = json.loads(done.stdout)
    assert (told["steps"], told["ended_early"]) == (1, False)
    assert "train_loss" in done.stderr


@pytest.mark.parametrize(
    ("text", "trainer", "said"),
    [
        ("", "lerning_rate = 1", "did you mean learning_rate"),
        ('[reward]\njudges = ["execution"]\ncolour = 3', "", "colour"),
        ("per_devices = 4", "", "no field 'per_devices'"),
        ("prompts_a_step = 3\nanswers = 3", "", "cannot be split"),
    ],
)
def test_settings_that_make_no_sense_are_one_sentence(
    tiny: Path, tmp_path: Path, text: str, trainer: str, said: str
) -> None:
    text = text if "[reward]" in text else f'{text}\nreward = {{ judges = ["execution"] }}'
    with pytest.raises(UsageError, match=said):
        run_grpo(settings_of(tmp_path, tiny, text, trainer))


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no model at some/hub-name"):
        load_model("some/hub-name")
    (tmp_path / "bad.gguf").write_bytes(b"GGUF nothing")
    with pytest.raises(UsageError, match="cannot be loaded"):
        load_model(str(tmp_path / "bad.gguf"))


def test_a_gguf_model_can_be_trained_and_saved(tmp_path: Path) -> None:
    import torch

    model, tokenizer = load_model(str(make_gguf(tmp_path / "model.gguf")))
    model.save_pretrained(tmp_path / "saved")
    tokenizer.save_pretrained(tmp_path / "saved")
    again, tokens = load_model(str(tmp_path / "saved"))
    asked = torch.tensor([tokens("about").input_ids])
    assert torch.equal(asked, torch.tensor([tokenizer("about").input_ids]))
    assert asked.shape == (1, 4)  # "ab" is one token
    assert torch.equal(again(asked).logits, model(asked).logits)
    assert all(weight.requires_grad and weight.dtype == torch.float32 for weight in model.parameters())


def test_dpo_rows_are_what_trl_takes(tiny: Path, tmp_path: Path) -> None:
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import DPOConfig, DPOTrainer

    from opendesign.train.data import Sample, pick

    samples = [Sample(prompt=p, completion=f"<{r}>", reward=r) for p in "ab" for r in (0.1, 0.9)]
    trainer = DPOTrainer(
        AutoModelForCausalLM.from_pretrained(tiny),
        args=DPOConfig(
            str(tmp_path), max_steps=1, report_to="none", bf16=False, use_cpu=True, disable_tqdm=True
        ),
        train_dataset=Dataset.from_list(list(pick(samples, "dpo").rows)),
        processing_class=AutoTokenizer.from_pretrained(tiny),
    )
    assert trainer.train().training_loss > 0
