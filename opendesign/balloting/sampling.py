"""Which pairs a ballot asks about, which page stands left, and in which order the questions come."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Kind", "Slot", "draw_pairs", "left_first", "most_repeats", "ordered"]

Runs = tuple[str, str]
Kind = Literal["pair", "repeat", "check"]


@dataclass(frozen=True, slots=True)
class Slot:
    """One place in a ballot: the ``at``-th of the pairs (again, for a repeat) or of the checks."""

    kind: Kind
    at: int


def draw_pairs(shown: Mapping[Runs, Sequence[str]], count: int, rng: random.Random) -> list[tuple[Runs, str]]:
    """At most ``count`` times two runs and a case, none twice. ``shown``: runs → cases both have a page of.

    Each is of the runs drawn least so far, on the case drawn least so far: while there is a choice, two pairs
    of runs differ by one at most.
    """
    left = {runs: list(cases) for runs, cases in shown.items() if cases}
    by_runs, by_case = Counter[Runs](), Counter[str]()
    drawn: list[tuple[Runs, str]] = []
    while left and len(drawn) < count:
        fewest = min(by_runs[runs] for runs in left)
        runs = rng.choice([one for one in left if by_runs[one] == fewest])
        fewest = min(by_case[case] for case in left[runs])
        case = rng.choice([one for one in left[runs] if by_case[one] == fewest])
        left[runs].remove(case)
        if not left[runs]:
            del left[runs]
        by_runs[runs] += 1
        by_case[case] += 1
        drawn.append((runs, case))
    rng.shuffle(drawn)
    return drawn


def left_first(drawn: Sequence[tuple[Runs, str]], rng: random.Random) -> list[bool]:
    """Whether the first run of each pair stands left: by chance, and as often as not for each two runs."""
    places = defaultdict(list)
    for at, (runs, _) in enumerate(drawn):
        places[runs].append(at)
    found = [False] * len(drawn)
    for of in places.values():
        rng.shuffle(of)
        odd = len(of) % 2 and rng.random() < 0.5
        for at in of[: len(of) // 2 + bool(odd)]:
            found[at] = True
    return found


def most_repeats(pairs: int) -> int:
    """How many of so many pairs can be asked again with enough between."""
    return pairs // 3


def ordered(pairs: int, repeats: int, checks: int, rng: random.Random) -> list[Slot]:
    """All questions in order. What is repeated is of the first third and comes again in the second half.

    Checks are spread evenly, the first of them early, so that one who stops has met some.
    """
    again = [Slot("repeat", at) for at in sorted(rng.sample(range(pairs // 3), repeats))]
    order = [Slot("pair", at) for at in range(pairs)]
    late = order[pairs // 2 :] + again
    rng.shuffle(late)
    order = order[: pairs // 2] + late
    step = len(order) / max(1, checks)
    for at in reversed(range(checks)):
        place = int((at + 0.25 + 0.5 * rng.random()) * step)
        order.insert(place, Slot("check", at))
    return order
