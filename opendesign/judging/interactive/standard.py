"""The loop of ``standard``: plan, then one call a turn, each with little context.

A turn's reply holds the word on the last action and the next action, so that N interactions take N + 2 calls.
Every call stands alone: the plan, a line for each step, the list and at most two pictures.
"""

from __future__ import annotations

from opendesign.judging.interactive.drawing import Picture
from opendesign.judging.interactive.replies import (
    PLAN_SCHEMA,
    TURN_SCHEMA,
    Turn,
    plan_in,
    turn_in,
)
from opendesign.judging.interactive.visit import Look, Visit

__all__ = ["standard"]

_PLANS = 3  # replies to the plan before the agent is given up


async def standard(visit: Visit) -> None:
    """Plan, operate and judge until the agent finishes or its calls are used up."""
    if not visit.plan and not await _plan(visit):
        return
    reminded = False
    while visit.talk.calls_left > 0:
        turn = await _turn(visit)
        if turn is None:
            continue
        if turn.next.do != "finish":
            await visit.act(turn.next)
        elif visit.untried() and not reminded:
            reminded = True
            numbers = ", ".join(map(str, visit.untried()))
            visit.talk.wrong(
                f"You have not tried interaction {numbers}: try each, as far as the page allows."
            )
        else:
            visit.finished = True
            return


async def _plan(visit: Visit) -> bool:
    count = visit.settings.interactions
    look = await visit.look()
    for _ in range(_PLANS):
        plan = await visit.talk.ask(
            "plan.md",
            {"list": visit.talk.quoted(look.list), "where": look.where},
            [look.picture],
            lambda text: plan_in(text, most=count, least=count),
            PLAN_SCHEMA,
        )
        if plan is not None:
            visit.plan = plan
            return True
    return False


async def _turn(visit: Visit) -> Turn | None:
    """One call: the word on the last action is kept with its step."""
    look = await visit.look()
    last = visit.steps[-1] if visit.steps and visit.steps[-1].word is None else None
    talk = visit.talk
    slots = {
        "plan": talk.quoted(visit.planned()),
        "history": talk.quoted(visit.history()),
        "list": talk.quoted(look.list),
        "where": look.where,
        "calls": str(talk.calls_left - 1),
    }
    if last is None:
        prompt, pictures = "first.md", [look.picture]
    else:
        prompt, pictures = "turn.md", _pictures(visit, last.before, look)
        slots["last"] = talk.quoted(last.told(len(visit.steps)))
    judges = last is not None
    turn = await talk.ask(
        prompt,
        slots,
        pictures,
        lambda text: turn_in(text, judges=judges, planned=len(visit.plan)),
        TURN_SCHEMA,
    )
    if turn is not None and turn.word is not None:
        visit.judge(turn.word)
    return turn


def _pictures(visit: Visit, before: str, look: Look) -> list[Picture]:
    """Before and after, as long as each call that is left can still have one; else the page now alone."""
    most = visit.settings.most_pictures
    if before == look.picture.name or most - visit.talk.pictures - 2 < visit.talk.calls_left - 1:
        return [look.picture]
    return [visit.pictures[before], look.picture]
