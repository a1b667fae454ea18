"""The proxy of the user's own network, where the outside can only be reached through one.

It resolves names itself, so that addresses cannot be checked here. It is therefore used for the named hosts
of an allow-list alone, and only when ``PageNetwork`` is given one.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Self
from urllib.parse import unquote, urlsplit

from opendesign.errors import UsageError
from opendesign.rendering.network.upstream import trusted

_HEAD = 16_384


def environment_proxy() -> str | None:
    """What HTTPS_PROXY names (or, on macOS, the system's settings), or None."""
    import urllib.request

    return urllib.request.getproxies().get("https") or None


class OuterProxy:
    """An HTTP proxy at ``http://[user:password@]host:port``. Raises ``UsageError`` for anything else."""

    def __init__(self, host: str, port: int, authorization: str = "") -> None:
        self._host, self._port, self._authorization = host, port, authorization

    @classmethod
    def parse(cls, url: str) -> Self:
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            host, port = parts.hostname, parts.port or 80
        except ValueError:
            host = None
        if host is None or parts.scheme != "http":
            # The address may hold a password, so that it is not repeated.
            raise UsageError("The proxy of this network must be written as http://host:port.")
        if parts.username is None:
            return cls(host, port)
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return cls(host, port, base64.b64encode(secret.encode()).decode("ascii"))

    async def connect(
        self, host: str, port: int, server_name: str | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A tunnel to a host by name; with TLS inside, checked, when a server name is given."""
        reader, writer = await asyncio.open_connection(self._host, self._port, limit=_HEAD)
        try:
            lines = [f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}"]
            if self._authorization:
                lines.append(f"Proxy-Authorization: Basic {self._authorization}")
            writer.write("\r\n".join([*lines, "", ""]).encode("ascii"))
            head = await reader.readuntil(b"\r\n\r\n")
            if head.split(b" ", 2)[1:2] != [b"200"]:
                raise OSError("the proxy of this network refused")
            if server_name is not None:
                await writer.start_tls(trusted(), server_hostname=server_name)
        except (EOFError, asyncio.LimitOverrunError) as error:
            writer.transport.abort()
            raise OSError("the proxy of this network did not answer as one") from error
        except BaseException:
            writer.transport.abort()
            raise
        return reader, writer
