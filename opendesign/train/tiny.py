"""A language model of 0.4 million weights and twenty pages to fit it on: for tests and documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

__all__ = ["short_pages", "tiny_model"]

_HEAD = (
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{0}</title></head>'
)
_GOOD = f'<!doctype html><html lang="en">{_HEAD}<body><h1>{{0}}</h1></body></html>'
_LACKED = (' lang="en"', '<meta charset="utf-8">', "<title>{0}</title>")
_TOPICS = ("sea", "moon", "tea", "bike", "cat", "rain", "bread", "chess", "garden", "train")
_PAD, _END = "<pad>", "<end>"
#: What is said as it is; the end after what the model says.
_TEMPLATE = (
    "{% for turn in messages %}{{ turn.content }}"
    "{% if turn.role == 'assistant' %}<end>{% else %}: {% endif %}{% endfor %}"
)


def tiny_model(width: int = 128) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A Qwen2 of two layers that knows nothing, and a tokenizer whose tokens are bytes; nothing is fetched.

    The weights are drawn from torch's random state.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    names = [_PAD, _END, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    letters = Tokenizer(models.BPE({name: at for at, name in enumerate(names)}, []))
    letters.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=letters, pad_token=_PAD, eos_token=_END)
    tokenizer.chat_template = _TEMPLATE
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen2ForCausalLM(config), tokenizer


def short_pages() -> list[dict[str, Any]]:
    """Prompt and completion of ten topics twice: with a sound page, and with one that lacks something.

    A model that is fitted on them writes a page that passes ``execution`` about every second time.
    """
    rows = []
    for at, topic in enumerate(_TOPICS):
        for page in (_GOOD, _GOOD.replace(_LACKED[at % len(_LACKED)], "")):
            rows.append(
                {
                    "prompt": [{"role": "user", "content": topic}],
                    "completion": [{"role": "assistant", "content": page.format(topic)}],
                }
            )
    return rows
