"""Brings the generated parts of the benchmarks' datasheets up to date, and draws the lite split.

    python tools/datasheet.py            rewrite what stands between the markers, and the picture
    python tools/datasheet.py --lite     draw the lite split anew first
    python tools/datasheet.py --check    change nothing; exit code 1 when something is out of date

Works on the benchmarks that ``opendesign`` finds: those of ./benchmarks first. A README says where a part
belongs with ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; the parts are the keys of ``parts``.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opendesign.cases.benchmark import load_benchmark
from opendesign.cases.check import CheckReport, check
from opendesign.cases.reading import read_text, read_toml
from opendesign.errors import OpenDesignError, UsageError
from opendesign.running.statistics import rate
from opendesign.types import CATEGORIES, Benchmark, Case

BENCHMARKS = ("opendesign", "opendesign-train")
LEVELS = ("easy", "medium", "hard")
KINDS = ("content", "layout", "style", "behaviour")
LITE_SIZE = 100
LITE_SEED = 840
LITE_HEAD = (
    "# 100 cases for quick looks, stratified by category and difficulty, spread over topics; "
    "holds the smoke split.\n"
)
LANGUAGES = {
    "ar": "Arabic", "de": "German", "en": "English", "es": "Spanish", "fa": "Persian", "fr": "French",
    "he": "Hebrew", "hi": "Hindi", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean",
    "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "th": "Thai",
    "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One reading: how many passed a first reading, out of how many. ``seed`` drew the cases."""

    round: int
    seed: str | None = None
    prompts: tuple[int, int]
    requirements: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Similar:
    """What ``tools/similar.py`` found in the state of the cases with that hash, and what reading it said."""

    hash: str
    threshold: float
    above: int
    same: int  # of them, pairs that a reader took for the same want, and that stay


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """A readings.toml."""

    rounds: tuple[Round, ...] = ()
    similar: Similar | None = None


def apportion(
    weights: Mapping[str, int], seats: int, at_least: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Seats in proportion to weights by largest remainder; a tie goes to the earlier name.

    A name below its ``at_least`` is raised to it, one seat at a time, from the name with most to spare.
    """
    total = sum(weights.values())
    shares = {name: seats * weight // total for name, weight in weights.items()}
    rest = sorted(weights, key=lambda name: -(seats * weights[name] % total))
    for name in rest[: seats - sum(shares.values())]:
        shares[name] += 1
    least = at_least or {}
    if sum(least.values()) > seats:
        raise UsageError(f"{sum(least.values())} cases must be in, but there is room for {seats} only.")
    for name in least:
        while shares[name] < least[name]:
            shares[max(shares, key=lambda other: shares[other] - least.get(other, 0))] -= 1
            shares[name] += 1
    return shares


def draw_lite(benchmark: Benchmark, size: int = LITE_SIZE, seed: int = LITE_SEED) -> tuple[str, ...]:
    """Ids of the lite split, in the benchmark's order.

    Stratified by category, and within a category by difficulty, by largest remainder; the topics least drawn
    so far come first; holds the smoke split. Each case's luck hangs on its id and the seed alone, so that
    mending one case moves few others.
    """

    def luck(case: Case) -> str:
        return hashlib.sha256(f"{seed}\n{case.id}".encode()).hexdigest()

    smoke = set(benchmark.splits.get("smoke", ()))
    groups = {c: [case for case in benchmark.cases if case.category == c] for c in CATEGORIES}
    shares = apportion({c: len(group) for c, group in groups.items()}, min(size, len(benchmark.cases)))
    drawn: set[str] = set()
    for category, group in groups.items():
        taken = [case for case in group if case.id in smoke]
        levels: Counter[str] = Counter(case.difficulty for case in group)
        quotas = apportion(
            {level: levels[level] for level in LEVELS}, shares[category], Counter(c.difficulty for c in taken)
        )
        for level in sorted(LEVELS, key=lambda level: quotas[level]):  # the scarcest chooses its topics first
            rest = [case for case in group if case.difficulty == level and case not in taken]
            while sum(case.difficulty == level for case in taken) < quotas[level]:
                topics = Counter(case.topic for case in taken)
                rest.sort(key=lambda case: (topics[case.topic], luck(case)))
                taken.append(rest.pop(0))
        drawn |= {case.id for case in taken}
    return tuple(case.id for case in benchmark.cases if case.id in drawn)


def lite_text(benchmark: Benchmark) -> str:
    """What splits/lite.txt has to say."""
    return LITE_HEAD + "".join(f"{case}\n" for case in draw_lite(benchmark))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table: the first column to the left, the others to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in line)
                   + " |\n" for line in lines)  # fmt: skip


def parts(benchmark: Benchmark, report: CheckReport) -> dict[str, str]:
    """Name -> Markdown of every generated part of a datasheet."""
    readings = benchmark.path / "readings.toml"
    read = read_toml(readings, Readings) if readings.is_file() else Readings()
    return {
        "identity": f"Version **{report.version}** · hash `{report.hash}` · {report.cases} cases\n",
        "difficulty": _difficulty(report),
        "requirements": _requirements(report),
        "lengths": table(["characters", *next(iter(report.lengths.values()))],
                         [[c, *values.values()] for c, values in report.lengths.items()]),
        "topics": _topics(report),
        "languages": _languages(report),
        "splits": _splits(benchmark),
        "readings": _readings(read.rounds),
        "similar": _similar(read.similar, report),
    }  # fmt: skip


def _total(rows: list[list[object]]) -> list[object]:
    columns = list(zip(*rows, strict=True))[1:]
    return ["**all**", *(sum(number for number in column if isinstance(number, int)) for column in columns)]


def _difficulty(report: CheckReport) -> str:
    rows: list[list[object]] = []
    for category, levels in report.make_up["difficulty"].items():
        static = report.make_up["tag"][category].get("static", 0)
        counts = [levels.get(level, 0) for level in LEVELS]
        rows.append([category, *counts, sum(counts), *([static] if _has_requirements(report) else [])])
    head = ["cases", *LEVELS, "all", *(["static"] if _has_requirements(report) else [])]
    return table(head, [*rows, _total(rows)])


def _has_requirements(report: CheckReport) -> bool:
    return any(report.make_up["requirements"].values())


def _requirements(report: CheckReport) -> str:
    rows: list[list[object]] = []
    for category, kinds in report.make_up["requirements"].items():
        counts = [kinds.get(kind, 0) for kind in KINDS]
        rows.append([category, *counts, sum(counts)])
    rows.append(_total(rows))
    return table(["requirements", *KINDS, "all"], rows)


def _topics(report: CheckReport) -> str:
    rows = []
    for category, topics in report.make_up["topic"].items():
        most = max(topics.values())
        names = ", ".join(topic for topic, count in topics.items() if count == most)
        crowd = sum(count == most for count in topics.values())
        rows.append([category, len(topics), most, names if crowd <= 3 else f"{crowd} topics"])
    return table(["topics", "in use", "cases on the largest", "the largest"], rows)


def _languages(report: CheckReport) -> str:
    found: Counter[str] = Counter()
    for values in report.make_up["language"].values():
        found.update(values)
    others = sorted((item for item in found.items() if item[0] != "en"), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(f"{LANGUAGES.get(code, code)} {count}" for code, count in others)
    count = sum(count for _, count in others)
    return f"{found['en']} prompts are in English, {count} in {len(others)} other languages: {listed}.\n"


def _splits(benchmark: Benchmark) -> str:
    rows: list[list[object]] = []
    for name, ids in [("whole", None), *benchmark.splits.items()]:
        cases = [case for case in benchmark.cases if ids is None or case.id in ids]
        categories = Counter(case.category for case in cases)
        levels: Counter[str] = Counter(case.difficulty for case in cases)
        foreign = sum(case.language != "en" for case in cases)
        numbers = [*(categories[c] for c in CATEGORIES), len(cases), *(levels[level] for level in LEVELS)]
        rows.append([name, *numbers, foreign])
    return table(["split", *CATEGORIES, "all", *LEVELS, "not English"], rows)


def _readings(rounds: Iterable[Round]) -> str:
    rows = []
    for one in rounds:
        cells = [f"{one.round}", "not kept" if one.seed is None else one.seed]
        rows.append([*cells, *_share(one.prompts), *_share(one.requirements)])
    return table(
        ["round", "seed", "prompts passed", "95 % interval", "requirements passed", "95 % interval"], rows
    )


def _share(counts: tuple[int, int]) -> tuple[str, str]:
    passed, of = counts
    found = rate([[1.0]] * passed + [[0.0]] * (of - passed))
    if found is None or not 0 <= passed <= of:
        raise UsageError(f"readings.toml: {passed} of {of} is no share.")
    return f"{passed} of {of} ({passed / of:.1%})", f"{found.low:.1%} to {found.high:.1%}"


def _similar(found: Similar | None, report: CheckReport) -> str:
    if found is None:
        return "Not run yet.\n"
    when = "these cases" if found.hash == report.hash else f"an earlier state of these cases (`{found.hash}`)"
    return (
        f"Last run on {when}: {found.above} pairs with a cosine of {found.threshold:.2f} or more, "
        f"of which {found.same} were read as the same want.\n"
    )


def fill(text: str, texts: Mapping[str, str], where: str) -> str:
    """The text with every marked part replaced; a marker alone, twice or unknown is an error."""
    markers = re.findall(r"<!-- (begin|end) ([a-z]+) -->", text)
    names = list(dict.fromkeys(name for _, name in markers))
    if not markers or markers != [(edge, name) for name in names for edge in ("begin", "end")]:
        raise UsageError(
            f"{where}: markers go in pairs, <!-- begin NAME --> and <!-- end NAME -->, each once."
        )
    for name in names:
        if name not in texts:
            raise UsageError(f"{where}: there is no part '{name}'; the parts are {', '.join(texts)}.")
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}\n{texts[name]}{end}{rest.partition(end)[2]}"
    return text


STYLE = """
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328; }
  .panel { fill: #ffffff; } .soft { fill: #59636e; font-size: 12px; }
  .on { fill: #ffffff; font-size: 11px; } .on-easy { fill: #10243d; font-size: 11px; }
  .easy { fill: #9cc4ee; } .medium { fill: #3a78bb; } .hard { fill: #1f4f8a; }
  .content { fill: #2f6fb3; } .layout { fill: #7a5ab5; } .style { fill: #b3527f; }
  .behaviour { fill: #27795f; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .panel { fill: #0d1117; } .soft { fill: #9198a1; }
    .on { fill: #ffffff; } .on-easy { fill: #10243d; }
  }
"""


def picture(report: CheckReport) -> str:
    """An SVG of 760 by 310: a row for each category, its cases by difficulty, its requirements by kind."""
    name = f"Make-up of {report.benchmark} {report.version}: bars show shares, figures show counts"
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="760" height="310" viewBox="0 0 760 310" role="img">',
        f"<title>{name}</title>\n<style>{STYLE}</style>",
        '<rect class="panel" width="760" height="310" rx="8"/>',
    ]
    columns = (
        (130, "Cases by difficulty", "difficulty", LEVELS),
        (455, "Requirements by kind", "requirements", KINDS),
    )
    for left, title, aspect, values in columns:
        out.append(f'<text x="{left}" y="28">{title}</text>')
        for at, value in enumerate(values):
            x = left + at * 74
            out.append(f'<rect class="{value}" x="{x}" y="40" width="10" height="10" rx="2"/>')
            out.append(f'<text class="soft" x="{x + 14}" y="49">{value}</text>')
        rows = {**report.make_up[aspect]}
        rows["all"] = {v: sum(row.get(v, 0) for row in report.make_up[aspect].values()) for v in values}
        for row, (category, counts) in enumerate(rows.items()):
            y = 68 + row * 38 + (6 if category == "all" else 0)
            if left == 130:
                out.append(f'<text x="20" y="{y + 13}">{category}</text>')
                out.append(f'<text class="soft" x="20" y="{y + 28}">{sum(counts.values())} cases</text>')
            out += _bar(left, y, 285, values, counts)
    return "\n".join([*out, "</svg>\n"])


def _bar(left: int, y: int, width: int, values: Sequence[str], counts: Mapping[str, int]) -> list[str]:
    out, x = [], float(left)
    total = sum(counts.values()) or 1
    for value in values:
        count = counts.get(value, 0)
        wide = width * count / total
        said = f"<title>{value}: {count} of {total} ({count / total:.0%})</title>"
        out.append(f'<rect class="{value}" x="{x:.1f}" y="{y}" width="{wide:.1f}" height="24">{said}</rect>')
        if wide >= 8 * len(str(count)) + 2:
            ink, middle = "on-easy" if value == "easy" else "on", x + wide / 2
            out.append(
                f'<text class="{ink}" x="{middle:.1f}" y="{y + 16}" text-anchor="middle">{count}</text>'
            )
        x += wide
    return out


def sheets() -> tuple[dict[Path, str], int]:
    """File -> what it has to say, for datasheets and picture; and how many problems the cases have."""
    files: dict[Path, str] = {}
    problems = 0
    for name in BENCHMARKS:
        benchmark = load_benchmark(name)
        report = check(benchmark)
        problems += len(report.problems)
        readme = benchmark.path / "README.md"
        files[readme] = fill(read_text(readme), parts(benchmark, report), f"benchmarks/{name}/README.md")
        if _has_requirements(report):
            files[benchmark.path / "make-up.svg"] = picture(report)
    return files, problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 done, 1 out of date with ``--check``, 2 not possible."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 when out of date")
    parser.add_argument("--lite", action="store_true", help="draw the lite split anew first")
    chosen = parser.parse_args(arguments)
    try:
        benchmark = load_benchmark(BENCHMARKS[0])
        lite = benchmark.path / "splits" / "lite.txt"
        if chosen.lite and not chosen.check and read_text(lite) != lite_text(benchmark):
            lite.write_text(lite_text(benchmark), encoding="utf-8")
            sys.stderr.write(f"Written: {lite.parent.name}/{lite.name}\n")
        files, problems = sheets()
    except OpenDesignError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    files[lite] = lite_text(benchmark) if chosen.check else read_text(lite)
    stale = [file for file, text in files.items() if not file.is_file() or read_text(file) != text]
    for file in stale:
        sys.stderr.write(f"{'Out of date' if chosen.check else 'Written'}: {file.parent.name}/{file.name}\n")
        if not chosen.check:
            file.write_text(files[file], encoding="utf-8")
    if problems:
        sys.stderr.write(f"The cases have {problems} problems: see `opendesign cases check`.\n")
    if chosen.check and stale:
        sys.stderr.write("Bring them up to date with `python tools/datasheet.py --lite`.\n")
    return 1 if chosen.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
