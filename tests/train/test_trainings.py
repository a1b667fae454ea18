"""``opendesign train sft`` and ``grpo`` with a tiny model: checkpoints, resuming, held-out judge."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from opendesign.canonical import digest
from opendesign.cases.benchmark import load_benchmark
from opendesign.cli.train import train
from opendesign.errors import UsageError
from opendesign.train import AgenticReward, Evaluation
from opendesign.train import grpo as grpo_module
from opendesign.train.config import Prompts, read_settings, trainer_settings
from opendesign.train.grpo import run_grpo, steps_of
from opendesign.train.loading import load_model
from opendesign.train.prompts import ask
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


def test_the_default_training_has_200_steps_and_the_held_out_judge_its_turns(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(
        'model = "m"\nout = "o"\n[held_out]\njudges = ["computed"]\n[trainer]\nuse_cpu = true',
        encoding="utf-8",
    )
    asked = ask(Prompts(), held_out=32)
    config = grpo_module._config(read_settings(file), asked, AgenticReward(["execution"]))
    assert steps_of(config, len(asked.train)) == 200
    assert (config.eval_strategy, config.eval_steps) == ("steps", 20)


def interrupted(out: Path, last: str) -> None:
    """As if the training had been killed after its checkpoint ``last``."""
    shutil.rmtree(out / "model")
    for later in out.glob("checkpoint-*"):
        if later.name > last:
            shutil.rmtree(later)
    kept = json.loads((out / "training.json").read_text(encoding="utf-8"))
    del kept["outcome"]
    (out / "training.json").write_text(json.dumps(kept), encoding="utf-8")


def test_sft_makes_checkpoints_and_goes_on_from_the_last(
    tiny: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
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
    shutil.rmtree(out / "model")  # its outcome is of no use then
    assert run_sft(same) == {**first, "resumed": "checkpoint-2"}
    for name, keep in (("trainer_state.json", 200), ("model.safetensors", 5_000), ("optimizer.pt", 0)):
        interrupted(out, "checkpoint-2")
        file = out / "checkpoint-2" / name
        file.write_bytes(file.read_bytes()[:keep])
        caplog.clear()
        assert run_sft(same) == {**first, "resumed": "checkpoint-1"}, name
        assert "checkpoint-2 is damaged" in caplog.text


def test_a_folder_is_one_process_s_and_free_until_there_is_a_checkpoint(tiny: Path, tmp_path: Path) -> None:
    import fcntl

    data = write_rows(tmp_path / "rows.jsonl", *"abcd")
    text, out = f"data = {data}\nbatch = 4", tmp_path / "out"
    out.mkdir()
    with (out / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="Another process trains into"):
            run_sft(settings_of(tmp_path, tiny, text, "max_steps = 1"))
    assert run_sft(settings_of(tmp_path, tiny, text, "max_steps = 2"))["steps"] == 2


def test_weights_that_are_no_numbers_are_no_model(tiny: Path, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.jsonl", *"abcd")
    settings = settings_of(tmp_path, tiny, f"data = {data}\nbatch = 4", "max_steps = 3\nlearning_rate = 1e38")
    with pytest.raises(UsageError, match="no numbers any more: take a smaller learning rate"):
        run_sft(settings)
    assert not (tmp_path / "out" / "model").exists()


def test_a_folder_belongs_to_one_training(tiny: Path, tmp_path: Path) -> None:
    model = shutil.copytree(tiny, tmp_path / "mine")
    data = write_rows(tmp_path / "rows.jsonl", *"abcd")
    text = f"data = {data}\nbatch = 4"
    run_sft(settings_of(tmp_path, model, text, "max_steps = 1"))
    with pytest.raises(UsageError, match=r"with other settings \(trainer.max_steps\): name"):
        run_sft(settings_of(tmp_path, model, text, "max_steps = 2"))
    same = settings_of(tmp_path, model, text, "max_steps = 1")
    write_rows(tmp_path / "rows.jsonl", *"abce")
    with pytest.raises(UsageError, match="with other data: name"):
        run_sft(same)
    write_rows(tmp_path / "rows.jsonl", *"abcd")
    os.utime(model / "model.safetensors", (1, 1))
    with pytest.raises(UsageError, match="with other model files: name"):
        run_sft(same)


def test_other_prompts_and_judges_are_another_training(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("mine.jsonl")

    def made_of(prompt: str, judge: str) -> dict[str, str]:
        file.write_text(json.dumps({"prompt": prompt}), encoding="utf-8")
        Path("models.toml").write_text(
            f'[judge]\nmodel = "hosted_vllm/{judge}"\nbase_url = "http://127.0.0.1:9"', encoding="utf-8"
        )
        settings = settings_of(tmp_path, tiny, 'prompts = { file = "mine.jsonl" }')
        reward = AgenticReward(["execution", "static"], {"static": "judge"})
        return grpo_module._made_of(settings, ask(settings.prompts), reward, None)

    first = made_of("my bicycle", "one")
    assert made_of("my bicycle", "one") == first
    other = made_of("my tricycle", "one")
    assert {name for name in first if first[name] != other[name]} == {"prompts"}
    other = made_of("my bicycle", "two")
    assert {name for name in first if first[name] != other[name]} == {"judges"}


GRPO = """answers = 2
prompts_a_step = 2
prompts = { limit = 10, held_out = 4 }
[reward]
judges = ["execution"]
"""
HELD_OUT = """[held_out]
judges = ["execution-literal"]
settings = { weights = { execution = 1.0 } }
every = 1
"""
SHORT = "max_completion_length = 4\nmax_steps = 2"
Judged = Callable[[bool, str, int], float]


def judged(monkeypatch: pytest.MonkeyPatch, score: Judged) -> list[dict[str, Any]]:
    """Have every judge give ``score`` of: is it the held-out one, the answer, how often it was asked before.
    What they are told beside prompts and answers."""
    asked = {True: 0, False: 0}
    told: list[dict[str, Any]] = []

    async def evaluate(self: AgenticReward, _: Any, completions: Any, **columns: Any) -> list[Evaluation]:
        held_out = self.roles["execution"] == "execution-literal"
        asked[held_out] += 1
        told.append(columns)
        values = [score(held_out, str(text), asked[held_out] - 1) for text in completions]
        return [Evaluation(channels={"execution": value}, total=value) for value in values]

    monkeypatch.setattr(AgenticReward, "evaluate", evaluate)
    return told


def by_text(held_out: bool, text: str, asked: int) -> float:
    """Another score for another answer, so that there is something to learn."""
    return int(digest(text)[:4], 16) / 2**16 + held_out


def weights_of(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_grpo_asks_the_held_out_judge(tiny: Path, tmp_path: Path) -> None:
    made = run_grpo(settings_of(tmp_path, tiny, GRPO + HELD_OUT, SHORT))
    assert (made["steps"], made["of"], made["ended"]) == (2, 2, None)
    card = (tmp_path / "out" / "model" / "README.md").read_text(encoding="utf-8")
    assert "6 trained on, 4 held out" in card
    assert "execution: execution-literal" in card
    assert "| 0 | -0.100 | -1.000 | – |" in card
    curves = json.loads((tmp_path / "out" / "curves.json").read_text(encoding="utf-8"))
    assert {row["step"] for row in curves if row["panel"] == "held-out prompts"} == {0, 1, 2}
    assert (tmp_path / "out" / "curves.png").is_file()


@pytest.mark.parametrize("steps", [2, 5])  # of three an epoch
def test_a_resumed_grpo_is_the_one_that_was_not_interrupted(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    told = judged(monkeypatch, by_text)
    short, out = SHORT.replace("max_steps = 2", f"max_steps = {steps}"), tmp_path / "out"
    settings = settings_of(tmp_path, tiny, GRPO + HELD_OUT, f"{short}\nlearning_rate = 0.01")
    made = run_grpo(settings)
    weights = weights_of(out / "model")
    assert weights != weights_of(tiny)
    assert {reason for columns in told for reason in columns.get("finish_reason", ())} >= {"length"}
    calls = len(told)
    interrupted(out, f"checkpoint-{steps - 1}")
    assert run_grpo(settings) == {**made, "resumed": f"checkpoint-{steps - 1}"}
    assert weights_of(out / "model") == weights
    assert len(told) - calls == 1 + 2  # a step, and an evaluation by both judges
    card = (out / "model" / "README.md").read_text(encoding="utf-8")
    assert [card.count(f"\n| {step} |") for step in range(steps + 1)] == [1] * (steps + 1)


def test_the_steps_are_known_before_and_the_last_one_is_evaluated(tiny: Path, tmp_path: Path) -> None:
    text = f"shuffled = true\n{GRPO}{HELD_OUT}"
    epochs = "max_completion_length = 4\nnum_train_epochs = 2"  # of 6 prompts, 2 a step
    with pytest.raises(UsageError, match="every 6 steps never comes in a training of 6"):
        run_grpo(settings_of(tmp_path, tiny, text.replace("every = 1", "every = 6"), epochs))
    made = run_grpo(settings_of(tmp_path, tiny, text.replace("every = 1", "every = 5"), epochs))
    assert (made["steps"], made["of"]) == (6, 6)
    card = (tmp_path / "out" / "model" / "README.md").read_text(encoding="utf-8")
    assert "control: rewards shuffled" in card
    assert [card.count(f"| {step} | -") for step in range(7)] == [1, 0, 0, 0, 0, 1, 1]


def test_a_gap_over_the_limit_ends_the_training(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The training judge is pleased more every time, the held-out one never."""
    judged(monkeypatch, lambda held_out, text, asked: by_text(False, text, 0) + (not held_out) * asked)
    settings = settings_of(tmp_path, tiny, GRPO + HELD_OUT, SHORT.replace("2", "50"))
    made = run_grpo(settings)
    assert 1 <= made["steps"] <= 3
    assert "the limit is 1." in made["ended"]
    assert (tmp_path / "out" / f"checkpoint-{made['steps']}").is_dir()
    assert run_grpo(settings) == made  # for good


def test_without_a_held_out_judge_at_step_0_there_is_no_training(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(held_out: bool, text: str, asked: int) -> float:
        assert not held_out, "The judge is down."
        return by_text(held_out, text, asked)

    told = judged(monkeypatch, fails)
    with pytest.raises(UsageError, match="at step 0"):
        run_grpo(settings_of(tmp_path, tiny, GRPO + HELD_OUT, SHORT))
    assert len(told) == 2  # both judges once, and no step
    judged(monkeypatch, by_text)
    assert run_grpo(settings_of(tmp_path, tiny, GRPO + HELD_OUT, SHORT))["steps"] == 2


def test_a_held_out_judge_that_goes_down_ends_the_training_until_it_is_back(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails_later(held_out: bool, text: str, asked: int) -> float:
        assert not (held_out and asked), "The judge is down."
        return by_text(held_out, text, asked)

    judged(monkeypatch, fails_later)
    settings = settings_of(tmp_path, tiny, f"{GRPO}{HELD_OUT}limit = 100.0", SHORT.replace("2", "4"))
    command = ["grpo", str(tmp_path / "training.toml")]
    done = CliRunner().invoke(train, command, standalone_mode=False)
    assert done.return_value == 1
    assert "2 of 4 steps" in done.stdout
    assert "At steps 1 and 2 most held-out answers have no score" in done.stderr
    judged(monkeypatch, by_text)
    made = run_grpo(settings)
    assert (made["steps"], made["resumed"], made["ended"]) == (4, "checkpoint-2", None)


def test_judges_that_stay_down_end_the_training(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails_later(held_out: bool, text: str, asked: int) -> float:
        assert not asked, "The judge is down."
        return by_text(held_out, text, asked)

    judged(monkeypatch, fails_later)
    made = run_grpo(settings_of(tmp_path, tiny, GRPO, SHORT.replace("2", "50")))
    assert made["steps"] == 11
    assert "10 steps in a row" in made["ended"]
    assert (tmp_path / "out" / "checkpoint-11").is_dir()


def test_grpo_trains_a_gguf_model_beside_its_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(monkeypatch, by_text)
    model = make_gguf(tmp_path / "model.gguf")
    run_grpo(settings_of(tmp_path, model, GRPO, f"{SHORT}\nlearning_rate = 0.01"))
    curves = json.loads((tmp_path / "out" / "curves.json").read_text(encoding="utf-8"))
    first, second = (row["value"] for row in curves if row["curve"] == "KL")
    assert first < 1e-6 < second  # the reference is the model before its first step


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
    learned, second = tmp_path / "out" / "checkpoint-1", tmp_path / "second"
    second.mkdir()
    run_grpo(settings_of(second, learned, GRPO, SHORT))
    (third := tmp_path / "third").mkdir()
    data = write_rows(tmp_path / "rows.jsonl", "a")
    run_sft(settings_of(third, second / "out" / "model", f"data = {data}\nbatch = 4", "max_steps = 1"))
    for out in (second / "out", third / "out"):
        assert f"opendesign/{CASE.id}" in (out / "model" / "README.md").read_text(encoding="utf-8")


def test_the_command_prints_one_document(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_rows(tmp_path / "rows.jsonl", *"abcd")
    settings_of(tmp_path, tiny, f"data = {data}\nbatch = 4", "max_steps = 1")
    done = CliRunner().invoke(
        train, ["sft", str(tmp_path / "training.toml"), "--json"], standalone_mode=False
    )
    assert done.return_value == 0
    told = json.loads(done.stdout)
    assert (told["steps"], told["ended"]) == (1, None)
    assert "Step 1 of 1: loss" in done.stderr
    monkeypatch.setenv("RANK", "1")  # of several processes one speaks
    done = CliRunner().invoke(
        train, ["sft", str(tmp_path / "training.toml"), "--json"], standalone_mode=False
    )
    assert (done.return_value, done.stdout) == (0, "")


def test_several_gpus_need_a_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    (tmp_path / "x.toml").write_text('model = "m"\nout = "o"', encoding="utf-8")
    settings = read_settings(tmp_path / "x.toml")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(UsageError, match="accelerate launch -m opendesign train grpo"):
        trainer_settings("grpo", settings)
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert trainer_settings("grpo", settings)["max_steps"] == 200


def test_a_shuffled_control_needs_whole_groups(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    text = f"shuffled = true\n{GRPO.replace('prompts_a_step = 2', 'prompts_a_step = 3')}"
    with pytest.raises(UsageError, match="'prompts_a_step' is no multiple of 2 processes"):
        run_grpo(settings_of(tmp_path, tiny, text, SHORT))


@pytest.mark.parametrize(
    ("text", "trainer", "said"),
    [
        ("", "lerning_rate = 1", "did you mean learning_rate"),
        ('[reward]\njudges = ["execution"]\nguard = []', "", r"setting of \[reward\].*did you mean guards"),
        ("", "save_only_model = true", "guards and resuming depend on it"),
        ("", "max_steps = 0", "has to be above 0"),
        ("per_devices = 4", "", "no field 'per_devices'"),
        ("prompts_a_step = 3\nanswers = 3", "", "cannot be split"),
        (
            "prompts_a_step = 8\nanswers = 2\nprompts = { limit = 6 }",
            "",
            "6 prompts are left .* a step takes 8",
        ),
        (
            "prompts_a_step = 8\nanswers = 2\nprompts = { limit = 6 }",
            "max_steps = 3",
            "6 prompts are left .* a step takes 8",
        ),
    ],
)
def test_settings_that_make_no_sense_are_one_sentence(
    tiny: Path, tmp_path: Path, text: str, trainer: str, said: str
) -> None:
    text = text if "[reward]" in text else f'{text}\nreward = {{ judges = ["execution"] }}'
    with pytest.raises(UsageError, match=said):
        run_grpo(settings_of(tmp_path, tiny, text, trainer))
    assert not (tmp_path / "out").exists()


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
    assert load_model(str(tmp_path / "model.gguf"), "bfloat16")[0].dtype == torch.bfloat16


def test_weights_are_trained_in_float32_unless_asked_otherwise(tiny: Path, tmp_path: Path) -> None:
    import torch

    model, tokenizer = load_model(str(tiny))
    model.to(torch.bfloat16).save_pretrained(tmp_path / "half")
    tokenizer.save_pretrained(tmp_path / "half")
    data = write_rows(tmp_path / "rows.jsonl", *"abcd")
    for text, kind in (("", torch.float32), ('dtype = "bfloat16"', torch.bfloat16)):
        (folder := tmp_path / str(kind)).mkdir()
        run_sft(settings_of(folder, tmp_path / "half", f"data = {data}\nbatch = 4\n{text}", "max_steps = 1"))
        saved = json.loads((folder / "out" / "model" / "config.json").read_text(encoding="utf-8"))
        assert saved["dtype"] == str(kind).removeprefix("torch.")


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
