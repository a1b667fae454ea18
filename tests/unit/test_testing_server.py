"""The scripted server over real HTTP, asked with the standard library only."""

from __future__ import annotations

import asyncio
import doctest
import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from opendesign.testing import FAULTS, Fault, ScriptedReply, ScriptedRequest, ScriptedServer, server


def ask(
    at: ScriptedServer, prompt: str = "hi", *, key: str = "", timeout: float = 5, **more: Any
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(at.base_url).port or 0, timeout=timeout)
    try:
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}], **more})
        headers = {"authorization": f"Bearer {key}"} if key else {}
        connection.request("POST", "/v1/chat/completions", body, headers)
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
    finally:
        connection.close()


def said(raw: bytes) -> Any:
    return json.loads(raw)["choices"][0]["message"]["content"]


def test_examples_in_the_docstring_hold() -> None:
    assert doctest.testmod(server).failed == 0
    assert doctest.testmod(server).attempted > 0


def test_a_list_is_followed_in_order_and_its_last_entry_repeated() -> None:
    with ScriptedServer(["one", ScriptedReply(text="two", model="other", completion_tokens=7)]) as at:
        answers = [ask(at)[2] for _ in range(3)]
    assert [said(raw) for raw in answers] == ["one", "two", "two"]
    last = json.loads(answers[-1])
    assert (last["model"], last["usage"]["completion_tokens"]) == ("other", 7)


def test_a_function_sees_the_request() -> None:
    def script(request: ScriptedRequest) -> str | Fault:
        return Fault("server_error") if "bad" in request.prompt else f"{request.number}: {request.prompt}"

    with ScriptedServer(script) as at:
        assert said(ask(at, "good")[2]) == "0: good"
        assert ask(at, "bad")[0] == 500
        parts = [{"type": "text", "text": "and"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
        assert said(ask(at, messages=[{"role": "user", "content": parts}])[2]) == "2: and\n"
        assert at.outcomes == ["reply", "server_error", "reply"]
        assert at.count("good") == at.count("bad", "server_error") == 1
        assert at.count("bad", "reply") == 0


def test_the_log_keeps_everything_but_the_key() -> None:
    with ScriptedServer("x", key="sk-right") as at:
        assert ask(at, key="sk-right")[0] == 200
        status, _, body = ask(at, key="sk-wrong-key")
        assert ask(at)[0] == 401
        first, second, third = at.requests
    assert (status, at.outcomes) == (401, ["reply", "wrong_key", "wrong_key"])
    assert b"sk-wrong-key" in body, "some providers echo the key, so the script does too"
    assert (first.method, first.path, first.body["model"]) == ("POST", "/v1/chat/completions", "m")
    assert (first.has_key, third.has_key, third.key_sha256) == (True, False, None)
    assert first.key_sha256 != second.key_sha256
    assert first.at <= second.at <= third.at
    assert "sk-" not in repr((first, second, third)) + repr([r.key for r in at.requests])


def test_models_and_other_addresses() -> None:
    with ScriptedServer("x", models=["a", "b"]) as at:
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(at.base_url).port or 0, timeout=5)
        connection.request("GET", "/v1/models")
        assert [row["id"] for row in json.load(connection.getresponse())["data"]] == ["a", "b"]
        connection.request("GET", "/nowhere")  # the connection is kept open
        assert connection.getresponse().status == 404
        connection.close()


def test_a_stream_is_the_reply_in_pieces() -> None:
    text = "<p>é</p>" * 1_000
    with ScriptedServer(ScriptedReply(text=text, finish_reason="length", completion_tokens=9)) as at:
        _, headers, raw = ask(at, stream=True, stream_options={"include_usage": True})
    assert headers["content-type"] == "text/event-stream"
    lines = [line.removeprefix("data: ") for line in raw.decode().split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    events = [json.loads(line) for line in lines[:-1]]
    deltas = [event["choices"][0] for event in events if event["choices"]]
    assert "".join(d["delta"].get("content") or "" for d in deltas) == text
    assert deltas[-1]["finish_reason"] == "length"
    assert events[-1]["usage"]["completion_tokens"] == 9


@pytest.mark.parametrize(
    ("kind", "status", "content", "finish"),
    [
        ("empty", 200, "", "stop"),
        ("null", 200, None, "stop"),
        ("content_filter", 200, None, "content_filter"),
        ("refusal", 200, None, "stop"),
    ],
)
def test_odd_replies(kind: Any, status: int, content: str | None, finish: str) -> None:
    with ScriptedServer(Fault(kind)) as at:
        got, _, raw = ask(at)
    choice = json.loads(raw)["choices"][0]
    assert (got, choice["message"]["content"], choice["finish_reason"]) == (status, content, finish)
    assert ("refusal" in choice["message"]) == (kind == "refusal")


def test_statuses_and_retry_after() -> None:
    with ScriptedServer(
        [Fault("rate_limit", retry_after=7), Fault("server_error"), Fault("not_found")]
    ) as at:
        status, headers, _ = ask(at)
        assert (status, headers["retry-after"]) == (429, "7")
        assert [ask(at)[0], ask(at)[0]] == [500, 404]


def test_broken_answers() -> None:
    with ScriptedServer(
        [Fault("invalid_json"), Fault("truncated_body"), Fault("reset"), Fault("wrong_shape")]
    ) as at:
        with pytest.raises(json.JSONDecodeError):
            json.loads(ask(at)[2])
        with pytest.raises(http.client.IncompleteRead):
            ask(at)
        with pytest.raises(ConnectionResetError):
            ask(at)
        assert "choices" not in json.loads(ask(at)[2])


def test_a_stall_says_nothing_and_a_drip_never_ends() -> None:
    with ScriptedServer([Fault("stall"), Fault("drip")], drip_s=0.01) as at:
        with pytest.raises(TimeoutError):
            ask(at, timeout=0.2)
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(at.base_url).port or 0, timeout=0.5)
        connection.request("POST", "/v1/chat/completions", json.dumps({"messages": []}))
        response = connection.getresponse()
        assert response.read(20) == b" " * 20
        connection.close()
        start = time.monotonic()
    assert time.monotonic() - start < 2, "the server ends though connections are open"


def test_faults_are_drawn_by_seed_whatever_the_order() -> None:
    prompts = [f"case {n}" for n in range(60)]

    def outcomes(order: list[str], seed: int, workers: int) -> dict[str, list[str]]:
        faults = [kind for kind in FAULTS if kind in ("rate_limit", "server_error", "empty")]
        with ScriptedServer("x", faults=faults, fault_share=1 / 3, seed=seed) as at:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(lambda prompt: ask(at, prompt), order + order))
            log = zip(at.requests, at.outcomes, strict=True)
            found: dict[str, list[str]] = {prompt: [] for prompt in prompts}
            for request, outcome in log:
                found[request.prompt].append(outcome)
            return found

    first = outcomes(prompts, 1, 1)
    assert outcomes(prompts[::-1], 1, 6) == first
    assert outcomes(prompts, 2, 1) != first
    failed = sum(outcome != "reply" for both in first.values() for outcome in both)
    assert 24 <= failed <= 56, "about a third of 120"


async def test_it_works_in_an_event_loop_too() -> None:
    async with ScriptedServer("x", latency_s=0.2) as at:
        start = time.monotonic()
        answers = await asyncio.gather(*(asyncio.to_thread(ask, at) for _ in range(4)))
        assert [said(raw) for _, _, raw in answers] == ["x"] * 4
        assert 0.2 <= time.monotonic() - start < 0.8, "calls are answered side by side"


def test_mistakes_in_a_script_are_said() -> None:
    with pytest.raises(ValueError, match="share"):
        ScriptedServer("x", fault_share=1.5)
    with pytest.raises(ValueError, match="at least one"):
        ScriptedServer([])
