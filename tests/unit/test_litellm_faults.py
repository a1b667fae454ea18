"""Sixty cases, a fault on a third of the calls: every case ends ok or with the right owner and reason."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from opendesign.answering.faults import classify, redact
from opendesign.answering.models import close_models
from opendesign.answering.retry import RetryPolicy
from opendesign.testing import Fault, FaultKind, ScriptedServer
from opendesign.types import Answer, GenerationSettings
from tests.unit.litellm_support import KEY, PAGE, REPLY, case, model_at

#: What a fault means where no later try has mended it, and whether there is a later try.
MEANS: dict[FaultKind, tuple[str, bool]] = {
    "rate_limit": ("rate_limited", True),
    "server_error": ("provider_error", True),
    "reset": ("network", True),
    "stall": ("network", True),
    "drip": ("network", True),
    "invalid_json": ("provider_error", True),
    "truncated_body": ("network", True),
    "empty": ("empty", False),
    "content_filter": ("content_filter", False),
    "length": ("truncated", False),
    "refusal": ("refused", False),
}


@pytest.mark.parametrize("attempts", [1, 5])
async def test_every_case_ends_ok_or_with_the_right_reason(
    attempts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    faults = [Fault(kind, 0.02 if kind == "rate_limit" else None) for kind in MEANS]
    policy = RetryPolicy(attempts=attempts, first_s=0.01, longest_s=0.05)
    cases = [case(number) for number in range(60)]
    with ScriptedServer(REPLY) as warm:
        await model_at(warm).answer(cases[0], 0, GenerationSettings())
    with ScriptedServer(REPLY, faults=faults, fault_share=1 / 3, seed=20, latency_s=0.005) as server:
        model = model_at(server, retry=policy)
        settings = GenerationSettings(timeout_s=6)  # a busy machine answers in less, a stall never
        answers = await asyncio.gather(*(model.answer(one, 0, settings) for one in cases))
        got: dict[str, list[str]] = {one.id: [] for one in cases}
        ids = {one.prompt: one.id for one in cases}
        for request, outcome in zip(server.requests, server.outcomes, strict=True):
            got[ids[request.prompt]].append(outcome)
    await close_models()
    assert [answer.case for answer in answers] == [one.id for one in cases], "none is lost"
    for answer in answers:
        _check(answer, got[answer.case], attempts)
    seen = Counter(outcome for outcomes in got.values() for outcome in outcomes)
    assert 0.2 < 1 - seen["reply"] / seen.total() < 0.5, "about a third of the calls failed"
    assert len(set(seen)) >= 9, "faults of nearly every kind were met"
    written = capfd.readouterr()
    assert KEY not in repr(answers) + written.out + written.err


def _check(answer: Answer, outcomes: list[str], attempts: int) -> None:
    """The last outcome decides; before it only faults that another try may mend, and no more than allowed."""
    *before, last = outcomes
    assert len(outcomes) <= attempts
    assert all(MEANS[kind][1] for kind in before)  # type: ignore[index]
    assert answer.varies["attempts"] == len(outcomes)
    if last == "reply":
        assert (answer.status, answer.document) == ("ok", PAGE)
        return
    reason, again = MEANS[last]  # type: ignore[index]
    assert answer.failure is not None
    assert answer.failure.reason == reason
    assert not again or len(outcomes) == attempts, "it was tried as often as allowed"


class Api(Exception):
    """An error as a client library makes one."""

    def __init__(
        self, message: str, status: int | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        if status:
            self.response = type("Response", (), {"status_code": status, "headers": headers or {"x": "y"}})()


@pytest.mark.parametrize(
    ("error", "reason", "transient", "stops"),
    [
        (Api("busy", 429), "rate_limited", True, False),
        (Api("You exceeded your current quota: insufficient_quota", 429), "provider_error", False, True),
        (Api("bad gateway", 502), "provider_error", True, False),
        (Api("overloaded", 529), "provider_error", True, False),
        (Api("conflict", 409), "provider_error", True, False),
        (Api("no", 401), "provider_error", False, True),
        (Api("pay", 402), "provider_error", False, True),
        (Api("no", 403), "provider_error", False, True),
        (Api("flagged by moderation", 403), "content_filter", False, False),
        (Api("violates our content policy", 400), "content_filter", False, False),
        (Api("context too long", 400), "provider_error", False, False),
        (Api("bad field", 422), "provider_error", False, False),
        (TimeoutError(), "network", True, False),
        (ConnectionResetError(104, "reset"), "network", True, False),
        (KeyError("choices"), "provider_error", True, False),
        (Api("Unable to get json response", 200), "provider_error", True, False),
    ],
)
def test_what_errors_mean(error: Exception, reason: str, transient: bool, stops: bool) -> None:
    fault = classify(error, "openai/x")
    assert (fault.failure.reason, fault.transient, fault.stops) == (reason, transient, stops)


def test_retry_after_is_found_wherever_the_headers_are() -> None:
    outer = ValueError("wrapped")
    outer.__cause__ = Api("busy", 429, {"Retry-After": "12"})
    assert classify(outer, "openai/x").wait_s == 12


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdefgh12345",
        '{"api_key": "abcdefgh12345"}',
        "https://host/v1?api_key=abcdefgh12345&x=1",
        "https://abcdefgh12345:abcdefgh12345@host/",
        "Incorrect key sk-abcdefgh12345 given",
        "Incorrect key sk-proj-abcdefgh12345*****wxyz given",
        "the value abcdefgh12345 of a variable",
    ],
)
def test_keys_are_struck_out(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "variable" in text:
        monkeypatch.setenv("SOME_API_KEY", "abcdefgh12345")
    assert "abcdefgh12345" not in redact(text)
    assert "[key]" in redact(text)


def test_other_words_are_left_alone() -> None:
    text = "The model gpt-5 was not found at https://host/v1: use a key."
    assert redact(text) == text
