"""What a check of a judge found: for each kind of change how often the score fell, and by how much."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import TYPE_CHECKING, Any, Literal

from opendesign.canonical import plain
from opendesign.running.statistics import Estimate, rate

if TYPE_CHECKING:
    import pandas

#: compared: both pages have a score. unseen: the change did not show as it was meant, so the pair is left
#: out. floor: the good page has the lowest score or none, and nothing to lose. unscored: a step failed.
#: absent: the page has nothing that this can happen to.
PairStatus = Literal["compared", "unseen", "floor", "unscored", "absent"]
SEEN, SPARED = 0.95, 0.05  # share of pages at which a damage has to show, and a harmless edit may
NOISE = 1.96  # standard deviations of the judge's own noise beyond which a fall counts
LEAST = 0.001  # of the measure's range: what is less than that is no fall and no rise


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A good page and its changed copy with the scores they got, in the judge's headline measure.

    ``tolerance``: the difference that means nothing, in points, see ``tolerances``.
    """

    page: str
    kind: str
    source: Literal["template", "given"]
    status: PairStatus
    good: float | None = None
    changed: float | None = None
    tolerance: float = 0.0
    detail: str = ""

    @property
    def fall(self) -> float:
        """Good minus changed; NaN where the pair was not compared."""
        if self.status != "compared" or self.good is None or self.changed is None:
            return math.nan
        return self.good - self.changed


@dataclass(frozen=True, slots=True, kw_only=True)
class KindResult:
    """One kind over all pages. Falls are in points of the headline, positive downwards.

    ``role``: the judge is meant to see it, to resist it (its score may not rise), neither ("other"), or the
    edit is harmless.
    """

    kind: str
    about: str
    role: Literal["sees", "resists", "other", "harmless"]
    pages: int  # pairs compared
    fell: Estimate | None  # share of pages, Wilson interval
    rose: Estimate | None
    mean_fall: float | None
    median_fall: float | None
    left_out: Mapping[str, int]  # status -> pairs that could not be compared

    @property
    def holds(self) -> bool | None:
        """Whether it is as it should be; None for a kind of which nothing is asked, or without pages."""
        if self.fell is None or self.rose is None or self.role == "other":
            return None
        if self.role == "sees":
            return self.fell.mean >= SEEN
        return (self.rose if self.role == "resists" else self.fell).mean <= SPARED


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What ``judges check`` prints.

    ``tolerance``: the difference that means nothing on any page, in points, see ``tolerances``.
    """

    judge: str
    judge_hash: str
    judge_model: str | None
    measure: str  # the headline
    seed: int
    good_pages: Mapping[str, int]  # template, given
    tolerance: float
    kinds: tuple[KindResult, ...]
    harmless: Estimate | None  # share of all harmless edits at which the score fell
    unscored: int
    calls: int
    cost_usd: float | None
    seconds: float
    run: str
    pairs: tuple[Pair, ...] = field(repr=False)

    @property
    def meets(self) -> tuple[str, ...]:
        """Kinds that the judge is meant to see or resist, and does."""
        return tuple(k.kind for k in self.kinds if k.role in ("sees", "resists") and k.holds)

    @property
    def misses(self) -> tuple[str, ...]:
        """Kinds that it is meant to see or resist, and does not."""
        return tuple(k.kind for k in self.kinds if k.role in ("sees", "resists") and k.holds is False)

    @property
    def spares(self) -> bool | None:
        """Whether the harmless edits lower its score at 5 % of the pages at most; None without such edits."""
        return None if self.harmless is None else self.harmless.mean <= SPARED

    @property
    def sound(self) -> bool:
        """Whether something was compared and everything is as it should be."""
        return bool(self.meets) and not self.misses and self.spares is not False

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of the command line, every pair included."""
        document: dict[str, Any] = plain(self)
        for row, kind in zip(document["kinds"], self.kinds, strict=True):
            row["holds"] = kind.holds
        for row, pair in zip(document["pairs"], self.pairs, strict=True):
            row["fall"] = None if math.isnan(pair.fall) else pair.fall
        return {**document, "meets": list(self.meets), "misses": list(self.misses), "sound": self.sound}

    def to_pandas(self) -> pandas.DataFrame:
        """One row a pair: page, kind, source, status, good, changed, fall."""
        import pandas

        return pandas.DataFrame([{**plain(pair), "fall": pair.fall} for pair in self.pairs])


def kind_result(
    kind: str,
    about: str,
    role: Literal["sees", "resists", "other", "harmless"],
    pairs: Sequence[Pair],
) -> KindResult:
    """The result of one kind. A score fell or rose where it moved by more than the pair's tolerance."""
    compared = [pair for pair in pairs if pair.status == "compared"]
    falls = [pair.fall for pair in compared]
    left_out: dict[str, int] = {}
    for pair in pairs:
        if pair.status != "compared":
            left_out[pair.status] = left_out.get(pair.status, 0) + 1
    return KindResult(
        kind=kind,
        about=about,
        role=role,
        pages=len(falls),
        fell=rate([[float(pair.fall > pair.tolerance)] for pair in compared]),
        rose=rate([[float(-pair.fall > pair.tolerance)] for pair in compared]),
        mean_fall=mean(falls) if falls else None,
        median_fall=median(falls) if falls else None,
        left_out=left_out,
    )


def tolerances(
    differences: Mapping[str, float], extent: float, *, with_model: bool
) -> tuple[float, Mapping[str, float]]:
    """The difference that means nothing on any page, and page -> the one that means nothing there.

    ``differences``: page -> first minus second score of the same page, rendered and judged twice; ``extent``:
    the measure's range. A judge with a model has noise of its own, alike on every page; without one what
    differs is the page, which moves or loads in another order, and only that page.
    """
    general = LEAST * extent
    if with_model:
        return max(general, noise(list(differences.values()))), {}
    return general, {page: max(general, abs(found)) for page, found in differences.items()}


def noise(differences: Sequence[float]) -> float:
    """The fall that noise alone can make, from differences of two verdicts on the same page.

    Such a difference has the variance of a fall without cause: the root of its mean square is the standard
    deviation of that.
    """
    if not differences:
        return 0.0
    return NOISE * math.sqrt(sum(d * d for d in differences) / len(differences))
