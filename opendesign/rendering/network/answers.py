"""What the browser is told for one request: the page, an answer from outside, a grey picture, or no."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opendesign.rendering.network.kinds import is_navigation, kind_of
from opendesign.rendering.network.placeholder import picture, size_of
from opendesign.rendering.network.policy import Target
from opendesign.rendering.network.records import Kind
from opendesign.rendering.network.upstream import Fetched, Unfetched, is_plain

if TYPE_CHECKING:
    from opendesign.rendering.network.gate import Gate

PAGE = ("http", "page.localhost", 80)
NOTHING = (204, 304)  # answers that have no body and no length
_READABLE = (("Access-Control-Allow-Origin", "*"), ("Cache-Control", "max-age=3600"))
_UNKEPT = (("Access-Control-Allow-Origin", "*"), ("Cache-Control", "no-store"))
_POLICY_REASONS = ("private_address", "offline")  # found out while fetching, yet the policy's


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of the page. ``headers`` by lower-case name; no ``target``: it could not be read."""

    method: str
    target: Target | None
    headers: Mapping[str, str]
    body: bytes
    tunnelled: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to the page; length and connection headers are added when it is sent."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    close: bool = False


# A navigation that is answered with 204 does not happen: the page stays.
_STAY = Answer(204, (("Cache-Control", "no-store"),))
_REFUSED = Answer(403, _UNKEPT)
_FAILED = Answer(502, _UNKEPT)
_ABSENT = Answer(404, _UNKEPT)


async def respond(gate: Gate, asked: Asked) -> Answer:
    """Decides, records and answers one request. Never raises but for cancellation."""
    target, limits = asked.target, gate.network.limits
    if target is None:
        gate.record("", "other", "refused", "bad_request")
        return Answer(400, close=True)
    gate.asked += 1
    kind = kind_of(asked.headers, target.path)
    if len(asked.body) > limits.body_bytes:
        gate.record(target.url, kind, "refused", "too_large")
        return Answer(413, close=True)
    if asked.headers.get("upgrade", "").lower() == "websocket":
        socket = Target({"http": "ws", "https": "wss"}[target.scheme], target.host, target.port, target.path)
        gate.record(socket.url, "websocket", "refused", "websocket")
        return Answer(403, close=True)
    if gate.asked > limits.requests:
        await asyncio.sleep(limits.slow_s)
        gate.record(target.url, kind, "refused", "too_many")
        return _REFUSED
    if (target.scheme, target.host, target.port) == PAGE and not asked.tunnelled:
        return _own(gate, asked, target, kind)
    if asked.tunnelled and target.scheme == "http":
        gate.record(target.url, "connect", "refused", "not_websocket")
        return Answer(403, close=True)
    return await _other(gate, asked, target, kind)


def _own(gate: Gate, asked: Asked, target: Target, kind: Kind) -> Answer:
    """The page's own origin: one document, with any query, and nothing else."""
    path = target.path.split("?", 1)[0]
    stays = is_navigation(asked.headers, kind)
    if asked.method not in ("GET", "HEAD"):
        gate.record(target.url, kind, "refused", "method")
        return _STAY if stays else Answer(405, _UNKEPT)
    if path == "/":
        return Answer(
            200, (("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")), gate.document
        )
    if path == "/favicon.ico":
        return _STAY
    gate.record(target.url, kind, "failed", "not_found")
    return _STAY if stays else _ABSENT


async def _other(gate: Gate, asked: Asked, target: Target, kind: Kind) -> Answer:
    preflight = asked.headers.get("access-control-request-method") if asked.method == "OPTIONS" else None
    method = preflight or asked.method
    reason = gate.network.rules.refusal(target, method)
    if is_navigation(asked.headers, kind):
        gate.record(target.url, kind, "refused", "navigation")
        return _STAY
    if asked.headers.get("sec-fetch-dest") == "serviceworker":
        reason = reason or "service_worker"
    if reason is not None:
        return _refuse(gate, asked, target, kind, reason)
    if preflight is not None:
        return _permit(asked, preflight)
    return await _outside(gate, asked, target, kind)


def _refuse(gate: Gate, asked: Asked, target: Target, kind: Kind, reason: str) -> Answer:
    if kind == "image" and reason in ("not_allowed", "offline") and asked.method in ("GET", "HEAD"):
        gate.record(target.url, kind, "placeholder", reason)
        return Answer(200, (("Content-Type", "image/svg+xml"), *_READABLE), picture(*size_of(target.path)))
    gate.record(target.url, kind, "refused", reason)
    return _REFUSED


def _permit(asked: Asked, method: str) -> Answer:
    """A CORS preflight is a question about what follows; answered here, with what follows decided then."""
    headers = [("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Methods", method)]
    names = asked.headers.get("access-control-request-headers", "")
    if is_plain(names):
        headers.append(("Access-Control-Allow-Headers", names))
    return Answer(204, tuple(headers))


async def _outside(gate: Gate, asked: Asked, target: Target, kind: Kind) -> Answer:
    network = gate.network
    from_cache = False
    try:
        if gate.received_bytes > network.limits.page_bytes:
            raise Unfetched("page_too_large")
        if asked.method == "POST":
            content_type = asked.headers.get("content-type", "")
            answer = await network.send(target, kind, asked.body, content_type)
        else:
            answer, from_cache = await network.fetch(target, kind)
    except Unfetched as error:
        if error.reason in _POLICY_REASONS:
            return _refuse(gate, asked, target, kind, error.reason)
        gate.record(target.url, kind, "failed", error.reason)
        return _FAILED
    except asyncio.CancelledError:
        gate.record(target.url, kind, "failed", "unfinished")
        raise
    gate.from_cache += from_cache
    gate.received_bytes += len(answer.body)
    return _pass_on(gate, target, kind, answer)


def _pass_on(gate: Gate, target: Target, kind: Kind, answer: Fetched) -> Answer:
    if answer.is_good and "location" in answer.headers:
        gate.record(target.url, kind, "served", "redirect")
    elif answer.is_good:
        gate.record(target.url, kind, "served", digest=answer.digest, size=len(answer.body))
    else:
        gate.record(target.url, kind, "failed", f"upstream_{answer.status}")
    rest = _READABLE if answer.is_good else _UNKEPT
    return Answer(answer.status, (*answer.headers.items(), *rest), answer.body)
