"""Which matches a tournament plays, and in which order."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Fixture", "fixtures", "how_many"]


@dataclass(frozen=True, slots=True, order=True)
class Fixture:
    """One match to play: two runs, by name, on one sample of one case."""

    case: str
    sample: int
    pair: tuple[str, str]


def how_many(runs: int, slots: int) -> int:
    """Matches there can be: every pair of runs on every (case, sample)."""
    return math.comb(runs, 2) * slots


def fixtures(runs: Sequence[str], cases: Sequence[str], samples: int, *, seed: int) -> Iterator[Fixture]:
    """Every pair of runs on every sample of every case, once, in an order drawn by ``seed``.

    Any beginning of it is balanced: two pairs differ by at most one match, and so do two cases (within a
    sample). Match t is of pair t mod P on case t mod C, moved on by one case after every lcm(P, C) matches,
    which else would come round to the same meetings. A larger budget only goes further along the same order.
    """
    rng = random.Random(f"tournament {seed}")
    pairs = list(combinations(runs, 2))
    rng.shuffle(pairs)
    order = list(cases)
    for sample in range(samples):
        rng.shuffle(order)
        period = math.lcm(len(pairs), len(order))
        for t in range(len(pairs) * len(order)):
            case = order[(t + t // period) % len(order)]
            yield Fixture(case, sample, pairs[t % len(pairs)])
