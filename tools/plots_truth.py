"""Makes the ground truths of plots-mini, pictures and facts, by running its references in the sandbox.

    python tools/plots_truth.py [ID…]     all of them, or those named

The libraries it was done with are written into the benchmark's card. ``opendesign cases check`` compares.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from opendesign.cases.benchmark import load_benchmark
from opendesign.cases.plots import PlotLine, facts_beside
from opendesign.cases.reading import read_jsonl
from opendesign.errors import OpenDesignError, UsageError
from opendesign.running.references import Drawn, draw_references

NAME = "plots-mini"
FOLDER = Path(__file__).parent.parent / "benchmarks" / NAME


def main(names: list[str]) -> None:
    lines = [line for file in sorted(FOLDER.glob("cases/*.jsonl")) for _, line in read_jsonl(file, PlotLine)]
    truths = {line.id: FOLDER / line.truth for line in lines}
    for file in truths.values():  # a benchmark is read with all its files; a new one is empty until now
        file.parent.mkdir(exist_ok=True)
        file.touch()
    cases = [case for case in load_benchmark(NAME).cases if not names or case.id in names]
    write(asyncio.run(draw_references(cases)), truths)
    for file in set(FOLDER.glob("truth/*")) - {*truths.values(), *map(facts_beside, truths.values())}:
        file.unlink()


def write(drawn: Drawn, truths: dict[str, Path]) -> None:
    for name, plot in drawn.plots.items():
        if plot.failure or plot.picture is None or plot.facts is None:
            reason = plot.failure.detail if plot.failure else "it draws nothing."
            raise UsageError(f"The reference of {name} makes no ground truth: {reason}\n{plot.output}")
        truths[name].write_bytes(plot.picture)
        facts_beside(truths[name]).write_text(plot.facts.to_json(), encoding="utf-8")
    card = FOLDER / "benchmark.toml"
    text = re.sub(
        r'(?m)^drawn_with = ".*"$', f'drawn_with = "{drawn.engine}"', card.read_text(encoding="utf-8")
    )
    card.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OpenDesignError as error:
        sys.exit(str(error))
