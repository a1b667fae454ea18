"""Reply → Answer: the page or the code in it, or why there is none and whose fault that is."""

from __future__ import annotations

import re

from opendesign.answering.extract import Extraction, extract
from opendesign.answering.extract_code import extract_code
from opendesign.answering.models import Reply
from opendesign.types import Answer, Case, Failure

__all__ = ["answer_of", "refuses"]

_CUT = frozenset({"length", "max_tokens", "max_output_tokens"})
_FILTERED = frozenset({"content_filter", "safety", "recitation"})
_REFUSAL_LENGTH = 1_500  # characters; longer texts without a page are explanations, not refusals
_REFUSAL = re.compile(
    "|".join(
        (
            r"\bI(?:['’]m| am) (?:sorry|unable|not able)\b",
            r"\bI (?:can(?:no|['’])t|can not|won['’]t|must decline|decline to|refuse to)\b",
            r"\bunable to (?:assist|help|comply|fulfil)",
            r"\bagainst (?:my|our) (?:guidelines|policy)",
            r"抱歉|无法(?:提供|协助|满足)",
            r"\bje ne peux pas\b|\bno puedo (?:ayudar|cumplir)|\bkann (?:ich )?(?:leider )?nicht\b",
        )
    ),
    re.I,
)


def answer_of(case: Case, sample: int, reply: Reply, *, document: str | None = None) -> Answer:
    """The answer that a reply is. ``document`` is given where a page is stored as a page, not as a reply.

    In a reply to a case about a plot Python is looked for, else a page.
    """
    find = extract if case.task is None else extract_code
    found = Extraction(document, "", "bare") if document is not None else find(reply.text)
    reasoning = "\n\n".join(part for part in (reply.reasoning, found.reasoning) if part)
    return Answer(
        case=case.id,
        sample=sample,
        text=reply.text,
        reasoning=reasoning,
        finish_reason=reply.finish_reason,
        document=found.document,
        failure=_failure(reply, found, "page" if case.task is None else "code"),
        model_returned=reply.model_returned,
        fingerprint=reply.fingerprint,
        usage=reply.usage,
        varies=reply.varies,
    )


def _failure(reply: Reply, found: Extraction, what: str) -> Failure | None:
    finish = (reply.finish_reason or "").lower()
    if finish in _FILTERED:
        return Failure(reason="content_filter", detail="The provider's content filter stopped the reply.")
    if reply.refusal:
        return Failure(reason="refused", detail=f"The model refused: {_short(reply.refusal)}")
    if finish in _CUT:
        spent = f" after {reply.usage.completion_tokens} tokens" if reply.usage.completion_tokens else ""
        return Failure(reason="truncated", detail=f"The reply ran into its token limit{spent}.")
    if found.how == "open_thought":
        return Failure(reason="truncated", detail="The reply ended before its reasoning did.")
    if not reply.text.strip():
        return Failure(reason="empty", detail="The reply was empty.")
    if found.document is None:
        if refuses(reply.text):
            return Failure(reason="refused", detail=f"The model refused: {_short(reply.text)}")
        return Failure(reason="no_document", detail=f"The reply holds no {what}.")
    if not found.document.strip():
        return Failure(reason="empty", detail=f"The {what} in the reply is empty.")
    return None


def refuses(text: str) -> bool:
    """Whether a text that holds nothing of what was asked for is short and reads as a refusal."""
    return len(text) <= _REFUSAL_LENGTH and _REFUSAL.search(text) is not None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:159] + "…"
