"""The nouns: Case → Answer → Artifact → Verdict → Run. Every step is a function from one to the next.

All are frozen and hold JSON values only (``Blob`` apart, which is a named file), so that a record on disk
and an object in memory are the same thing. ``varies`` holds what differs between equal runs (timing,
attempts, host); everything outside it is equal, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Library = Literal["matplotlib", "seaborn", "plotly"]
Category = Literal["website", "3d", "game", "component", "dataviz"] | Library
CATEGORIES: tuple[Category, ...] = ("website", "3d", "game", "component", "dataviz")  # of pages
LIBRARIES: tuple[Library, ...] = ("matplotlib", "seaborn", "plotly")  # the categories of plots
ABSENT = {"absent": True}  # metadata of a field that is left out of JSON where it is None
Kind = Literal["pages", "plots"]  # what the answers to a benchmark become
Difficulty = Literal["easy", "medium", "hard"]
RequirementKind = Literal["content", "layout", "style", "behaviour"]
Status = Literal["ok", "model_failure", "judge_failure", "instrument_failure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One statement about the page that a stranger could mark yes or no."""

    kind: RequirementKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A content-addressed file: SHA-256 in hex and suffix, under a folder of blobs.

    ``at`` is where it lies instead, before a run has taken it over (a benchmark's own file).
    """

    digest: str
    suffix: str
    root: Path = field(compare=False, repr=False)
    at: Path | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Name of the file, as records hold it: ``abcdef….png``."""
        return f"{self.digest}.{self.suffix}"

    @property
    def path(self) -> Path:
        return self.at or self.root / self.digest[:2] / self.name

    def read_bytes(self) -> bytes:
        """What is inside. Raises ``StoreError`` where the file is gone, or holds something else by now."""
        import hashlib

        from opendesign.errors import StoreError

        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise StoreError(f"The stored file {self.path} cannot be read: {error.strerror}.") from error
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise StoreError(f"The stored file {self.path} was changed: delete it and its record.")
        return data

    def read_text(self) -> str:
        return self.read_bytes().decode("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotTask:
    """What a case about a plot has beside its prompt. The model sees neither reference nor truth."""

    library: Library
    chart: str  # kind of chart: "line", "grouped-bar" …
    description: str  # what is to be plotted
    style: str  # how it is to look
    setup: str  # Python that loads ``data.csv`` of the working folder as ``df``
    reference: str  # Python that draws the ground truth, run after ``setup``
    data: Blob  # CSV
    truth: Blob  # PNG
    facts: Blob | None = None  # JSON: ``plotting.facts.PlotFacts`` of the reference, where it was run


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One request put to a model. A case about a plot has a ``task``, and its library as category."""

    id: str
    category: Category
    prompt: str
    topic: str = ""
    difficulty: Difficulty = "medium"
    language: str = "en"
    requirements: tuple[Requirement, ...] = ()
    tags: tuple[str, ...] = ()
    task: PlotTask | None = field(default=None, metadata=ABSENT)

    @property
    def has_behaviour(self) -> bool:
        """Whether a requirement says what the page must do when operated."""
        return any(requirement.kind == "behaviour" for requirement in self.requirements)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a step failed: a reason out of ``errors.REASONS`` and one sentence for a person."""

    reason: str
    detail: str

    @property
    def status(self) -> Status:
        from opendesign.errors import REASONS

        statuses: dict[str, Status] = {
            "model": "model_failure",
            "judge": "judge_failure",
            "instrument": "instrument_failure",
        }
        return statuses[REASONS[self.reason]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a step spent on model calls. ``cost_usd`` is None where the price is not known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One reply to a case: raw text, and the document found in it."""

    case: str
    sample: int
    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    document: str | None = None
    failure: Failure | None = None
    model_returned: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    varies: Mapping[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        return self.failure.status if self.failure else "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What an answer became: the page as served or the code as run, its picture, and the facts of it.

    ``facts`` is a JSON blob, see ``rendering.facts.Facts`` and ``plotting.facts.PlotFacts``; ``engine``
    names kind and version of the browser, or the versions of the plotting libraries.
    """

    case: str
    sample: int
    document: Blob | None
    picture: Blob | None = None
    thumbnail: Blob | None = None
    facts: Blob | None = None
    engine: str = ""
    width: int = 0
    height: int = 0
    truncated: bool = False
    requests: Mapping[str, int] = field(default_factory=dict)  # outcome -> how many
    resources: Mapping[str, str] = field(default_factory=dict)  # URL -> SHA-256 of what it gave the page
    failure: Failure | None = None
    varies: Mapping[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        return self.failure.status if self.failure else "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's outcome for one artifact. Scores are keyed by measure; an unscored verdict has none.

    A measure that does not apply to the case (a static page has nothing to operate) is left out of
    ``scores``, never written as 0. ``attachments`` are files to keep, name → bytes: once stored, evidence
    holds their blobs' names under ``files``.
    """

    case: str
    sample: int
    judge: str
    scores: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    failure: Failure | None = None
    usage: Usage = field(default_factory=Usage)
    varies: Mapping[str, Any] = field(default_factory=dict)
    attachments: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)

    @property
    def status(self) -> Status:
        return self.failure.status if self.failure else "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationSettings:
    """How a model is asked. ``None`` means the provider's own default."""

    system: Mapping[str, str] = field(default_factory=dict)  # category -> prompt; "" for any other
    temperature: float | None = None
    max_tokens: int | None = None  # None: the provider's maximum
    min_max_tokens: int = 32_768  # asked for where the provider's maximum is not known
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderSettings:
    """How a page becomes a picture. Pixels are CSS pixels; times are seconds."""

    width: int = 1280
    height: int = 960
    scale: float = 1.0
    max_height: int = 16_000
    load_s: float = 15.0  # until the load event
    wait_until: Literal["load", "domcontentloaded"] = "load"
    idle_s: float = 0.0  # at most this long for the network to be idle (the paper's 3 s)
    scroll: bool = True  # a pass down the page, so that what loads on scroll is there
    settle_s: float = 3.0  # bound for fonts, images and layout together
    freeze: bool = True  # animations off, fixed clock, seeded random
    network: Literal["allowlist", "offline", "open"] = "allowlist"
    hosts: tuple[str, ...] = ()  # allowed hosts; "*.example.org" for a host's children
    deadline_s: float = 30.0  # for one page, wall clock
    cpu_s: float = 20.0  # of the page's own processes, in a browser of its own
    memory_mb: int = 1_500  # of one renderer process


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotSettings:
    """How a plot is asked for, and what its code may use up. Times are seconds."""

    data: Literal["head", "describe", "columns", "lida", "none"] = "head"  # how the data frame is described
    instructions: Mapping[str, str] = field(default_factory=dict)  # library -> prompt; "" for any other
    cpu_s: float = 30.0  # of the code's processes together
    deadline_s: float = 60.0  # wall clock
    memory_mb: int = 2_000  # of the code's processes together
    disk_mb: int = 64  # what they may write, in all
    output_kb: int = 256  # kept of what they print
    processes: int = 32  # processes and threads
    most_pixels: int = 25_000_000  # of a picture, width × height
    repairs: int = 0  # more tries with the error's text, reported apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A frozen, named, hashed bundle: generation and render settings, judges, aggregation."""

    name: str
    version: str
    generation: GenerationSettings
    render: RenderSettings
    judges: tuple[str, ...]
    stand_ins: Mapping[str, str]  # judge -> key-free judge used where no model is configured for it
    cards: Mapping[str, str] = field(default_factory=dict)  # judge -> this protocol's own card for it
    resamples: int = 10_000
    minimum_coverage: float = 0.95
    aggregation: Literal["ours", "released"] = "ours"
    plots: PlotSettings | None = field(default=None, metadata=ABSENT)  # where answers become plots
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A named, versioned set of cases. ``hash`` covers every case, so that equal means equal."""

    name: str
    version: str
    title: str
    cases: tuple[Case, ...]
    splits: Mapping[str, tuple[str, ...]]
    path: Path = field(compare=False)
    hash: str = ""
    kind: Kind = "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number a judge gives. ``rate`` measures are 0 or 1 per verdict and get Wilson intervals."""

    low: float
    high: float
    kind: Literal["mean", "rate"] = "mean"
    headline: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A judge as data: which engine, with which settings, prompts and measures."""

    name: str
    version: str
    engine: str
    about: str
    measures: Mapping[str, Measure]
    settings: Mapping[str, Any]
    files: Mapping[str, str]  # every text file of the card's folder, by name
    live: bool = False  # is handed a session on the page
    needs_model: bool = False
    stands_in_for: str | None = None
    path: Path = field(compare=False, default=Path())
    hash: str = ""
