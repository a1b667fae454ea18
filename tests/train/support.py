"""A tiny model, and a reward whose evaluations are given instead of made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from opendesign.train import AgenticReward, Evaluation
from opendesign.train.channels import Found, evaluation_of
from opendesign.types import Failure

FAILED = Failure(reason="unparsable", detail="The judge said nothing of use.")


def make_tiny(folder: Path) -> Path:
    from transformers import set_seed

    from opendesign.train.tiny import tiny_model

    set_seed(0)
    for part in tiny_model(width=16):
        part.save_pretrained(folder)
    return folder


class Table:
    """A reward with the real channels, gate and weights, and with what the judges found given by row.

    A row is (passes the gate, computed total 0 to 100 or None where that judge failed).
    """

    def __init__(self, rows: Callable[[int], Sequence[tuple[bool, float | None]]]) -> None:
        self._real = AgenticReward(judges=["execution", "computed"])
        self.weights, self.rows, self.batches = self._real.weights, rows, 0

    async def evaluate(self, prompts: Any, completions: Any, **columns: Any) -> list[Evaluation]:
        self.batches += 1
        rows = self.rows(self.batches - 1)
        assert len(rows) == len(completions)
        return [self._evaluation(*row) for row in rows]

    def _evaluation(self, passes: bool, total: float | None) -> Evaluation:
        computed = Found(failure=FAILED) if total is None else Found(scores={"total": total})
        found = {"execution": Found(scores={"score": 1 if passes else -1})}
        panel = self._real.panel
        return evaluation_of(
            panel.channels, found | ({"computed": computed} if passes else {}), gate=panel.gate, seconds=0.0
        )


def make_gguf(file: Path) -> Path:
    """A Llama of one layer as a .gguf file, with half-precision weights and a tokenizer of bytes and "ab"."""
    import gguf
    import numpy as np
    from tokenizers import pre_tokenizers

    names = ["<pad>", "<end>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "ab"]
    to = gguf.GGUFWriter(file, "llama")
    for name, value in {"context_length": 64, "embedding_length": 16, "block_count": 1}.items():
        getattr(to, f"add_{name}")(value)
    for name, value in {"feed_forward_length": 32, "head_count": 2, "head_count_kv": 2}.items():
        getattr(to, f"add_{name}")(value)
    to.add_layer_norm_rms_eps(1e-5)
    to.add_vocab_size(len(names))
    to.add_tokenizer_model("gpt2")
    to.add_token_list(names)
    to.add_token_merges(["a b"])
    to.add_pad_token_id(0)
    to.add_eos_token_id(1)
    shapes = {"token_embd": (len(names), 16), "output": (len(names), 16), "output_norm": (16,)}
    shapes |= {f"blk.0.{norm}_norm": (16,) for norm in ("attn", "ffn")}
    shapes |= {f"blk.0.attn_{part}": (16, 16) for part in ("q", "k", "v", "output")}
    shapes |= {"blk.0.ffn_up": (32, 16), "blk.0.ffn_gate": (32, 16), "blk.0.ffn_down": (16, 32)}
    draw = np.random.default_rng(0)
    for name, shape in shapes.items():
        kind = np.float16 if len(shape) > 1 else np.float32
        to.add_tensor(f"{name}.weight", draw.standard_normal(shape).astype(kind))
    to.write_header_to_file()
    to.write_kv_data_to_file()
    to.write_tensors_to_file()
    to.close()
    return file
