"""From a visit to a verdict: points, a sentence an interaction, and all that an audit by eye needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opendesign.judging.change import Change
from opendesign.judging.interactive.visit import Step, Visit
from opendesign.types import Artifact, Card, Case, Failure, Verdict

__all__ = ["nothing_to_operate", "verdict_of"]

_MOST_CHANGES = 5


def nothing_to_operate(case: Case, artifact: Artifact, card: Card, visit: Visit) -> Verdict:
    """0 where the case asks for behaviour, else no scores; no call was made."""
    asked = case.has_behaviour
    reason = (
        "The case asks for behaviour, and there is nothing to operate."
        if asked
        else "There is nothing to operate, and the case asks for no behaviour: not applicable."
    )
    return Verdict(
        case=case.id,
        sample=artifact.sample,
        judge=card.name,
        scores={"points": 0.0, "rate": 0.0} if asked else {},
        reasons=(reason,),
        evidence={"plan": [], "steps": []},
        attachments=_attachments(visit),
    )


def verdict_of(
    case: Case,
    artifact: Artifact,
    card: Card,
    visit: Visit,
    *,
    failure: Failure | None,
    hung: str,
    by_word: bool,
) -> Verdict:
    """``by_word``: each action that the agent calls a success is a point; else each planned interaction
    is one, for which an action worked by its word and by the measurement.
    """
    count = visit.settings.interactions
    points = min(count, _by_word(visit) if by_word else len(_earned(visit)))
    reasons = [_reason(visit, number) for number in range(1, len(visit.plan) + 1)]
    if hung:
        reasons.append(f"The page stopped answering ({hung}): from there on nothing was earned.")
    return Verdict(
        case=case.id,
        sample=artifact.sample,
        judge=card.name,
        scores={} if failure else {"points": float(points), "rate": round(points / count, 4)},
        reasons=(failure.detail, *reasons) if failure else tuple(reasons),
        evidence={
            "plan": [{"what": one.what, "expect": one.expect} for one in visit.plan],
            "points_for": [] if by_word else sorted(_earned(visit)),
            "steps": [_step(step, step.claimed if by_word else step.point) for step in visit.steps],
            "window": [visit.driver.width, visit.driver.height],
            **_counts(visit),
            "hung": hung,
        },
        failure=failure,
        usage=visit.talk.ledger.usage,
        attachments=_attachments(visit),
    )


def _by_word(visit: Visit) -> int:
    return sum(step.claimed for step in visit.steps)


def _earned(visit: Visit) -> set[int]:
    return {step.deed.interaction for step in visit.steps if step.point}


def _counts(visit: Visit) -> dict[str, Any]:
    """What went otherwise than wished, by whose fault, and what the visit has cost."""
    judged = [
        (step.word.worked, step.done.changed)
        for step in visit.steps
        if step.word is not None and step.done.changed is not None
    ]
    talk = visit.talk
    return {
        "agent_only": sum(word and not measured for word, measured in judged),
        "measured_only": sum(measured and not word for word, measured in judged),
        "agent_errors": len(talk.errors),
        "errors": list(talk.errors),
        "page_failures": sum(step.done.came == "refused" for step in visit.steps),
        "untried": visit.untried(),
        "sent": {"calls": talk.ledger.calls, "pictures": talk.pictures, "picture_bytes": talk.bytes},
        "model": list(talk.ledger.returned),
    }


def _step(step: Step, point: bool) -> dict[str, Any]:
    done = step.done
    mark = step.deed.mark
    return {
        "for": step.deed.interaction,
        "did": step.deed.label,
        "at": [round(part) for part in mark.box] if mark else None,
        "why": step.why,
        "came": done.came,
        "hit_test": done.detail,
        "dialogs": list(done.dialogs),
        "before": step.before,
        "after": step.after,
        "word": step.word.worked if step.word else None,
        "word_why": step.word.why if step.word else "",
        "measured": done.changed,
        "measured_why": done.why,
        "controlled": done.controlled,
        "changed": [
            {"kind": c.kind, "place": c.place, "tag": c.tag, "sample": c.sample}
            for c in _unique(done.changes)
        ],
        "point": point,
    }


def _unique(changes: Sequence[Change]) -> list[Change]:
    seen: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        seen.setdefault((change.kind, change.place, change.sample), change)
    return list(seen.values())[:_MOST_CHANGES]


def _reason(visit: Visit, number: int) -> str:
    """How one planned interaction went, in one sentence."""
    steps = [step for step in visit.steps if step.deed.interaction == number and step.deed.action]
    what = visit.plan[number - 1].what.rstrip(".")
    if not steps:
        return f"{number}. {what}: not tried."
    best = max(steps, key=lambda step: (step.point, bool(step.done.changed), bool(step.word)))
    return f"{number}. {what}: {'; then '.join(step.deed.label for step in steps)}: {_outcome(best)}."


def _outcome(step: Step) -> str:
    done, word = step.done, step.word
    if done.came == "refused":
        return f"not possible, the element is {done.detail}"
    if done.came == "left":
        return "it led away from the page"
    said = "not judged" if word is None else "worked" if word.worked else "did not work"
    measured = "not measured" if done.changed is None else done.why
    return f"{said} by the agent's word, and by measurement {measured}"


def _attachments(visit: Visit) -> dict[str, bytes]:
    return {name: picture.data for name, picture in visit.pictures.items()}
