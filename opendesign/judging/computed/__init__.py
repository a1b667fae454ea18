"""The computed judge: measured facts about the rendered page. A profile and gates, not the quality score.

Published measures of single pages explain at most half of the variance of what people say (Miniukovich and
De Angeli, "Computation of interface aesthetics", 2015; Reinecke et al. 2013): each measure carries the grade
of its evidence in the card, and the total stands in only where no model judges.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import Any

from opendesign.errors import UsageError, failed
from opendesign.judging.computed import layout, look, soundness, words
from opendesign.judging.computed.reading import Reading, Settings
from opendesign.rendering.facts import Facts
from opendesign.types import Artifact, Card, Case, Verdict

__all__ = ["MEASURES", "judge", "score"]

#: What is measured. ``None`` from a measure means that it does not apply to the page.
MEASURES: Mapping[str, Callable[[Facts, Settings], Reading | None]] = {
    "contrast": words.contrast,
    "overlap": words.overlap,
    "clipping": words.clipping,
    "overflow": layout.overflow,
    "alignment": layout.alignment,
    "spacing": layout.spacing,
    "type": words.type_scale,
    "colour": look.colour,
    "content": look.content,
    "accessibility": soundness.accessibility,
    "integrity": soundness.integrity,
    "styling": look.styling,
}
_REASONS = 8  # sentences kept
_FINE = 97.0  # a measure above has nothing worth mending


async def judge(case: Case, artifact: Artifact, card: Card, page: object, model: object) -> Verdict:
    """Measures, total and gates of one stored page; asks neither a browser nor a model.

    Raises ``Failed`` where the page's facts are not there, ``UsageError`` for a card that lacks a setting.
    """
    if artifact.facts is None:
        raise failed("deadline_under_load", "The page has no facts to judge: render it again.")
    facts = Facts.from_json(artifact.facts.read_bytes())
    if not facts.complete:
        raise failed("deadline_under_load", "The page could not be measured in time: render it again.")
    scores, reasons, evidence = await asyncio.to_thread(score, facts, case, card)
    return Verdict(
        case=case.id,
        sample=artifact.sample,
        judge=card.name,
        scores=scores,
        reasons=reasons,
        evidence=evidence,
    )


def score(facts: Facts, case: Case, card: Card) -> tuple[dict[str, float], tuple[str, ...], dict[str, Any]]:
    """Scores (0–100; ``sound`` 0 or 1), reasons (what costs most first) and evidence. Deterministic."""
    try:
        return _score(facts, case, card.settings)
    except KeyError as error:
        raise UsageError(f"The judge card '{card.name}' lacks the setting {error}: copy it anew.") from error


def _score(
    facts: Facts, case: Case, settings: Mapping[str, Any]
) -> tuple[dict[str, float], tuple[str, ...], dict[str, Any]]:
    tripped = soundness.gates(facts, case, settings["gates"])
    sound = 0.0 if tripped else 1.0
    if "blank" in tripped:
        scores = {"total": 0.0, "content": 0.0, "sound": sound}
        return scores, tuple(tripped.values()), {"gates": tripped}
    substance = look.substance(facts, settings["substance"])
    readings = {name: measure(facts, settings[name]) for name, measure in MEASURES.items()}
    profile = {
        name: round(min(100.0, max(0.0, reading.score * substance)), 4)
        for name, reading in readings.items()
        if reading is not None
    }
    weights = {name: float(settings[name]["weight"]) for name in MEASURES}
    applied = sum(weights[name] for name in profile)
    breadth = math.sqrt(applied / sum(weights.values()))
    total = breadth * sum(weights[name] * value for name, value in profile.items()) / applied
    evidence = {
        "gates": tripped,
        "grades": {name: settings[name]["grade"] for name in profile},
        "substance": round(substance, 4),
        "breadth": round(breadth, 4),
        "not_applicable": sorted(set(MEASURES) - set(profile)),
        "measures": {name: dict(r.evidence) for name, r in readings.items() if r is not None},
    }
    return (
        {"total": round(total, 4), **profile, "sound": sound},
        _reasons(readings, weights, tripped),
        evidence,
    )


def _reasons(
    readings: Mapping[str, Reading | None], weights: Mapping[str, float], tripped: Mapping[str, str]
) -> tuple[str, ...]:
    """The gates' sentences, then one sentence a measure in the order of what mending it would bring."""
    found = [(weights[n] * (100 - r.score), r) for n, r in readings.items() if r and r.score < _FINE]
    found.sort(key=lambda item: -item[0])
    said = [*tripped.values()]
    for rank in range(2):
        said += [r.reasons[rank] for _, r in found if len(r.reasons) > rank]
    return tuple(dict.fromkeys(said))[:_REASONS]
