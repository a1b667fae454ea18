"""What LiteLLM's own lists know of a model: providers, prices, the most tokens it gives.

Read from the files that LiteLLM ships, without importing it (which takes seconds) and without a network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = [
    "KEYLESS",
    "KEY_VARIABLES",
    "guess",
    "key_variables",
    "known",
    "most_tokens",
    "prices",
    "providers",
]

#: Provider -> the environment variable that LiteLLM reads its key from.
KEY_VARIABLES: Mapping[str, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "azure": "AZURE_API_KEY",
    "cerebras": "CEREBRAS_API_KEY",
    "cohere": "COHERE_API_KEY",
    "dashscope": "DASHSCOPE_API_KEY",
    "deepinfra": "DEEPINFRA_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "fireworks_ai": "FIREWORKS_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "groq": "GROQ_API_KEY",
    "hosted_vllm": "HOSTED_VLLM_API_KEY",
    "huggingface": "HUGGINGFACE_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "moonshot": "MOONSHOT_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "perplexity": "PERPLEXITYAI_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "xai": "XAI_API_KEY",
    "zai": "ZAI_API_KEY",
}
#: Other names under which a key may be set, in LiteLLM's order.
OTHER_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "cohere": ("CO_API_KEY",),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKSAI_API_KEY"),
    "gemini": ("GOOGLE_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "perplexity": ("PERPLEXITY_API_KEY",),
    "together_ai": ("TOGETHER_AI_API_KEY", "TOGETHER_API_KEY"),
}
#: Providers that can be used without a key in a variable: servers of one's own, cloud logins.
KEYLESS = frozenset({"azure", "hosted_vllm", "huggingface"})
_MAP = "model_prices_and_context_window_backup.json"
_PROVIDERS = "provider_endpoints_support_backup.json"


@cache
def _shipped(name: str) -> Mapping[str, Any]:
    spec = find_spec("litellm")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        file = Path(folder) / name
        if file.is_file():
            return dict(json.loads(file.read_text(encoding="utf-8")))
    return {}  # another LiteLLM may keep its lists elsewhere: then nothing is known, and nothing breaks


@cache
def providers() -> frozenset[str]:
    """Prefixes that LiteLLM takes, as far as its lists name them."""
    of_models = {row.get("litellm_provider") for row in _shipped(_MAP).values()}
    return frozenset(
        name
        for name in {*KEY_VARIABLES, *_shipped(_PROVIDERS).get("providers", {}), *of_models}
        if isinstance(name, str) and "/" not in name and " " not in name
    )


def known(model: str) -> Mapping[str, Any]:
    """LiteLLM's row for ``provider/model``; empty where it has none."""
    rows = _shipped(_MAP)
    provider, _, rest = model.partition("/")
    if model in rows:
        return dict(rows[model])
    row = rows.get(rest, {})
    return dict(row) if str(row.get("litellm_provider", "")).startswith(provider) else {}


def guess(name: str) -> list[str]:
    """Full names of models whose name was given without a provider: ``gpt-5`` -> ``openai/gpt-5``."""
    row = _shipped(_MAP).get(name)
    provider = row.get("litellm_provider") if row else None
    return [f"{provider}/{name}"] if provider in providers() else []


def prices(model: str) -> tuple[float, float] | None:
    """USD a million tokens of input and output; None where the list has no price."""
    row = known(model)
    costs = [row.get(key) for key in ("input_cost_per_token", "output_cost_per_token")]
    if not all(isinstance(cost, (int, float)) for cost in costs):
        return None
    return float(costs[0] or 0) * 1e6, float(costs[1] or 0) * 1e6


def most_tokens(model: str) -> int | None:
    """The most tokens that a model gives, as LiteLLM's list has it; None where it has nothing.

    Where the list names the whole window of the model, which prompt and reply share, it is half of that.
    """
    row = known(model)
    most, window = row.get("max_output_tokens"), row.get("max_input_tokens")
    if not isinstance(most, int) or most <= 0:
        return None
    return most // 2 if isinstance(window, int) and most >= window else most


def key_variables(provider: str) -> tuple[str, ...]:
    """Names of the variables that may hold a provider's key, the usual one first."""
    usual = KEY_VARIABLES.get(provider)
    return (usual, *OTHER_VARIABLES.get(provider, ())) if usual else ()
