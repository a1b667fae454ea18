"""Whether a benchmark's cases are sound: every rule that its cases must keep, and what they are made of.

A benchmark of our own keeps all rules of its kind. One that was imported is as its source made it: only its
counts and its checksum are looked at. References of plots are not run here, see ``running.references``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from opendesign import content
from opendesign.cases.benchmark import BenchmarkCard, categories, load_benchmark, load_card
from opendesign.cases.overlap import near_duplicates, read_runs, run_hashes
from opendesign.cases.plots import count_rows
from opendesign.cases.reading import read_toml
from opendesign.cases.wording import faults
from opendesign.errors import UsageError
from opendesign.types import ABSENT, Benchmark, Case

NEAR = 0.5  # shared character shingles from which two prompts count as one
NEAR_REQUIREMENTS = 0.85  # the same for two requirements of one case
MOST_ON_A_TOPIC = 0.04  # of a category's cases; three are always allowed
MOST_STATIC = 0.10  # of a category's cases, in the categories below
OPERATED = ("game", "3d", "component")
FEWEST_TOPICS = 60
RUNS_FILE = "released-runs.txt"
ROWS = (20, 300)  # of a plot's data, at least and at most
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

_FIRST = ("easy", "medium", "hard", "en", "content", "layout", "style", "behaviour")  # as they are listed
_NUMBERED = re.compile(r"(?P<prefix>[a-z0-9]+(?:-[a-z0-9]+)*)-(?P<number>\d{3,})")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?")
_NOT_LATIN = re.compile(r"[^\W\d_a-zA-Z\u00aa-\u024f\u1e00-\u1eff]")
_OTHER_SCRIPT = {
    "ar",
    "fa",
    "ur",
    "he",
    "ja",
    "zh",
    "ko",
    "ru",
    "uk",
    "bg",
    "sr",
    "el",
    "hi",
    "bn",
    "ta",
    "th",
    "ka",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One rule that one case (or, with an empty ``case``, the benchmark) breaks."""

    case: str
    rule: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What a benchmark is made of, and what is wrong with it.

    ``make_up``: aspect -> category -> value -> count, for the aspects difficulty, language, requirements
    (their kinds), topic and tag. ``lengths``: category -> quantile ("0%" to "100%") -> characters a prompt.
    ``drawn_with``: the libraries with which the references of plots were run, where they were.
    """

    benchmark: str
    version: str
    hash: str
    cases: int
    make_up: Mapping[str, Mapping[str, Mapping[str, int]]]
    lengths: Mapping[str, Mapping[str, int]]
    problems: tuple[Problem, ...]
    drawn_with: str | None = field(default=None, metadata=ABSENT)

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """What the rules look at."""

    benchmark: Benchmark
    card: BenchmarkCard
    topics: Mapping[str, Mapping[str, str]] | None
    runs: tuple[tuple[str, frozenset[str]], ...]
    others: tuple[Benchmark, ...]

    def by_category(self) -> Iterator[tuple[str, list[Case]]]:
        for category in categories(self.benchmark.kind):
            if cases := [case for case in self.benchmark.cases if case.category == category]:
                yield category, cases


def check(benchmark: Benchmark) -> CheckReport:
    """Hold a benchmark to every rule.

    Reads its folder for the card, the topics and the hashed runs of released prompts. A benchmark that is
    kept apart from others (``apart_from``) is held to their topics, when it has none, and to their runs.
    """
    subject = _subject(benchmark)
    rules: tuple[Callable[[_Subject], Iterable[Problem]], ...] = (_counts, _source)
    if not subject.card.imported:
        rules += (_ids, _vocabulary, _languages, _prompts, _copies, _splits)
        rules += (_charts, _tasks) if benchmark.kind == "plots" else (_topics, _requirements, _static)
    return CheckReport(
        benchmark=benchmark.name,
        version=benchmark.version,
        hash=benchmark.hash,
        cases=len(benchmark.cases),
        make_up=_make_up(subject),
        lengths={category: _quantiles(cases) for category, cases in subject.by_category()},
        problems=tuple(chain.from_iterable(rule(subject) for rule in rules)),
    )


def _subject(benchmark: Benchmark) -> _Subject:
    card = load_card(benchmark.name)
    folders = [benchmark.path, *(content.find("benchmarks", name) for name in card.apart_from)]
    topics = next((file for folder in folders if (file := folder / "topics.toml").is_file()), None)
    return _Subject(
        benchmark=benchmark,
        card=card,
        topics=read_toml(topics, Mapping[str, Mapping[str, str]]) if topics else None,  # type: ignore[type-abstract]
        runs=tuple(read_runs(folder / RUNS_FILE) for folder in folders if (folder / RUNS_FILE).is_file()),
        others=tuple(load_benchmark(name) for name in card.apart_from),
    )


def _make_up(subject: _Subject) -> dict[str, dict[str, dict[str, int]]]:
    aspects: dict[str, Callable[[Case], Iterable[str]]] = {
        "difficulty": lambda case: [case.difficulty],
        "language": lambda case: [case.language],
        "requirements": lambda case: [requirement.kind for requirement in case.requirements],
        "topic": lambda case: [case.topic] if case.topic else [],
        "tag": lambda case: case.tags,
    }
    return {
        aspect: {
            category: dict(sorted(Counter(chain.from_iterable(map(values, cases))).items(), key=_order))
            for category, cases in subject.by_category()
        }
        for aspect, values in aspects.items()
    }


def _order(item: tuple[str, int]) -> tuple[int, str]:
    return (_FIRST.index(item[0]) if item[0] in _FIRST else len(_FIRST), item[0])


def _quantiles(cases: list[Case]) -> dict[str, int]:
    lengths = sorted(len(case.prompt) for case in cases)
    return {f"{share:.0%}": lengths[round(share * (len(lengths) - 1))] for share in QUANTILES}


def _problem(case: str, rule: str, text: str) -> Problem:
    return Problem(case=case, rule=rule, text=text)


def _counts(subject: _Subject) -> Iterator[Problem]:
    found = {category: len(cases) for category, cases in subject.by_category()}
    for category, count in subject.card.counts.items():
        if category not in categories(subject.benchmark.kind):
            yield _problem("", "counts", f"benchmark.toml counts '{category}', which is no category")
        elif found.get(category, 0) != count:
            yield _problem(
                "", "counts", f"{category} has {found.get(category, 0)} cases; the card says {count}"
            )


def _source(subject: _Subject) -> Iterator[Problem]:
    if subject.card.imported and subject.card.source.get("verified") is not True:
        yield _problem("", "source", "it was imported from a file that is not the one that was published")


def _ids(subject: _Subject) -> Iterator[Problem]:
    """A prefix that a category shares and a number that only grows, so that an id never changes hands."""
    for category, cases in subject.by_category():
        prefix, last = None, 0
        for case in cases:
            match = _NUMBERED.fullmatch(case.id)
            if match is None:
                yield _problem(case.id, "id", f"ids look like '{category}-001'")
                continue
            prefix = prefix or match["prefix"]
            if match["prefix"] != prefix:
                yield _problem(case.id, "id", f"other cases of the category begin with '{prefix}-'")
            if int(match["number"]) <= last:
                yield _problem(case.id, "id", "numbers grow from line to line; append new cases at the end")
            last = int(match["number"])


def _topics(subject: _Subject) -> Iterator[Problem]:
    if subject.topics is None:
        return
    slugs = {slug for group in subject.topics.values() for slug in group}
    if len(slugs) < FEWEST_TOPICS:
        yield _problem(
            "", "topic", f"topics.toml has {len(slugs)} topics; at least {FEWEST_TOPICS} are needed"
        )
    for slug in sorted(slug for slug in slugs if not _SLUG.fullmatch(slug)):
        yield _problem("", "topic", f"the topic '{slug}' is not lowercase words joined by hyphens")
    for category, cases in subject.by_category():
        group = subject.topics.get(category, {})
        for case in cases:
            if case.topic not in group:
                yield _problem(case.id, "topic", f"'{case.topic}' is no topic of {category} in topics.toml")
        most = max(3, int(MOST_ON_A_TOPIC * len(cases)))
        for topic, count in Counter(case.topic for case in cases).items():
            if count > most:
                yield _problem("", "topic", f"{category} has {count} cases on '{topic}'; {most} are allowed")


def _vocabulary(subject: _Subject) -> Iterator[Problem]:
    for case in subject.benchmark.cases:
        if case.difficulty not in subject.card.difficulty:
            yield _problem(case.id, "difficulty", f"benchmark.toml does not define '{case.difficulty}'")
        for tag in case.tags:
            if tag not in subject.card.tags:
                yield _problem(case.id, "tag", f"benchmark.toml does not define '{tag}'")


def _languages(subject: _Subject) -> Iterator[Problem]:
    for case in subject.benchmark.cases:
        if not _LANGUAGE.fullmatch(case.language):
            yield _problem(
                case.id, "language", f"'{case.language}' is not a language tag such as 'en' or 'pt-BR'"
            )
            continue
        letters = sum(map(str.isalpha, case.prompt))
        foreign = len(_NOT_LATIN.findall(case.prompt)) > letters / 2
        if foreign != (case.language.split("-")[0] in _OTHER_SCRIPT):
            yield _problem(
                case.id, "language", f"the prompt's script does not fit the language '{case.language}'"
            )


def _prompts(subject: _Subject) -> Iterator[Problem]:
    for case in subject.benchmark.cases:
        if case.prompt != case.prompt.strip() or re.search(r"[\x00-\x09\x0b-\x1f\x7f]|  ", case.prompt):
            yield _problem(case.id, "prompt", "it has stray white space or control characters")
        if not 10 <= len(case.prompt) <= 1_200:
            yield _problem(case.id, "prompt", f"it has {len(case.prompt)} characters; write 10 to 1200")


def _requirements(subject: _Subject) -> Iterator[Problem]:
    if not subject.card.requirements:
        return
    for case in subject.benchmark.cases:
        texts = [requirement.text for requirement in case.requirements]
        if not 2 <= len(texts) <= 8:
            yield _problem(case.id, "requirements", f"it has {len(texts)}; write 2 to 8")
        for text in texts:
            yield from (_problem(case.id, "wording", f"'{text}' {fault}") for fault in faults(text))
        for first, second, _ in near_duplicates(texts, NEAR_REQUIREMENTS):
            yield _problem(case.id, "requirements", f"'{texts[second]}' repeats '{texts[first]}'")


def _static(subject: _Subject) -> Iterator[Problem]:
    if not subject.card.requirements:
        return
    for category, cases in subject.by_category():
        for case in cases:
            if case.has_behaviour == ("static" in case.tags):
                text = "has a behaviour requirement" if case.has_behaviour else "has no behaviour requirement"
                yield _problem(case.id, "static", f"it {text}, which its tags deny")
        static = sum("static" in case.tags for case in cases)
        if category in OPERATED and static > max(1, MOST_STATIC * len(cases)):
            yield _problem(
                "", "static", f"{static} of {len(cases)} {category} cases are static; 10 % are allowed"
            )


def _copies(subject: _Subject) -> Iterator[Problem]:
    cases = subject.benchmark.cases
    prompts = [case.prompt for case in cases]
    for first, second, share in near_duplicates(prompts, NEAR):
        yield _problem(cases[second].id, "near-duplicate", f"shares {share:.0%} with {cases[first].id}")
    for other in subject.others:
        pairs = near_duplicates(prompts, NEAR, against=[case.prompt for case in other.cases])
        for first, second, share in pairs:
            where = f"{other.cases[second].id} of {other.name}"
            yield _problem(cases[first].id, "near-duplicate", f"shares {share:.0%} with {where}")
    for case in cases:
        for salt, hashes in subject.runs:
            runs = run_hashes(case.prompt, salt)
            for digest in sorted(runs.keys() & hashes):
                yield _problem(case.id, "released", f"'{runs[digest]}' stands in the released benchmark")


def _splits(subject: _Subject) -> Iterator[Problem]:
    category_of = {case.id: case.category for case in subject.benchmark.cases}
    for split, ids in subject.benchmark.splits.items():
        for missing in [c for c, _ in subject.by_category() if c not in {category_of[case] for case in ids}]:
            yield _problem("", "split", f"split '{split}' has no case of {missing}")


def _charts(subject: _Subject) -> Iterator[Problem]:
    used = {case.topic for case in subject.benchmark.cases}
    for chart in subject.card.charts:
        if chart not in used:
            yield _problem("", "chart", f"no case is of the kind '{chart}', which benchmark.toml defines")
    for case in subject.benchmark.cases:
        if case.topic not in subject.card.charts:
            yield _problem(case.id, "chart", f"benchmark.toml does not define '{case.topic}'")


def _tasks(subject: _Subject) -> Iterator[Problem]:
    least, most = ROWS
    for case in subject.benchmark.cases:
        assert case.task is not None, "the loader gives every case of plots its task"
        try:
            rows = count_rows(case.task.data)
        except UsageError as error:
            yield _problem(case.id, "data", str(error))
        else:
            if not least <= rows <= most:
                yield _problem(case.id, "data", f"it has {rows} rows; make it {least} to {most}")
        if not case.task.style.strip():
            yield _problem(case.id, "style", "it does not say how the plot is to look")
        if case.task.facts is None:
            yield _problem(
                case.id, "facts", "its ground truth has no facts; make them with tools/plots_truth.py"
            )
