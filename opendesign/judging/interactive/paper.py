"""The loop of ``paper``: two calls that plan, four that act, every picture kept in the context.

Each acting call judges the action before it, so the last action is never judged: at most three points.
"""

from __future__ import annotations

from opendesign.judging.interactive.replies import PLAN_SCHEMA, TURN_SCHEMA, plan_in, turn_in
from opendesign.judging.interactive.visit import Visit

__all__ = ["CALLS", "paper"]

_PLANNING, _ACTING = 2, 4
CALLS = _PLANNING + _ACTING


async def paper(visit: Visit) -> None:
    """The six calls, or fewer where the agent finishes before."""
    for prompt in ("plan.md", "rank.md"):
        look = await visit.look()
        plan = await visit.talk.ask(
            prompt,
            {"list": visit.talk.quoted(look.list), "where": look.where},
            [look.picture] if prompt == "plan.md" else [],
            lambda text: plan_in(text, most=_ACTING),
            PLAN_SCHEMA,
        )
        visit.plan = plan or visit.plan
    if not visit.plan:
        return
    for _ in range(_ACTING):
        look = await visit.look()
        last = visit.steps[-1] if visit.steps and visit.steps[-1].word is None else None
        judges = last is not None
        turn = await visit.talk.ask(
            "turn.md" if judges else "first.md",
            {
                "list": visit.talk.quoted(look.list),
                "where": look.where,
                "last": visit.talk.quoted(last.told(len(visit.steps))) if last else "",
            },
            [look.picture],
            lambda text, judges=judges: turn_in(text, judges=judges, planned=len(visit.plan)),  # type: ignore[misc]
            TURN_SCHEMA,
        )
        if turn is None:
            continue
        if turn.word is not None:
            visit.judge(turn.word)
        if turn.next.do == "finish":
            return
        await visit.act(turn.next)
