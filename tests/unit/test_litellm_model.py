"""LiteLLM models over real HTTP: what is sent, and what becomes of what comes back."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from opendesign.answering.budget import Budget
from opendesign.answering.litellm_model import LiteLLMModel
from opendesign.answering.models import close_models, resolve
from opendesign.answering.retry import RetryPolicy
from opendesign.errors import Failed
from opendesign.testing import Fault, FaultKind, ScriptedReply, ScriptedRequest, ScriptedServer
from opendesign.types import Case, GenerationSettings
from tests.unit.litellm_support import KEY, PAGE, QUICK, REPLY, SETTINGS, case, model_at


@pytest.fixture(autouse=True)
async def _with_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield
    await close_models()


def described(server: ScriptedServer, more: str = "") -> None:
    Path("models.toml").write_text(
        f'[mine]\nmodel = "openai/anything"\nbase_url = "{server.base_url}"\n{more}'
    )


def _until_asked(server: ScriptedServer) -> None:
    while not server.requests:
        time.sleep(0.01)


# -- a good answer -----------------------------------------------------------------------------------------


async def test_a_good_reply_in_full() -> None:
    reply = ScriptedReply(
        text=f"<think>Bees are striped.</think>{REPLY}",
        reasoning="Think of bees.",
        model="anything-2026-01-01",
        fingerprint="fp_7",
        prompt_tokens=11,
        completion_tokens=22,
        reasoning_tokens=5,
    )
    with ScriptedServer(reply) as server:
        answer = await model_at(server).answer(case(), 2, SETTINGS)
    assert (answer.status, answer.failure, answer.sample) == ("ok", None, 2)
    assert answer.document == PAGE
    assert answer.text == reply.text, "the raw reply is kept whole"
    assert answer.reasoning == "Think of bees.\n\nBees are striped."
    assert (answer.finish_reason, answer.model_returned, answer.fingerprint) == (
        "stop",
        "anything-2026-01-01",
        "fp_7",
    )
    usage = answer.usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens) == (
        1,
        11,
        22,
        5,
    )
    assert usage.cost_usd is None, "no price is known for this model"
    assert answer.varies["attempts"] == 1
    assert 0 < answer.varies["seconds"] < 60


async def test_what_is_sent() -> None:
    game = Case(id="g", category="game", prompt="A game")
    settings = GenerationSettings(
        system={"game": "You write games.", "": "You write pages."}, temperature=0.7
    )
    with ScriptedServer(REPLY) as server:
        model = model_at(server)
        await model.answer(game, 0, settings)
        await model.answer(case(), 0, settings)
        await model.answer(case(), 0, GenerationSettings(max_tokens=99))
        first, second, third = (request.body for request in server.requests)
        assert all(request.has_key for request in server.requests)
    assert first["messages"] == [
        {"role": "system", "content": "You write games."},
        {"role": "user", "content": "A game"},
    ]
    assert second["messages"][0]["content"] == "You write pages."
    assert (first["model"], first["temperature"], first["max_tokens"]) == ("anything", 0.7, 32_768)
    assert [message["role"] for message in third["messages"]] == ["user"]
    assert third["max_tokens"] == 99
    assert "temperature" not in third, "None leaves it to the provider"
    assert not first.get("stream")


async def test_parameters_and_prices_of_a_description() -> None:
    with ScriptedServer(ScriptedReply(text=REPLY, prompt_tokens=1_000, completion_tokens=2_000)) as server:
        described(
            server, "max_tokens = 500\nprices = { input = 1, output = 10 }\nparameters = { top_p = 0.5 }"
        )
        answer = await resolve("mine").answer(case(), 0, SETTINGS)
        body = server.requests[0].body
    assert (body["max_tokens"], body["top_p"]) == (500, 0.5)
    assert answer.usage.cost_usd == pytest.approx(0.021)


async def test_prices_of_litellms_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the provider's own address, which here is the scripted server's."""
    reply = ScriptedReply(text=REPLY, prompt_tokens=1_000_000, completion_tokens=1_000_000)
    with ScriptedServer(reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
        answer = await resolve("openai/gpt-4o", retry=QUICK).answer(case(), 0, SETTINGS)
        assert len(server.requests) == 1
    assert answer.usage.cost_usd == pytest.approx(12.5)


async def test_chat_takes_any_messages_and_options() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "How good?"}, picture]}]
    with ScriptedServer(["85 of 100", Fault("wrong_key")]) as server:
        model = model_at(server)
        reply = await model.chat(
            messages, temperature=0, max_tokens=50, response_format={"type": "json_object"}
        )
        body = server.requests[0].body
        with pytest.raises(Failed, match="refused the key"):
            await model.chat(messages)
    assert reply.text == "85 of 100"
    assert body["messages"] == messages
    assert (body["temperature"], body["max_tokens"]) == (0, 50)
    assert body["response_format"] == {"type": "json_object"}


async def test_the_timeout_of_a_description_is_for_chats_too() -> None:
    with ScriptedServer(ScriptedReply(text="late", latency_s=5)) as server:
        described(server, "timeout_s = 0.5")
        model = resolve("mine", retry=RetryPolicy(attempts=1))
        with pytest.raises(Failed, match="in time"):
            await model.chat([{"role": "user", "content": "hi"}], timeout_s=60, key=("a", 1))
        assert "timeout_s" not in server.requests[0].body


# -- failures and their owners -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "status", "reason", "calls"),
    [
        ("rate_limit", "instrument_failure", "rate_limited", 2),
        ("server_error", "instrument_failure", "provider_error", 2),
        ("invalid_json", "instrument_failure", "provider_error", 2),
        ("wrong_shape", "instrument_failure", "provider_error", 2),
        ("reset", "instrument_failure", "network", 2),
        ("truncated_body", "instrument_failure", "network", 2),
        ("stall", "instrument_failure", "network", 2),
        ("drip", "instrument_failure", "network", 2),
        ("wrong_key", "instrument_failure", "provider_error", 1),
        ("not_found", "instrument_failure", "provider_error", 1),
        ("bad_request", "instrument_failure", "provider_error", 1),
        ("empty", "model_failure", "empty", 1),
        ("null", "model_failure", "empty", 1),
        ("content_filter", "model_failure", "content_filter", 1),
        ("length", "model_failure", "truncated", 1),
        ("refusal", "model_failure", "refused", 1),
    ],
)
@pytest.mark.parametrize("name", ["openai/anything", "hosted_vllm/anything"])  # LiteLLM's two kinds of client
async def test_every_fault_has_its_owner_and_reason(
    kind: FaultKind, status: str, reason: str, calls: int, name: str
) -> None:
    policy = RetryPolicy(attempts=2, first_s=0.01, longest_s=0.02)
    with ScriptedServer("warm") as server:  # LiteLLM's first call loads a second's worth of code
        await model_at(server, name).answer(case(), 0, SETTINGS)
    with ScriptedServer(Fault(kind)) as server:
        start = time.monotonic()
        answer = await model_at(server, name, retry=policy).answer(case(), 0, GenerationSettings(timeout_s=1))
        took = time.monotonic() - start
        assert len(server.requests) == calls
    assert answer.failure is not None
    assert (answer.failure.status, answer.failure.reason) == (status, reason)
    assert answer.varies["attempts"] == calls
    assert took < 5, "the deadline is ours, whatever the server does"
    assert answer.failure.detail.endswith(".")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I'm sorry, but I can't help with that.", "refused"),
        ("抱歉，我无法提供这个页面。", "refused"),
        ("Bees are insects. " * 10, "no_document"),
        ("I can't say enough about bees. " * 100, "no_document"),
        ("<think>Let me think about", "truncated"),
        ("```html\n\n```", "no_document"),
        (" \n", "empty"),
    ],
)
async def test_replies_without_a_page(text: str, reason: str) -> None:
    with ScriptedServer(text) as server:
        answer = await model_at(server).answer(case(), 0, SETTINGS)
    assert answer.failure is not None
    assert (answer.failure.status, answer.failure.reason) == ("model_failure", reason)
    assert answer.text == text


async def test_a_refusal_in_words_beside_a_page_is_an_answer() -> None:
    with ScriptedServer(f"I'm sorry, I cannot use pictures.\n{REPLY}") as server:
        assert (await model_at(server).answer(case(), 0, SETTINGS)).status == "ok"


async def test_nobody_there() -> None:
    with ScriptedServer("x") as server:
        model = model_at(server)
    answer = await model.answer(case(), 0, SETTINGS)
    assert answer.failure is not None
    assert answer.failure.reason == "network"


# -- retries and limits ------------------------------------------------------------------------------------


async def test_a_fault_that_passes_leaves_no_trace_but_the_attempts() -> None:
    with ScriptedServer([Fault("server_error"), Fault("reset"), REPLY]) as server:
        answer = await model_at(server).answer(case(), 0, SETTINGS)
        assert len(server.requests) == 3, "and no retry of LiteLLM's own"
    assert (answer.status, answer.document, answer.varies["attempts"]) == ("ok", PAGE, 3)


@pytest.mark.parametrize("spelling", ["seconds", "date"])
async def test_retry_after_pauses_every_call_of_the_model(spelling: str) -> None:
    def script(request: ScriptedRequest) -> str | Fault:
        if request.number > 0:
            return REPLY
        return Fault("rate_limit", 0.6 if spelling == "seconds" else formatdate(time.time() + 2, usegmt=True))

    with ScriptedServer(script) as server:
        first, second = model_at(server), model_at(server)  # two objects, one model
        one = asyncio.create_task(first.answer(case(1), 0, SETTINGS))
        await asyncio.to_thread(_until_asked, server)
        await asyncio.sleep(0.2)
        two = await second.answer(case(2), 0, SETTINGS)
        assert ((await one).status, two.status) == ("ok", "ok")
        times = [request.at for request in server.requests]
    assert len(times) == 3
    assert min(times[1:]) - times[0] >= (0.6 if spelling == "seconds" else 0.9)


async def test_calls_at_a_time() -> None:
    at_once = most = 0

    class Counting(ScriptedServer):
        async def _reply(self, *arguments: Any) -> None:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0.05)
            at_once -= 1
            await super()._reply(*arguments)

    with Counting(REPLY) as server:
        described(server, "concurrency = 3")
        model = resolve("mine")
        answers = await asyncio.gather(*(model.answer(case(n), 0, SETTINGS) for n in range(12)))
    assert {answer.status for answer in answers} == {"ok"}
    assert most == 3


async def test_after_a_wrong_key_no_further_call_is_made() -> None:
    with ScriptedServer(REPLY, key="another") as server:
        described(server, "concurrency = 1\nrequests_per_minute = 6")
        model = resolve("mine")
        start = time.monotonic()
        answers = await asyncio.gather(*(model.answer(case(n), 0, SETTINGS) for n in range(20)))
        assert len(server.requests) == 1
    assert time.monotonic() - start < 9, "nor does any wait for a turn"
    assert len(answers) == 20
    for answer in answers:
        assert answer.failure is not None
        assert answer.failure.reason == "provider_error"
        assert "refused the key" in answer.failure.detail


async def test_a_bad_request_stops_only_itself() -> None:
    with ScriptedServer([Fault("bad_request"), REPLY]) as server:
        model = model_at(server)
        assert (await model.answer(case(1), 0, SETTINGS)).failure is not None
        assert (await model.answer(case(2), 0, SETTINGS)).status == "ok"


# -- money -------------------------------------------------------------------------------------------------


async def test_concurrent_calls_do_not_overrun_the_budget() -> None:
    def bill(request: ScriptedRequest) -> ScriptedReply:
        return ScriptedReply(text=REPLY, prompt_tokens=0, completion_tokens=100 + 7 * (request.number % 60))

    with ScriptedServer(bill) as server:
        described(server, "max_tokens = 1_000\nprices = { input = 0, output = 1_000 }\nconcurrency = 16")
        budget = Budget(5.0)
        model = resolve("mine", budget=budget)
        answers = await asyncio.gather(*(model.answer(case(n), 0, SETTINGS) for n in range(40)))
        made = len(server.requests)
    spent = sum(answer.usage.cost_usd or 0.0 for answer in answers)
    reasons = [answer.failure.reason if answer.failure else "ok" for answer in answers]
    assert budget.spent_usd == pytest.approx(spent)
    assert 4.0 < spent <= 5.0, "each worst case is 1 USD, so less than that is left over"
    assert reasons.count("ok") == made
    assert reasons.count("budget_exhausted") == 40 - made > 0
    assert budget.reserved_usd == pytest.approx(0)


async def test_a_call_without_an_outcome_counts_in_full_and_a_refused_one_not_at_all() -> None:
    once = RetryPolicy(attempts=1)
    with ScriptedServer([Fault("server_error"), Fault("stall")]) as server:
        described(server, "max_tokens = 1_000\nprices = { input = 0, output = 1_000 }")
        budget = Budget(5.0)
        model = resolve("mine", budget=budget, retry=once)
        await model.answer(case(1), 0, SETTINGS)
        assert budget.spent_usd == 0
        await model.answer(case(2), 0, GenerationSettings(timeout_s=1))
        assert budget.spent_usd == pytest.approx(1.0)
        assert budget.reserved_usd == pytest.approx(0)


# -- keys --------------------------------------------------------------------------------------------------


async def test_a_key_reaches_no_record_and_no_log(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = ScriptedReply(text=f"```html\n{PAGE.replace('Bees', KEY)}\n```", reasoning=KEY, model=KEY)
    with ScriptedServer([Fault("wrong_key"), echo]) as server:
        failed = await model_at(server).answer(case(), 0, SETTINGS)
        echoed = await model_at(server).answer(case(), 0, SETTINGS)
        assert server.requests[0].has_key
    assert failed.failure is not None
    assert "[key]" in failed.failure.detail, "the server did echo it"
    assert echoed.document == PAGE.replace("Bees", "[key]")
    written = capfd.readouterr()
    assert KEY not in repr((failed, echoed)) + caplog.text + written.out + written.err


async def test_a_description_names_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "mine-0123456789")
    with ScriptedServer(REPLY, key="mine-0123456789") as server:
        described(server, 'api_key_env = "MINE"')
        model = resolve("mine")
        assert isinstance(model, LiteLLMModel)
        assert (await model.answer(case(), 0, SETTINGS)).status == "ok"
