"""What a provider's error means: whose fault it is, whether another try may help, and words without keys."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from opendesign.answering.retry import retry_after_s
from opendesign.types import Failure

__all__ = ["Fault", "classify", "redact"]

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.I)
_SECRETS = (
    re.compile(r"\b(Bearer|Basic)\s+[^\s\"',}]+", re.I),
    re.compile(r"((?:api[-_ ]?key|access[-_ ]?token|authorization)[\"']?\s*[:=]\s*[\"']?)[^\s\"',}&]+", re.I),
    re.compile(r"()\b(?:sk|pk|rk|gsk|xai|hf|ghp|AIza)[-_]?[A-Za-z0-9_*.-]{10,}"),
    re.compile(r"(//)[^/@\s]+:[^/@\s]+(?=@)"),
)
_SHORTEST_SECRET = 6  # characters: a shorter value of a variable is a word, not a key
_STOPS = frozenset({401, 402, 403, 404})
_TRANSIENT = frozenset({408, 409, 425, 429})
_NO_MONEY = re.compile(
    r"insufficient_quota|exceeded your current quota|insufficient (?:credits|balance)|billing", re.I
)
_MODERATED = re.compile(r"moderation|flagged|content[_ ]policy|content management|safety system", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error of a call, understood.

    ``transient``: another try may help. ``stops``: no further call of this model can succeed. ``charged``:
    the provider may have done, and may bill, the work.
    """

    failure: Failure
    transient: bool = False
    stops: bool = False
    charged: bool = False
    wait_s: float | None = None
    rate_limited: bool = False


def classify(error: BaseException, name: str, secrets: Iterable[str] = ()) -> Fault:
    """What an exception of LiteLLM, of its HTTP client or of a deadline means for model ``name``."""
    chain = list(_chain(error))
    status = _status(chain)
    said = _sentence(error, secrets)
    kinds = {kind.__name__ for link in chain for kind in type(link).__mro__}
    if "ContentPolicyViolationError" in kinds or (status in (400, 403) and _MODERATED.search(said)):
        detail = f"The provider's content filter refused the request: {said}"
        return Fault(failure=_failure("content_filter", detail))
    if status == 429:
        if _NO_MONEY.search(said):
            return _permanent(f"The account of {name} has no quota left: {said}", stops=True)
        failure = _failure("rate_limited", f"{name} kept answering 429: {said}")
        return Fault(failure=failure, transient=True, rate_limited=True, wait_s=_wait(chain))
    if status is None and kinds & {"TimeoutError", "TimeoutException", "APITimeoutError", "Timeout"}:
        failure = _failure("network", f"{name} did not answer in time")
        return Fault(failure=failure, transient=True, charged="ConnectTimeout" not in kinds)
    if status is None and kinds & {"TransportError", "ConnectionError", "APIConnectionError", "ClientError"}:
        failure = _failure("network", f"The connection to {name} failed: {said}")
        return Fault(failure=failure, transient=True, charged="ConnectError" not in kinds)
    if status is not None and 400 <= status < 500 and status not in _TRANSIENT:
        what = {401: "refused the key", 402: "wants to be paid", 403: "refused access", 404: "was not found"}
        detail = f"{name} {what.get(status, 'refused the request')} ({status}): {said}"
        return _permanent(detail, stops=status in _STOPS)
    if status is None and kinds & {"UnsupportedParamsError", "BadRequestError"}:
        return _permanent(f"{name} cannot be asked like this: {said}", stops=False)
    if status is None and kinds & {"AuthenticationError", "NotFoundError", "PermissionDeniedError"}:
        return _permanent(f"{name} cannot be asked: {said}", stops=True)
    shown = f" ({status})" if status else ""
    failure = _failure("provider_error", f"{name} failed{shown}: {said}")
    # A good status with a body that cannot be read: the work was done.
    return Fault(failure=failure, transient=True, wait_s=_wait(chain), charged=status is None or status < 400)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without keys: those given, those in the environment, and what looks like one."""
    known = {value for key, value in os.environ.items() if _SECRET_NAME.search(key)} | set(secrets)
    for value in sorted((v for v in known if len(v) >= _SHORTEST_SECRET), key=len, reverse=True):
        text = text.replace(value, "[key]")
    for pattern in _SECRETS:
        text = pattern.sub(r"\1 [key]", text)
    return text


def _permanent(detail: str, *, stops: bool) -> Fault:
    return Fault(failure=_failure("provider_error", detail), stops=stops)


def _failure(reason: str, detail: str) -> Failure:
    return Failure(reason=reason, detail=detail.rstrip(" .") + ("" if detail.endswith("…") else "."))


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _status(chain: list[BaseException]) -> int | None:
    """The status that came over the wire: LiteLLM makes up a 500 or 408 where none came."""
    for link in chain:
        code = getattr(getattr(link, "response", None), "status_code", None)
        if isinstance(code, int) and _headers(link):
            return code
    invented = getattr(chain[0], "status_code", None)
    # What LiteLLM itself refuses to send has a status below 500 and no answer.
    return invented if isinstance(invented, int) and 400 <= invented < 500 and invented != 408 else None


def _headers(link: BaseException) -> Mapping[str, str]:
    for holder in (link, getattr(link, "response", None)):
        for field in ("litellm_response_headers", "headers"):
            found = getattr(holder, field, None)
            if found:
                return {str(key): str(value) for key, value in dict(found).items()}
    return {}


def _wait(chain: list[BaseException]) -> float | None:
    waits = (retry_after_s(_headers(link)) for link in chain)
    return next((wait for wait in waits if wait is not None), None)


def _sentence(error: BaseException, secrets: Iterable[str]) -> str:
    """One line of what was said, without LiteLLM's prefixes, keys, and at most 300 characters."""
    text = str(getattr(error, "message", "") or error or type(error).__name__)
    text = re.sub(r"^(?:litellm\.\w+: |\w+(?:Error|Exception) - |\w+Error: )+", "", text)
    start = text.find("{")
    if start >= 0:
        try:
            body = json.loads(text[start:])
            inner = body.get("error", body) if isinstance(body, dict) else None
            text = str(inner["message"]) if isinstance(inner, dict) and inner.get("message") else text
        except ValueError:
            pass
    line = " ".join(redact(text, secrets).split()) or type(error).__name__
    return line if len(line) <= 300 else line[:299] + "…"
