import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opendesign.errors import UsageError
from opendesign.rendering.network.kinds import is_navigation, kind_of
from opendesign.rendering.network.placeholder import DEFAULT, picture, size_of
from opendesign.rendering.network.policy import Rules, is_public, literal, parse_authority, parse_url
from opendesign.rendering.network.records import Records, Request, capped

INSIDE = """
    0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.127.255.254 127.0.0.1 127.255.0.1 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1
    239.1.1.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::8.8.8.8 64:ff9b::7f00:1
    64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 2002:808:808::1 3fff::1 fc00::1
    fd12:3456::1 fe80::1 fe80::1%eth0 2606:4700::1111%1 fec0::1 ff02::1 ff0e::1
"""


@pytest.mark.parametrize("address", INSIDE.split())
def test_addresses_that_are_not_of_the_open_internet(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::6810:85e5", "2a00:1450::1"],
)
def test_addresses_of_the_open_internet(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "017700000001", "127.0.1"],
)
def test_every_spelling_of_loopback_is_loopback(host: str) -> None:
    address = literal(host)
    assert address is not None
    assert address.is_loopback


def test_what_only_looks_like_an_address_is_one_that_nothing_may_ask_for() -> None:
    for host in ("1.2.3.4.5", "999.1.1.1", "host.0x", "a.08"):
        address = literal(host)
        assert address is not None
        assert not is_public(address)
    assert literal("cdn.test") is None
    assert literal("a1b2.test") is None


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://CDN.Test", "http://cdn.test/"),
        ("HTTPS://cdn.test.:443/a?b", "https://cdn.test/a?b"),
        ("http://cdn.test:8080/", "http://cdn.test:8080/"),
        ("http://cdn.test?x=1", "http://cdn.test/?x=1"),
        ("http://[2606:4700:0:0::1]/", "http://[2606:4700::1]/"),
    ],
)
def test_addresses_of_requests_are_normalised(url: str, normal: str) -> None:
    target = parse_url(url)
    assert target is not None
    assert target.url == normal
    assert parse_url(normal) == target


NO_REQUESTS = """
    ftp://a.test/ file:///etc/passwd http:///x http://user@a.test/ http://user:pw@a.test/ http://a.test\\@b/
    http://a.test:0/ http://a.test:65536/ http://a.test:x/ http://[::1/ http://[fe80::1%eth0]/ http://a..test/
    http://-a.test/ http://a.test/#f http://ä.test/ /path a.test data:text/html,x http://a%2e.test/
"""


@pytest.mark.parametrize("url", NO_REQUESTS.split())
def test_addresses_that_are_no_requests(url: str) -> None:
    assert parse_url(url) is None


@given(st.text(max_size=60))
def test_parsing_never_raises_and_what_it_accepts_is_stable(text: str) -> None:
    for url in (text, f"http://{text}", f"https://{text}/"):
        target = parse_url(url)
        if target is not None:
            assert parse_url(target.url) == target
            literal(target.host)
    parse_authority(text)


def refusal(url: str, policy: str = "allowlist", method: str = "GET") -> str | None:
    target = parse_url(url)
    assert target is not None
    hosts = ("CDN.test", "*.kids.test", "127.0.0.1.nip.test")
    return Rules(policy, hosts).refusal(target, method)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://cdn.test/a", None),
        ("http://cdn.test./a", None),
        ("https://a.kids.test/", None),
        ("https://a.b.kids.test/", None),
        ("https://kids.test/", "not_allowed"),
        ("https://sub.cdn.test/", "not_allowed"),
        ("https://evilcdn.test/", "not_allowed"),
        ("https://cdn.test.evil.test/", "not_allowed"),
        ("https://cdn.test:8443/", "port"),
        ("http://cdn.test:443/", "port"),
        ("http://localhost/", "loopback"),
        ("http://localhost.:3000/", "loopback"),
        ("http://a.localhost/", "loopback"),
        ("http://0/", "loopback"),
        ("http://0x7f.1/", "loopback"),
        ("http://[::1]/", "loopback"),
        ("http://[::ffff:10.0.0.1]/", "private_address"),
        ("http://169.254.169.254/latest/meta-data", "private_address"),
        ("http://8.8.8.8/", "not_allowed"),
    ],
)
def test_the_allow_list(url: str, reason: str | None) -> None:
    assert refusal(url) == reason
    assert refusal(url, "offline") == reason


def test_open_allows_any_public_host_and_three_methods() -> None:
    assert refusal("https://anything.test:8443/", "open") is None
    assert refusal("http://8.8.8.8/", "open", "POST") is None
    assert refusal("http://10.0.0.1/", "open") == "private_address"
    assert refusal("http://127.1/", "open") == "loopback"
    assert refusal("http://anything.test/", "open", "DELETE") == "method"


def test_the_allow_list_is_for_reading_only() -> None:
    assert refusal("https://cdn.test/", method="HEAD") is None
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
        assert refusal("https://cdn.test/", method=method) == "method"


@pytest.mark.parametrize(
    "host", ["https://cdn.test", "cdn.test/x", "cdn.test:443", "", "*", "*.*.test", "a b"]
)
def test_a_malformed_host_is_a_usage_error(host: str) -> None:
    with pytest.raises(UsageError, match="is not a host"):
        Rules("allowlist", [host])


def test_an_unknown_policy_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no network policy"):
        Rules("closed", [])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("headers", "path", "kind"),
    [
        ({"sec-fetch-dest": "script"}, "/a.png", "script"),
        ({"sec-fetch-dest": "worker"}, "/", "script"),
        ({"sec-fetch-dest": "empty"}, "/a.js", "fetch"),
        ({"sec-fetch-dest": "empty", "accept": "image/*"}, "/a", "image"),
        ({"sec-fetch-dest": "video"}, "/", "media"),
        ({"sec-fetch-dest": "iframe"}, "/", "document"),
        ({"sec-fetch-dest": "manifest"}, "/", "other"),
        ({"accept": "image/avif,image/webp"}, "/photo", "image"),
        ({"accept": "text/css,*/*;q=0.1"}, "/x", "style"),
        ({"accept": "text/html,application/xhtml+xml"}, "/", "document"),
        ({"accept": "*/*"}, "/lib/x.MJS?v=1.css", "script"),
        ({"accept": "*/*"}, "/f.woff2", "font"),
        ({"accept": "*/*"}, "/pic.webp", "image"),
        ({"accept": "*/*", "origin": "http://page.localhost"}, "/api", "fetch"),
        ({}, "/", "other"),
    ],
)
def test_kinds(headers: dict[str, str], path: str, kind: str) -> None:
    assert kind_of(headers, path) == kind


def test_frames_are_no_navigations_of_the_page() -> None:
    assert is_navigation({"sec-fetch-dest": "document"}, "document")
    assert is_navigation({}, "document")
    assert not is_navigation({"sec-fetch-dest": "iframe"}, "document")
    assert not is_navigation({"sec-fetch-dest": "image"}, "image")


@pytest.mark.parametrize(
    ("path", "size"),
    [
        ("/800/600", (800, 600)),
        ("/seed/tea/640/480?grayscale&blur=2", (640, 480)),
        ("/id/237/200/300.jpg", (200, 300)),
        ("/id/237/200", (200, 200)),
        ("/200", (200, 200)),
        ("/150/0000FF/808080", (150, 150)),
        ("/150/000/fff", (150, 150)),
        ("/600x400/000/fff?text=Hi", (600, 400)),
        ("/random/1600X900/?nature", (1600, 900)),
        ("/?800x200", (800, 200)),
        ("/photo-1501785888041-af3ef285b470?auto=format&w=900&h=350&q=80", (900, 350)),
        ("/photo-1501785888041-af3ef285b470?w=900", (900, 600)),
        ("/a.png?height=300", (450, 300)),
        ("/svg?width=24&height=32", (24, 32)),
        ("/avatar?s=96", (96, 96)),
        ("/upload/w_640,h_360,c_fill/x.jpg", (640, 360)),
        ("/320/240/dog", (320, 240)),
        ("/2023/11/team.jpg", DEFAULT),
        ("/1920", (1920, 1920)),
        ("/hero.jpg", DEFAULT),
        ("/", DEFAULT),
        ("/?w=0&h=0", DEFAULT),
        ("/?w=99999999&h=5", DEFAULT),
        ("/99999x99999", DEFAULT),
        ("/?w=٣٠٠", DEFAULT),
    ],
)
def test_placeholders_have_the_size_that_the_address_asks_for(path: str, size: tuple[int, int]) -> None:
    assert size_of(path) == size


@given(st.text(max_size=80))
def test_a_size_is_always_reasonable(path: str) -> None:
    width, height = size_of(path)
    assert 1 <= width <= 4000
    assert 1 <= height <= 4000
    assert f'width="{width}" height="{height}"'.encode() in picture(width, height)


def test_records_merge_sort_and_stop_growing() -> None:
    records = Records(3)
    for url in ("b", "a", "b", "c", "d", "e", "a"):
        records.add(Request(url=url, kind="image", outcome="served"))
    assert [(one.url, one.count) for one in records.sorted()] == [("a", 2), ("b", 2), ("c", 1)]
    assert records.dropped == 2


def test_long_addresses_stay_different_when_cut() -> None:
    one, other = capped("http://a/" + "x" * 9000 + "1"), capped("http://a/" + "x" * 9000 + "2")
    assert one != other
    assert len(one) < 2100
    assert capped("http://a/") == "http://a/"
