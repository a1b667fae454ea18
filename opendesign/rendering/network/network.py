"""The network of all pages of one renderer: policy, cache and client, and a gate for each page."""

from __future__ import annotations

import asyncio
import functools
import ssl
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from opendesign.rendering.network.cache import Cache, key_of
from opendesign.rendering.network.channel import throwaway_context
from opendesign.rendering.network.gate import Gate
from opendesign.rendering.network.limits import Limits
from opendesign.rendering.network.outer_proxy import OuterProxy
from opendesign.rendering.network.policy import Policy, Rules, Target
from opendesign.rendering.network.records import Kind
from opendesign.rendering.network.resolver import resolve
from opendesign.rendering.network.upstream import (
    Connect,
    Fetched,
    Resolve,
    Unfetched,
    Upstream,
    accept_for,
    connect,
)

_REMEMBERED = 4_096


class PageNetwork:
    """Decides, fetches and remembers for the gates of one renderer. An async context manager.

    ``policy``: ``allowlist`` answers GET requests to ``hosts`` on the default ports; ``offline`` does so from
    the cache alone; ``open`` answers GET, HEAD and POST requests to any public address, whatever ``hosts``
    says. ``cache`` is a folder, shared by processes, or None for memory only. ``outer_proxy``, such as
    ``environment_proxy()``, is how the outside is reached; it is used under ``allowlist`` alone, because it
    resolves names itself. ``resolve`` and ``connect`` take the place of name resolution and of connections,
    for tests; addresses are checked all the same.
    Raises ``UsageError`` for an unknown policy or a malformed host.
    """

    def __init__(
        self,
        *,
        policy: Policy,
        hosts: tuple[str, ...] = (),
        cache: Path | None = None,
        limits: Limits | None = None,
        outer_proxy: str | None = None,
        resolve: Resolve = resolve,
        connect: Connect = connect,
    ) -> None:
        self.limits = limits or Limits()
        self.rules = Rules(policy, hosts)
        self._cache = Cache(cache, self.limits.memory_bytes)
        if outer_proxy is not None and policy == "allowlist":
            self._upstream = Upstream(self.limits, None, OuterProxy.parse(outer_proxy).connect)
        else:
            self._upstream = Upstream(self.limits, resolve, connect)
        self._gates: set[Gate] = set()
        self._flights: dict[str, asyncio.Task[Fetched]] = {}
        self._failures: dict[
            str, tuple[float, str | Fetched]
        ] = {}  # key of a request, or a host -> until, what

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.gather(*(gate.close() for gate in tuple(self._gates)))
        flights = tuple(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    async def gate(self, document: bytes) -> Gate:
        """A proxy of its own for one page, which serves ``document`` (HTML in UTF-8) as that page."""
        gate = Gate(self, document)
        await gate.open()
        self._gates.add(gate)
        return gate

    def forget(self, gate: Gate) -> None:
        """The gate is closed."""
        self._gates.discard(gate)

    @functools.cached_property
    def certificate(self) -> ssl.SSLContext:
        """For TLS towards the browser; made when the first page asks for it."""
        return throwaway_context()

    async def fetch(self, target: Target, kind: Kind) -> tuple[Fetched, bool]:
        """The answer to a GET request, and whether it came from the cache. Raises ``Unfetched``.

        Equal requests at the same moment are one request; a failure is remembered for a while.
        """
        accept = accept_for(kind)
        if (found := self._cache.get(target.url, accept)) is not None:
            return found, True
        if self.rules.policy == "offline":
            raise Unfetched("offline")
        key = key_of(target.url, accept)
        for remembered in (key, target.host):
            until, failure = self._failures.get(remembered, (0.0, ""))
            if until > time.monotonic():
                if isinstance(failure, Fetched):
                    return failure, False
                raise Unfetched(failure)
        flight = self._flights.get(key)
        if flight is None:
            flight = asyncio.create_task(self._fly(key, target, kind, accept))
            self._flights[key] = flight
            flight.add_done_callback(functools.partial(self._landed, key))
        # A page that is closed stops waiting; the answer is still fetched for the others.
        return await asyncio.shield(flight), False

    async def send(self, target: Target, kind: Kind, body: bytes, content_type: str) -> Fetched:
        """The answer to a POST request, never kept. Raises ``Unfetched``."""
        if self.rules.policy == "offline":
            raise Unfetched("offline")
        return await self._upstream.fetch(target, kind, "POST", body, content_type)

    async def _fly(self, key: str, target: Target, kind: Kind, accept: str) -> Fetched:
        try:
            answer = await self._upstream.fetch(target, kind)
        except Unfetched as error:
            self._remember(target.host if error.whole_host else key, error.reason)
            raise
        if answer.is_good:
            self._cache.put(target.url, accept, answer)
        else:
            self._remember(key, answer)
        return answer

    def _landed(self, key: str, flight: asyncio.Task[Fetched]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # every page that waited may be gone by now

    def _remember(self, key: str, failure: str | Fetched) -> None:
        if len(self._failures) >= _REMEMBERED:
            self._failures.clear()
        self._failures[key] = (time.monotonic() + self.limits.forget_s, failure)
