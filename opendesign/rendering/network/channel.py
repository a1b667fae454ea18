"""A connection from the browser as bytes in and bytes out, plain or inside TLS that ends here.

TLS runs over memory (``ssl.SSLObject``) rather than over a transport, because the first bytes of a tunnel
have to be read before it is known whether they are TLS.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Protocol

_CHUNK = 65_536


class Channel(Protocol):
    async def read(self) -> bytes:
        """Some bytes; none at the end. Raises ``OSError`` on a broken connection."""

    async def write(self, data: bytes) -> None:
        """Hands the bytes over; waits while the other side does not read."""


class Plain:
    """The connection itself. ``keep`` puts bytes back that were read too early."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer, self._kept = reader, writer, b""

    def keep(self, data: bytes) -> None:
        self._kept = data + self._kept

    async def read(self) -> bytes:
        if self._kept:
            data, self._kept = self._kept, b""
            return data
        return await self._reader.read(_CHUNK)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


class Secure:
    """TLS, server side, over another channel. The handshake happens with the first read."""

    def __init__(self, under: Plain, context: ssl.SSLContext) -> None:
        self._under = under
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    async def read(self) -> bytes:
        while True:
            try:
                data = self._tls.read(_CHUNK)
            except ssl.SSLWantReadError:
                await self._flush()
                received = await self._under.read()
                if received:
                    self._incoming.write(received)
                else:
                    self._incoming.write_eof()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""
            else:
                await self._flush()
                return data

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            sent = self._tls.write(view[: _CHUNK * 4])
            view = view[sent:]
            await self._flush()

    async def _flush(self) -> None:
        if self._outgoing.pending:
            await self._under.write(self._outgoing.read())


def throwaway_context() -> ssl.SSLContext:
    """A server's TLS context with a new self-signed certificate (P-256), which nobody has to trust.

    The browser is told to accept any certificate from its proxy; real ones are checked where this package
    fetches. ``ssl`` takes keys from files only, so that it is one for a moment, readable by us alone.
    """
    import datetime
    import tempfile
    from pathlib import Path

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "opendesign page network")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    with tempfile.TemporaryDirectory(prefix="opendesign-") as folder:
        file = Path(folder) / "page.pem"
        file.touch(mode=0o600)
        file.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(file)
    return context
