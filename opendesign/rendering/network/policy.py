"""What a page may ask for: addresses of requests, hosts, and the addresses that names lead to.

Everything here is a pure function of its arguments; the gate asks before anything is sent.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from opendesign.errors import UsageError

Policy = Literal["allowlist", "offline", "open"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*", re.ASCII)
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+", re.ASCII)
_ABSOLUTE = re.compile(r"(https?)://([^/?#@\\\s]+)([/?][^#\s]*)?", re.ASCII | re.IGNORECASE)
# Routable by their prefix, yet they lead to other machines than they seem to: translated IPv4 (6to4, Teredo,
# NAT64), documentation, benchmarking, the retired 6to4 relay.
_DETOURS = tuple(
    ipaddress.ip_network(net)
    for net in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
    )
)
_GLOBAL_V6 = ipaddress.ip_network("2000::/3")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. ``host`` is in lower case, without a last dot, IPv6 without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def parse_url(url: str) -> Target | None:
    """An absolute http or https address without user info; None for anything else."""
    match = _ABSOLUTE.fullmatch(url)
    if match is None:
        return None
    scheme, authority, path = match[1].lower(), match[2], match[3] or "/"
    place = parse_authority(authority, PORTS[scheme])
    if place is None:
        return None
    return Target(scheme, *place, path if path.startswith("/") else f"/{path}")


def parse_authority(text: str, default: int | None = None) -> tuple[str, int] | None:
    """Host and port out of ``host``, ``host:port`` or ``[v6]:port``; None where it is none of these."""
    match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^\[\]:]+)(?::([0-9]{1,5}))?", text, re.ASCII)
    if match is None:
        return None
    host, port = match[1].lower(), int(match[2]) if match[2] else default
    if port is None or not 0 < port < 65_536:
        return None
    if host.startswith("["):
        try:
            return str(ipaddress.IPv6Address(host[1:-1])), port
        except ValueError:
            return None
    host = host.removesuffix(".")
    return (host, port) if len(host) < 254 and _NAME.fullmatch(host) else None


def literal(host: str) -> Address | None:
    """The address that a host spells, also in one number, octal or hexadecimal; None for a name.

    A host whose last label is a number is an address to a browser (WHATWG URL); what is then not a valid
    one becomes 0.0.0.0, which nothing may ask for.
    """
    if ":" in host:
        return ipaddress.IPv6Address(host)
    if _NUMBER.fullmatch(host.rsplit(".", 1)[-1]) is None:
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return ipaddress.IPv4Address(0)


def is_public(address: Address) -> bool:
    """Whether the address is one of the open internet and of nothing nearer."""
    if (
        not address.is_global
        or address.is_private
        or address.is_multicast
        or address.is_reserved
        or address.is_loopback
        or address.is_link_local
        or address.is_unspecified
    ):
        return False
    if address.version == 6 and (address not in _GLOBAL_V6 or address.scope_id is not None):
        return False
    return not any(address.version == net.version and address in net for net in _DETOURS)


class Rules:
    """A policy and its hosts: ``cdn.example.org`` for that host, ``*.example.org`` for its children."""

    def __init__(self, policy: Policy, hosts: Iterable[str]) -> None:
        if policy not in ("allowlist", "offline", "open"):
            raise UsageError(f"There is no network policy '{policy}': use allowlist, offline or open.")
        self.policy = policy
        exact: set[str] = set()
        parents: set[str] = set()
        for host in hosts:
            name = host.strip().lower().removesuffix(".")
            child = name.startswith("*.")
            name = name.removeprefix("*.")
            if _NAME.fullmatch(name) is None:
                raise UsageError(
                    f"'{host}' is not a host: write 'cdn.example.org', or '*.example.org' for its children."
                )
            (parents if child else exact).add(name)
        self._exact, self._parents = frozenset(exact), frozenset(parents)

    def lists(self, host: str) -> bool:
        """Whether the host is among the allowed ones."""
        labels = host.split(".")
        return host in self._exact or any(
            ".".join(labels[at:]) in self._parents for at in range(1, len(labels))
        )

    def refusal(self, target: Target, method: str) -> str | None:
        """Why a request may not be made, as a slug, or None. Names are not resolved here."""
        if target.host == "localhost" or target.host.endswith(".localhost"):
            return "loopback"
        address = literal(target.host)
        if address is not None and not is_public(address):
            return "loopback" if address.is_loopback or address.is_unspecified else "private_address"
        if self.policy != "open":
            if not self.lists(target.host):
                return "not_allowed"
            if target.port != PORTS[target.scheme]:
                return "port"
        allowed = ("GET", "HEAD", "POST") if self.policy == "open" else ("GET", "HEAD")
        return None if method in allowed else "method"
