"""Who sits for a reward: judges with their roles, and the channels that they give."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from opendesign.canonical import hash_of, plain
from opendesign.errors import UnknownName, UsageError
from opendesign.train.channels import ROLES, WEIGHTS, Channel, Role, Scale

if TYPE_CHECKING:
    from opendesign.answering.budget import Budget
    from opendesign.answering.models import Model
    from opendesign.running.journey import Seat
    from opendesign.types import Card, RenderSettings

__all__ = ["GUARDS", "Panel", "channel_of", "panel_of", "role_of", "weighted"]

#: Guard → what it takes away from: gates of the computed judge, each a penalty channel ``guard_<name>``.
GUARDS: Mapping[str, str] = {
    "blank": "nothing is on the page",
    "hidden_text": "text that people cannot see and a parser reads",
    "addresses_judge": "text that speaks to a judge",
    "giant": "content of a giant size, or far off the screen",
    "prompt_copied": "the request copied onto the page",
}
_GUARD_WEIGHT = -1.0
#: What a tripped guard counts before its weight: as much as the best page can earn.
_PENALTY: Mapping[Scale, float] = {"unit": 1.0, "paper": 100.0}
#: Engines that read the page's source alone, so that it need not be drawn for them.
_READ_SOURCE = ("rules", "text")

log = logging.getLogger("opendesign.train")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Judges, roles and channels of one reward, and how pages are drawn for it."""

    seats: tuple[Seat, ...]  # every judge that is asked, one for the guards among them
    roles: Mapping[str, str]  # role -> judge
    channels: tuple[Channel, ...]
    gate: Channel | None
    render: RenderSettings

    @property
    def weights(self) -> dict[str, float]:
        return {channel.name: channel.weight for channel in self.channels}

    @property
    def draws(self) -> bool:
        """Whether pages have to be rendered for any of the judges."""
        return any(needs_page(seat) for seat in self.seats)

    def config(self, seat: Seat) -> str:
        """Hash of all that decides a verdict beside the page and the case."""
        return hash_of([seat.config, plain(self.render) if needs_page(seat) else None])


def needs_page(seat: Seat) -> bool:
    """Whether the judge looks at the page as it is drawn, and not only at its source."""
    return seat.card.engine not in _READ_SOURCE


def panel_of(
    judges: Sequence[str],
    judge_models: Mapping[str, str | Model] | None,
    *,
    weights: Mapping[str, float] | None,
    scale: Scale,
    gate: str | None,
    guards: Sequence[str],
    interactions: int,
    deadline_s: float,
    fallback: float | Mapping[str, float] | None,
    protocol: str,
    models_file: Path | None,
    concurrency: int,
    budget: Budget | None,
) -> Panel:
    """The panel that was asked for. Raises ``UsageError`` in one sentence for what cannot sit together."""
    from opendesign.cases.benchmark import load_protocol
    from opendesign.running.plan import seats_for

    if scale not in get_args(Scale):
        raise UnknownName("scale", str(scale), get_args(Scale))
    if isinstance(judges, str) or not judges:
        raise UsageError("judges is a list of names, such as ['execution', 'computed'].")
    rules = load_protocol("opendesign", protocol)
    found, notes = seats_for(
        rules, judges, judge_models, budget=budget, models_file=models_file, concurrency=concurrency
    )
    seats = [_tuned(seat, interactions, deadline_s) for seat in found]
    roles: dict[Role, str] = {}
    for seat in seats:
        role = role_of(seat.card)
        if role in roles:
            raise UsageError(
                f"'{roles[role]}' and '{seat.card.name}' both give the {role} reward: name one of them."
            )
        roles[role] = seat.card.name
    cards = {seat.card.name: seat.card for seat in seats}
    channels = [channel_of(role, cards[roles[role]], scale) for role in ROLES if role in roles]
    channels += [_guard(name, scale) for name in dict.fromkeys(guards)]
    if guards and "computed" not in cards:
        (watcher,), _ = seats_for(rules, ("computed",))
        seats.append(watcher)
    channels = _with_fallback(weighted(channels, weights), fallback)
    panel = Panel(
        seats=tuple(seats),
        roles={role: roles[role] for role in ROLES if role in roles},
        channels=tuple(channels),
        gate=_gate(gate, channels),
        # Two tries at a page fit into its deadline, with time left to end the second.
        render=replace(rules.render, deadline_s=min(rules.render.deadline_s, 0.45 * deadline_s)),
    )
    _say(panel, notes, gate)
    return panel


def role_of(card: Card) -> Role:
    """What a judge stands for: rules are the execution reward, whoever operates the page the interactive."""
    if card.engine == "rules":
        return "execution"
    return "interactive" if card.live else "static"


def _tuned(seat: Seat, interactions: int, deadline_s: float) -> Seat:
    """The judge with ``interactions`` planned ones, and no longer wait for an answer than the deadline has
    room for, twice: a page that falls silent is opened once more before it is blamed."""
    card, settings = seat.card, dict(seat.card.settings)
    if "interactions" not in settings:
        return seat
    if type(interactions) is not int or not 1 <= interactions <= 50:
        raise UsageError(f"interactions is {interactions!r}: a whole number from 1 to 50.")
    settings["answer_s"] = min(float(settings.get("answer_s", 15.0)), deadline_s / 4)
    if "max_turns" in settings:
        settings["max_turns"] += 2 * max(0, interactions - settings["interactions"])
    settings["interactions"] = interactions
    if settings == card.settings:
        return seat
    measures = dict(card.measures)
    if "points" in measures:
        measures["points"] = replace(measures["points"], high=interactions)
    tuned = replace(card, settings=settings, measures=measures, hash=hash_of([card.hash, settings]))
    return replace(seat, card=tuned)


def channel_of(role: Role, card: Card, scale: Scale) -> Channel:
    """The role's channel: execution -1 or 1; else on the unit scale from 0 to 1, on the paper's as scored."""
    headline = next(name for name, measure in card.measures.items() if measure.headline)
    as_is = role == "execution" or scale == "paper"
    name = {"execution": "score", "interactive": "points"}.get(role, headline) if as_is else headline
    if name not in card.measures:
        raise UsageError(
            f"The judge '{card.name}' has no measure '{name}', which the {role} reward is on the {scale} "
            "scale: name another judge or scale."
        )
    measure = card.measures[name]
    zero, factor = (0.0, 1.0) if as_is else (measure.low, 1 / (measure.high - measure.low))
    return Channel(
        name=role,
        judge=card.name,
        weight=WEIGHTS[role],
        floor=(measure.low - zero) * factor,
        measure=name,
        zero=zero,
        factor=factor,
    )


def _guard(name: str, scale: Scale) -> Channel:
    if name not in GUARDS:
        raise UnknownName("guard", str(name), GUARDS)
    return Channel(
        name=f"guard_{name}", judge="computed", weight=_GUARD_WEIGHT, floor=_PENALTY[scale], gate=name
    )


def weighted(channels: Sequence[Channel], weights: Mapping[str, float] | None) -> list[Channel]:
    """The channels with the weights given. A weight for an absent role is allowed and counts for nothing."""
    given = dict(weights or {})
    for name, weight in given.items():
        known = [*ROLES, *(f"guard_{guard}" for guard in GUARDS)]
        if name not in known:
            raise UnknownName("channel", str(name), known)
        _refuse_odd(f"The weight of '{name}'", weight)
        if (weight > 0) if name.startswith("guard_") else (weight < 0):
            side = "0 or less: it takes away" if name.startswith("guard_") else "0 or more"
            raise UsageError(f"The weight of '{name}' is {weight:g}, and has to be {side}.")
    return [replace(channel, weight=float(given.get(channel.name, channel.weight))) for channel in channels]


def _with_fallback(
    channels: Sequence[Channel], fallback: float | Mapping[str, float] | None
) -> list[Channel]:
    """The channels with what they give in place of an abstention; a guard is then taken as not tripped."""
    if fallback is None:
        return list(channels)
    if not isinstance(fallback, Mapping):
        _refuse_odd("The fallback", fallback)
        return [replace(one, fallback=0.0 if one.gate else float(fallback)) for one in channels]
    known = [channel.name for channel in channels]
    for name, value in fallback.items():
        if name not in known:
            raise UnknownName("channel", str(name), known)
        _refuse_odd(f"The fallback of '{name}'", value)
    return [replace(one, fallback=fallback.get(one.name)) for one in channels]


def _refuse_odd(what: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"{what} is {value!r}, and has to be a finite number.")


def _gate(gate: str | None, channels: Sequence[Channel]) -> Channel | None:
    """The channel of the gate. Without a judge for it the default gate is no gate; another is an error."""
    if gate is None:
        return None
    if gate not in ROLES:
        raise UnknownName("role", str(gate), ROLES)
    found = next((channel for channel in channels if channel.name == gate), None)
    if found is None and gate != "execution":
        raise UsageError(f"The gate is '{gate}', and no judge gives that reward: name one, or gate=None.")
    return found


def _say(panel: Panel, notes: Sequence[str], gate: str | None) -> None:
    told = ", ".join(f"{role} = {judge}" for role, judge in panel.roles.items())
    log.info("Roles: %s; weights: %s.", told, panel.weights)
    for note in notes:
        log.warning(note)
    absent = [role for role in ROLES if role not in panel.roles]
    if absent:
        log.info("No judge for %s: left out, and the other weights stay as they are.", " and ".join(absent))
    if gate is not None and panel.gate is None:
        log.warning("No judge gives the %s reward, so that there is no gate.", gate)
