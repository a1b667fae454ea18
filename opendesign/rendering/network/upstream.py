"""Fetching from outside: resolve a name, check every address, connect to the one that was checked.

No cookies, no referrer: the requests of all pages look the same, so that one answer serves them all.
Redirects are not followed here; the browser gets them and asks again, and is checked again.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import ipaddress
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import h11

from opendesign.rendering.network.limits import Limits
from opendesign.rendering.network.policy import Target, is_public, literal
from opendesign.rendering.network.records import Kind

#: Names to addresses: ``(host, port) -> addresses in text``. Raises ``OSError`` where there is none.
Resolve = Callable[[str, int], Awaitable[list[str]]]
#: A connection: ``(address, port, server name for TLS or None) -> streams``. Raises ``OSError``.
Connect = Callable[[str, int, str | None], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]

# What current Chromium says of itself, so that font services answer with woff2.
_AGENT = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"
)
_ACCEPT: Mapping[Kind, str] = {
    "image": "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
    "style": "text/css,*/*;q=0.1",
    "document": "text/html,application/xhtml+xml,*/*;q=0.8",
}
#: Headers of an answer that reach the page. Cookies, HSTS, Alt-Svc, Link, Refresh, CSP and the rest do not.
KEPT = ("content-type", "x-content-type-options", "cross-origin-resource-policy", "location")
_TRIES = 3


class Unfetched(Exception):
    """No answer: why, as a slug, and whether the whole host is to blame and not this one request."""

    def __init__(self, reason: str, *, whole_host: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.whole_host = reason, whole_host


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer: ``body`` decoded, ``digest`` its SHA-256, ``headers`` only those in ``KEPT``."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    digest: str = field(default="")

    def __post_init__(self) -> None:
        if not self.digest:
            object.__setattr__(self, "digest", hashlib.sha256(self.body).hexdigest())

    @property
    def is_good(self) -> bool:
        """Whether the page got what it asked for, or was told where it is."""
        return 200 <= self.status < 300 or (300 <= self.status < 400 and "location" in self.headers)


def accept_for(kind: Kind) -> str:
    """The Accept header for a kind. Servers choose formats by it, so it is part of the cache's key."""
    return _ACCEPT.get(kind, "*/*")


@functools.cache
def trusted() -> ssl.SSLContext:
    """The system's certificate authorities and, where it has none of its own, those of ``certifi``."""
    context = ssl.create_default_context()
    with contextlib.suppress(ImportError):
        import certifi

        context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(
    address: str, port: int, server_name: str | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to exactly this address; with TLS, its certificate checked, when a name is given."""
    if server_name is None:
        return await asyncio.open_connection(address, port)
    return await asyncio.open_connection(address, port, ssl=trusted(), server_hostname=server_name)


class Upstream:
    """One request at a time to the outside; keeps nothing between requests.

    Without ``resolve``, names go to ``connect`` as they are: for an outer proxy, which resolves them itself.
    """

    def __init__(self, limits: Limits, resolve: Resolve | None, connect: Connect) -> None:
        self._limits, self._resolve, self._connect = limits, resolve, connect

    async def fetch(
        self, target: Target, kind: Kind, method: str = "GET", body: bytes = b"", content_type: str = ""
    ) -> Fetched:
        """The answer for a target that the policy allows. Raises ``Unfetched``."""
        try:
            async with asyncio.timeout(self._limits.answer_s):
                addresses = await self._addresses(target)
                async with self._connection(target, addresses) as (reader, writer):
                    return await self._exchange(reader, writer, target, kind, method, body, content_type)
        except TimeoutError:
            raise Unfetched("timeout") from None
        except (OSError, EOFError):
            raise Unfetched("broken_answer") from None
        except (h11.ProtocolError, zlib.error):
            raise Unfetched("broken_answer") from None

    async def _addresses(self, target: Target) -> list[str]:
        spelled = literal(target.host)
        if spelled is not None:
            found = [str(spelled)]
        elif self._resolve is None:
            return [target.host]
        else:
            try:
                async with asyncio.timeout(self._limits.connect_s):
                    found = await self._resolve(target.host, target.port)
            except (OSError, UnicodeError, TimeoutError):
                raise Unfetched("unreachable", whole_host=True) from None
        if not found:
            raise Unfetched("unreachable", whole_host=True)
        # One address that is not public condemns the name: which of them answers is not ours to choose.
        if not all(is_public(ipaddress.ip_address(address)) for address in found):
            raise Unfetched("private_address")
        return found

    @contextlib.asynccontextmanager
    async def _connection(
        self, target: Target, addresses: list[str]
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        name = target.host if target.scheme == "https" else None
        for address in addresses[:_TRIES]:
            try:
                async with asyncio.timeout(self._limits.connect_s):
                    reader, writer = await self._connect(address, target.port, name)
            except ssl.SSLCertVerificationError:
                raise Unfetched("bad_certificate", whole_host=True) from None
            except (OSError, TimeoutError):
                continue
            try:
                yield reader, writer
            finally:
                writer.transport.abort()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
            return
        raise Unfetched("unreachable", whole_host=True)

    async def _exchange(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        target: Target,
        kind: Kind,
        method: str,
        body: bytes,
        content_type: str,
    ) -> Fetched:
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=self._limits.head_bytes)
        headers = [
            ("Host", target.authority),
            ("User-Agent", _AGENT),
            ("Accept", accept_for(kind)),
            ("Accept-Encoding", "gzip"),
            ("Accept-Language", "en-US,en;q=0.9"),
            ("Connection", "close"),
        ]
        if method == "POST":
            headers += [
                ("Content-Length", str(len(body))),
                ("Content-Type", content_type if is_plain(content_type) else "text/plain"),
            ]
        request = h11.Request(method=method, target=target.path, headers=headers)
        for event in (request, h11.Data(data=body), h11.EndOfMessage()):
            writer.write(connection.send(event) or b"")
        await writer.drain()
        return await self._receive(connection, reader)

    async def _receive(self, connection: h11.Connection, reader: asyncio.StreamReader) -> Fetched:
        status, headers = 0, {}
        body = _Body(self._limits.answer_bytes)
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(65_536))
            elif isinstance(event, h11.Response):
                status = event.status_code
                headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
                body.encoding(headers.get("content-encoding", ""))
            elif isinstance(event, h11.Data):
                body.add(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                break
            elif not isinstance(event, h11.InformationalResponse):
                raise Unfetched("broken_answer")
        kept = {name: headers[name] for name in KEPT if is_plain(headers.get(name))}
        is_redirect = 300 <= status < 400
        if not is_redirect:
            kept.pop("location", None)
        return Fetched(status, kept, b"" if is_redirect else body.end())


def is_plain(value: str | None) -> bool:
    """Whether a header's value is there and of visible ASCII."""
    return value is not None and value != "" and value.isascii() and value.isprintable()


class _Body:
    """A body as it comes, decoded, never longer than ``most`` bytes."""

    def __init__(self, most: int) -> None:
        self._most, self._data = most, bytearray()
        self._unzip: zlib._Decompress | None = None

    def encoding(self, name: str) -> None:
        name = name.strip().lower()
        if name in ("gzip", "x-gzip"):
            self._unzip = zlib.decompressobj(wbits=31)
        elif name not in ("", "identity"):
            raise Unfetched("encoding")

    def add(self, data: bytes) -> None:
        room = self._most - len(self._data) + 1
        self._data += self._unzip.decompress(data, room) if self._unzip else data[:room]
        if len(self._data) > self._most:
            raise Unfetched("too_large")

    def end(self) -> bytes:
        if self._unzip and self._data and not self._unzip.eof:
            raise Unfetched("broken_answer")
        return bytes(self._data)
