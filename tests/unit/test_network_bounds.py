"""What a page cannot do to its gate, or the gate to others: garbage, floods, slowness, closing in flight."""

import asyncio
import contextlib
import logging
import socket
import time

import pytest

from opendesign.rendering.network import Limits, PageNetwork, Request
from tests.unit.network_support import (
    DOCUMENT,
    answer,
    client,
    comes_true,
    get,
    network,
    outside,
    page,
)

GARBAGE = [
    b"\x00\x01\x02\x03\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET / HTTP/1.1\r\nHost: page.localhost\r\n\r\n",
    b"GET http://page.localhost/ HTTP/x.y\r\nHost: a\r\n\r\n",
    b"GET http://user:pw@cdn.test/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://page.localhost/ HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"POST http://page.localhost/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET http://page.localhost/ HTTP/1.1\r\nHost: a\r\nBad\x00: 1\r\n\r\n",
    b"GET http://page.localhost/" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://page.localhost/ HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
    b"CONNECT cdn.test HTTP/1.1\r\nHost: a\r\n\r\n",
    b"CONNECT cdn.test:99999 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"CONNECT :443 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST http://page.localhost/ HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 1_500_000,
    b"\r\n\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


@pytest.mark.parametrize("raw", GARBAGE, ids=range(len(GARBAGE)))
async def test_garbage_ends_in_an_error_or_nothing_and_hurts_nobody(
    raw: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with outside() as world, page(world) as gate:
        async with client(gate) as one:
            try:
                await one.send(raw)
                one.writer.write_eof()
                got = await asyncio.wait_for(one.reader.read(), 5)
                assert got == b"" or got.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5"))
            except ConnectionError:
                pass
        assert (await get(gate, gate.url)).body == DOCUMENT
        assert world.connected == []
    assert caplog.records == []


async def test_slow_and_silent_connections_are_ended() -> None:
    async with outside() as world, page(world, limits=Limits(idle_s=1.0, request_s=1.0)) as gate:
        async with (
            client(gate) as silent,
            client(gate) as slow,
            client(gate) as tunnel,
            client(gate) as shake,
        ):
            await slow.send(b"GET http://page.localhost/ HTTP/1.1\r\nHost: a\r\nX-")
            await tunnel.tunnel("cdn.test:443", tls=False)
            await shake.tunnel("cdn.test:443", tls=False)
            await shake.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            for one in (silent, slow, tunnel, shake):
                assert await one.at_end()
        assert gate.requests == ()


async def test_a_trickle_does_not_stretch_the_time_for_a_request() -> None:
    async with outside() as world, page(world, limits=Limits(request_s=0.3)) as gate, client(gate) as one:
        start = asyncio.get_running_loop().time()
        await one.send(b"GET http://page.localhost/ HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionError):
            while not one.reader.at_eof():
                await one.send(b"X: y\r\n")
                await asyncio.sleep(0.05)
        assert asyncio.get_running_loop().time() - start < 8


async def test_an_answer_that_nobody_reads_is_given_up() -> None:
    async with outside() as world, network(world, limits=Limits(send_s=0.3)) as net:
        gate = await net.gate(b"x" * 30_000_000)
        async with client(gate) as one:
            one.writer.transport.pause_reading()  # type: ignore[attr-defined]
            await one.send(b"GET http://page.localhost/ HTTP/1.1\r\nHost: a\r\n\r\n")
            assert await comes_true(lambda: bool(gate._tasks))
            assert await comes_true(lambda: not gate._tasks)


async def test_connections_are_bounded() -> None:
    async with outside() as world, page(world, limits=Limits(connections=3)) as gate:
        async with client(gate) as a, client(gate) as b, client(gate) as c:
            for one in (a, b, c):
                assert (await one.ask(gate.url)).status == 200
            async with client(gate) as fourth:
                assert await fourth.at_end()
        assert await comes_true(lambda: not gate._tasks)
        assert (await get(gate, gate.url)).status == 200


async def test_a_flood_is_slowed_and_its_record_bounded() -> None:
    limits = Limits(requests=30, records=20, slow_s=0.01)
    async with outside() as world, page(world, limits=limits) as gate, client(gate) as one:
        for number in range(40):
            await one.ask(f"http://evil.test/{number}", sec_fetch_dest="empty")
        assert len(gate.requests) == 20
        assert gate.dropped == 20
        assert (await one.ask("http://evil.test/0", sec_fetch_dest="image")).status == 403


async def test_closing_ends_what_is_in_flight_and_can_be_repeated() -> None:
    async with outside() as world, page(world) as gate:
        reached = asyncio.Event()

        async def never(path: str, writer: asyncio.StreamWriter) -> None:
            reached.set()
            await asyncio.sleep(60)

        world.scripts["/never"] = never
        async with client(gate) as idle, client(gate) as waiting, client(gate) as half:
            await half.send(b"GET http://")
            await waiting.tunnel("cdn.test:443")
            await waiting.send(b"GET /never HTTP/1.1\r\nHost: a\r\nSec-Fetch-Dest: font\r\n\r\n")
            await asyncio.wait_for(reached.wait(), 5)
            assert gate.busy == 1
            start = asyncio.get_running_loop().time()
            await asyncio.gather(gate.close(), gate.close())
            await gate.close()
            assert asyncio.get_running_loop().time() - start < 8
            for one in (idle, waiting, half):
                assert await one.at_end()
        assert gate.busy == 0
        (request,) = gate.requests
        assert (request.kind, request.outcome, request.reason) == ("font", "failed", "unfinished")
        with pytest.raises(ConnectionError):
            await get(gate, gate.url)


async def test_connections_that_arrive_while_closing_are_ended() -> None:
    async with outside() as world, network(world) as net:
        for _ in range(20):
            gate = await net.gate(DOCUMENT)
            port = int(gate.proxy.rsplit(":", 1)[1])
            arriving = [asyncio.create_task(asyncio.open_connection("127.0.0.1", port)) for _ in range(5)]
            await asyncio.sleep(0)
            await gate.close()
            for done in await asyncio.gather(*arriving, return_exceptions=True):
                if isinstance(done, tuple):
                    done[1].transport.abort()


async def test_leaving_the_network_closes_its_gates() -> None:
    async with outside() as world:
        async with network(world) as net:
            gate = await net.gate(DOCUMENT)
        with pytest.raises(ConnectionError):
            await get(gate, gate.url)


async def test_many_pages_at_once() -> None:
    async with outside() as world, network(world) as net:
        for number in range(10):
            world.pages[f"/{number}"] = answer(str(number).encode() * 50_000)

        async def visit() -> list[Request]:
            gate = await net.gate(DOCUMENT)
            got = await asyncio.gather(*(get(gate, f"https://cdn.test/{number}") for number in range(10)))
            assert [one.body[:1] for one in got] == [str(number).encode() for number in range(10)]
            await gate.close()
            return list(gate.requests)

        first, *rest = await asyncio.gather(*(visit() for _ in range(8)))
        assert len(first) == 10
        assert all(one == first for one in rest)
        assert len(world.heads) == 10


async def test_a_page_without_requests_costs_its_gate_next_to_nothing() -> None:
    async with PageNetwork(policy="offline") as net:
        before = time.process_time()
        for _ in range(200):
            await (await net.gate(DOCUMENT)).close()
        assert (time.process_time() - before) / 200 < 0.001  # seconds of CPU


async def test_handshakes_do_not_wait_for_acknowledgements() -> None:
    async with outside() as world, page(world) as gate:
        assert gate._server is not None
        # asyncio sets TCP_NODELAY on a connection only where the listener's protocol is named.
        assert gate._server.sockets[0].proto == socket.IPPROTO_TCP
