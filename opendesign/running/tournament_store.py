"""One tournament on disk, beside the runs it is over.

    runs/tournament-<hash>/tournament.json   manifest: written once, by rename
    runs/tournament-<hash>/matches.jsonl     one record a match; the last one of a key wins

A record is ``{v, case, sample, pair, step, config, input, value, made, varies}``. Its key is case, sample
and pair of runs; it is used again where the judge's config hash and the hash of both pages are the ones asked
for.
"""

from __future__ import annotations

import functools
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import opendesign
from opendesign.canonical import plain, to_json
from opendesign.errors import StoreError
from opendesign.judging.pairwise import Match
from opendesign.running.soundness import record_problem
from opendesign.running.store import Store
from opendesign.running.tournament_schedule import Fixture

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["MATCHES", "Spent", "TournamentStore"]

MATCHES = "matches.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What all sittings of a tournament have used. ``cost_usd`` is None where a price is not known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0


class TournamentStore(Store):
    """A tournament's folder: a run's lock, journal and blobs under another manifest."""

    def __enter__(self) -> TournamentStore:
        super().__enter__()
        return self

    @property
    def manifest_path(self) -> Path:
        return self.folder / "tournament.json"

    def manifest(self) -> dict[str, Any]:
        """``tournament.json``. Raises ``StoreError`` where it is missing or damaged."""
        try:
            manifest = json.loads(self.manifest_path.read_text(encoding="utf-8"))
            sound = _sound(manifest)
        except FileNotFoundError:
            raise StoreError(f"{self.folder} is not a tournament: it has no tournament.json.") from None
        except (OSError, ValueError, RecursionError):
            sound = False
        if not sound:
            raise StoreError(f"{self.manifest_path} is damaged: restore it, or delete the folder.")
        return dict(manifest)

    def matches(self) -> dict[Fixture, dict[str, Any]]:
        """Fixture → its last record. Raises ``StoreError`` naming the line that is damaged."""
        return dict(self._matches)

    @functools.cached_property
    def _matches(self) -> dict[Fixture, dict[str, Any]]:
        found = {}
        for number, record in enumerate(self.journal(MATCHES).records(), start=1):
            pair = _pair(record)
            if pair is None or record_problem(record):
                raise StoreError(
                    f"Line {number} of {self.folder / MATCHES} is damaged: delete it to have its match "
                    "played again; nothing was changed."
                )
            found[Fixture(record["case"], record["sample"], pair)] = record
        return found

    def match(self, fixture: Fixture, config: str, input: str) -> Match | None:
        """The stored match with these hashes, sound or failed; None where it has to be played."""
        record = self._matches.get(fixture)
        if record is None or (record.get("config"), record.get("input")) != (config, input):
            return None
        return self.decoded(record)

    def decoded(self, record: Mapping[str, Any]) -> Match:
        """The match in a record. Raises ``StoreError`` where it does not fit."""
        from pydantic import ValidationError

        try:
            match: Match = _adapter().validate_python({**record["value"], "varies": record["varies"]})
        except ValidationError as error:
            raise StoreError(
                f"The match of case {record['case']} in {self.folder / MATCHES} is damaged at "
                f"'{'.'.join(str(part) for part in error.errors()[0]['loc'])}': delete its line to have it "
                "played again; nothing was changed."
            ) from None
        return match

    def keep(self, fixture: Fixture, match: Match, config: str, input: str, made: Mapping[str, str]) -> None:
        """Append a match."""
        values = plain(replace(match, varies={}))
        del values["varies"]
        record = {
            "case": fixture.case,
            "sample": fixture.sample,
            "pair": list(fixture.pair),
            "step": "match",
            "config": config,
            "input": input,
            "value": values,
            "made": {"opendesign": opendesign.__version__, **made},
            "varies": {**match.varies, "host": platform.node()},
        }
        known = self._matches  # read before the line is there
        self.journal(MATCHES).append(record)
        known[fixture] = json.loads(to_json(record))

    def spent(self) -> Spent:
        """Over all records, those that a later one has replaced among them."""
        usages = [record["value"].get("usage") or {} for record in self.journal(MATCHES).records()]
        costs = [usage.get("cost_usd") for usage in usages]
        known = [cost for cost in costs if cost is not None]
        return Spent(
            calls=sum(usage.get("calls", 0) for usage in usages),
            prompt_tokens=sum(usage.get("prompt_tokens", 0) for usage in usages),
            completion_tokens=sum(usage.get("completion_tokens", 0) for usage in usages),
            cost_usd=round(sum(known), 9) if len(known) == len(costs) else None,
        )

    def spent_usd(self) -> float:
        return sum(
            (record["value"].get("usage") or {}).get("cost_usd") or 0.0
            for record in self.journal(MATCHES).records()
        )


def _pair(record: Mapping[str, Any]) -> tuple[str, str] | None:
    pair = record.get("pair")
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(run, str) for run in pair):
        return None
    return pair[0], pair[1]


def _sound(manifest: Any) -> bool:
    if not isinstance(manifest, dict) or not isinstance(manifest.get("v"), int):
        return False
    shapes = {
        "identity": str,
        "benchmark": dict,
        "protocol": dict,
        "judge": dict,
        "runs": dict,
        "cases": dict,
    }
    return all(isinstance(manifest.get(name), kind) for name, kind in shapes.items())


@functools.cache
def _adapter() -> TypeAdapter[Match]:
    from pydantic import TypeAdapter

    return TypeAdapter(Match)
