"""The engine of the ``probe`` judge: plan, operate, score."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.errors import failed
from opendesign.judging.change import Observer, PageLeft, Unanswered
from opendesign.judging.probe.actions import OutOfReach
from opendesign.judging.probe.plan import Step, plan
from opendesign.judging.probe.trial import Outcome, Trial, unique
from opendesign.types import Artifact, Card, Case, Verdict

if TYPE_CHECKING:
    from opendesign.rendering.driver import Driver


@cache
def _controls() -> str:
    return (Path(__file__).parent / "controls.js").read_text(encoding="utf-8")


async def judge(case: Case, artifact: Artifact, card: Card, page: Any, model: object = None) -> Verdict:
    """Operate the page of a live session (``page.driver`` is its ``Driver``) and score what worked.

    Scores: ``points`` (0 to N) and ``rate`` (points/N); none where the page has nothing to operate and the
    case asks for no behaviour. A page that stops answering earns nothing from there on. Raises ``Failed``
    when the stored page cannot be loaded again or the browser is gone.
    """
    count = int(card.settings.get("interactions", 3))
    trial = await _try_out(case, card, page.driver, count)
    if not trial.steps and not trial.hung:
        return _nothing(case, artifact, card, count)
    points = sum(outcome.worked for outcome in trial.outcomes)
    reasons = [_sentence(outcome) for outcome in trial.outcomes]
    if trial.hung:
        reasons.append(
            f"The page stopped answering ({trial.hung}): this interaction and the rest earn nothing."
        )
    return Verdict(
        case=case.id,
        sample=artifact.sample,
        judge=card.name,
        scores={"points": float(points), "rate": round(points / count, 4)},
        reasons=tuple(reasons),
        evidence={
            "planned": [step.label for step in trial.steps],
            "steps": [_evidence(outcome) for outcome in trial.outcomes],
            "controls": trial.found,
            "hung": trial.hung,
        },
    )


class _Run:
    """What a trial leaves behind, also when the page hangs half-way."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.outcomes: list[Outcome] = []
        self.found: dict[str, int] = {}
        self.hung = ""


async def _try_out(case: Case, card: Card, driver: Driver, count: int) -> _Run:
    settings = card.settings
    observer = Observer(
        driver,
        scripts=[_controls()],
        answer_s=float(settings.get("answer_s", 5.0)),
        caused_ms=int(settings.get("caused_ms", 1200)),
        own_ms=int(settings.get("own_ms", 300)),
    )
    run, trial = _Run(), Trial(observer)
    try:
        await observer.fresh()
        listing = await observer.ask("controls")
        observer.read_motion(listing["motion"])
        for control in listing["controls"]:
            run.found[control["kind"]] = run.found.get(control["kind"], 0) + 1
        run.steps = plan(listing, case, count)
        observer.keys = [
            k for step in run.steps if step.control for k in (step.control.key, step.control.form)
        ]
        for step in run.steps:
            await trial.take(step)
        await trial.outcomes()
    except (Unanswered, PageLeft, OutOfReach) as error:
        if not driver.connected:
            raise failed("browser_crash", "The browser ended while the page was operated.") from error
        run.hung = str(error)[:200]
    run.outcomes = trial.known()
    return run


def _nothing(case: Case, artifact: Artifact, card: Card, count: int) -> Verdict:
    if case.has_behaviour:
        scores, reason = (
            {"points": 0.0, "rate": 0.0},
            "The case asks for behaviour, and there is nothing to operate.",
        )
    else:
        scores, reason = (
            {},
            "There is nothing to operate, and the case asks for no behaviour: not applicable.",
        )
    return Verdict(
        case=case.id,
        sample=artifact.sample,
        judge=card.name,
        scores=scores,
        reasons=(reason,),
        evidence={"planned": []},
    )


def _sentence(outcome: Outcome) -> str:
    changed = "; ".join(_told(c) for c in _evidence(outcome)["changed"][:2])
    verb = "worked" if outcome.worked else "did nothing"
    return f"{outcome.step.label}: {verb} ({outcome.why}{': ' + changed if changed else ''})."


def _told(change: dict[str, str]) -> str:
    return " ".join(
        part
        for part in (change["tag"], change["kind"], f"'{change['sample']}'" if change["sample"] else "")
        if part
    )


def _evidence(outcome: Outcome) -> dict[str, Any]:
    control = outcome.step.control
    return {
        "did": outcome.step.label,
        "action": outcome.step.action,
        "at": [control.x, control.y, control.width, control.height] if control else None,
        "worked": outcome.worked,
        "why": outcome.why,
        "controlled": outcome.controlled,
        "changed": [
            {"kind": c.kind, "place": c.place, "tag": c.tag, "sample": c.sample}
            for c in unique(outcome.changes, 5)
        ],
    }
