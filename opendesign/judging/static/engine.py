"""The engines ``static`` and ``text``: ask, read, repeat, and make one verdict of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from opendesign.errors import Failed, failed
from opendesign.judging.asking import Ledger, ask, pictures_of
from opendesign.judging.static.rubric import Reading, Rubric
from opendesign.judging.static.words import Question, about_page, about_source
from opendesign.rendering.facts import Facts
from opendesign.types import Artifact, Card, Case, Failure, Verdict

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["judge", "judge_text"]


async def judge(case: Case, artifact: Artifact, card: Card, page: object, model: Model) -> Verdict:
    """Scores of a page by its picture.

    Total, its parts, and ``good`` (1 from ``settings.good`` on). A blank picture is judged like any other and
    said to be blank in the evidence. A failure comes back with what it has cost; raises ``Failed`` where
    there is nothing to ask about, ``UsageError`` for a card that makes no sense.
    """
    rubric = Rubric.of(card)
    pictures = await pictures_of(artifact, card, model)
    facts = await _facts(artifact)
    question = about_page(case, artifact, card, rubric, pictures, facts)
    verdict = await _ask(case, artifact, card, rubric, question, model)
    return _with(verdict, shown=[picture.told() for picture in pictures])


async def judge_text(case: Case, artifact: Artifact, card: Card, page: object, model: Model) -> Verdict:
    """The same scores from the page's source alone, without a picture: the paper's baseline."""
    rubric = Rubric.of(card)
    if artifact.document is None:
        raise failed("deadline_under_load", "The page's source is not there to judge: render it again.")
    source = await asyncio.to_thread(artifact.document.read_text)
    question = about_source(case, artifact, card, rubric, source)
    return await _ask(case, artifact, card, rubric, question, model)


async def _facts(artifact: Artifact) -> Facts | None:
    blob = artifact.facts
    return None if blob is None else await asyncio.to_thread(lambda: Facts.from_json(blob.read_bytes()))


async def _ask(
    case: Case, artifact: Artifact, card: Card, rubric: Rubric, question: Question, model: Model
) -> Verdict:
    """The verdict of ``rubric.repeats`` replies to one question, asked at the same time.

    Scored as soon as more than half of the replies are sound, by their mean: fewer replies estimate the same
    number with more noise, and how many there are is kept; to drop the page for one bad reply would waste
    what was paid, while a minority would leave the score to those replies that happen to be readable.
    """
    ledger, schema = Ledger(), rubric.schema()

    async def once(number: int) -> Reading | Failure:
        try:
            asked = await ask(
                model,
                question.messages,
                rubric.read,
                ledger=ledger,
                settings=card.settings,
                key=(case.id, artifact.sample, card.name, number),
                schema=schema,
                repair=question.repair,
            )
        except Failed as error:
            return error.failure
        return replace(asked.value, repaired=asked.repaired)

    tasks = [asyncio.create_task(once(number)) for number in range(rubric.repeats)]
    try:
        replies = await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        raise
    sound = [reply for reply in replies if isinstance(reply, Reading)]
    unsound = [reply for reply in replies if isinstance(reply, Failure)]
    evidence: dict[str, Any] = {
        "model": sorted(ledger.returned),
        "page": dict(question.told),
        "unsound": [{"reason": reply.reason, "detail": reply.detail} for reply in unsound],
    }
    verdict = Verdict(case=case.id, sample=artifact.sample, judge=card.name, usage=ledger.usage)
    if 2 * len(sound) <= rubric.repeats:
        return replace(verdict, failure=unsound[0], evidence=evidence)
    scores = _scores(sound, rubric, card)
    return replace(
        verdict,
        scores=scores,
        reasons=tuple(f"{name}: {said}" for name, said in sound[0].reasons.items() if said),
        evidence={**evidence, **_evidence(sound, rubric, scores["total"])},
    )


def _scores(sound: Sequence[Reading], rubric: Rubric, card: Card) -> dict[str, float]:
    parts = {name: round(fmean(reply.scores[name] for reply in sound), 4) for name in rubric.parts}
    total = round(fmean(reply.total for reply in sound), 4)
    good = {"good": 1.0 if total >= rubric.good else 0.0} if "good" in card.measures else {}
    return {"total": total, **parts, **good}


def _evidence(sound: Sequence[Reading], rubric: Rubric, total: float) -> dict[str, Any]:
    """Every reply that counts, the band of the total, and how far the totals are apart (sample deviation)."""
    spread = round(stdev(reply.total for reply in sound), 4) if len(sound) > 1 else None
    return {
        "band": rubric.band(total),
        "bands": {band.name: band.low for band in rubric.bands},
        "asked": rubric.repeats,
        "sound": len(sound),
        "spread": spread,
        "replies": [
            {
                "total": reply.total,
                "scores": dict(reply.scores),
                "reasons": dict(reply.reasons),
                "total_said": reply.said,  # only where it is another than the sum
                "repaired": reply.repaired,
            }
            for reply in sound
        ],
    }


def _with(verdict: Verdict, **evidence: Any) -> Verdict:
    return replace(verdict, evidence={**verdict.evidence, **evidence})
