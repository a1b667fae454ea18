"""Names to addresses, in threads of their own.

A resolver without an answer can hold its thread for half a minute. The event loop's own threads are few and
belong to the judges, and the interpreter waits for them at its end; these it does not wait for.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading

_SLOTS = threading.BoundedSemaphore(64)


async def resolve(host: str, port: int) -> list[str]:
    """Addresses of a name by the system's resolver, IPv4 first. Raises ``OSError``."""
    if not _SLOTS.acquire(blocking=False):
        raise OSError("too many names are being resolved")
    loop = asyncio.get_running_loop()
    future: asyncio.Future[list[str]] = loop.create_future()

    def settle(addresses: list[str], error: Exception | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(addresses)
        else:
            future.set_exception(error)

    def work() -> None:
        addresses: list[str] = []
        failure: Exception | None = None
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses = sorted({str(entry[4][0]) for entry in found}, key=lambda text: (":" in text, text))
        except (OSError, UnicodeError) as error:
            failure = error
        finally:
            _SLOTS.release()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, addresses, failure)

    threading.Thread(target=work, name="opendesign-resolve", daemon=True).start()
    return await future
