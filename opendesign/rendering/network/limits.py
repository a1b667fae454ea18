"""How much one page may ask of the network. Sizes are bytes, times are seconds of wall clock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one gate (one page) and of one answer from outside."""

    connections: int = 64  # open at once; a browser uses at most 32 for one proxy
    idle_s: float = 60.0  # a connection without a request
    request_s: float = 10.0  # from the first byte of a request to its last
    head_bytes: int = 65_536  # request line and headers
    body_bytes: int = 1_000_000  # of a request
    send_s: float = 30.0  # to hand one answer to the browser
    requests: int = 2_000  # answered at full speed; later ones are refused, slowly
    slow_s: float = 0.1  # how slowly
    records: int = 500  # different requests that are kept; the rest is counted
    answer_bytes: int = 15_000_000  # of one answer from outside, decoded
    page_bytes: int = 60_000_000  # of all of them for one page
    connect_s: float = 4.0  # to one address, TLS included
    answer_s: float = 10.0  # from the name's resolution to the last byte
    forget_s: float = 60.0  # how long a failure is remembered, so that it costs one page, not all of them
    memory_bytes: int = 64_000_000  # answers kept in memory in front of the cache folder
