"""The reward over HTTP, for trainers in other processes and on other machines.

    POST /v1/rewards   {"prompts": […], "completions": […], "category": […], …}
                     → {"rewards": […], "channels": {"execution": […], …}, "gated": […], "failures": […]}
    GET  /v1/reward    roles, weights

Every request carries ``Authorization: Bearer TOKEN``. What cannot be read gets a 4xx and one sentence.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import logging
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opendesign.errors import OpenDesignError, UsageError
from opendesign.train.reward import AgenticReward
from opendesign.train.rows import COLUMNS
from opendesign.train.scoring import told

__all__ = ["TOKEN", "RewardServer", "serve"]

#: The variable that holds the token; without it one is made.
TOKEN = "OPENDESIGN_REWARD_TOKEN"
_LONGEST_BODY = 64 * 2**20  # bytes
_MOST_ROWS = 8_192  # completions in one request
_SILENT_S = 30.0  # a connection that says nothing for so long is closed

_FAREWELL_S = 3.0

log = logging.getLogger("opendesign.train")


class _Refused(Exception):
    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class RewardServer(ThreadingHTTPServer):
    """A server of one reward; ``server_address`` says where. Raises ``UsageError`` where it cannot be."""

    daemon_threads = True

    def __init__(self, reward: AgenticReward, token: str, *, host: str = "127.0.0.1", port: int = 0) -> None:
        if len(token) < 16 or not token.isascii() or any(sign.isspace() for sign in token):
            raise UsageError(f"The token in ${TOKEN} has to be 16 or more ASCII letters without spaces.")
        self.reward, self.token = reward, token
        self._busy, self._idle = 0, threading.Condition()
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = str(getattr(error, "strerror", None) or error).lower()
            raise UsageError(
                f"{host}:{port} cannot be listened on ({reason}): name another with --host and --port."
            ) from error

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """While a request is worked on."""
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()

    def wait_idle(self, seconds: float) -> None:
        """Wait until every request has its answer, but no longer than so."""
        with self._idle:
            self._idle.wait_for(lambda: not self._busy, seconds)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""
        log.debug("A connection broke off.", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: RewardServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "opendesign", ""
    timeout = _SILENT_S

    def do_POST(self) -> None:
        with self.server.busy():
            self._answer("/v1/rewards", self._rewards)

    def do_GET(self) -> None:
        with self.server.busy():
            self._answer("/v1/reward", self._about)

    def _answer(self, path: str, work: Callable[[], dict[str, Any]]) -> None:
        """Do the work, or say in one sentence why not. A body that was not read ends the connection."""
        status, document = HTTPStatus.OK, {}
        self.close_connection = True
        try:
            self._admit(path)
            document = work()
            self.close_connection = self.headers.get("Connection", "").lower() == "close"
        except _Refused as refusal:
            status, document = refusal.status, {"error": str(refusal)}
        except OpenDesignError as error:
            status, document = HTTPStatus.SERVICE_UNAVAILABLE, {"error": str(error)}
        except (TimeoutError, ConnectionError):
            return
        except Exception:
            log.exception("A request could not be answered.")
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            document = {"error": "Something broke here: the server's log has it in full."}
        self._send(status, document)

    def _admit(self, path: str) -> None:
        given = self.headers.get("Authorization", "").encode("utf-8", "replace")
        if not hmac.compare_digest(given, f"Bearer {self.server.token}".encode()):
            raise _Refused(HTTPStatus.UNAUTHORIZED, f"Send the token of ${TOKEN}: 'Authorization: Bearer …'.")
        if self.path.partition("?")[0] != path:
            raise _Refused(HTTPStatus.NOT_FOUND, "There is POST /v1/rewards and GET /v1/reward, no more.")

    def _about(self) -> dict[str, Any]:
        return {"roles": dict(self.server.reward.roles), "weights": dict(self.server.reward.weights)}

    def _rewards(self) -> dict[str, Any]:
        from opendesign.running.execute import run_sync

        asked = self._body()
        prompts, completions = _list(asked, "prompts"), _list(asked, "completions")
        if len(prompts) != len(completions):
            raise _Refused(
                HTTPStatus.BAD_REQUEST,
                f"There are {len(prompts)} prompts for {len(completions)} completions.",
            )
        if len(completions) > _MOST_ROWS:
            raise _Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"At most {_MOST_ROWS} completions fit into one request."
            )
        reward = self.server.reward
        columns = {name: asked.get(name) for name in COLUMNS}
        found = run_sync(lambda: reward.evaluate(prompts, completions, **columns))
        rows = [told(evaluation) for evaluation in found]
        return {
            "rewards": [row["reward"] for row in rows],
            "channels": {name: [row["channels"][name] for row in rows] for name in reward.weights},
            "gated": [row["gated"] for row in rows],
            "failures": [row["failures"] for row in rows],
        }

    def _body(self) -> dict[str, Any]:
        """The request's JSON object; read only where its length is known and small enough."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "Send the body with its Content-Length.")
        digits = length.lstrip("0")
        size = int(digits[:20] or "0")
        if size > _LONGEST_BODY:
            raise _Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"At most {_LONGEST_BODY >> 20} MB fit into one request."
            )
        data = self.rfile.read(size)
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise _Refused(HTTPStatus.BAD_REQUEST, "The body is not JSON in UTF-8.") from None
        if not isinstance(value, dict):
            raise _Refused(HTTPStatus.BAD_REQUEST, "The body is an object with 'prompts' and 'completions'.")
        return value

    def _send(self, status: HTTPStatus, document: dict[str, Any]) -> None:
        data = json.dumps(document, allow_nan=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not news."""


def _list(asked: dict[str, Any], name: str) -> list[Any]:
    value = asked.get(name)
    if not isinstance(value, list):
        raise _Refused(HTTPStatus.BAD_REQUEST, f"'{name}' is a list with one entry a completion.")
    return value


def serve(reward: AgenticReward, token: str, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until interrupted, then end what is under way and the browsers; ``ready`` is told the address."""
    with reward, RewardServer(reward, token, host=host, port=port) as server:
        ready(f"http://{host}:{server.server_address[1]}/v1/rewards")
        try:
            server.serve_forever()
        finally:
            reward.close()  # who is waiting gets told so
            server.wait_idle(_FAREWELL_S)
