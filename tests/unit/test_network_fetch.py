"""Fetching from outside: bounds, failures, the cache, and the real client over real TLS."""

import asyncio
import datetime
import gzip
import hashlib
import json
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest

from opendesign.errors import UsageError
from opendesign.rendering.network import Gate, Limits, PageNetwork, environment_proxy, upstream
from opendesign.rendering.network.outer_proxy import OuterProxy
from opendesign.rendering.network.resolver import resolve
from tests.unit.network_support import (
    DOCUMENT,
    PUBLIC,
    Outside,
    answer,
    canary,
    comes_true,
    get,
    kept_files,
    listening,
    network,
    outside,
    page,
)

URL = "http://cdn.test/a.js"


async def fails(gate: Gate, url: str = URL) -> tuple[int, str, str]:
    """Status, outcome and reason of one request."""
    status = (await get(gate, url, sec_fetch_dest="script")).status
    (request,) = [one for one in gate.requests if one.url == url]
    assert request.digest is None
    return status, request.outcome, request.reason


async def test_an_answer_is_decoded_once_and_named_by_its_digest() -> None:
    async with outside() as world, page(world) as gate:
        world.pages["/a.js"] = answer(gzip.compress(b"plain text"), Content_Encoding="gzip")
        got = await get(gate, URL)
        assert (got.body, got.headers["content-length"]) == (b"plain text", "10")
        assert "content-encoding" not in got.headers
        assert gate.requests[0].digest == hashlib.sha256(b"plain text").hexdigest()


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (answer(b"x" * 2_000_000), "too_large"),
        (answer(gzip.compress(b"\0" * 20_000_000), Content_Encoding="gzip"), "too_large"),
        (answer(b"x", Content_Encoding="br"), "encoding"),
        (answer(b"not gzip", Content_Encoding="gzip"), "broken_answer"),
        (answer(gzip.compress(b"cut" * 999)[:-9], Content_Encoding="gzip"), "broken_answer"),
        (answer(b"short", Content_Length="99"), "broken_answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "broken_answer"),
        (b"SSH-2.0-nothing\r\n\r\n", "broken_answer"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"\r\n", "broken_answer"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "broken_answer"),
        (b"", "broken_answer"),
    ],
)
async def test_answers_that_are_no_good(raw: bytes, reason: str) -> None:
    async with outside() as world, page(world, limits=Limits(answer_bytes=1_000_000)) as gate:
        world.pages["/a.js"] = raw
        assert await fails(gate) == (502, "failed", reason)


async def test_one_page_cannot_fetch_without_end() -> None:
    async with outside() as world, page(world, limits=Limits(page_bytes=1_000)) as gate:
        for name in "abc":
            world.pages[f"/{name}"] = answer(b"x" * 800)
        assert [(await get(gate, f"http://cdn.test/{name}")).status for name in "abc"] == [200, 200, 502]
        assert gate.requests[-1].reason == "page_too_large"


async def test_an_error_of_the_server_is_passed_on_and_asked_once_for_all_pages() -> None:
    async with outside() as world, network(world) as net:
        for status in ("404 Not Found", "503 Busy"):
            world.heads.clear()
            world.pages["/a.js"] = answer(b"sorry", status=status)
            code = int(status[:3])
            url = f"{URL}?{code}"
            world.pages[f"/a.js?{code}"] = world.pages["/a.js"]
            for _ in range(2):
                gate = await net.gate(DOCUMENT)
                assert await fails(gate, url) == (code, "failed", f"upstream_{code}")
            assert len(world.heads) == 1


async def test_a_slow_answer_is_given_up_after_its_time() -> None:
    async with outside() as world, page(world, limits=Limits(answer_s=0.3)) as gate:

        async def drip(path: str, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while True:
                writer.write(b"x")
                await asyncio.sleep(0.05)

        world.scripts["/a.js"] = drip
        start = asyncio.get_running_loop().time()
        assert await fails(gate) == (502, "failed", "timeout")
        assert asyncio.get_running_loop().time() - start < 8


async def test_an_unreachable_host_costs_its_time_once() -> None:
    tries = 0

    async def nowhere(address: str, port: int, name: str | None) -> Any:
        nonlocal tries
        tries += 1
        await asyncio.sleep(60)

    async with outside() as world, network(world, connect=nowhere, limits=Limits(connect_s=0.2)) as net:
        for number in range(5):
            gate = await net.gate(DOCUMENT)
            assert await fails(gate, f"{URL}?{number}") == (502, "failed", "unreachable")
        assert tries == 1


@pytest.mark.parametrize(("forget_s", "status"), [(600.0, 502), (0.0, 200)])
async def test_an_unreachable_host_is_tried_again_later(forget_s: float, status: int) -> None:
    async with outside() as world, page(world, limits=Limits(forget_s=forget_s)) as gate:
        world.pages["/a.js"] = answer(b"a")
        del world.names["cdn.test"]
        assert await fails(gate) == (502, "failed", "unreachable")
        world.names["cdn.test"] = [PUBLIC]
        assert (await get(gate, URL)).status == status


async def test_a_second_address_is_tried_when_the_first_does_not_answer() -> None:
    async with outside(cdn_test=["2606:4700::1", PUBLIC]) as world:

        async def no_ipv6(address: str, port: int, name: str | None) -> Any:
            if ":" in address:
                raise OSError("no route")
            return await world.connect(address, port, name)

        async with page(world, connect=no_ipv6) as gate:
            world.pages["/a.js"] = answer(b"a")
            assert (await get(gate, URL)).status == 200


async def test_equal_requests_at_once_are_one() -> None:
    async with outside() as world, network(world) as net:
        release = asyncio.Event()

        async def slow(path: str, writer: asyncio.StreamWriter) -> None:
            await release.wait()
            writer.write(answer(b"slow"))

        world.scripts["/a.js"] = slow
        gates = [await net.gate(DOCUMENT) for _ in range(6)]
        asking = [asyncio.create_task(get(gate, URL)) for gate in gates]
        assert await comes_true(lambda: all(gate.busy for gate in gates) and bool(world.heads))
        await gates[0].close()  # the page that asked first goes away; the others get their answer
        with pytest.raises((EOFError, OSError)):
            await asking[0]
        release.set()
        assert [(await one).body for one in asking[1:]] == [b"slow"] * 5
        assert len(world.heads) == 1


async def test_the_cache_outlives_the_network_and_the_record_does_not_tell(tmp_path: Path) -> None:
    records = []
    async with outside() as world:
        world.pages["/a.js"] = answer(b"first", Content_Type="text/javascript")
        for expected in (0, 1):
            async with page(world, cache=tmp_path) as gate:
                got = await get(gate, URL, sec_fetch_dest="script")
                assert (got.body, got.headers["content-type"]) == (b"first", "text/javascript")
                assert gate.from_cache == expected
                records.append(gate.requests)
            world.pages["/a.js"] = answer(b"second")
        assert len(world.heads) == 1
        assert records[0] == records[1]
        async with page(world, policy="offline", cache=tmp_path) as gate:
            assert (await get(gate, URL)).body == b"first"
            # What the host list does not name is not answered from the cache either.
        async with page(world, policy="offline", cache=tmp_path, hosts=()) as gate:
            assert (await get(gate, URL)).status == 403
        assert [path.name for path in kept_files(tmp_path, "") if path.name.startswith(".new-")] == []


async def test_offline_asks_nobody() -> None:
    async with outside() as world, page(world, policy="offline") as gate:
        assert await fails(gate) == (403, "refused", "offline")
        got = await get(gate, "http://cdn.test/64x32.png", accept="image/*")
        assert b'width="64" height="32"' in got.body
        assert world.connected == []


@pytest.mark.parametrize("damage", ["body", "no_body", "index", "index_fields", "other_url"])
async def test_a_damaged_cache_entry_is_fetched_again_and_mended(tmp_path: Path, damage: str) -> None:
    async with outside() as world:
        world.pages["/a.js"] = answer(b"right")
        async with page(world, cache=tmp_path) as gate:
            await get(gate, URL)
        (index,), (body,) = kept_files(tmp_path, "index"), kept_files(tmp_path, "bodies")
        if damage == "body":
            body.write_bytes(b"wrong")
        elif damage == "no_body":
            body.unlink()
        elif damage == "index":
            index.write_bytes(b"{\xff")
        elif damage == "index_fields":
            index.write_text("[1, 2]")
        else:
            index.write_text(json.dumps(json.loads(index.read_text()) | {"url": "http://else.test/"}))
        for _ in range(2):
            async with page(world, cache=tmp_path) as gate:
                assert (await get(gate, URL)).body == b"right"
        assert len(world.heads) == 2


async def test_failures_are_never_kept_on_disk(tmp_path: Path) -> None:
    async with outside() as world, page(world, cache=tmp_path) as gate:
        await get(gate, "http://cdn.test/missing")
        await get(gate, "http://a.kids.test/unknown")
        assert kept_files(tmp_path, "index") == []


async def test_a_cache_that_cannot_be_written_costs_the_cache_not_the_page(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    async with outside() as world, page(world, cache=tmp_path / "file") as gate:
        for name in "ab":
            world.pages[f"/{name}"] = answer(b"x")
            assert (await get(gate, f"http://cdn.test/{name}")).status == 200
    assert len(caplog.records) == 1


async def test_memory_in_front_of_the_cache_is_bounded(tmp_path: Path) -> None:
    async with outside() as world, network(world, cache=tmp_path, limits=Limits(memory_bytes=1_000)) as net:
        gate = await net.gate(DOCUMENT)
        for number in range(20):
            world.pages[f"/{number}"] = answer(b"x" * 200)
            await get(gate, f"http://cdn.test/{number}")
        assert net._cache._size <= 1_000
        await get(gate, "http://cdn.test/0")  # from disk
        assert len(world.heads) == 20


async def test_pictures_are_kept_by_what_the_browser_accepts() -> None:
    async with outside() as world, page(world) as gate:
        world.pages["/x"] = answer(b"x")
        for destination in ("image", "script", "image", "script"):
            await get(gate, "http://cdn.test/x", sec_fetch_dest=destination)
        assert len(world.heads) == 2


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's TLS context for ``cdn.test``, whose authority is trusted for this test."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("cdn.test")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "pair.pem"
    public = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + public)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    client = ssl.create_default_context(cadata=public.decode())
    for module in ("upstream", "outer_proxy"):
        monkeypatch.setattr(f"opendesign.rendering.network.{module}.trusted", lambda: client)
    return server


async def test_the_real_client_checks_the_certificate_against_the_name(authority: ssl.SSLContext) -> None:
    world = Outside(names={"cdn.test": [PUBLIC], "a.kids.test": [PUBLIC]})
    world.pages["/a.js"] = answer(b"secure")
    async with listening(world.serve, ssl=authority) as port:

        async def local(address: str, _: int, name: str | None) -> Any:
            return await upstream.connect("127.0.0.1", port, name)

        async with network(world, connect=local) as net:
            gate = await net.gate(DOCUMENT)
            assert (await get(gate, "https://cdn.test/a.js")).body == b"secure"
            assert await fails(gate, "https://a.kids.test/a.js") == (502, "failed", "bad_certificate")
        assert len(world.heads) == 1


async def test_the_real_resolver_and_client() -> None:
    assert await resolve("127.0.0.1", 80) == ["127.0.0.1"]
    with pytest.raises(OSError, match=r"."):
        await resolve("no-such-name.invalid", 80)
    async with outside() as world:
        world.pages["/"] = answer(b"real")
        reader, writer = await upstream.connect("127.0.0.1", world.port, None)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert (await reader.read()).endswith(b"real")
        writer.close()
        await writer.wait_closed()


async def test_a_resolver_without_an_answer_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = threading.Event()

    def getaddrinfo(host: str, *_: Any, **__: Any) -> Any:
        stuck.wait(20)
        raise OSError("at last")

    monkeypatch.setattr("opendesign.rendering.network.resolver.socket.getaddrinfo", getaddrinfo)
    hosts = tuple(f"h{number}.test" for number in range(12))
    limits = Limits(connect_s=0.2)
    async with outside() as world, page(world, resolve=resolve, limits=limits, hosts=hosts) as gate:
        got = await asyncio.gather(*(get(gate, f"http://{host}/") for host in hosts))
        assert {one.status for one in got} == {502}
        assert await asyncio.wait_for(asyncio.to_thread(lambda: 1), 5) == 1
        assert {one.reason for one in gate.requests} == {"unreachable"}
        stuck.set()


async def test_a_proxy_of_the_users_network_is_asked_for_named_hosts(authority: ssl.SSLContext) -> None:
    world = Outside(pages={"/a.js": answer(b"through")})
    tunnels: list[bytes] = []
    async with listening(world.serve, ssl=authority) as port:

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tunnels.append(await reader.readuntil(b"\r\n\r\n"))
            if b"a.kids.test" in tunnels[-1]:
                writer.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
                return
            there, back = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(pump(reader, back), pump(there, writer))

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65_536):
                sink.write(data)
            sink.close()

        async with (
            listening(proxy) as proxy_port,
            canary() as (canary_port, visits),
            network(world, outer_proxy=f"http://me:p%40ss@127.0.0.1:{proxy_port}") as net,
        ):
            gate = await net.gate(DOCUMENT)
            assert (await get(gate, "https://cdn.test/a.js")).body == b"through"
            assert tunnels[0].startswith(b"CONNECT cdn.test:443 HTTP/1.1\r\n")
            assert b"Basic bWU6cEBzcw==" in tunnels[0]
            assert await fails(gate, "https://a.kids.test/x") == (502, "failed", "unreachable")
            for url in ("https://evil.test/", f"http://localhost:{canary_port}/", "http://10.0.0.1/"):
                assert (await get(gate, url)).status == 403
            assert len(tunnels) == 2
            assert visits == []


async def test_the_users_proxy_is_not_used_where_addresses_must_be_checked() -> None:
    async with canary() as (port, visits), outside() as world:
        async with page(world, policy="open", outer_proxy=f"http://127.0.0.1:{port}") as gate:
            world.pages["/a.js"] = answer(b"direct")
            assert (await get(gate, URL)).body == b"direct"
        assert visits == []


@pytest.mark.parametrize("url", ["socks5://a:1", "https://user:hush@a", "http://", "http://a:hush"])
def test_a_malformed_proxy_is_a_usage_error_without_its_password(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        OuterProxy.parse(url)
    assert "hush" not in str(caught.value)


def test_the_environment_names_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:3128")
    monkeypatch.delenv("https_proxy", raising=False)
    assert environment_proxy() == "http://proxy.test:3128"


def test_a_network_can_be_described_before_a_loop_runs() -> None:
    PageNetwork(policy="offline")
    with pytest.raises(UsageError):
        PageNetwork(policy="allowlist", hosts=("https://cdn.test/",))
