"""What ``opendesign --help`` and ``import opendesign`` cost, and that they load nothing heavy."""

from __future__ import annotations

import sys

from tests.performance.bench import Bench, Row, Sample, Samples, Variant, at_most, column, costs
from tests.performance.meter import measure

HEAVY = (
    "litellm",
    "playwright",
    "pandas",
    "scipy",
    "numpy",
    "PIL",
    "pydantic",
    "markdown_it",
    "cryptography",
)
_PROGRAMS = {
    "opendesign --help": "import sys\nsys.argv = ['opendesign', '--help']\n"
    "from opendesign.cli import main\ntry: main()\nexcept SystemExit: pass\n",
    "import opendesign": "import sys, opendesign\n",
}
_TELL = f"sys.stderr.write('\\nloaded ' + ' '.join(name for name in {HEAVY!r} if name in sys.modules))"


def variants(bench: Bench) -> list[Variant]:
    def variant(name: str) -> Variant:
        return Variant(name=name, repeats=bench.sizes.short_repeats, run=lambda: _start(_PROGRAMS[name]))

    return [variant(name) for name in _PROGRAMS]


def _start(program: str) -> Sample:
    measured = measure([sys.executable, "-c", program + _TELL], memory=False)
    return {**costs(measured.cost), "heavy": measured.stderr.rpartition("loaded")[2].split()}


def rows(samples: Samples) -> list[Row]:
    found = []
    for name in _PROGRAMS:
        heavy = sorted({module for sample in samples[name] for module in sample["heavy"]})
        found.append(at_most(name, column(samples[name], "cpu_s"), 0.3, "CPU-s"))
        found.append(
            Row(
                quantity=f"{name}: heavy modules loaded",
                values=(len(heavy),),
                target="0",
                met=not heavy,
                note=", ".join(heavy),
            )
        )
    return found
