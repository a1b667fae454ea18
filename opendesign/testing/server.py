"""An OpenAI-compatible server on this machine that says what a script tells it to, over real HTTP.

>>> from urllib.request import urlopen
>>> with ScriptedServer("<!doctype html><title>Hi</title>") as server:
...     urlopen(server.base_url + "/models").status
200

With a third of the calls failing, and a log of what was asked::

    with ScriptedServer(page, faults=["rate_limit", "reset"], fault_share=1 / 3, seed=7) as server:
        model = resolve("openai/anything", base_url=server.base_url)
        ...
        assert server.count("a page about bees") == 2
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from opendesign.testing.script import (
    Chooser,
    Fault,
    FaultKind,
    Script,
    ScriptedReply,
    ScriptedRequest,
    chunks,
    completion,
)

__all__ = ["ScriptedServer"]

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed",
            429: "Too Many Requests", 500: "Internal Server Error"}  # fmt: skip
_LONGEST_BODY = 64 * 2**20  # bytes


class ScriptedServer:
    """A server in a thread of its own, for synchronous and asynchronous tests alike.

    ``script`` is one answer, a list of answers given in order (the last again and again), or a function of
    the request. ``faults`` are given instead, by the seed, to ``fault_share`` of the chat calls. With ``key``
    a request with another key gets a 401. ``latency_s`` is added to every answer.
    """

    def __init__(
        self,
        script: Script,
        *,
        faults: Sequence[Fault | FaultKind] = (),
        fault_share: float = 0.0,
        seed: int = 0,
        latency_s: float = 0.0,
        drip_s: float = 0.05,
        key: str | None = None,
        models: Sequence[str] = ("scripted",),
    ) -> None:
        self._chooser = Chooser(script, faults=faults, fault_share=fault_share, seed=seed)
        self._latency_s, self._drip_s, self._key, self._models = latency_s, drip_s, key, tuple(models)
        self._log: list[tuple[ScriptedRequest, str]] = []
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._ready = threading.Event()
        self._failed: BaseException | None = None
        self._port = 0

    # -- for the test -------------------------------------------------------------------------------------

    @property
    def base_url(self) -> str:
        """Where the API is: ``http://127.0.0.1:PORT/v1``."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def requests(self) -> list[ScriptedRequest]:
        """Every request so far, in order of arrival, without keys."""
        with self._lock:
            return [request for request, _ in self._log]

    @property
    def outcomes(self) -> list[str]:
        """What each request got: ``reply``, the kind of a fault, or ``models`` or ``error`` for no chat."""
        with self._lock:
            return [outcome for _, outcome in self._log]

    def count(self, text: str, outcome: str | None = None) -> int:
        """How many chats had this text in their last user turn, of one outcome where it is given."""
        with self._lock:
            return sum(text in r.prompt and outcome in (None, given) for r, given in self._log)

    def __enter__(self) -> ScriptedServer:
        self._thread = threading.Thread(target=self._run, name="scripted-server", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failed:
            raise RuntimeError("the scripted server could not start") from self._failed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def __aenter__(self) -> ScriptedServer:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, trace)

    # -- in the thread ------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            self._failed = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            connections.add(task)
            try:
                await self._connection(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # the client has gone, or the server goes
            finally:
                connections.discard(task)
                writer.transport.abort()

        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=_LONGEST_BODY)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        open_now = list(connections)
        for task in open_now:
            task.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)
        await server.wait_closed()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (request := await self._read(reader)) is not None:
            keep = await self._answer(request, writer)
            await writer.drain()
            if not keep:
                return

    async def _read(self, reader: asyncio.StreamReader) -> ScriptedRequest | None:
        line = await reader.readline()
        if not line.strip():
            return None
        method, path, _ = line.decode("latin-1").split(" ", 2)
        headers: dict[str, str] = {}
        while (line := await reader.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        length = int(headers.get("content-length", 0))
        if headers.get("transfer-encoding", "").lower() == "chunked":
            raw = await _chunked(reader)
        else:
            raw = await reader.readexactly(min(length, _LONGEST_BODY))
        key = headers.pop("authorization", "").removeprefix("Bearer ").strip()
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        return ScriptedRequest(
            number=0,
            method=method,
            path=path.split("?")[0],
            headers=headers,
            has_key=bool(key),
            key_sha256=hashlib.sha256(key.encode()).hexdigest() if key else None,
            body=body,
            at=time.monotonic() - self._started,
            key=key,
        )

    def _record(self, request: ScriptedRequest) -> tuple[ScriptedRequest, ScriptedReply | Fault | None]:
        """Number and log a request, and choose what it gets: None is anything but a chat."""
        from dataclasses import replace

        with self._lock:
            request = replace(request, number=len(self._log))
            answer: ScriptedReply | Fault | None = None
            outcome = "models" if request.path.endswith("/models") else "error"
            if request.path.endswith("/chat/completions") and isinstance(request.body, dict):
                wrong = self._key is not None and request.key != self._key
                answer = Fault("wrong_key") if wrong else self._chooser.choose(replace(request, key=""))
                outcome = answer.kind if isinstance(answer, Fault) else "reply"
            self._log.append((replace(request, key=""), outcome))
            return request, answer

    async def _answer(self, request: ScriptedRequest, writer: asyncio.StreamWriter) -> bool:
        request, answer = self._record(request)
        if answer is None:
            self._other(request, writer)
            return True
        await asyncio.sleep(self._latency_s + answer.latency_s)
        if isinstance(answer, ScriptedReply):
            await self._reply(request, answer, writer)
            return True
        return await self._fault(request, answer, writer)

    def _other(self, request: ScriptedRequest, writer: asyncio.StreamWriter) -> None:
        if request.path.endswith("/models"):
            rows = [
                {"id": name, "object": "model", "created": 0, "owned_by": "script"} for name in self._models
            ]
            _send(writer, 200, {"object": "list", "data": rows})
        elif request.path.endswith("/chat/completions"):
            _send(writer, 400, _error("the body of a chat must be a JSON object", "invalid_request_error"))
        else:
            _send(writer, 404, _error(f"there is nothing at {request.path}", "not_found_error"))

    async def _reply(
        self, request: ScriptedRequest, reply: ScriptedReply, writer: asyncio.StreamWriter
    ) -> None:
        if not request.body.get("stream"):
            _send(writer, 200, completion(reply, request))
            return
        events = [json.dumps(event) for event in chunks(reply, request)]
        data = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()
        _head(writer, 200, {"content-type": "text/event-stream", "content-length": str(len(data))})
        for at in range(0, len(data), 4_096):
            writer.write(data[at : at + 4_096])
            await writer.drain()

    async def _fault(self, request: ScriptedRequest, fault: Fault, writer: asyncio.StreamWriter) -> bool:
        """Do the fault; whether the connection may be used again."""
        status = {
            "rate_limit": 429,
            "server_error": 500,
            "wrong_key": 401,
            "not_found": 404,
            "bad_request": 400,
        }
        message = f"{fault.kind.replace('_', ' ')}, by the script"
        if fault.kind in status:
            if fault.kind == "wrong_key":
                message = f"Incorrect API key provided: {request.key}. Authorization: Bearer {request.key}"
            extra = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
            _send(writer, status[fault.kind], _error(message, fault.kind), extra)
            return True
        good = ScriptedReply(text="<!doctype html><html lang=en><title>A page</title><p>Some text</p></html>")
        odd = {
            "empty": ScriptedReply(text=""),
            "null": ScriptedReply(text=None),
            "content_filter": ScriptedReply(text=None, finish_reason="content_filter"),
            "length": ScriptedReply(text="<!doctype html><html><body><p>Some te", finish_reason="length"),
            "refusal": ScriptedReply(text=None, refusal="I will not write this page."),
        }
        if fault.kind in odd:
            await self._reply(request, odd[fault.kind], writer)
            return True
        body = json.dumps(completion(good, request)).encode()
        if fault.kind == "invalid_json":
            _send(writer, 200, b'{"id": "chatcmpl-1", "choices": [{"index": 0, ')
        elif fault.kind == "wrong_shape":
            _send(writer, 200, {"ok": True, "result": ["not", "a", "completion"]})
        elif fault.kind == "truncated_body":
            _head(writer, 200, {"content-type": "application/json", "content-length": str(len(body))})
            writer.write(body[: len(body) // 2])
            await writer.drain()
        elif fault.kind == "drip":
            _head(writer, 200, {"content-type": "application/json", "content-length": str(10**6)})
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(self._drip_s)
        elif fault.kind == "stall":
            await asyncio.Event().wait()
        elif fault.kind == "reset":
            # With a linger time of 0 the kernel sends RST instead of FIN.
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return fault.kind in ("invalid_json", "wrong_shape")


async def _chunked(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)


def _error(message: str, kind: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: dict[str, Any] | bytes,
    extra: dict[str, str] | None = None,
) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    _head(
        writer,
        status,
        {"content-type": "application/json", "content-length": str(len(data)), **(extra or {})},
    )
    writer.write(data)


def _head(writer: asyncio.StreamWriter, status: int, headers: dict[str, str]) -> None:
    lines = [
        f"HTTP/1.1 {status} {_REASONS[status]}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
