"""A built site over HTTP, for this machine only."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from opendesign.errors import UsageError

__all__ = ["serve_site", "server_of"]


class _Handler(SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not news."""


def server_of(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of a built site on the loopback address. Raises ``UsageError`` where it cannot be."""
    if not (folder / "index.html").is_file():
        raise UsageError(
            f"There is no site in {folder}: `opendesign leaderboard build --out {folder}` makes one."
        )
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"Port {port} cannot be used ({reason}): name another with --port.") from error


def serve_site(folder: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; ``ready`` is told the address."""
    with server_of(folder, port) as server, contextlib.suppress(KeyboardInterrupt):
        ready(f"http://127.0.0.1:{server.server_address[1]}/")
        server.serve_forever()
