"""The engine ``plot-computed``: structure of a plot and likeness of its picture to the reference's.

Structure is what the figure said of itself, in the process that ran untrusted code; the picture is compared
outside of it. The total is the lower of the two, so that a figure that lies about itself gains nothing. For
smoke tests and as a guard: it is not the quality score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opendesign.errors import UsageError, failed
from opendesign.judging.plots import structure
from opendesign.judging.plots.drawn import check_good, lowest, nothing_drawn, refuse_unknown, task_of
from opendesign.judging.plots.similarity import Likeness, likeness
from opendesign.judging.plots.values import Closeness
from opendesign.types import Artifact, Card, Case, Verdict

if TYPE_CHECKING:
    from opendesign.plotting.facts import PlotFacts

__all__ = ["CHECK", "KIND", "judge", "score"]

KIND = "plots"
_MEASURES = ("structure", "picture", *structure.PARTS)
_REASONS = 8  # sentences kept


async def judge(case: Case, artifact: Artifact, card: Card, page: object, model: object) -> Verdict:
    """Measures and total of one plot; asks nobody. A plot that is blank gets the lowest score.

    Raises ``Failed`` where no plot was drawn, and where its facts or the reference's are not there;
    ``UsageError`` for a card that makes no sense, a case that asks for no plot or a damaged ground truth.
    """
    check(card)
    task = task_of(case, card)
    if (why := await nothing_drawn(artifact)) is not None:
        return lowest(case, artifact, card, why)
    if artifact.facts is None or artifact.picture is None:
        raise failed("sandbox_unavailable", "What the figure holds was not read: draw the plot again.")
    if task.facts is None:
        raise failed(
            "sandbox_unavailable",
            f"The benchmark does not say what the reference of '{case.id}' draws: import it again where the "
            "sandbox works.",
        )
    facts, picture, wanted, truth = artifact.facts, artifact.picture, task.facts, task.truth

    def work() -> tuple[dict[str, float], tuple[str, ...], dict[str, Any]]:
        from opendesign.plotting.facts import PlotFacts

        plot, reference = (PlotFacts.from_json(blob.read_bytes()) for blob in (facts, wanted))
        try:
            alike = likeness(truth.read_bytes(), picture.read_bytes(), _boxes(reference, plot))
        except (OSError, ValueError) as error:
            raise UsageError(
                f"The pictures of the case '{case.id}' cannot be compared ({error}): restore {truth.path} "
                f"or {picture.path}."
            ) from error
        return score(reference, plot, alike, card)

    scores, reasons, evidence = await asyncio.to_thread(work)
    return Verdict(
        case=case.id,
        sample=artifact.sample,
        judge=card.name,
        scores=scores,
        reasons=reasons,
        evidence=evidence,
    )


def _boxes(reference: PlotFacts, plot: PlotFacts) -> list[tuple[float, float, float, float]]:
    """Where the reference has its data: never the plot's own word. None are known where plotly draws.

    Plotly tells where axes are within its margins, and those only once it draws. What its figures hold we
    read ourselves, so that no picture has to stand against a lie.
    """
    if "plotly" in (reference.library, plot.library):
        return []
    return [axes.box for axes in reference.axes if axes.series]


def score(
    reference: PlotFacts, plot: PlotFacts, alike: Likeness, card: Card
) -> tuple[dict[str, float], tuple[str, ...], dict[str, Any]]:
    """Scores (0–100; ``good`` 0 or 1), reasons (what costs most first) and evidence. Deterministic.

    The picture is as good as the lower of the two likenesses.
    """
    settings = card.settings
    parts = structure.compare(reference, plot, Closeness(**settings["data"]))
    shares = {name: part.score for name, part in parts.items() if part.score is not None}
    weights = {name: float(settings["weights"][name]) for name in shares}
    whole = sum(weights.values())
    structured = sum(weights[name] * share for name, share in shares.items()) / whole if whole else 1.0
    same, other = settings["picture"]["same"], settings["picture"]["other"]
    pictured = min(1.0, max(0.0, (alike.lower - other) / (same - other)))
    total = round(100 * min(structured, pictured), 4)
    measures = {"structure": structured, "picture": pictured, **shares}
    scores = {
        "total": total,
        **{name: round(100 * share, 4) for name, share in measures.items()},
        "good": 1.0 if total >= settings["good"] else 0.0,
    }
    evidence = {
        "likeness": round(alike.whole, 4),
        "inside": round(alike.inside, 4),
        "limited_by": "picture" if pictured < structured else "structure",
        "library": plot.library,
        "truncated": plot.truncated or reference.truncated,
    }
    what = "What is drawn inside the axes" if alike.inside < alike.whole else "The picture"
    picture = [f"{what} resembles the ground truth by {100 * pictured:.0f} of 100."] if pictured < 1 else []
    return scores, (*picture, *_differences(parts, shares, weights))[:_REASONS], evidence


def _differences(
    parts: Mapping[str, structure.Part], shares: Mapping[str, float], weights: Mapping[str, float]
) -> list[str]:
    costly: Sequence[str] = sorted(shares, key=lambda name: -weights[name] * (1 - shares[name]))
    return [text for name in costly for text in dict.fromkeys(parts[name].differs)]


def check(card: Card) -> None:
    """Raise ``UsageError`` in one sentence for a card that the engine cannot use."""
    where = refuse_unknown(card, {"good", "weights", "data", "picture"})
    check_good(card, "total")
    for name in _MEASURES:
        measure = card.measures.get(name)
        if measure is None or (measure.low, measure.high) != (0, 100):
            raise UsageError(f"{where}: measures.{name} must go from 0 to 100.")
    tables = {"weights": structure.PARTS, "data": ("same", "other"), "picture": ("same", "other")}
    for table, names in tables.items():
        values = card.settings.get(table)
        if (
            not isinstance(values, dict)
            or set(values) != set(names)
            or not all(map(_number, values.values()))
        ):
            raise UsageError(f"{where}: [settings.{table}] must hold numbers for {', '.join(names)}.")
    weights, data, picture = (card.settings[table] for table in tables)
    if min(weights.values()) < 0 or not any(weights.values()):
        raise UsageError(f"{where}: [settings.weights] needs numbers from 0 on, not all of them 0.")
    if not 0 <= data["same"] < data["other"]:
        raise UsageError(f"{where}: [settings.data] needs 0 ≤ same < other.")
    if not 0 <= picture["other"] < picture["same"] <= 1:
        raise UsageError(f"{where}: [settings.picture] needs 0 ≤ other < same ≤ 1.")


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


CHECK = check
