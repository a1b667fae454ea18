"""A scripted outside world and raw clients for the tests of the page network."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opendesign.rendering.network import Gate, PageNetwork
from opendesign.rendering.network.channel import throwaway_context

PUBLIC = "93.184.215.14"
DOCUMENT = "<!doctype html><title>Straße</title>".encode()
Script = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Outside:
    """An HTTP server that stands for every public host; ``names`` maps hosts to what they resolve to."""

    pages: dict[str, bytes] = field(default_factory=dict)  # path -> raw answer
    scripts: dict[str, Script] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)  # of every request that arrived
    bodies: list[bytes] = field(default_factory=list)
    connected: list[tuple[str, int, str | None]] = field(default_factory=list)
    port: int = 0

    @property
    def paths(self) -> list[str]:
        return [head.split(" ", 2)[1] for head in self.heads]

    async def resolve(self, host: str, port: int) -> list[str]:
        if host not in self.names:
            raise OSError("no such host")
        return self.names[host]

    async def connect(
        self, address: str, port: int, server_name: str | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.connected.append((address, port, server_name))
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            fields = fields_of(head)
            self.bodies.append(await reader.readexactly(int(fields.get("content-length", 0))))
            path = head.split(" ", 2)[1]
            if path in self.scripts:
                await self.scripts[path](path, writer)
            else:
                writer.write(self.pages.get(path, answer(b"none", status="404 Not Found")))
                await writer.drain()
        except (OSError, EOFError):
            pass
        finally:
            writer.close()


def answer(body: bytes, *, status: str = "200 OK", **headers: str) -> bytes:
    fields = {"Content-Type": "text/plain", "Content-Length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items() if value), "", ""]
    return "\r\n".join(lines).encode() + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return answer(b"", status=status, Location=location)


def fields_of(head: str) -> dict[str, str]:
    lines = (line.partition(":") for line in head.split("\r\n")[1:] if line)
    return {name.lower(): value.strip() for name, _, value in lines}


@contextlib.asynccontextmanager
async def outside(**names: str | list[str]) -> AsyncIterator[Outside]:
    """The outside world; ``cdn_test=PUBLIC`` makes ``cdn.test`` known."""
    world = Outside()
    for name, value in ({"cdn_test": PUBLIC} | names).items():
        world.names[name.replace("_", ".")] = [value] if isinstance(value, str) else value
    async with listening(world.serve) as port:
        world.port = port
        yield world


@contextlib.asynccontextmanager
async def listening(serve: Any, host: str = "127.0.0.1", port: int = 0, **options: Any) -> AsyncIterator[int]:
    """A server on a loopback port; every connection's task has ended afterwards."""
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(lambda _: writer.transport.abort())

    server = await asyncio.start_server(accept, host, port, **options)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def canary() -> AsyncIterator[tuple[int, list[object]]]:
    """A loopback server, on IPv4 and IPv6, and the list of whoever connected to it."""
    visits: list[object] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(writer.get_extra_info("peername"))

    async with contextlib.AsyncExitStack() as stack:
        port = await stack.enter_async_context(listening(serve))
        if socket.has_ipv6:
            with contextlib.suppress(OSError):
                await stack.enter_async_context(listening(serve, host="::1", port=port))
        yield port, visits


def network(world: Outside, **options: Any) -> PageNetwork:
    """A page network in that world that allows ``cdn.test``."""
    chosen: dict[str, Any] = {
        "policy": "allowlist",
        "hosts": ("cdn.test", "*.kids.test"),
        "resolve": world.resolve,
        "connect": world.connect,
    } | options
    made = PageNetwork(**chosen)
    made.__dict__["certificate"] = certificate()  # one for all tests; making it takes a while
    return made


certificate = functools.cache(throwaway_context)


@functools.cache
def trusting() -> ssl.SSLContext:
    """TLS that accepts any certificate, as the browser does from its proxy."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@contextlib.asynccontextmanager
async def page(world: Outside, **options: Any) -> AsyncIterator[Gate]:
    async with network(world, **options) as net:
        yield await net.gate(DOCUMENT)


@dataclass(frozen=True)
class Got:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """A browser's connection to its proxy, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, raw: bytes) -> None:
        self.writer.write(raw)
        await self.writer.drain()

    async def ask(self, line: str, method: str = "GET", body: bytes = b"", **headers: str) -> Got:
        """One request; ``sec_fetch_dest="image"`` is the header of that name."""
        fields = {"host": "ignored.test"} | {name.replace("_", "-"): text for name, text in headers.items()}
        if body:
            fields["Content-Length"] = str(len(body))
        lines = [f"{method} {line} HTTP/1.1", *(f"{name}: {text}" for name, text in fields.items()), "", ""]
        await self.send("\r\n".join(lines).encode() + body)
        return await self.receive(has_body=method not in ("HEAD", "CONNECT"))

    async def receive(self, *, has_body: bool = True) -> Got:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = fields_of(head)
        length = int(fields.get("content-length", 0)) if has_body else 0
        return Got(int(head.split(" ")[1]), fields, await self.reader.readexactly(length))

    async def tunnel(self, authority: str, *, tls: bool = True) -> None:
        got = await self.ask(authority, "CONNECT")
        assert got.status == 200
        if tls:
            await self.writer.start_tls(trusting(), server_hostname="cdn.test")

    async def at_end(self) -> bool:
        """Whether the other side closes without another byte."""
        try:
            return await asyncio.wait_for(self.reader.read(1), 5) == b""
        except ConnectionError:
            return True


@contextlib.asynccontextmanager
async def client(gate: Gate) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(gate.proxy.rsplit(":", 1)[1]))
    try:
        yield Client(reader, writer)
    finally:
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def get(gate: Gate, url: str, method: str = "GET", body: bytes = b"", **headers: str) -> Got:
    """One request on a connection of its own, as a browser would make it: through a tunnel for https."""
    async with client(gate) as one:
        if url.startswith("https://"):
            authority, _, path = url.removeprefix("https://").partition("/")
            host = authority if authority.rpartition(":")[2].isdigit() else f"{authority}:443"
            await one.tunnel(host)
            url = f"/{path}"
        return await one.ask(url, method, body, **headers)


async def comes_true(check: Callable[[], bool]) -> bool:
    """Whether it does within ten seconds, which a busy machine may need."""
    for _ in range(1_000):
        if check():
            return True
        await asyncio.sleep(0.01)
    return False


def kept_files(folder: Path, part: str) -> list[Path]:
    return sorted(path for path in (folder / part).rglob("*") if path.is_file())
