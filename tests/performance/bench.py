"""What the parts of the bench share: sizes, work in a process of its own, rows, and interleaving.

A part is a module with ``variants(bench)``, the things it measures, and ``rows(samples)``, what is said of
them in the table. ``samples`` holds, by variant and in the order of the rounds, what each run returned.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from tests.performance.corpus import many
from tests.performance.meter import BenchError, Cost, measure

Sample = Mapping[str, Any]
Samples = Mapping[str, Sequence[Sample]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured. ``memory_pages`` and ``stored_cases`` are 840 as in the benchmark."""

    repeats: int = 3  # rounds of everything that renders
    short_repeats: int = 9  # of what takes a moment
    pages: int = 100
    memory_pages: int = 840
    stored_cases: int = 840


QUICK = Sizes(repeats=1, short_repeats=3, pages=40, memory_pages=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table. ``met`` is None where a figure has no target and is there to compare with."""

    quantity: str
    values: tuple[float, ...]  # one a round; the median is shown
    unit: str = ""
    target: str = ""
    ratio: float | None = None  # of what was measured to what it is held against
    met: bool | None = None
    note: str = ""

    @property
    def value(self) -> float:
        return median(self.values)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "median": self.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One thing that is measured ``repeats`` times, each time anew."""

    name: str
    repeats: int
    run: Callable[[], Sample]


@dataclass(slots=True)
class Bench:
    """One run of the bench: its sizes and a folder for what is made on the way."""

    sizes: Sizes
    folder: Path
    known: dict[str, Any] = field(default_factory=dict)  # what a part found out once

    def pages(self, count: int) -> Path:
        """A file with so many pages; made once, so that no measured process has to."""
        file = self.folder / f"pages-{count}.json"
        if not file.exists():
            made = [{"case": asdict(page.case), "document": page.document} for page in many(count)]
            file.write_text(json.dumps(made), encoding="utf-8")
        return file


def say(line: str) -> None:
    """Progress, for whoever waits."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stderr.flush()


def documents(file: str) -> list[str]:
    """The documents of a file made by ``Bench.pages``."""
    return [page["document"] for page in json.loads(Path(file).read_text(encoding="utf-8"))]


def at_most(quantity: str, values: Iterable[float], limit: float, unit: str, note: str = "") -> Row:
    """A figure that must not be over ``limit``."""
    row = Row(
        quantity=quantity, values=tuple(values), unit=unit, target=f"≤ {limit:g} {unit}".strip(), note=note
    )
    return _judged(row, limit, row.value <= limit)


def at_least(quantity: str, values: Iterable[float], limit: float, unit: str, note: str = "") -> Row:
    """A figure that must not be under ``limit``."""
    row = Row(
        quantity=quantity, values=tuple(values), unit=unit, target=f"≥ {limit:g} {unit}".strip(), note=note
    )
    return _judged(row, limit, row.value >= limit)


def _judged(row: Row, limit: float, met: bool) -> Row:
    return replace(row, ratio=row.value / limit, met=met)


def against(
    quantity: str,
    ours: Sequence[float],
    theirs: Sequence[float],
    unit: str,
    target: str,
    met: Callable[[float], bool],
) -> Row:
    """Our figure held against another of the same round; the median of the rounds' ratios decides."""
    ratio = median(one / other for one, other in zip(ours, theirs, strict=True))
    return Row(quantity=quantity, values=tuple(ours), unit=unit, target=target, ratio=ratio, met=met(ratio))


def column(samples: Sequence[Sample], name: str) -> tuple[float, ...]:
    return tuple(float(sample[name]) for sample in samples)


def interleaved(variants: Sequence[Variant]) -> dict[str, list[Sample]]:
    """Every variant's samples, taken A B C A B C …; those with fewer repeats sit out the later rounds."""
    samples: dict[str, list[Sample]] = {variant.name: [] for variant in variants}
    for turn in range(max((variant.repeats for variant in variants), default=0)):
        for variant in variants:
            if turn < variant.repeats:
                started = time.monotonic()
                samples[variant.name].append(variant.run())
                say(f"{variant.name}, {turn + 1} of {variant.repeats}: {time.monotonic() - started:.1f} s")
    return samples


# Work in a process of its own


def work(
    function: str, *, env: Mapping[str, str] | None = None, memory: bool = True, **arguments: Any
) -> Sample:
    """What ``module:function`` of this package returns there, and the ``Cost`` of that process and its own.

    Its keys: those of the function's result, and ``cpu_s``, ``wall_s``, ``peak_mb``.
    """
    command = [sys.executable, "-m", "tests.performance.bench", function, json.dumps(arguments)]
    measured = measure(command, env=env, memory=memory)
    lines = measured.stdout.strip().splitlines()
    if not lines:
        raise BenchError(f"{function} returned nothing:\n{measured.stderr[-2000:]}")
    return {**json.loads(lines[-1]), **costs(measured.cost)}


def costs(cost: Cost) -> dict[str, Any]:
    return {"cpu_s": cost.cpu_s, "wall_s": cost.seconds, "peak_mb": cost.peak_mb}


def _main(function: str, arguments: str) -> None:
    module, _, name = function.partition(":")
    result = getattr(importlib.import_module(f"tests.performance.{module}"), name)(**json.loads(arguments))
    sys.stdout.write("\n" + json.dumps(result) + "\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
