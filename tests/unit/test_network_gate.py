"""What a page can and cannot do, asked byte by byte of its gate."""

import asyncio

import pytest

from opendesign.rendering.network import Gate, Request
from tests.unit.network_support import (
    DOCUMENT,
    PUBLIC,
    answer,
    canary,
    client,
    get,
    network,
    outside,
    page,
)


def only(gate: Gate) -> Request:
    (request,) = gate.requests
    return request


async def test_the_page_is_served_at_its_own_origin_and_is_no_request() -> None:
    async with outside() as world, page(world) as gate:
        for url in (gate.url, gate.url + "?q=1"):
            got = await get(gate, url, sec_fetch_dest="document")
            assert got.status == 200
            assert got.body == DOCUMENT
            assert got.headers["content-type"] == "text/html; charset=utf-8"
        head = await get(gate, gate.url, "HEAD")
        assert head.headers["content-length"] == str(len(DOCUMENT))
        assert (await get(gate, gate.url + "favicon.ico")).status == 204
        assert gate.requests == ()
        assert world.heads == []


async def test_the_page_has_nothing_beside_itself() -> None:
    async with outside() as world, page(world) as gate:
        picture = await get(gate, gate.url + "hero.png", sec_fetch_dest="image")
        link = await get(gate, gate.url + "about.html", sec_fetch_dest="document")
        post = await get(gate, gate.url, "POST", b"a=b", sec_fetch_dest="document")
        assert (picture.status, link.status, post.status) == (404, 204, 204)
        assert [(one.url, one.kind, one.outcome, one.reason) for one in gate.requests] == [
            ("http://page.localhost/", "document", "refused", "method"),
            ("http://page.localhost/about.html", "document", "failed", "not_found"),
            ("http://page.localhost/hero.png", "image", "failed", "not_found"),
        ]


async def test_pages_are_apart() -> None:
    async with outside() as world, network(world) as net:
        one, other = await net.gate(b"one"), await net.gate(b"other")
        assert one.proxy != other.proxy
        assert (await get(one, one.url)).body == b"one"
        assert (await get(other, other.url)).body == b"other"
        await get(one, "https://cdn.test/missing")
        assert len(one.requests) == 1
        assert other.requests == ()


async def test_an_allowed_host_is_fetched_with_the_same_request_for_every_page() -> None:
    async with outside() as world, page(world) as gate:
        world.pages["/a.js?v=1"] = answer(
            b"run()",
            Content_Type="text/javascript",
            Set_Cookie="a=b",
            Strict_Transport_Security="max-age=1",
            Alt_Svc="h3",
            Link="</x>; rel=preload",
            Access_Control_Allow_Origin="https://other.test",
            X_Content_Type_Options="nosniff",
        )
        got = await get(
            gate,
            "https://cdn.test/a.js?v=1",
            cookie="secret=1",
            referer="http://page.localhost/",
            user_agent="mine",
            sec_fetch_dest="script",
            authorization="Basic x",
        )
        assert (got.status, got.body) == (200, b"run()")
        assert got.headers["content-type"] == "text/javascript"
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["access-control-allow-origin"] == "*"
        assert not {"set-cookie", "strict-transport-security", "alt-svc", "link"} & set(got.headers)
        assert world.connected == [(PUBLIC, 443, "cdn.test")]
        sent = world.heads[0].lower()
        assert "host: cdn.test\r\n" in sent
        assert "chrome/" in sent
        for word in ("cookie", "secret", "referer", "mine", "authorization", "localhost"):
            assert word not in sent
        served = only(gate)
        assert (served.url, served.kind, served.outcome, served.bytes) == (
            "https://cdn.test/a.js?v=1",
            "script",
            "served",
            5,
        )
        assert served.digest is not None


@pytest.mark.parametrize(
    ("destination", "kind"), [("script", "script"), ("style", "style"), ("font", "font"), ("empty", "fetch")]
)
async def test_a_host_that_is_not_allowed_is_refused_and_hears_nothing(destination: str, kind: str) -> None:
    async with outside(evil_test=PUBLIC) as world, page(world) as gate:
        for url in ("http://evil.test/x", "https://evil.test/x"):
            got = await get(gate, url, sec_fetch_dest=destination)
            assert (got.status, got.body) == (403, b"")
        assert world.connected == []
        assert {(one.kind, one.outcome, one.reason) for one in gate.requests} == {
            (kind, "refused", "not_allowed")
        }


async def test_a_picture_that_is_not_allowed_becomes_a_grey_one_of_its_size() -> None:
    async with outside(evil_test=PUBLIC) as world, page(world) as gate:
        for url in ("http://evil.test/640x480.png", "https://evil.test/640x480.png"):
            got = await get(gate, url, accept="image/avif,*/*")
            assert got.status == 200
            assert got.headers["content-type"] == "image/svg+xml"
            assert b'width="640" height="480"' in got.body
        assert {(one.outcome, one.reason) for one in gate.requests} == {("placeholder", "not_allowed")}
        assert world.connected == []


HERE = """
    127.0.0.1 localhost localhost. x.localhost page.localhost 127.1 2130706433 0x7f000001 0177.0.0.1 0
    [::1] [::ffff:127.0.0.1] [::]
"""


@pytest.mark.parametrize("host", HERE.split())
@pytest.mark.parametrize("policy", ["allowlist", "open"])
async def test_no_spelling_of_this_machine_reaches_it(host: str, policy: str) -> None:
    async with canary() as (port, visits), outside() as world:
        # Real name resolution and real connections: nothing stands between the gate and the canary.
        async with network(world, policy=policy, **real()) as net:
            gate = await net.gate(DOCUMENT)
            for destination in ("image", "script", "empty", "iframe"):
                assert (await get(gate, f"http://{host}:{port}/", sec_fetch_dest=destination)).status == 403
                assert (await get(gate, f"https://{host}:{port}/", sec_fetch_dest=destination)).status == 403
            assert (await get(gate, f"http://{host}:{port}/", "POST", b"x")).status == 403
            assert {one.outcome for one in gate.requests} == {"refused"}
            assert {one.reason for one in gate.requests} <= {"loopback", "private_address"}
        await asyncio.sleep(0.02)
        assert visits == []


def real() -> dict[str, object]:
    from opendesign.rendering.network.resolver import resolve
    from opendesign.rendering.network.upstream import connect

    return {"resolve": resolve, "connect": connect}


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "169.254.169.254",
        "10.0.0.7",
        "192.168.1.1",
        "100.64.0.1",
        "::1",
        "::ffff:127.0.0.1",
        "fd00::1",
    ],
)
@pytest.mark.parametrize("also", [[], [PUBLIC]])
async def test_a_name_that_leads_inside_is_refused_before_any_connection(
    address: str, also: list[str]
) -> None:
    async with outside(cdn_test=[*also, address]) as world, page(world) as gate:
        got = await get(gate, "https://cdn.test/a.js", sec_fetch_dest="script")
        assert got.status == 403
        assert world.connected == []
        assert (only(gate).outcome, only(gate).reason) == ("refused", "private_address")


async def test_the_connection_is_made_to_the_address_that_was_checked() -> None:
    async with outside() as world:
        answers = iter([[PUBLIC], ["127.0.0.1"]])  # a name that changes its mind

        async def rebinding(host: str, port: int) -> list[str]:
            return next(answers)

        async with page(world, resolve=rebinding) as gate:
            world.pages["/a"] = answer(b"a")
            assert (await get(gate, "http://cdn.test/a")).status == 200
            assert world.connected == [(PUBLIC, 80, None)]
            assert (await get(gate, "http://cdn.test/b")).status == 403
            assert len(world.connected) == 1


@pytest.mark.parametrize("tls", [True, False])
async def test_websockets_are_refused_and_recorded(tls: bool) -> None:
    async with canary() as (port, visits), outside() as world, page(world) as gate:
        for authority in (f"127.0.0.1:{port}", "cdn.test:443", "page.localhost:80"):
            async with client(gate) as one:
                await one.tunnel(authority, tls=tls)
                got = await one.ask(
                    "/socket",
                    connection="Upgrade",
                    upgrade="websocket",
                    sec_websocket_key="dGhlIHNhbXBsZSBub25jZQ==",
                    sec_websocket_version="13",
                )
                assert got.status == 403
                assert await one.at_end()
        assert visits == []
        assert world.connected == []
        assert len(gate.requests) == 3
        assert {(one.kind, one.outcome, one.reason) for one in gate.requests} == {
            ("websocket", "refused", "websocket")
        }
        assert {one.url.split(":")[0] for one in gate.requests} == {"wss" if tls else "ws"}


async def test_a_tunnel_that_is_neither_tls_nor_http_leads_nowhere() -> None:
    async with canary() as (port, visits), outside() as world, page(world) as gate:
        for raw, reason in ((b"\x00\x01\x02binary", "not_http"), (b"EHLO me\r\n\r\n", "bad_request")):
            async with client(gate) as one:
                await one.tunnel(f"127.0.0.1:{port}", tls=False)
                await one.send(raw)
                await one.reader.read()
            assert reason in {request.reason for request in gate.requests}
        async with client(gate) as one:
            await one.tunnel(f"127.0.0.1:{port}", tls=False)
            assert (await one.ask("/plain")).status == 403
        async with client(gate) as one:
            await one.tunnel(f"127.0.0.1:{port}", tls=False)
            await one.send(b"\x16\x03\x01\x00\x05hello" + b"\xff" * 200)
            await one.reader.read()
        assert visits == []
        assert {(one.kind, one.outcome) for one in gate.requests} == {("connect", "refused")}


async def test_what_is_sent_before_the_tunnel_stands_is_read_in_it() -> None:
    async with outside() as world, page(world) as gate, client(gate) as one:
        inside = b"GET /early HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        await one.send(b"CONNECT cdn.test:80 HTTP/1.1\r\nHost: a\r\n\r\n" + inside)
        assert (await one.receive(has_body=False)).status == 200
        assert (await one.receive()).status == 403
        assert only(gate).url == "ws://cdn.test/early"


async def test_a_tunnel_within_a_tunnel_is_closed() -> None:
    async with outside() as world, page(world) as gate, client(gate) as one:
        await one.tunnel("cdn.test:443")
        await one.send(b"CONNECT cdn.test:443 HTTP/1.1\r\nHost: cdn.test\r\n\r\n")
        assert await one.at_end()
        assert world.connected == []


async def test_the_host_header_inside_a_tunnel_decides_nothing() -> None:
    async with outside(evil_test=PUBLIC) as world, page(world) as gate, client(gate) as one:
        await one.tunnel("evil.test:443")
        assert (await one.ask("/x", host="cdn.test")).status == 403
        assert world.connected == []
        assert only(gate).url == "https://evil.test/x"


async def test_a_navigation_away_does_not_happen() -> None:
    async with outside() as world, page(world) as gate:
        assert (await get(gate, "https://cdn.test/", sec_fetch_dest="document")).status == 204
        assert (await get(gate, "http://cdn.test/", accept="text/html,*/*")).status == 204
        assert world.connected == []
        assert {(one.kind, one.outcome, one.reason) for one in gate.requests} == {
            ("document", "refused", "navigation")
        }


async def test_a_redirect_from_an_allowed_host_is_checked_like_any_request() -> None:
    async with canary() as (port, visits), outside() as world, page(world) as gate:
        world.pages["/go"] = answer(b"", status="302 Found", Location=f"http://127.0.0.1:{port}/secret")
        world.pages["/out"] = answer(b"", status="301 Moved", Location="https://evil.test/x.js")
        world.pages["/loop"] = answer(b"", status="302 Found", Location="/loop")
        for path, destination in (("/go", "script"), ("/out", "script"), ("/loop", "script")):
            got = await get(gate, f"https://cdn.test{path}", sec_fetch_dest=destination)
            assert got.status in (301, 302)
            assert got.body == b""
            if path != "/loop":
                assert (await get(gate, got.headers["location"], sec_fetch_dest=destination)).status == 403
        assert visits == []
        assert [(one.url.rsplit("/", 1)[1], one.outcome, one.reason) for one in gate.requests] == [
            ("secret", "refused", "loopback"),
            ("go", "served", "redirect"),
            ("loop", "served", "redirect"),
            ("out", "served", "redirect"),
            ("x.js", "refused", "not_allowed"),
        ]
        # A loop asks the outside once; the rest is the cache's and the browser's own limit.
        for _ in range(20):
            await get(gate, "https://cdn.test/loop", sec_fetch_dest="script")
        assert world.paths.count("/loop") == 1


async def test_only_reading_methods_leave_and_preflights_are_answered_here() -> None:
    async with outside() as world, page(world) as gate:
        world.pages["/data"] = answer(b"{}")
        for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"):
            assert (await get(gate, "https://cdn.test/data", method, b"x")).status == 403
        asked = {"origin": "http://page.localhost", "access_control_request_headers": "x-a"}
        got = await get(
            gate, "https://cdn.test/data", "OPTIONS", access_control_request_method="GET", **asked
        )
        assert got.status == 204
        assert got.headers["access-control-allow-headers"] == "x-a"
        got = await get(
            gate, "https://cdn.test/data", "OPTIONS", access_control_request_method="PUT", **asked
        )
        assert got.status == 403
        assert world.connected == []
        head = await get(gate, "https://cdn.test/data", "HEAD")
        assert (head.status, head.headers["content-length"]) == (200, "2")
        assert world.heads[0].startswith("GET ")


async def test_open_sends_what_a_page_posts() -> None:
    async with outside(api_test=PUBLIC) as world, page(world, policy="open", hosts=()) as gate:
        world.pages["/save"] = answer(b"saved")
        for _ in range(2):
            got = await get(gate, "https://api.test/save", "POST", b"a=b", content_type="text/x")
            assert got.body == b"saved"
        assert world.bodies == [b"a=b", b"a=b"]
        assert "content-type: text/x" in world.heads[0].lower()


async def test_header_values_beyond_ascii_are_dropped_not_fatal(caplog: pytest.LogCaptureFixture) -> None:
    async with outside(api_test=PUBLIC) as world, page(world, policy="open") as gate:
        world.pages["/save"] = answer(b"saved", Content_Type="text/ümlaut")
        got = await get(gate, "https://api.test/save", "POST", b"x", content_type="text/ü")
        assert (got.status, got.headers.get("content-type")) == (200, None)
        asked = {"access_control_request_method": "GET", "access_control_request_headers": "ü"}
        assert (await get(gate, "https://api.test/save", "OPTIONS", **asked)).status == 204
    assert caplog.records == []


async def test_a_page_cannot_send_without_end() -> None:
    async with outside(api_test=PUBLIC) as world, page(world, policy="open") as gate, client(gate) as one:
        await one.send(b"POST http://api.test/up HTTP/1.1\r\nHost: a\r\nContent-Length: 99000000\r\n\r\n")
        await one.send(b"x" * 1_100_000)
        assert (await one.receive()).status == 413
        assert await one.at_end()
        assert world.connected == []
        assert (only(gate).url, only(gate).reason) == ("http://api.test/up", "too_large")


async def test_service_workers_are_refused() -> None:
    async with outside() as world, page(world) as gate:
        assert (await get(gate, "https://cdn.test/sw.js", sec_fetch_dest="serviceworker")).status == 403
        assert (await get(gate, gate.url + "sw.js", sec_fetch_dest="serviceworker")).status == 404
        assert world.connected == []


async def test_a_connection_is_used_again() -> None:
    async with outside() as world, page(world) as gate, client(gate) as one:
        for _ in range(3):
            assert (await one.ask(gate.url)).body == DOCUMENT
            assert (await one.ask("http://evil.test/a.js")).status == 403
        await one.tunnel("cdn.test:443")
        world.pages["/a"] = answer(b"a")
        for _ in range(3):
            assert (await one.ask("/a")).body == b"a"
