"""The engine of the ``checklist`` judge: look, operate, and count what is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from opendesign.errors import Failed
from opendesign.judging.asking import Ledger
from opendesign.judging.checklist.answers import Answer, Item
from opendesign.judging.checklist.looking import look
from opendesign.judging.checklist.operating import answers_of, operate
from opendesign.types import Artifact, Card, Case, Usage, Verdict

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["judge"]


async def judge(case: Case, artifact: Artifact, card: Card, page: Any, model: Model) -> Verdict:
    """Answer every requirement of the case. ``page`` is a live session; only behaviour needs it.

    Scores: the share met of each kind that the case has, and of ``all``, 0 to 1; none where the case has no
    requirement. A requirement that one of the two parts cannot answer leaves the whole verdict unscored,
    with what was paid. Raises ``Failed`` where nothing was spent, and ``PageHung``.
    """
    items = [Item(number, one) for number, one in enumerate(case.requirements, 1)]
    seen = [item for item in items if item.requirement.kind != "behaviour"]
    tried = [item for item in items if item.requirement.kind == "behaviour"]
    verdict = Verdict(case=case.id, sample=artifact.sample, judge=card.name)
    if not items:
        return replace(verdict, reasons=("The case has no requirement: there is nothing to check.",))
    answers: list[Answer] = []
    ledger = Ledger()
    try:
        if seen:
            looked, told = await look(case, artifact, card, seen, model, ledger)
            answers += looked
            verdict = replace(verdict, usage=ledger.usage, evidence={"looked": told})
        if tried:
            visit = await operate(case, artifact, card, page, tried, model)
            verdict = _with_visit(verdict, visit)
            answers += answers_of(visit, tried) if visit.failure is None else ()
    except Failed as error:
        if ledger.calls == 0:
            raise
        verdict = replace(verdict, failure=error.failure, usage=ledger.usage)
    evidence = {"requirements": _told(items, answers), **verdict.evidence}
    if verdict.failure is not None:
        return replace(verdict, evidence=evidence, reasons=(verdict.failure.detail,))
    return replace(
        verdict, scores=_scores(items, answers), reasons=_reasons(items, answers), evidence=evidence
    )


def _with_visit(verdict: Verdict, visit: Verdict) -> Verdict:
    """``hung`` stands at the top, where whoever opened the session looks for it."""
    hung = visit.evidence.get("hung", "")
    return replace(
        verdict,
        evidence={**verdict.evidence, "operated": visit.evidence, **({"hung": hung} if hung else {})},
        failure=visit.failure,
        usage=_sum(verdict.usage, visit.usage),
        attachments=visit.attachments,
    )


def _sum(a: Usage, b: Usage) -> Usage:
    known = a.cost_usd is not None and b.cost_usd is not None
    return Usage(
        calls=a.calls + b.calls,
        prompt_tokens=a.prompt_tokens + b.prompt_tokens,
        completion_tokens=a.completion_tokens + b.completion_tokens,
        reasoning_tokens=a.reasoning_tokens + b.reasoning_tokens,
        cost_usd=round((a.cost_usd or 0.0) + (b.cost_usd or 0.0), 9) if known else None,
    )


def _scores(items: Sequence[Item], answers: Sequence[Answer]) -> dict[str, float]:
    """Share met, of all and of each kind that there is."""
    passed = {answer.number: answer.passed for answer in answers}
    kinds: dict[str, list[bool]] = {"all": []}
    for item in items:
        kinds["all"].append(passed[item.number])
        kinds.setdefault(item.requirement.kind, []).append(passed[item.number])
    return {kind: round(sum(met) / len(met), 4) for kind, met in kinds.items()}


def _reasons(items: Sequence[Item], answers: Sequence[Answer]) -> tuple[str, ...]:
    """A sentence for each requirement that is not met, and one for those that are."""
    texts = {item.number: item.requirement.text for item in items}
    missed = [one for one in answers if not one.passed]
    said = [f"{one.number}. {texts[one.number]} {_word(one)} {one.why}".strip() for one in missed]
    return (f"{len(answers) - len(missed)} of {len(answers)} requirements are met.", *said)


def _word(answer: Answer) -> str:
    return "Unclear, so no:" if answer.answer == "unclear" else "No:"


def _told(items: Sequence[Item], answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Every requirement with its answer; None where it got none."""
    by_number = {answer.number: answer for answer in answers}
    rows = []
    for item in items:
        answer = by_number.get(item.number)
        rows.append(
            {
                "number": item.number,
                "kind": item.requirement.kind,
                "text": item.requirement.text,
                "answer": answer.answer if answer else None,
                "passed": answer.passed if answer else None,
                "where": answer.where if answer else "",
                "why": answer.why if answer else "",
            }
        )
    return rows
