"""A run as the site needs it: its summary, and per case the scores, reasons, trace and picture.

Published runs (``results/``) and runs in progress (``runs/``) are read alike. Only what is shown is kept: 40
runs of 840 cases fit in a few hundred megabytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from opendesign.canonical import hash_of
from opendesign.errors import REASONS, StoreError
from opendesign.running.store import Store
from opendesign.running.summary import summarize
from opendesign.site.writing import Kept
from opendesign.types import Kind

__all__ = ["Entry", "Shown", "Step", "read_entry", "slug_of"]

ROLES: dict[Kind, tuple[str, ...]] = {
    "pages": ("execution", "static", "interactive"),
    "plots": ("plot-visual", "plot-task"),
}
RANKED_BY: dict[Kind, str] = {"pages": "static", "plots": "plot-visual"}
_PICTURE = re.compile(r"[0-9a-f]{64}\.(webp|png|jpg|jpeg)")
_FORM = 2  # of what is kept of a run; raised when it changes
_STEPS = 12  # of a trace; no judge has more
_TEXT = 600  # characters of one sentence on a page


@dataclass(frozen=True, slots=True)
class Step:
    """One thing a live judge did: what, whether it worked (None: not decided), why, and frames' names."""

    did: str
    worked: bool | None
    why: str
    before: str | None = None
    after: str | None = None


@dataclass(slots=True)
class Shown:
    """One answer of a run as a case page shows it."""

    case: str
    sample: int
    reason: str | None = None
    detail: str = ""
    scores: dict[str, float] = field(default_factory=dict)  # judge.measure -> score
    said: dict[str, list[str]] = field(default_factory=dict)  # judge -> reasons
    unscored: dict[str, str] = field(default_factory=dict)  # judge -> why it gave no verdict
    trace: tuple[Step, ...] = ()
    picture: str | None = None  # name of the file, where it was published
    plot: bool = False  # whether it is the picture of a plot, not of a page

    @property
    def owner(self) -> str | None:
        return REASONS[self.reason].value if self.reason else None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A run on the board."""

    folder: Path
    slug: str
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]
    shown: Mapping[tuple[str, int], Shown]
    digest: str  # changes where anything that is shown of it changes

    @property
    def model(self) -> str:
        return str(self.manifest["model"]["name"])

    @cached_property
    def cases(self) -> dict[str, Mapping[str, Any]]:
        return {case["id"]: case for case in self.manifest["cases"]}

    @property
    def kind(self) -> Kind:
        """What its answers became."""
        return "plots" if self.manifest["protocol"].get("plots") else "pages"

    @cached_property
    def roles(self) -> dict[str, str]:
        """Role (execution, static …) → the judge that has it in this run, itself or instead."""
        judges = self.summary["judges"]
        found = {}
        for role in ROLES[self.kind]:
            own = [j for j in judges if j == role or j.startswith(f"{role}-")]
            stand_ins = [j for j, about in judges.items() if about.get("stands_in_for") == role]
            if own or stand_ins:
                found[role] = (own or stand_ins)[0]
        return found

    @cached_property
    def headline(self) -> str | None:
        """The score it is ranked by: that of the static role (of plots: visual), else the summary's own."""
        judge = self.roles.get(RANKED_BY[self.kind])
        name = (self.summary["headlines"].get(judge) if judge else None) or self.summary["headline"]
        return str(name) if name else None

    @property
    def smoke(self) -> bool:
        """Whether what it is ranked by came from a judge without a model."""
        judge = (self.headline or "").partition(".")[0]
        return not judge or not (self.summary["judges"].get(judge) or {}).get("model")

    def score_of(self, role: str, measure: str) -> str | None:
        """``judge.measure`` for a measure of a role, where the run has it."""
        name = f"{self.roles.get(role)}.{measure}"
        return name if name in self.summary["scores"] else None

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """``judge.measure`` → case → mean over samples."""
        values: dict[str, dict[str, list[float]]] = {}
        for one in self.shown.values():
            for name, score in one.scores.items():
                values.setdefault(name, {}).setdefault(one.case, []).append(score)
        return {n: {c: sum(v) / len(v) for c, v in cases.items()} for n, cases in values.items()}

    @cached_property
    def truths(self) -> dict[str, str]:
        """Case → name of the picture its plot is held against."""
        tasks = {id: case.get("task") or {} for id, case in self.cases.items()}
        names = {id: _picture(task.get("shown") or task.get("truth")) for id, task in tasks.items()}
        return {id: name for id, name in names.items() if name}

    @cached_property
    def pictures(self) -> frozenset[str]:
        """Names of all pictures that its pages show, whether they were published or not."""
        names = {*self.truths.values(), *(one.picture for one in self.shown.values())}
        for one in self.shown.values():
            names.update(name for step in one.trace for name in (step.before, step.after))
        return frozenset(name for name in names if name)

    def first(self, case: str) -> Shown | None:
        """The first sample of a case."""
        return self.shown.get((case, 0))


def slug_of(name: str) -> str:
    """A file name out of any text: short, plain, and different for different texts."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
    return plain if plain == name else f"{plain or 'x'}-{hash_of(name)[:6]}"


def read_entry(folder: Path, kept: Kept | None = None) -> Entry:
    """Read a run; what is shown of it is ``kept``. Raises ``StoreError`` where it cannot be read."""
    store, kept = Store(folder), kept or Kept()
    manifest = store.manifest()
    stored = _summary(folder)
    summary = stored or summarize(store).to_dict()
    judges = [*summary["judges"]] if stored else store.judges()
    files = ["answers.jsonl", "artifacts.jsonl", *(f"verdicts-{judge}.jsonl" for judge in judges)]
    digest = _digest(folder, summary, files) + ("p" if stored else "r")
    file = f"run-{_FORM}-{digest}.json"
    document = kept.document(file)
    if document is None:
        plots = {case["id"]: bool(case.get("task")) for case in manifest["cases"]}
        shown = _shown(store, files, plots, manifest["samples"])
        kept.keep(
            f"run-{_FORM}-{digest}.json", json.dumps({"shown": [asdict(one) for one in shown.values()]})
        )
    else:
        shown = {(row["case"], row["sample"]): _kept_shown(row) for row in document["shown"]}
    return Entry(
        folder=folder,
        slug=slug_of(folder.resolve().name),
        manifest=manifest,
        summary=summary,
        shown=shown,
        digest=digest,
    )


def _digest(folder: Path, summary: Mapping[str, Any], files: Iterable[str]) -> str:
    made = hashlib.sha256(json.dumps(summary, sort_keys=True).encode())
    for file in ("run.json", *files):
        if (folder / file).is_file():
            made.update((folder / file).read_bytes())
    return made.hexdigest()[:24]


def _kept_shown(row: dict[str, Any]) -> Shown:
    return Shown(**{**row, "trace": tuple(Step(**step) for step in row["trace"])})


def _summary(folder: Path) -> dict[str, Any] | None:
    path = folder / "summary.json"
    if not path.is_file():
        return None
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        needed = ("judges", "scores", "by_category", "by_difficulty", "coverage", "headlines", "failures")
        also = ("benchmark", "protocol", "headline", "ranked", "engines", "fonts")
        if any(not isinstance(summary[name], dict) for name in needed) or any(n not in summary for n in also):
            raise KeyError
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise StoreError(f"{path} is damaged: `opendesign runs publish` writes it again.") from None
    return dict(summary)


def _shown(
    store: Store, files: Iterable[str], plots: Mapping[str, bool], samples: int
) -> dict[tuple[str, int], Shown]:
    found = {(case, s): Shown(case, s, plot=plots[case]) for case in sorted(plots) for s in range(samples)}
    for file in files:
        latest = _latest(store, file)
        for key, record in latest.items():
            if key in found:
                _add(found[key], record, store)
    return found


def _latest(store: Store, file: str) -> dict[tuple[str, int], Mapping[str, Any]]:
    """The last record of each case, of the settings used last: what a changed card left is not shown."""
    records = {}
    for record in store.journal(file).records():
        try:
            records[record["case"], record["sample"]] = record
            record["value"], record["varies"]
        except (KeyError, TypeError):
            raise StoreError(f"{store.folder / file} is damaged: publish the run again.") from None
    if not records:
        return {}
    last = max(records.values(), key=lambda r: r["varies"].get("at", 0.0))["config"]
    return {key: record for key, record in records.items() if record["config"] == last}


def _add(shown: Shown, record: Mapping[str, Any], store: Store) -> None:
    value = record["value"]
    failure = value.get("failure")
    if not record["step"].startswith("verdict-"):
        if failure and failure["reason"] in REASONS:
            shown.reason, shown.detail = failure["reason"], _cut(failure["detail"])
        if record["step"] == "artifact":
            shown.picture = _picture(value.get("thumbnail"))
        return
    judge = record["step"].removeprefix("verdict-")
    if failure and REASONS.get(failure["reason"]) != "model":
        shown.unscored[judge] = _cut(f"{failure['reason']}: {failure['detail']}")
        return
    shown.scores |= {f"{judge}.{name}": float(score) for name, score in value["scores"].items()}
    reasons = value.get("reasons")
    if reasons and isinstance(reasons, list) and not shown.reason:
        shown.said[judge] = [_cut(reason) for reason in reasons[:_STEPS]]
    evidence = value.get("evidence")
    steps = tuple(_steps(evidence)) if isinstance(evidence, dict) else ()
    if len(steps) > len(shown.trace):
        shown.trace = steps
        shown.said.pop(judge, None)  # the trace says the same, step by step


def _steps(evidence: Mapping[str, Any]) -> Iterator[Step]:
    files = evidence.get("files")
    files = files if isinstance(files, dict) else {}
    steps = evidence.get("steps")
    steps = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    measures = any(step.get("measured") is not None for step in steps)
    for step in steps[:_STEPS]:
        yield Step(
            did=_cut(str(step.get("did", ""))),
            worked=_worked(step, measures),
            why=_cut(_why(step)),
            before=_picture(files.get(str(step.get("before")))),
            after=_picture(files.get(str(step.get("after")))),
        )


def _worked(step: Mapping[str, Any], measures: bool) -> bool | None:
    """Whether a step did what it should: by all that was asked, an agent's word, a measurement, or both."""
    asked = [step[k] for k in ("worked", "word") if k in step] + ([step.get("measured")] if measures else [])
    if False in asked:
        return False
    return True if asked and all(one is True for one in asked) else None


def _why(step: Mapping[str, Any]) -> str:
    """The reason of whoever decided: where the agent says yes and the measurement no, of the measurement."""
    overruled = step.get("word") is True and step.get("measured") is False
    witnesses = ("measured_why", "word_why") if overruled else ("word_why", "measured_why")
    return next((str(step[k]) for k in (*witnesses, "why") if step.get(k)), "")


def _picture(name: Any) -> str | None:
    """A picture's name as we write it. Any other text could lead out of the folder."""
    return name if isinstance(name, str) and _PICTURE.fullmatch(name) else None


def _cut(text: Any) -> str:
    text = " ".join(str(text).split())
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"
