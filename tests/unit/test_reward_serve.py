"""``opendesign train serve``: the reward over HTTP."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opendesign.errors import UsageError
from opendesign.train import AgenticReward
from opendesign.train.serving import RewardServer
from tests.end_to_end.support_runs import left_after, place
from tests.unit.test_reward import BAD, GOOD

TOKEN = "a-token-of-sixteen"


@pytest.fixture(scope="module")
def server() -> Iterator[RewardServer]:
    with AgenticReward(("execution",)) as reward, RewardServer(reward, TOKEN) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(
    server: RewardServer,
    body: Any = None,
    *,
    path: str = "/v1/rewards",
    method: str = "POST",
    **headers: str,
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {
        "Authorization": f"Bearer {TOKEN}",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    connection.request(method, path, data if method == "POST" else None, sent)
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


def test_rewards_and_channels(server: RewardServer) -> None:
    body = {"prompts": ["Bees"] * 3, "completions": [GOOD, BAD, None], "category": ["website"] * 3, "self": 1}
    assert ask(server, body) == (
        200,
        {
            "rewards": [0.1, -0.1, -0.1],
            "channels": {"execution": [1, -1, -1]},
            "gated": [False, True, True],
            "failures": [{}, {}, {"execution": "empty"}],
        },
    )
    status, about = ask(server, path="/v1/reward", method="GET")
    assert (status, about) == (200, {"roles": {"execution": "execution"}, "weights": {"execution": 0.1}})


def test_one_connection_serves_many_requests(server: RewardServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    body = json.dumps({"prompts": ["Bees"], "completions": [GOOD]})
    for _ in range(3):
        connection.request("POST", "/v1/rewards", body, {"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        assert json.loads(answer.read())["rewards"] == [0.1]
        assert not answer.will_close
    connection.close()


@pytest.mark.parametrize(
    ("given", "status", "says"),
    [
        ({"Authorization": ""}, 401, "Send the token"),
        ({"Authorization": "Bearer a-token-of-another"}, 401, "Send the token"),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401, "Send the token"),
        ({"path": "/v1/other"}, 404, "There is POST /v1/rewards"),
        ({"path": "/v1/reward"}, 404, "There is POST /v1/rewards"),
        ({"body": b"{"}, 400, "not JSON"),
        ({"body": b"\xff\xfe"}, 400, "not JSON"),
        ({"body": b"[" * 100_000}, 400, "not JSON"),
        ({"body": []}, 400, "is an object"),
        ({"body": {"completions": []}}, 400, "'prompts' is a list"),
        ({"body": {"prompts": [], "completions": "x"}}, 400, "'completions' is a list"),
        ({"body": {"prompts": ["a"], "completions": []}}, 400, "1 prompts for 0"),
        ({"body": {"prompts": ["a"] * 9000, "completions": ["a"] * 9000}}, 413, "At most"),
        ({"body": b"", "Content_Length": "99999999999999999999999999"}, 413, "At most"),
        ({"body": b"", "Content_Length": "0" * 20 + "99999999999"}, 413, "At most"),
        ({"body": b"{}", "Content_Length": "0" * 5_000 + "2"}, 400, "'prompts' is a list"),
        ({"body": b"", "Content_Length": "-1"}, 411, "Content-Length"),
    ],
)
def test_what_cannot_be_answered_is_told_in_one_sentence(
    server: RewardServer, given: dict[str, Any], status: int, says: str
) -> None:
    body = given.pop("body", {"prompts": [], "completions": []})
    code, answer = ask(server, body, **given)
    assert code == status
    assert set(answer) == {"error"}
    assert says in answer["error"]


def test_a_client_that_goes_away_harms_nobody(server: RewardServer) -> None:
    for sent in (b"", b"POST /v1/rewards HTTP/1.1\r\n", b"nonsense\r\n\r\n"):
        with socket.create_connection(server.server_address[:2]) as connection:
            connection.sendall(sent)
    assert ask(server, {"prompts": ["Bees"], "completions": [GOOD]})[1]["rewards"] == [0.1]


@pytest.mark.parametrize("token", ["short", "a token with spaces in", "ein-schlüssel-mit-ü"])
def test_a_token_that_protects_nothing_is_refused(token: str) -> None:
    with pytest.raises(UsageError, match="16 or more"):
        RewardServer(AgenticReward(("execution",)), token)


def test_a_port_that_is_taken_is_told(server: RewardServer) -> None:
    with pytest.raises(UsageError, match="cannot be listened on"):
        RewardServer(server.reward, TOKEN, port=server.server_address[1])


def test_the_command_ends_at_once_and_frees_its_port(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        running = here.start("train", "serve", "--port", "0", "--judges", "execution")
        assert running.until(lambda: "OPENDESIGN_REWARD_TOKEN=" in running.stderr)
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/v1/rewards", running.stderr)[1])  # type: ignore[index]
        token = re.search(r"OPENDESIGN_REWARD_TOKEN=(\S+)", running.stderr)[1]  # type: ignore[index]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        body = json.dumps({"prompts": ["Bees"], "completions": [GOOD]})
        connection.request("POST", "/v1/rewards", body, {"Authorization": f"Bearer {token}"})
        assert json.loads(connection.getresponse().read())["rewards"] == [0.1]
        running.process.send_signal(signal.SIGTERM)  # with the connection still open
        assert running.wait(60) == 0
        connection.close()
        assert running.stderr.count(token) == 1
        assert "Traceback" not in running.stderr
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", port))
        assert left_after(5, here.processes) == []
