"""What a scripted server says: replies, faults, and which of them a request gets."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

__all__ = ["FAULTS", "Chooser", "Fault", "FaultKind", "Script", "ScriptedReply", "ScriptedRequest"]

FaultKind = Literal[
    "rate_limit",  # 429, with Retry-After where retry_after is given
    "server_error",  # 500
    "reset",  # the connection is reset before an answer
    "stall",  # nothing comes, and the connection stays open
    "drip",  # the head of an answer, then a byte now and then, without end
    "invalid_json",  # 200 with a body that is no JSON
    "wrong_shape",  # 200 with JSON that is no completion
    "truncated_body",  # half of a good answer, then the connection ends
    "empty",  # content ""
    "null",  # content null
    "content_filter",  # finish_reason content_filter
    "length",  # half of the reply, finish_reason length
    "refusal",  # content null and the field refusal
    "wrong_key",  # 401, the key echoed in the message as some providers do
    "not_found",  # 404, as for an unknown model
    "bad_request",  # 400
]
FAULTS: tuple[FaultKind, ...] = get_args(FaultKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """A good answer. Tokens left out are counted as a quarter of the characters."""

    text: str | None
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: str = "stop"
    latency_s: float = 0.0
    model: str | None = None  # the name the answer carries; else the one asked for
    fingerprint: str = "fp_scripted"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong. ``retry_after`` is the header as sent: seconds or an HTTP date."""

    kind: FaultKind
    retry_after: float | str | None = None
    latency_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRequest:
    """A request as it came, but for its key: of that only whether there was one, and its SHA-256."""

    number: int  # from 0, over all requests
    method: str
    path: str
    headers: Mapping[str, str]
    has_key: bool
    key_sha256: str | None
    body: Any  # parsed JSON; None without a body
    at: float  # seconds since the server started
    key: str = field(default="", repr=False, compare=False)  # empty in the log

    @property
    def prompt(self) -> str:
        """Text of the last user turn of a chat; "" for anything else."""
        messages = self.body.get("messages", []) if isinstance(self.body, dict) else []
        for message in reversed(messages):
            if isinstance(message, dict) and message.get("role") == "user":
                content = message.get("content")
                if isinstance(content, str):
                    return content
                if isinstance(content, list):
                    return "\n".join(p.get("text", "") for p in content if isinstance(p, dict))
        return ""


Answering = ScriptedReply | Fault | str
Script = Answering | Sequence[Answering] | Callable[[ScriptedRequest], Answering]


class Chooser:
    """Which answer a request gets.

    A share of the calls gets a fault, drawn by the seed, the text of the request and how often it was asked,
    so that the order in which concurrent calls arrive changes nothing.
    """

    def __init__(
        self, script: Script, *, faults: Sequence[Fault | FaultKind], fault_share: float, seed: int
    ) -> None:
        if not 0 <= fault_share <= 1:
            raise ValueError("fault_share is a share of the calls: between 0 and 1")
        if isinstance(script, Sequence) and not isinstance(script, str) and not script:
            raise ValueError("a script needs at least one answer")
        self._script, self._share, self._seed = script, fault_share, seed
        self._faults = tuple(fault if isinstance(fault, Fault) else Fault(fault) for fault in faults)
        self._asked: Counter[str] = Counter()
        self._given = 0

    def choose(self, request: ScriptedRequest) -> ScriptedReply | Fault:
        """The next answer; a list is followed in order, and its last entry repeated."""
        said = json.dumps(request.body, sort_keys=True)
        self._asked[said] += 1
        if self._faults and self._share:
            rng = random.Random(f"{self._seed}:{self._asked[said]}:{said}")
            if rng.random() < self._share:
                return rng.choice(self._faults)
        if callable(self._script):
            answer = self._script(request)
        elif isinstance(self._script, (str, ScriptedReply, Fault)):
            answer = self._script
        else:
            answer = self._script[min(self._given, len(self._script) - 1)]
            self._given += 1
        return ScriptedReply(text=answer) if isinstance(answer, str) else answer


def completion(reply: ScriptedReply, request: ScriptedRequest) -> dict[str, Any]:
    """The body of a chat completion, as OpenAI's API has it."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    return {
        **head(reply, request, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason, "logprobs": None}],
        "usage": usage(reply, request),
    }


def chunks(reply: ScriptedReply, request: ScriptedRequest, size: int = 200) -> list[dict[str, Any]]:
    """The same as the events of a stream."""

    def event(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**head(reply, request, "chat.completion.chunk"), "choices": [choice]}

    text = reply.text or ""
    events = [event({"role": "assistant", "content": ""}, None)]
    if reply.reasoning:
        events.append(event({"reasoning_content": reply.reasoning}, None))
    events += [event({"content": text[at : at + size]}, None) for at in range(0, len(text), size)]
    events.append(event({"refusal": reply.refusal} if reply.refusal else {}, reply.finish_reason))
    options = request.body.get("stream_options") or {}
    if options.get("include_usage"):
        last = {**head(reply, request, "chat.completion.chunk"), "choices": []}
        events.append({**last, "usage": usage(reply, request)})
    return events


def head(reply: ScriptedReply, request: ScriptedRequest, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{request.number}",
        "object": kind,
        "created": 1_700_000_000,
        "model": reply.model or str(request.body.get("model", "scripted")),
        "system_fingerprint": reply.fingerprint,
    }


def usage(reply: ScriptedReply, request: ScriptedRequest) -> dict[str, Any]:
    asked = reply.prompt_tokens
    given = reply.completion_tokens
    asked = _size(request.body.get("messages", [])) // 4 if asked is None else asked
    given = (len(reply.text or "") // 4 + reply.reasoning_tokens) if given is None else given
    return {
        "prompt_tokens": asked,
        "completion_tokens": given,
        "total_tokens": asked + given,
        "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
    }


def _size(said: Any) -> int:
    """Characters of what was said; a picture counts as its usual thousand tokens, not as its bytes."""
    if isinstance(said, dict):
        return 4_000 if "image_url" in said else sum(map(_size, said.values()))
    return sum(map(_size, said)) if isinstance(said, list) else len(str(said))
