"""The engine ``plot``: one question about a plot to a vision model, one score from its reply."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from opendesign.errors import Failed, UsageError
from opendesign.judging.asking import (
    Ledger,
    Malformed,
    PictureRule,
    Prepared,
    ask,
    fill,
    json_in,
    nonce_for,
    number,
    prepare,
    text_of,
    turn,
)
from opendesign.judging.asking.abilities import asked_name
from opendesign.judging.plots.drawn import check_good, lowest, nothing_drawn, refuse_unknown, task_of
from opendesign.types import Artifact, Blob, Card, Case, PlotTask, Verdict

if TYPE_CHECKING:
    from opendesign.answering.models import Model

__all__ = ["CARD_SETTINGS", "check", "expected", "judge", "read_score"]

CARD_SETTINGS = {"good", "max_tokens", "pictures", "reply_tokens", "shown", "temperature", "timeout_s"}
_PICTURES = ("plot", "truth")  # what a card can show
_PIXELS_A_TOKEN, _PIXELS, _CHARACTERS_A_TOKEN, _REPLY = 750, 640 * 480, 4, 150
_FINAL = re.compile(r"\[FINAL SCORE\]\s*:?\s*([^\s\[\]{}]{1,20})", re.IGNORECASE)
_BARE = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?(?:\s*/\s*100)?")

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "number"}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Said:
    """A reply, read: a score from 0 to 100, and the reason where one was given."""

    score: float
    reason: str


async def judge(case: Case, artifact: Artifact, card: Card, page: object, model: Model) -> Verdict:
    """The score of a plot that the card's pictures and prompt ask for.

    A plot that is blank gets the lowest score unasked. Raises ``Failed`` where no plot was drawn, the reply
    cannot be used or nothing came; ``UsageError`` for a card that makes no sense or a case that asks for no
    plot.
    """
    check(card)
    task = task_of(case, card)
    if (why := await nothing_drawn(artifact)) is not None:
        return lowest(case, artifact, card, why)
    shown = {what: await _shown(what, case, artifact, task, card, model) for what in card.settings["shown"]}
    messages = _question(card, task, nonce_for(card, artifact), shown.values())
    ledger = Ledger()
    verdict = Verdict(case=case.id, sample=artifact.sample, judge=card.name)
    told = [{"what": what, **picture.told()} for what, picture in shown.items()]
    try:
        asked = await ask(
            model,
            messages,
            read_score,
            ledger=ledger,
            settings=card.settings,
            key=(case.id, artifact.sample, card.name),
            schema=SCHEMA,
            repair=card.files.get("repair.md"),
        )
    except Failed as error:  # kept with what it has cost
        evidence = {"model": sorted(ledger.returned), "shown": told}
        return replace(verdict, failure=error.failure, evidence=evidence, usage=ledger.usage)
    said = asked.value
    return replace(
        verdict,
        scores={"score": said.score, "good": 1.0 if said.score >= card.settings["good"] else 0.0},
        reasons=(said.reason,) if said.reason else (),
        evidence={"model": sorted(ledger.returned), "shown": told, "repaired": asked.repaired},
        usage=ledger.usage,
    )


def read_score(text: str) -> Said:
    """A reply as asked for; a bare number ("85", "85/100"); or the released form, "[FINAL SCORE]: 85".

    The released form is looked for where there is no JSON, and the last one counts. Raises ``Malformed`` for
    anything else and for a score outside 0 to 100.
    """
    if _BARE.fullmatch(bare := text.strip().removesuffix(".")):
        return Said(number({"score": bare}, "score", 0, 100), "")
    try:
        values = json_in(text)
    except Malformed:
        if not (finals := _FINAL.findall(text)):
            raise
        values = {"score": finals[-1].rstrip(".*")}
    return Said(number(values, "score", 0, 100), text_of(values, "reason"))


def check(card: Card) -> None:
    """Raise ``UsageError`` in one sentence for a card that the engine cannot use."""
    where = refuse_unknown(card, CARD_SETTINGS)
    shown = card.settings.get("shown")
    if not isinstance(shown, list) or not shown or any(what not in _PICTURES for what in shown):
        raise UsageError(f'{where}: settings.shown must list what is shown, of "plot" and "truth".')
    if "plot" not in shown or len(set(shown)) != len(shown):
        raise UsageError(f'{where}: settings.shown must name "plot" and nothing twice.')
    check_good(card, "score")
    PictureRule.of(card)
    if PictureRule.of(card).rule != "whole":
        raise UsageError(f'{where}: settings.pictures.rule must be "whole": a plot is one picture.')


def expected(card: Card, case: Case) -> dict[str, int]:
    """Calls, tokens and pictures of one verdict, a repair left out; a plot is taken for 640 × 480 pixels."""
    task, shown = case.task, len(card.settings["shown"])
    letters = sum(len(card.files.get(name, "")) for name in ("system.md", "user.md"))
    letters += len(task.description) + len(task.style) if task else 0
    return {
        "calls": 1,
        "prompt_tokens": letters // _CHARACTERS_A_TOKEN + shown * _PIXELS // _PIXELS_A_TOKEN,
        "completion_tokens": int(card.settings.get("reply_tokens", _REPLY)),
        "pictures": shown,
    }


def _question(
    card: Card, task: PlotTask, nonce: str, pictures: Iterable[Prepared]
) -> list[Mapping[str, Any]]:
    """The turns of the chat. All pictures follow the text of the user's turn, in the card's order."""
    texts = {"description": task.description, "style": task.style}
    clean = {name: text.replace(nonce, "[…]") or "(nothing said)" for name, text in texts.items()}
    slots = {**clean, "library": task.library, "chart": task.chart, "nonce": nonce}
    asked = turn("user", fill(card, "user.md", slots), pictures)
    return [turn("system", fill(card, "system.md", slots)), asked] if "system.md" in card.files else [asked]


async def _shown(
    what: str, case: Case, artifact: Artifact, task: PlotTask, card: Card, model: Model
) -> Prepared:
    """The picture of the plot, or of the ground truth, as the provider takes it."""
    picture = artifact.picture if what == "plot" else task.truth
    assert picture is not None  # a plot that was not drawn is never asked about
    return await asyncio.to_thread(_prepared, picture, what, case, PictureRule.of(card), asked_name(model))


def _prepared(picture: Blob, what: str, case: Case, rule: PictureRule, provider: str) -> Prepared:
    try:
        return prepare(picture.read_bytes(), rule, provider=provider)[0]
    except Failed as error:
        if what == "plot":
            raise
        raise UsageError(
            f"The ground truth of the case '{case.id}' ({picture.path}) is no picture: restore the file."
        ) from error
