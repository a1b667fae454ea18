"""Models described in TOML: where they are, how fast they may be asked, and what they cost.

One table a model::

    [qwen-local]
    model = "hosted_vllm/Qwen/Qwen2.5-Coder-7B-Instruct"   # the LiteLLM name
    base_url = "http://localhost:8000/v1"
    api_key_env = "QWEN_KEY"          # the NAME of a variable; a key itself is refused
    requests_per_minute = 60
    tokens_per_minute = 100_000
    concurrency = 8
    timeout_s = 600                   # for one call
    attempts = 6                      # calls for one answer, where a fault may pass
    max_tokens = 16_384               # the most the server gives
    reasoning = true                  # takes no temperature
    vision = true
    json_schema = true
    prices = { input = 0.15, output = 0.60 }   # USD a million tokens
    parameters = { top_p = 0.95 }     # sent with every request
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opendesign.errors import UnknownName, UsageError

__all__ = ["MODELS_FILE", "Description", "load_described", "refuse_key_in_url"]

MODELS_FILE = "models.toml"
_KEY_NAME = re.compile(r"(?:^|[_-])(?:api[_-]?key|key|token|secret|password|authorization|bearer)$", re.I)
_KEY_VALUE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|AIza|ghp)[-_]?[A-Za-z0-9_-]{16,}|\bbearer\s+\S{8,}", re.I)
_KEY_IN_URL = re.compile(r"[?&](?:api[_-]?key|key|token|access_token|subscription-key|sig)=", re.I)
_INSTEAD = "put it in an environment variable and name that as api_key_env"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A model as it is asked. Prices are USD a million tokens; ``max_tokens`` is the most it gives."""

    name: str
    model: str  # the LiteLLM name
    base_url: str | None = None
    api_key_env: str | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    concurrency: int | None = None
    timeout_s: float | None = None
    attempts: int | None = None
    max_tokens: int | None = None
    price_input: float | None = None
    price_output: float | None = None
    vision: bool | None = None
    json_schema: bool | None = None
    reasoning: bool | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


_OURS = frozenset(
    {"model", "messages", "stream", "n", "timeout", "max_tokens", "num_retries", "max_retries", "base_url"}
    | {"api_base", "mock_response", "max_completion_tokens"}
)
_KINDS: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "base_url": (str,),
    "api_key_env": (str,),
    "requests_per_minute": (int, float),
    "tokens_per_minute": (int, float),
    "concurrency": (int,),
    "timeout_s": (int, float),
    "attempts": (int,),
    "max_tokens": (int,),
    "vision": (bool,),
    "json_schema": (bool,),
    "reasoning": (bool,),
    "prices": (dict,),
    "parameters": (dict,),
}
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", dict: "a table"}


def load_described(path: Path | None = None) -> dict[str, Description]:
    """Name -> description, from the file given or ``models.toml`` of the working folder, where there is one.

    Raises ``UsageError`` in one sentence for anything that is not as the module says.
    """
    file = path or Path.cwd() / MODELS_FILE
    if path is None and not file.is_file():
        return {}
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read as TOML: {str(error).rstrip('.')}.") from error
    return {name: _description(file, name, table) for name, table in tables.items()}


def _description(file: Path, name: str, table: object) -> Description:
    where = f"Model '{name}' in {file}"
    if not isinstance(table, dict):
        raise UsageError(f"{where} must be a table: [{name}].")
    _refuse_keys(where, table)
    for key, value in table.items():
        if key not in _KINDS:
            raise UnknownName(f"setting of a model ({file}, '{name}')", key, _KINDS)
        _check(where, key, value, _KINDS[key])
    if "model" not in table:
        raise UsageError(f'{where} needs a LiteLLM name: model = "provider/model".')
    for key in table.get("parameters", {}):
        if key in _OURS:
            raise UsageError(f"{where}: parameters cannot hold {key}, which is set for every call.")
    prices = table.get("prices", {})
    for key, value in prices.items():
        if key not in ("input", "output"):
            raise UnknownName(f"price of a model ({file}, '{name}')", key, ("input", "output"))
        _check(where, f"prices.{key}", value, (int, float), zero=True)
    if prices and set(prices) != {"input", "output"}:
        raise UsageError(f"{where} needs both prices: prices = {{ input = 0.15, output = 0.60 }}.")
    if "base_url" in table:
        refuse_key_in_url(table["base_url"], where)
    if "api_key_env" in table and not _VARIABLE.match(table["api_key_env"]):
        raise UsageError(f"{where}: api_key_env is the name of an environment variable, not a key.")
    settings = {key: value for key, value in table.items() if key != "prices"}
    return Description(
        name=name, price_input=prices.get("input"), price_output=prices.get("output"), **settings
    )


def _check(where: str, key: str, value: object, kinds: tuple[type, ...], *, zero: bool = False) -> None:
    # True is an int in Python; it is none in a file.
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise UsageError(f"{where}: {key} must be {_WORDS[kinds[-1]]}, not {value!r}.")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, bound = value >= 0 if zero else value > 0, "0 or more" if zero else "above 0"
        if not (low and math.isfinite(value)):
            raise UsageError(f"{where}: {key} must be {bound}, not {value!r}.")


def _refuse_keys(where: str, table: Mapping[str, Any]) -> None:
    """A key in a file ends up in a repository sooner or later."""
    for key, value in table.items():
        if isinstance(value, dict):
            _refuse_keys(where, value)
        elif isinstance(value, list):
            _refuse_keys(where, {str(n): item for n, item in enumerate(value)})
        elif isinstance(value, str) and (_KEY_NAME.search(key) or _KEY_VALUE.search(value)):
            raise UsageError(f"{where} holds a key ({key}): {_INSTEAD}.")


def refuse_key_in_url(url: str, where: str = "The base URL") -> None:
    """Raise ``UsageError`` where an address is none, or carries a user, a password or a key."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise UsageError(f"{where} has a base_url that is no http(s) address.")
    if parts.username or parts.password or _KEY_IN_URL.search(url) or _KEY_VALUE.search(url):
        raise UsageError(f"{where} has a key in its base_url: {_INSTEAD}.")
