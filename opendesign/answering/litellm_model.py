"""Any provider, through LiteLLM: one call is one request, and everything around it is ours.

LiteLLM shapes the request and reads the reply. Its retries, callbacks, price downloads and logs are off; the
retry loop, the limits, the deadline and the budget are those of this package.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from opendesign.answering import catalogue
from opendesign.answering.budget import Budget
from opendesign.answering.described import Description
from opendesign.answering.faults import Fault, classify
from opendesign.answering.limits import Slot, limiter_for
from opendesign.answering.models import Reply
from opendesign.answering.outcome import answer_of
from opendesign.answering.retry import RetryPolicy, Transient, with_retries
from opendesign.canonical import digest
from opendesign.errors import Failed, UsageError
from opendesign.types import Answer, Case, Failure, GenerationSettings, Usage

__all__ = ["LiteLLMModel", "close_clients", "load_litellm"]

_CONCURRENCY = 16
_TOKENS_A_PICTURE = 40_000  # more than any provider bills for one
_NO_KEY = "none"  # servers on one's own machine want none, the client library wants a word


@dataclass(slots=True)
class _Tries:
    """What one answer has taken: calls, and what those that failed may be billed at."""

    count: int = 0
    lost_usd: float = 0.0

    def told(self) -> dict[str, Any]:
        return {"attempts": self.count, **({"lost_usd": round(self.lost_usd, 9)} if self.lost_usd else {})}


class LiteLLMModel:
    """A model behind a provider or a server. Safe to call from many tasks at once."""

    def __init__(
        self,
        description: Description,
        *,
        budget: Budget | None = None,
        retry: RetryPolicy | None = None,
        need_key: bool = True,
    ) -> None:
        self._described, self._budget, self._retry = description, budget, retry or RetryPolicy()
        if description.attempts is not None:
            self._retry = replace(self._retry, attempts=description.attempts)
        self._prices = self._known_prices()
        if budget is not None and self._prices is None:
            raise UsageError(
                f"A budget needs prices, and none are known for '{description.name}': "
                f"describe it in models.toml with prices = {{ input = …, output = … }}."
            )
        self._key = self._find_key() if need_key else None
        self._limiter = limiter_for(
            f"{description.model} {description.base_url} {digest(self._key or '')}",
            requests_per_minute=description.requests_per_minute,
            tokens_per_minute=description.tokens_per_minute,
            concurrency=description.concurrency or _CONCURRENCY,
        )
        self._stopped: Failure | None = None

    @property
    def name(self) -> str:
        return self._described.name

    @property
    def description(self) -> Description:
        """Abilities, limits and prices, as described or as none are known."""
        return self._described

    def config(self, settings: GenerationSettings) -> dict[str, Any]:
        return {
            "model": self.name,
            "asked": self._described.model,
            "base_url": self._described.base_url,
            "max_tokens": self.max_tokens(settings),
            "temperature": self._temperature(settings.temperature),
            "system": dict(settings.system),
            "parameters": dict(self._described.parameters),
        }

    def max_tokens(self, settings: GenerationSettings) -> int:
        """Tokens asked for: those given, else the provider's maximum, else ``settings.min_max_tokens``."""
        most = self._described.max_tokens
        wanted = settings.max_tokens
        if wanted is None:
            wanted = most or catalogue.most_tokens(self._described.model) or settings.min_max_tokens
        return min(wanted, most) if most else wanted

    def worst_case_usd(self, case: Case, settings: GenerationSettings) -> float | None:
        """The most that one call for a case can cost; None where prices are not known."""
        return self._worst_usd(_messages(case, settings), self.max_tokens(settings))

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """USD for so many tokens; None where prices are not known."""
        if self._prices is None:
            return None
        return (prompt_tokens * self._prices[0] + completion_tokens * self._prices[1]) / 1e6

    async def answer(self, case: Case, sample: int, settings: GenerationSettings) -> Answer:
        tries = _Tries()
        try:
            reply = await self._complete(
                _messages(case, settings),
                max_tokens=self.max_tokens(settings),
                temperature=settings.temperature,
                timeout_s=self._described.timeout_s or settings.timeout_s,
                key=(case.id, sample),
                tries=tries,
                extra={},
            )
        except Failed as error:
            failure = error.failure
            return Answer(case=case.id, sample=sample, text="", failure=failure, varies=tries.told())
        return answer_of(case, sample, reply)

    async def chat(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Reply:
        """One reply to any messages in OpenAI's form. Raises ``Failed``.

        Options: ``max_tokens``, ``temperature``, ``timeout_s``, and ``key``, a tuple that seeds the jitter of
        retries; any other goes to LiteLLM as it is.
        """
        wanted = GenerationSettings(max_tokens=options.pop("max_tokens", None))
        timeout_s = options.pop("timeout_s", wanted.timeout_s)
        return await self._complete(
            messages,
            max_tokens=self.max_tokens(wanted),
            temperature=options.pop("temperature", None),
            timeout_s=self._described.timeout_s or timeout_s,
            key=options.pop("key", ()),
            tries=_Tries(),
            extra=options,
        )

    async def _complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        max_tokens: int,
        temperature: float | None,
        timeout_s: float,
        key: Sequence[object],
        tries: _Tries,
        extra: Mapping[str, Any],
    ) -> Reply:
        request: dict[str, Any] = {
            "model": self._described.model,
            "messages": [dict(message) for message in messages],
            "max_tokens": max_tokens,
            **self._described.parameters,
            **extra,
        }
        if (sent := self._temperature(temperature)) is not None:
            request["temperature"] = sent
        worst = self._worst_usd(messages, max_tokens)

        async def once(attempt: int) -> Reply:
            tries.count = attempt
            return await self._once(request, timeout_s, worst, tries)

        return await with_retries(once, self._retry, self._retry.rng(self.name, *key))

    async def _once(
        self, request: dict[str, Any], timeout_s: float, worst: float | None, tries: _Tries
    ) -> Reply:
        """One request, within the limits and the budget. Raises ``Failed``, or ``Transient``: try again."""
        prompt_tokens = _tokens(request["messages"]) // 4

        def check() -> None:
            if self._stopped:
                raise Failed(self._stopped)
            if self._budget:
                self._budget.check(worst or 0.0)

        async with self._limiter.slot(prompt_tokens, request["max_tokens"], check=check) as slot:
            reserved = await self._budget.reserve(worst or 0.0) if self._budget else None
            spent = worst or 0.0  # unless it is known to be less: an unknown outcome counts in full
            try:
                await _loaded()
                start = time.monotonic()
                response = await self._send(request, timeout_s)
                reply = self._read(response, {**tries.told(), "seconds": round(time.monotonic() - start, 3)})
                spent = spent if reply.usage.cost_usd is None else reply.usage.cost_usd
                slot.used = reply.usage.prompt_tokens + reply.usage.completion_tokens
                return reply
            except Exception as error:
                fault = classify(error, self.name, self._secrets())
                spent = spent if fault.charged else 0.0
                tries.lost_usd += spent
                self._note(fault, slot)
                if fault.transient:
                    raise Transient(fault.failure, fault.wait_s) from error
                raise Failed(fault.failure) from error
            finally:
                if reserved:
                    reserved.settle(spent)

    def _note(self, fault: Fault, slot: Slot) -> None:
        if fault.stops and self._stopped is None:
            again = f"{fault.failure.detail.rstrip('.')}. No further call was made to this model."
            self._stopped = replace(fault.failure, detail=again)
        if fault.rate_limited and fault.wait_s:
            self._limiter.pause(fault.wait_s)
        if not fault.charged:
            slot.used = 0

    async def _send(self, request: dict[str, Any], timeout_s: float) -> Any:
        """LiteLLM's response. The deadline is for the whole call: a reply that drips is late too."""
        import httpx

        litellm = load_litellm()
        async with asyncio.timeout(timeout_s):
            return await litellm.acompletion(
                **request,
                api_key=self._key,
                base_url=self._described.base_url,
                timeout=httpx.Timeout(timeout_s, connect=min(30.0, timeout_s)),
                num_retries=0,
                max_retries=0,
                stream=False,
            )

    def _read(self, response: Any, varies: dict[str, Any]) -> Reply:
        """Our reply out of LiteLLM's. Raises for what is no chat completion."""
        choices = getattr(response, "choices", None)
        if not choices:
            raise ValueError("the reply holds no choices")
        message = choices[0].message
        text = message.content if isinstance(message.content, str) else ""
        refusal = getattr(message, "refusal", None)
        reasoning = getattr(message, "reasoning_content", None)
        clean = self._without_key
        return Reply(
            text=clean(text),
            reasoning=clean(reasoning) if isinstance(reasoning, str) else "",
            finish_reason=choices[0].finish_reason,
            refusal=clean(refusal) if isinstance(refusal, str) and not text.strip() else None,
            model_returned=clean(str(response.model)) if getattr(response, "model", None) else None,
            fingerprint=getattr(response, "system_fingerprint", None),
            usage=self._usage(response),
            varies=varies,
        )

    def _usage(self, response: Any) -> Usage:
        counted = getattr(response, "usage", None)
        asked = _count(counted, "prompt_tokens")
        given = _count(counted, "completion_tokens")
        details = getattr(counted, "completion_tokens_details", None)
        return Usage(
            calls=1,
            prompt_tokens=asked,
            completion_tokens=given,
            reasoning_tokens=_count(details, "reasoning_tokens"),
            cost_usd=self._cost(response, asked, given),
        )

    def _cost(self, response: Any, asked: int, given: int) -> float | None:
        if self._prices is None or not asked + given:
            return None
        if self._described.price_input is None:
            # LiteLLM knows of cached tokens and long prompts; the plain prices do not.
            counted = getattr(response, "_hidden_params", {}).get("response_cost")
            if isinstance(counted, (int, float)) and counted > 0:
                return round(float(counted), 9)
        return round((asked * self._prices[0] + given * self._prices[1]) / 1e6, 9)

    def _known_prices(self) -> tuple[float, float] | None:
        described = self._described
        if described.price_input is not None and described.price_output is not None:
            return described.price_input, described.price_output
        # At another address another company sends the bill.
        return None if described.base_url else catalogue.prices(described.model)

    def _worst_usd(self, messages: Sequence[Mapping[str, Any]], max_tokens: int) -> float | None:
        return self.price(_tokens(messages), max_tokens)

    def _temperature(self, wanted: float | None) -> float | None:
        """What is sent: models that reason at OpenAI take none, and others may be described so."""
        reasons = self._described.reasoning
        if reasons is None and self._described.model.partition("/")[0] in ("openai", "azure"):
            reasons = bool(catalogue.known(self._described.model).get("supports_reasoning"))
        return None if reasons else wanted

    def _find_key(self) -> str | None:
        """The key, out of the environment. None leaves it to LiteLLM, for providers with other ways."""
        described, provider = self._described, self._described.model.partition("/")[0]
        named = described.api_key_env
        variables = (named,) if named else catalogue.key_variables(provider)
        for variable in variables:
            if value := os.environ.get(variable, "").strip():
                return value
        if named or (variables and not described.base_url and provider not in catalogue.KEYLESS):
            raise UsageError(f"'{described.name}' needs a key: set the environment variable {variables[0]}.")
        if provider == "hosted_vllm" and not (described.base_url or os.environ.get("HOSTED_VLLM_API_BASE")):
            raise UsageError(f"'{described.name}' needs the address of its server: give a base URL.")
        return _NO_KEY if described.base_url else None

    def _secrets(self) -> list[str]:
        return [self._key] if self._key and self._key != _NO_KEY else []

    def _without_key(self, text: str) -> str:
        """A server may echo what it was sent; nothing else of a reply is touched."""
        for secret in self._secrets():
            text = text.replace(secret, "[key]") if len(secret) >= 6 else text
        return text


def _messages(case: Case, settings: GenerationSettings) -> list[dict[str, str]]:
    system = settings.system.get(case.category) or settings.system.get("", "")
    turns = [{"role": "system", "content": system}] if system else []
    return [*turns, {"role": "user", "content": case.prompt}]


def _tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """An upper bound: no tokenizer makes more tokens than there are bytes."""
    total = 0
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [content]
        for part in parts:
            picture = isinstance(part, dict) and part.get("type") in ("image_url", "image", "input_image")
            total += _TOKENS_A_PICTURE if picture else len(_text(part).encode("utf-8", "replace"))
        total += 16
    return total


def _text(part: object) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=str)


def _count(holder: Any, name: str) -> int:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and value > 0 else 0


@cache
def load_litellm() -> Any:
    """LiteLLM, imported late (it takes seconds) and quiet: no downloads, callbacks or logs of its own."""
    import gc
    import logging

    for variable, value in {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else its import asks the network for prices
        "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
        "LITELLM_OFFLINE_MODE": "true",
        "LITELLM_MODE": "PRODUCTION",  # else it reads a .env file into the environment
        "LITELLM_LOG": "CRITICAL",
    }.items():
        os.environ.setdefault(variable, value)
    collecting = gc.isenabled()
    gc.disable()  # looking for garbage among half a million new objects is a tenth of the import
    try:
        import litellm
    finally:
        if collecting:
            gc.enable()

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.turn_off_message_logging = True
    litellm.disable_aiohttp_transport = True  # httpx closes its connections with its client
    litellm.drop_params = False  # what is asked for is sent, or said to be impossible
    litellm.callbacks, litellm.success_callback, litellm.failure_callback = [], [], []
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


async def _loaded() -> None:
    """Import LiteLLM beside the event loop: pages are rendered and other models asked meanwhile."""
    if "litellm" not in sys.modules:
        await asyncio.to_thread(load_litellm)


async def close_clients() -> None:
    """Close what LiteLLM keeps open for this event loop."""
    litellm = load_litellm()
    for _ in range(3):
        with contextlib.suppress(RuntimeError):  # another loop's client came into its cache meanwhile
            await litellm.close_litellm_async_clients()
            break
    litellm.in_memory_llm_clients_cache.flush_cache()
