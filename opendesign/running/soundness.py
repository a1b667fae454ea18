"""Whether what was read from a run's folder has the shape that was written: damage is found in one place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from opendesign.errors import REASONS

MOST_SAMPLES, MOST_RESAMPLES = 1_000, 1_000_000


def record_problem(record: Mapping[str, Any]) -> str | None:
    """The field of a record that is not as it was written, or None."""
    if not isinstance(record.get("case"), str) or type(record.get("sample")) is not int:
        return "case"
    for name in ("value", "made", "varies"):
        if not isinstance(record.get(name), dict):
            return name
    value, varies = record["value"], record["varies"]
    if any(not _number(varies.get(name, 0.0)) for name in ("at", "seconds", "lost_usd")):
        return "varies"
    if any(not isinstance(text, str) for text in record["made"].values()):
        return "made"
    failure = value.get("failure")
    if failure is not None and not (isinstance(failure, dict) and failure.get("reason") in REASONS):
        return "failure"
    usage = value.get("usage") or {}
    if not isinstance(usage, dict) or any(not (n is None or _number(n)) for n in usage.values()):
        return "usage"
    if "scores" in value:
        scores = value["scores"]
        if not isinstance(scores, dict) or any(not _number(score) for score in scores.values()):
            return "scores"
        if record.get("step") != f"verdict-{value.get('judge')}":
            return "judge"
    return None if value.get("case") == record["case"] else "case"


def manifest_problem(manifest: Mapping[str, Any]) -> str | None:
    """The field of a manifest that is not as it was written, or None."""
    if type(manifest.get("samples")) is not int or not 1 <= manifest["samples"] <= MOST_SAMPLES:
        return "samples"
    for name, keys in (("benchmark", ("name", "version", "hash")), ("protocol", ("name", "version", "hash"))):
        part = manifest.get(name)
        if not isinstance(part, dict) or any(not isinstance(part.get(key), str) for key in keys):
            return name
    resamples = manifest["protocol"].get("resamples", 1)
    if type(resamples) is not int or not 1 <= resamples <= MOST_RESAMPLES:
        return "protocol"
    model = manifest.get("model")
    if not isinstance(model, dict) or not isinstance(model.get("name"), str):
        return "model"
    cases = manifest.get("cases")
    if not isinstance(cases, list) or not cases:
        return "cases"
    for case in cases:
        if not isinstance(case, dict) or any(
            not isinstance(case.get(key), str) for key in ("id", "category", "difficulty", "prompt")
        ):
            return "cases"
    judges = manifest.get("judges")
    if not isinstance(judges, dict) or any(not _judge(judge) for judge in judges.values()):
        return "judges"
    return None


def _judge(judge: Any) -> bool:
    if not isinstance(judge, dict) or not isinstance(judge.get("measures"), dict):
        return False
    return all(isinstance(m, dict) and "kind" in m and "headline" in m for m in judge["measures"].values())


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
