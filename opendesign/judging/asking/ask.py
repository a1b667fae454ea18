"""One question to a judge's model: a call, its reply checked, one repair, or a failure with its owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from opendesign.answering.outcome import refuses
from opendesign.errors import Failed, failed
from opendesign.judging.asking.abilities import most_tokens, takes_schema
from opendesign.judging.asking.reply import Malformed
from opendesign.types import Usage

if TYPE_CHECKING:
    from opendesign.answering.models import Model, Reply

__all__ = ["Asked", "Ledger", "ask"]

T = TypeVar("T")
_CUT = ("length", "max_tokens", "max_output_tokens")
_FILTERED = ("content_filter", "safety", "recitation", "refusal")
_ECHO = 20_000  # characters of a bad reply that its repair turn repeats


@dataclass(slots=True)
class Ledger:
    """What the calls of one verdict have cost, and which model answered. Add every reply to it."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = 0.0
    returned: list[str] = field(default_factory=list)  # "id fingerprint", each once

    def add(self, reply: Reply) -> None:
        usage = reply.usage
        self.calls += usage.calls
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        self.reasoning_tokens += usage.reasoning_tokens
        known = self.cost_usd is not None and usage.cost_usd is not None
        self.cost_usd = round(self.cost_usd + usage.cost_usd, 9) if known else None  # type: ignore[operator]
        name = " ".join(part for part in (reply.model_returned, reply.fingerprint) if part)
        if name and name not in self.returned:
            self.returned.append(name)

    @property
    def usage(self) -> Usage:
        return Usage(
            calls=self.calls,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            reasoning_tokens=self.reasoning_tokens,
            cost_usd=self.cost_usd,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[T]):
    """A reply that could be read: its value, its text, and what was wrong with the reply before it."""

    value: T
    text: str
    repaired: str = ""


async def ask(
    model: Model,
    messages: Sequence[Mapping[str, Any]],
    parse: Callable[[str], T],
    *,
    ledger: Ledger,
    settings: Mapping[str, Any],
    key: Sequence[object],
    schema: Mapping[str, Any] | None = None,
    repair: str | None = None,
) -> Asked[T]:
    """The value that ``parse`` makes of the reply.

    ``parse`` raises ``Malformed``; then ``repair`` (a text in which ``{{problem}}`` stands for what was
    wrong) is sent once, below the bad reply; without it, or where the second reply is bad too, ``Failed`` is
    raised with the reason of the last one. ``settings`` may hold ``temperature``, ``max_tokens`` and
    ``timeout_s``. ``schema`` is a JSON schema, sent where the model is known to take one. No failure from
    here is the tested model's: a provider's filter that stops a judge's question is the judge's refusal.
    """
    options = _options(model, settings, schema)
    reply = await _chat(model, messages, ledger, key=tuple(key), **options)
    try:
        return Asked(value=_read(reply, parse), text=reply.text)
    except Malformed as first:
        if repair is None:
            raise failed(_reason(first, reply), _detail(first, reply)) from first
        again = [
            *messages,
            {"role": "assistant", "content": reply.text.strip()[:_ECHO] or "(no text)"},
            {"role": "user", "content": repair.replace("{{problem}}", str(first))},
        ]
        second = await _chat(model, again, ledger, key=(*key, "repair"), **options)
        try:
            return Asked(value=_read(second, parse), text=second.text, repaired=str(first))
        except Malformed as problem:
            raise failed(_reason(problem, second), _detail(problem, second)) from problem


def _options(model: Model, settings: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    options = {name: settings[name] for name in ("temperature", "timeout_s") if name in settings}
    if "max_tokens" in settings:
        options["max_tokens"] = most_tokens(model, settings["max_tokens"])
    if schema is not None and takes_schema(model):
        options["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": dict(schema)},
        }
    return options


async def _chat(model: Model, messages: Sequence[Mapping[str, Any]], ledger: Ledger, **options: Any) -> Reply:
    """One reply, in the ledger. A failure that would count against the tested model is the judge's here."""
    try:
        reply = await model.chat(messages, **options)
    except Failed as error:
        if error.failure.status == "model_failure":
            raise failed("judge_refused", error.failure.detail) from error
        raise
    ledger.add(reply)
    return reply


def _read(reply: Reply, parse: Callable[[str], T]) -> T:
    """Raises ``Malformed`` for what a repair may mend, ``Failed`` for what it will not."""
    finish = (reply.finish_reason or "").lower()
    if finish in _CUT:
        raise failed("judge_truncated", "The judge's reply ran into its token limit: raise max_tokens.")
    if finish in _FILTERED or reply.refusal:
        told = " ".join((reply.refusal or "The provider's content filter stopped the judge's reply.").split())
        raise failed("judge_refused", told[:200])
    return parse(reply.text)


def _reason(problem: Malformed, reply: Reply) -> str:
    refused = "{" not in reply.text and refuses(reply.text)
    return "judge_refused" if refused else problem.reason


def _detail(problem: Malformed, reply: Reply) -> str:
    said = " ".join(reply.text.split())
    return f"{problem} It said: {said[:160]}{'…' if len(said) > 160 else ''}"
