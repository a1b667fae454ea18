"""What a run will do, decided before anything is sent: cases, model, judges, and the folder it is kept in.

The folder's name is made from what is asked, so that the same command finds the same run and resumes it.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import opendesign
from opendesign.canonical import hash_of, plain
from opendesign.errors import UsageError
from opendesign.running.journey import Seat
from opendesign.running.keep import task_of
from opendesign.running.store import Store
from opendesign.types import Benchmark, Card, Case, Protocol

if TYPE_CHECKING:
    from opendesign.answering.budget import Budget
    from opendesign.answering.models import Model

RUNS = Path("runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run before it starts. ``notes`` are sentences a person should read first."""

    folder: Path
    benchmark: Benchmark
    cases: tuple[Case, ...]
    samples: int
    selection: Mapping[str, Any]  # split, category, limit
    protocol: Protocol
    model: Model
    seats: tuple[Seat, ...]
    notes: tuple[str, ...] = ()
    model_config: Mapping[str, Any] = field(default_factory=dict)

    def identity(self) -> dict[str, Any]:
        """What makes two runs the same run. Judges are not in it: they can be added later."""
        return {
            "benchmark": {"name": self.benchmark.name, "hash": self.benchmark.hash, **self.selection},
            "cases": [case.id for case in self.cases],
            "model": dict(self.model_config),
            "protocol": self.protocol.hash,
            "samples": self.samples,
        }

    def manifest(self) -> dict[str, Any]:
        """``run.json``: enough to resume, to judge again and to read the run without its benchmark."""
        return {
            "identity": hash_of(self.identity()),
            "benchmark": {
                "name": self.benchmark.name,
                "version": self.benchmark.version,
                "title": self.benchmark.title,
                "hash": self.benchmark.hash,
                **self.selection,
            },
            "cases": plain(self.cases),
            "model": {"name": self.model.name, "config": dict(self.model_config)},
            "protocol": plain(self.protocol),
            "judges": {seat.card.name: _judge(seat) for seat in self.seats},
            "samples": self.samples,
            "made": {"opendesign": opendesign.__version__},
            "varies": {"started": time.time(), "python": platform.python_version(), "host": platform.node()},
        }


def _judge(seat: Seat) -> dict[str, Any]:
    card = seat.card
    return {
        "version": card.version,
        "hash": card.hash,
        "config": seat.config,
        "model": seat.model.name if seat.model else None,
        "asked": seat.asked,
        "stands_in_for": card.stands_in_for,
        "measures": plain(card.measures),
    }


def plan_run(
    model: Model,
    benchmark: Benchmark,
    protocol: Protocol,
    seats: tuple[Seat, ...],
    cases: tuple[Case, ...],
    *,
    selection: Mapping[str, Any] | None = None,
    samples: int = 1,
    folder: Path | None = None,
    notes: Sequence[str] = (),
) -> Plan:
    """A plan; without ``folder`` its name is made from model, benchmark, protocol and a hash of the rest."""
    from opendesign.answering.models import check_kind

    for need in ("name", "answer", "config"):
        if not hasattr(model, need):
            raise UsageError(
                f"The model lacks '{need}': see opendesign.answering.models.Model for what it needs."
            )
    if samples < 1:
        raise UsageError(f"--samples is {samples}: ask for at least one sample a case.")
    if not cases:
        raise UsageError("No case is left to run: widen --split, --category or --limit.")
    check_kind(model, cases)
    plan = Plan(
        folder=folder or RUNS,
        benchmark=benchmark,
        cases=cases,
        samples=samples,
        selection=dict(selection or {}),
        protocol=protocol,
        model=model,
        seats=seats,
        notes=tuple(notes),
        model_config=model.config(protocol.generation),
    )
    if folder is not None:
        return plan
    name = [model.name, benchmark.name, *(str(v) for v in plan.selection.values() if v is not None)]
    slug = "-".join(re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-.")[:40] for part in name)
    return replace(plan, folder=RUNS / f"{slug}-{protocol.name}-{hash_of(plan.identity())[:8]}")


def with_repairs(protocol: Protocol, repairs: int) -> Protocol:
    """The protocol with so many tries to repair a plot; its hash stays, since they are reported apart."""
    if not repairs:
        return protocol
    if protocol.plots is None:
        raise UsageError("--repairs is for benchmarks of plots: pages are not repaired.")
    if repairs < 0:
        raise UsageError(f"--repairs is {repairs}: it cannot be below zero.")
    return replace(protocol, plots=replace(protocol.plots, repairs=repairs))


def composed(cases: tuple[Case, ...], protocol: Protocol) -> tuple[Case, ...]:
    """The cases with the prompts that models are sent: a plot's says also how its data looks."""
    if protocol.plots is None:
        return cases
    from opendesign.cases.plots import compose

    return tuple(compose(case, protocol.plots) for case in cases)


def seats_for(
    protocol: Protocol,
    judges: Sequence[str] = (),
    judge_models: Mapping[str, str | Model] | None = None,
    *,
    budget: Budget | None = None,
    models_file: Path | None = None,
    concurrency: int | None = None,
    need_keys: bool = True,
) -> tuple[tuple[Seat, ...], tuple[str, ...]]:
    """The judges of a run and a note for every one that another stands in for.

    Without ``judges`` the protocol's. A judge for which no model is named is replaced by the protocol's
    key-free stand-in. ``concurrency`` is for models whose description names none. Raises ``UnknownName`` for
    a judge that is not there, ``UsageError`` for a model given to a judge that takes none or does not sit.
    """
    from opendesign.answering.models import resolve
    from opendesign.judging.cards import load_card

    models = dict(judge_models or {})
    seats: dict[str, Seat] = {}
    notes = []
    for name in judges or protocol.judges:
        stand_in = protocol.stand_ins.get(name)
        if stand_in is not None and name not in models:
            card = load_card(stand_in)
            notes.append(
                f"No model is named for the judge '{name}': '{stand_in}', which needs no model, stands in "
                "for it."
            )
        else:
            card = load_card(protocol.cards.get(name, name))
        _same_kind(card, protocol)
        model = models.pop(name, None)
        if model is not None and not card.needs_model:
            told = model if isinstance(model, str) else model.name
            raise UsageError(f"The judge '{name}' takes no model: leave out --judge-model {name}={told}.")
        if model is None and card.needs_model:
            raise UsageError(f"The judge '{name}' needs a model: add --judge-model {name}=PROVIDER/MODEL.")
        if isinstance(model, str):
            model = resolve(
                model, budget=budget, models_file=models_file, concurrency=concurrency, need_key=need_keys
            )
        seats[card.name] = _seat(card, model)
    if models:
        name = next(iter(models))
        raise UsageError(f"--judge-model names '{name}', which is not among the judges of this run.")
    return tuple(seats.values()), tuple(notes)


def _same_kind(card: Card, protocol: Protocol) -> None:
    """Raise ``UsageError`` for a judge of pages where answers become plots, or the reverse."""
    from opendesign.judging.cards import kind_of

    kind = "pages" if protocol.plots is None else "plots"
    if kind_of(card) != kind:
        raise UsageError(
            f"The judge '{card.name}' judges {kind_of(card)}, and here answers become {kind}: name one of "
            f"{', '.join([*protocol.judges, *sorted(set(protocol.stand_ins.values()))])}."
        )


def _seat(card: Card, model: Model | None) -> Seat:
    """The judge with its engine. Raises ``UsageError`` where the model cannot do what the card asks of it."""
    from opendesign.judging.cards import engine, trait

    run = engine(card)
    if trait(card, "COMPARES_RUNS"):
        raise UsageError(
            f"The judge '{card.name}' compares pages of two runs: "
            f"`opendesign judge RUN RUN --judges {card.name} --judge-model {card.name}=MODEL`."
        )
    if card.live and "driver" in card.settings:  # before anything is paid for
        from opendesign.rendering.session import errors_of

        errors_of(card.settings["driver"])
    if sound := trait(card, "CHECK"):
        sound(card)
    if model is not None:
        from opendesign.judging.asking.abilities import check

        check(model, card)
    return Seat(card=card, engine=run, model=model)


def check_same(store: Store, plan: Plan) -> None:
    """Raise ``UsageError`` where the folder holds another run than the one planned."""
    manifest = store.manifest()
    if manifest.get("identity") == hash_of(plan.identity()):
        return
    pairs = {
        "model": (manifest["model"]["name"], plan.model.name),
        "benchmark": (
            f"{manifest['benchmark']['name']} {manifest['benchmark']['hash']}",
            f"{plan.benchmark.name} {plan.benchmark.hash}",
        ),
        "protocol": (
            f"{manifest['protocol']['name']} {manifest['protocol']['hash']}",
            f"{plan.protocol.name} {plan.protocol.hash}",
        ),
        "samples": (manifest["samples"], plan.samples),
        "cases": (len(manifest["cases"]), len(plan.cases)),
    }
    differs = [f"{name} ({was} there, {now} here)" for name, (was, now) in pairs.items() if was != now]
    what = ", ".join(differs) or "the cases chosen or the model's settings"
    raise UsageError(f"{plan.folder} holds a run that differs in {what}: name another folder with --run.")


def stored_plan(store: Store) -> tuple[tuple[Case, ...], int, Protocol]:
    """Cases, samples and protocol of a stored run, as its manifest has them."""
    from pydantic import TypeAdapter, ValidationError

    from opendesign.errors import StoreError

    manifest = store.manifest()
    try:
        stored = [
            {**case, "task": task_of(case["task"], store.blobs)} if case.get("task") else case
            for case in manifest["cases"]
        ]
        cases = TypeAdapter(tuple[Case, ...]).validate_python(stored)
        protocol = TypeAdapter(Protocol).validate_python(manifest["protocol"])
        return cases, int(manifest["samples"]), protocol
    except (ValidationError, KeyError, TypeError, ValueError):
        raise StoreError(
            f"{store.manifest_path} is damaged: restore it, or start a run in another folder."
        ) from None
