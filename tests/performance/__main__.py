"""``python -m tests.performance``: run the bench and print its table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from tests.performance import (
    chain,
    judging,
    memory,
    plots,
    rendering,
    rewards,
    second_run,
    site,
    starting,
    studies,
)
from tests.performance.bench import QUICK, Bench, Row, Samples, Sizes, Variant, interleaved, say
from tests.performance.meter import BenchError
from tests.performance.table import text


class _Part(Protocol):
    def variants(self, bench: Bench) -> list[Variant]: ...

    def rows(self, samples: Samples) -> list[Row]: ...


#: By the name that ``--only`` takes, in the order of the table.
PARTS: dict[str, Any] = {
    "rendering": rendering,
    "chain": chain,
    "judging": judging,
    "rewards": rewards,
    "plots": plots,
    "starting": starting,
    "second-run": second_run,
    "memory": memory,
    "site": site,
    "studies": studies,
}


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, fewer pages")
    parser.add_argument("--only", default=",".join(PARTS), metavar="NAME,…", help=f"of {', '.join(PARTS)}")
    parser.add_argument(
        "--pages", type=int, metavar="N", help="so many pages; fewer than 100 are too few to count"
    )
    parser.add_argument("--repeats", type=int, metavar="N", help="so many rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep every measurement there")
    options = parser.parse_args(given)
    options.only = [name.strip() for name in options.only.split(",") if name.strip()]
    if unknown := [name for name in options.only if name not in PARTS]:
        parser.error(f"there is no part named '{unknown[0]}': choose of {', '.join(PARTS)}")
    return options


def _sizes(options: argparse.Namespace) -> Sizes:
    sizes = QUICK if options.quick else Sizes()
    if options.pages:
        most = max(2, options.pages)
        sizes = replace(
            sizes, pages=most, memory_pages=min(sizes.memory_pages, 2 * most), stored_cases=sizes.stored_cases
        )
    if options.repeats:
        sizes = replace(
            sizes, repeats=options.repeats, short_repeats=max(options.repeats, sizes.short_repeats)
        )
    return sizes


def main(given: Sequence[str] | None = None) -> int:
    """Run the parts asked for. Returns 0, whatever the figures are; 1 where there are none."""
    options = _arguments(given)
    sizes = _sizes(options)
    machine = {"cores": os.cpu_count(), "load": os.getloadavg()[0], "python": platform.python_version()}
    say(f"{machine['cores']} cores, load average {machine['load']:.1f}; {sizes}")
    started = time.monotonic()
    parts: dict[str, _Part] = {name: PARTS[name] for name in PARTS if name in options.only}
    try:
        with tempfile.TemporaryDirectory(prefix="opendesign-bench-") as folder:
            bench = Bench(sizes=sizes, folder=Path(folder))
            by_part = {name: part.variants(bench) for name, part in parts.items()}
            samples = interleaved([variant for variants in by_part.values() for variant in variants])
    except BenchError as error:
        say(str(error))
        return 1
    rows: list[Row] = []
    for name, part in parts.items():
        rows += part.rows({variant.name: samples[variant.name] for variant in by_part[name]})
    doubt = rendering.trust(samples) if "rendering" in parts else ""
    notes = [note for note in (doubt, *(f"{name}: {value}" for name, value in bench.known.items())) if note]
    sys.stdout.write(text(rows, notes))
    if options.json:
        document = {
            "machine": machine,
            "sizes": {name: getattr(sizes, name) for name in Sizes.__slots__},
            "seconds": round(time.monotonic() - started, 1),
            "notes": notes,
            "rows": [row.to_dict() for row in rows],
            "samples": samples,
        }
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
