"""Sample answers of a model to the held-out prompts, as rows for ``opendesign train score``.

python examples/smollm2/sample.py MODEL ROWS.jsonl [PER_PROMPT]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from transformers import set_seed

from opendesign.train.config import Prompts
from opendesign.train.loading import load_model
from opendesign.train.prompts import ask, rows_for

HELD_OUT, MOST_TOKENS = 24, 320


def main(model_path: str, file: Path, per_prompt: int = 4) -> None:
    """Write ``per_prompt`` answers to each prompt, at temperature 1."""
    set_seed(1)
    model, tokenizer = load_model(model_path)
    tokenizer.padding_side = "left"
    rows = rows_for(ask(Prompts(), held_out=HELD_OUT).held_out, chat=True, system="")
    texts = [
        tokenizer.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True)
        for row in rows
    ]
    asked = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False)
    with file.open("w", encoding="utf-8") as to:
        for _ in range(per_prompt):
            with torch.no_grad():
                said = model.generate(
                    **asked, do_sample=True, temperature=1.0, top_k=0, top_p=1.0, max_new_tokens=MOST_TOKENS
                )
            for row, tokens in zip(rows, said[:, asked.input_ids.shape[1] :].tolist(), strict=True):
                ended = tokenizer.eos_token_id in tokens
                text = tokenizer.decode(tokens, skip_special_tokens=True)
                answer = {
                    "completion": [{"role": "assistant", "content": text}],
                    "finish_reason": "stop" if ended else "length",
                }
                to.write(json.dumps(row | answer) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
