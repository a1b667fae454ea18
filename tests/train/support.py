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
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed

    alphabet = ["<pad>", "<end>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    letters = Tokenizer(models.BPE({letter: at for at, letter in enumerate(alphabet)}, []))
    letters.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters.decoder = decoders.ByteLevel()
    set_seed(0)
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = Qwen2Config(
        vocab_size=258, num_key_value_heads=2, bos_token_id=None, eos_token_id=1, pad_token_id=0, **size
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
    tokens = PreTrainedTokenizerFast(tokenizer_object=letters, pad_token="<pad>", eos_token="<end>")
    tokens.save_pretrained(folder)
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
        panel = self._real._panel
        return evaluation_of(
            panel.channels, found | ({"computed": computed} if passes else {}), gate=panel.gate, seconds=0.0
        )
