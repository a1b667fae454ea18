"""The engine of the ``interactive`` judge: an agent's visit becomes a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from opendesign.errors import Failed, failed
from opendesign.judging.change import PageLeft, Unanswered
from opendesign.judging.interactive import evidence
from opendesign.judging.interactive.paper import CALLS, paper
from opendesign.judging.interactive.replies import Planned
from opendesign.judging.interactive.settings import Settings
from opendesign.judging.interactive.standard import standard
from opendesign.judging.interactive.talk import Talk
from opendesign.judging.interactive.visit import Visit
from opendesign.types import Artifact, Card, Case, Failure, Verdict

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["judge"]


async def judge(
    case: Case,
    artifact: Artifact,
    card: Card,
    page: Any,
    model: Model,
    *,
    goals: Sequence[Planned] = (),
) -> Verdict:
    """Let the model operate the page of a live session (``page.driver`` is its ``Driver``), and score it.

    Scores: ``points`` (0 to N) and ``rate`` (points/N); none where the page has nothing to operate and the
    case asks for no behaviour. ``goals`` are a plan that is given, so that none is asked for. A page that
    stops answering earns nothing from there on (``evidence["hung"]``). The agent's own failure is the
    judge's: unscored. Raises ``Failed`` where the stored page cannot be loaded again, the browser is gone, or
    the first call fails.
    """
    settings = Settings.of(card)
    by_word = settings.loop == "paper"
    talk = Talk(
        case,
        artifact,
        card,
        model,
        calls=CALLS if by_word else settings.max_turns,
        interactions=settings.interactions,
        remembers=by_word,
    )
    visit = Visit(driver=page.driver, settings=settings, talk=talk, plan=tuple(goals))
    hung, failure = "", None
    try:
        await visit.observer.fresh()
        look = await visit.look()
        if not look.keys and all("disabled" in mark.states for mark in look.marks.values()):
            return evidence.nothing_to_operate(case, artifact, card, visit)
        await (paper if by_word else standard)(visit)
        await visit.look()  # what the last action brought is kept, too
        if not by_word:
            await visit.proof.decide()
    except Failed as error:
        if talk.ledger.calls == 0:
            raise
        failure = error.failure
    except (Unanswered, PageLeft) as error:
        if not page.driver.connected:
            raise failed("browser_crash", "The browser ended while the page was operated.") from error
        hung = str(error)[:200] or "no answer"
    if failure is None and not hung:
        failure = _own_failure(visit, acts_on_all=not by_word)
    return evidence.verdict_of(case, artifact, card, visit, failure=failure, hung=hung, by_word=by_word)


def _own_failure(visit: Visit, *, acts_on_all: bool) -> Failure | None:
    """The agent's failure to try the page, which says nothing of the page.

    ``acts_on_all``: it has calls enough for every planned interaction.
    """
    errors = visit.talk.errors
    last = f": {errors[-1]}" if errors else "."
    untried = ", ".join(map(str, visit.untried()))
    if not visit.plan:
        detail = f"The agent gave no plan that could be read in {visit.talk.ledger.calls} replies{last}"
    elif not visit.tried():
        detail = f"The agent operated nothing in {visit.talk.ledger.calls} replies{last}"
    elif acts_on_all and untried and not visit.finished:
        detail = f"The agent used up its calls, and interaction {untried} was not tried{last}"
    else:
        return None
    return Failure(reason="unparsable", detail=detail)
