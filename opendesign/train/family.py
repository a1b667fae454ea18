"""Whose a model is: judges of one family overlook the same things."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from opendesign.judging.asking.abilities import asked_name

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["families"]

#: Who made it → words that its name may hold, numbers left out; the maker's own name is one.
_WORDS: Mapping[str, str] = {
    "ai21": "jamba",
    "alibaba": "qwen qwq qvq codeqwen",
    "allenai": "olmo molmo tulu",
    "amazon": "nova titan",
    "anthropic": "claude",
    "baidu": "ernie",
    "bytedance": "doubao seed",
    "cohere": "command aya",
    "deepseek": "janus",
    "google": "gemini gemma paligemma medgemma codegemma",
    "huggingfacetb": "smollm smolvlm idefics",
    "ibm": "granite",
    "meta": "llama codellama maverick",
    "microsoft": "phi",
    "minimax": "abab",
    "mistral": "mistralai mixtral pixtral magistral ministral codestral devstral",
    "moonshot": "moonshotai kimi",
    "nvidia": "nemotron",
    "openai": "gpt chatgpt codex o",  # o of o3
    "opengvlab": "internvl internlm",
    "openbmb": "minicpm",
    "stepfun": "step",
    "tencent": "hunyuan",
    "xai": "grok",
    "zhipu": "glm chatglm cogvlm zai",
}


def families(model: Model) -> frozenset[str]:
    """The makers that a model's name tells of: two of a distilled model, none where nobody knows."""
    provider, _, name = asked_name(model).lower().partition("/")
    # The provider counts last: it may only be where the model is asked, or how.
    return _makers(name) or _makers(provider)


def _makers(name: str) -> frozenset[str]:
    words = set(re.findall(r"[a-z]+", name))
    return frozenset(maker for maker, its in _WORDS.items() if words & {maker, *its.split()})
