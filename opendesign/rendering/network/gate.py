"""The one way out of a page: an HTTP proxy of its own on a loopback port.

The browser sends everything here, whatever the page tries: ordinary requests, tunnels for HTTPS and
WebSockets, loopback and private addresses. What arrives at this port belongs to this page. Tunnels end here,
so that the request inside is read and decided like any other; none leads anywhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from typing import TYPE_CHECKING

import h11

from opendesign.rendering.network.answers import NOTHING, Answer, Asked, respond
from opendesign.rendering.network.channel import Channel, Plain, Secure
from opendesign.rendering.network.policy import Target, parse_authority, parse_url
from opendesign.rendering.network.records import Kind, Outcome, Records, Request, capped

if TYPE_CHECKING:
    from opendesign.rendering.network.network import PageNetwork

_log = logging.getLogger(__name__)

URL = "http://page.localhost/"


class Gate:
    """The network of one page. ``proxy`` is what its browser context is given, ``url`` where the page is.

    The address is the same for every page, so that equal pages are equal in everything they can see of it.
    ``requests`` are final after ``close``. ``from_cache`` counts those that the cache answered, ``dropped``
    those that were not kept; both vary between equal runs. ``asked`` counts all that arrived, ``busy`` those
    being answered now: when neither changes, the page's network is at rest.
    """

    url = URL

    def __init__(self, network: PageNetwork, document: bytes) -> None:
        self.network, self.document = network, document
        self.proxy = ""
        self.from_cache = 0
        self.busy = 0
        self.asked = 0
        self.received_bytes = 0
        self._records = Records(network.limits.records)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def requests(self) -> tuple[Request, ...]:
        return self._records.sorted()

    @property
    def dropped(self) -> int:
        return self._records.dropped

    async def open(self) -> None:
        """Starts to listen; ``PageNetwork.gate`` has done so."""
        # The protocol is named because asyncio switches off Nagle's delay (40 ms a handshake) only then.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.bind(("127.0.0.1", 0))
            self._server = await asyncio.start_server(self._accept, sock=listener, backlog=128)
        except BaseException:
            listener.close()
            raise
        self.proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"

    async def close(self) -> None:
        """Ends every connection of the page at once. Can be called again."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports close their sockets one turn after they are aborted
        self.network.forget(self)

    def record(
        self,
        url: str,
        kind: Kind,
        outcome: Outcome,
        reason: str = "",
        *,
        digest: str | None = None,
        size: int = 0,
    ) -> None:
        """Keeps what became of one request."""
        self._records.add(
            Request(url=capped(url), kind=kind, outcome=outcome, reason=reason, digest=digest, bytes=size)
        )

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None or len(self._tasks) >= self.network.limits.connections:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Also for a task that was cancelled before its first step.
        task.add_done_callback(lambda _: writer.transport.abort())

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(Plain(reader, writer), None)
        except (OSError, TimeoutError):
            pass  # the browser, or whoever it was, went away or was too slow
        except Exception:
            # A fault of ours ends one connection, never the run, and is seen.
            _log.exception("A request of a page could not be handled")
        finally:
            writer.transport.abort()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve(self, channel: Channel, inside: Target | None) -> None:
        """Requests of one connection, one after the other; ``inside`` is where a tunnel was to lead."""
        http = h11.Connection(h11.SERVER, max_incomplete_event_size=self.network.limits.head_bytes)
        while True:
            try:
                asked = await self._receive(http, channel, inside)
            except h11.RemoteProtocolError as error:
                self.record(
                    inside.url if inside else "", "connect" if inside else "other", "refused", "bad_request"
                )
                await self._send(http, channel, Answer(error.error_status_hint, close=True), "GET")
                return
            if asked is None:
                return
            if asked.method == "CONNECT":
                if inside is None and isinstance(channel, Plain):
                    await self._tunnel(http, channel, asked)
                return
            self.busy += 1
            try:
                answer = await respond(self, asked)
            finally:
                self.busy -= 1
            await self._send(http, channel, answer, asked.method)
            if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
                return
            http.start_next_cycle()

    async def _receive(self, http: h11.Connection, channel: Channel, inside: Target | None) -> Asked | None:
        limits = self.network.limits
        request: h11.Request | None = None
        body = bytearray()
        async with asyncio.timeout(limits.idle_s) as patience:
            begun = False
            while True:
                event = http.next_event()
                if event is h11.NEED_DATA:
                    data = await channel.read()
                    if not data:
                        return None
                    if not begun:
                        begun = True
                        patience.reschedule(asyncio.get_running_loop().time() + limits.request_s)
                    http.receive_data(data)
                elif isinstance(event, h11.Request):
                    request = event
                elif isinstance(event, h11.Data):
                    body += event.data
                    if request is not None and len(body) > limits.body_bytes:
                        return _asked(request, bytes(body), inside)
                elif isinstance(event, h11.EndOfMessage) and request is not None:
                    return _asked(request, bytes(body), inside)
                else:
                    return None

    async def _tunnel(self, http: h11.Connection, channel: Plain, asked: Asked) -> None:
        """Says yes to any tunnel, and reads in it where it would have led and what for."""
        target = asked.target
        if target is None:
            self.record("", "connect", "refused", "bad_request")
            await self._send(http, channel, Answer(400, close=True), "GET")
            return
        await channel.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        channel.keep(http.trailing_data[0])
        async with asyncio.timeout(self.network.limits.idle_s):
            first = await channel.read()
        channel.keep(first)
        if first[:1] == b"\x16":  # a TLS handshake record
            await self._serve(Secure(channel, self.network.certificate), target)
        elif first[:1].isalpha():
            plain = Target("http", target.host, target.port, "/")
            await self._serve(channel, plain)
        elif first:
            self.record(target.url, "connect", "refused", "not_http")

    async def _send(self, http: h11.Connection, channel: Channel, answer: Answer, method: str) -> None:
        headers = list(answer.headers)
        if answer.status not in NOTHING:
            headers.append(("Content-Length", str(len(answer.body))))
        if answer.close:
            headers.append(("Connection", "close"))
        try:
            data = http.send(h11.Response(status_code=answer.status, headers=headers)) or b""
            if method != "HEAD" and answer.body and answer.status not in NOTHING:
                data += http.send(h11.Data(data=answer.body)) or b""
            data += http.send(h11.EndOfMessage()) or b""
        except h11.LocalProtocolError:
            return  # nothing can be said any more on this connection
        async with asyncio.timeout(self.network.limits.send_s):
            await channel.write(data)


def _asked(request: h11.Request, body: bytes, inside: Target | None) -> Asked:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers}
    method, line = request.method.decode("ascii"), request.target.decode("ascii", "replace")
    target: Target | None = None
    if method == "CONNECT":
        place = parse_authority(line)
        target = Target("https", *place, "/") if place else None
    elif inside is None:
        target = parse_url(line)
    elif line.startswith("/"):
        # The Host header is not asked: the tunnel says where it leads.
        target = Target(inside.scheme, inside.host, inside.port, line.split("#", 1)[0])
    return Asked(method, target, headers, body, tunnelled=inside is not None)
