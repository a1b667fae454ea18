"""What a page asked for and what it got, in an order that does not depend on timing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "document", "script", "style", "font", "image", "media", "fetch", "websocket", "connect", "other"
]
Outcome = Literal["served", "placeholder", "refused", "failed"]

URL_LENGTH = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Equal requests of one page, merged.

    ``served``: answered, from outside or from the cache (which of the two differs between equal runs, see
    ``Gate.from_cache``). ``placeholder``: a grey picture in its place. ``refused``: against the policy.
    ``failed``: allowed, but no good answer came. ``reason`` is "" when served, "redirect" when that sent the
    page elsewhere. ``digest`` is the SHA-256 of the ``bytes`` that were served, decoded. ``count`` can vary
    with timing and takes no part in equality.
    """

    url: str
    kind: Kind
    outcome: Outcome
    reason: str = ""
    digest: str | None = None
    bytes: int = 0
    count: int = field(default=1, compare=False)


def capped(url: str) -> str:
    """The address itself, or its beginning and a hash of the whole where it is very long."""
    if len(url) <= URL_LENGTH:
        return url
    mark = hashlib.sha256(url.encode()).hexdigest()[:16]
    return f"{url[:URL_LENGTH]}…{mark}"


class Records:
    """Collects requests in bounded memory: at most ``limit`` different ones, the rest only counted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: dict[Request, int] = {}
        self.dropped = 0

    def add(self, request: Request) -> None:
        if request in self._counts:
            self._counts[request] += 1
        elif len(self._counts) < self._limit:
            self._counts[request] = 1
        else:
            self.dropped += 1

    def sorted(self) -> tuple[Request, ...]:
        """All of them by address, kind, outcome, reason and digest."""
        merged = [
            Request(
                url=one.url,
                kind=one.kind,
                outcome=one.outcome,
                reason=one.reason,
                digest=one.digest,
                bytes=one.bytes,
                count=count,
            )
            for one, count in self._counts.items()
        ]
        return tuple(sorted(merged, key=lambda r: (r.url, r.kind, r.outcome, r.reason, r.digest or "")))
