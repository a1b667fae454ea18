"""Engine ``rules``: does the page keep the rules that its card lists? +1 if it keeps all, −1 otherwise.

The rules are those of the HTMLHint linter, written anew in Python and checked against it page by page
(``tests/differential``). They read the document as the model wrote it; comments in it that would switch
rules off have no effect.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from opendesign.errors import failed
from opendesign.judging.rules.checks import CHECKS, Page
from opendesign.judging.rules.ruleset import Rule, rule_set
from opendesign.types import Artifact, Card, Case, Verdict

__all__ = ["Finding", "Report", "Rule", "judge", "lint", "rule_set"]

KEPT = 3  # findings of one rule that the evidence shows; all are counted


@dataclass(frozen=True, slots=True)
class Finding:
    """A place where a rule is broken. ``line`` and ``column`` count from 1, in code points."""

    rule: str
    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a page breaks: how often each rule (only broken ones), and the first findings of each."""

    counts: dict[str, int]
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        return not self.counts


async def judge(case: Case, artifact: Artifact, card: Card, page: Any, model: Any) -> Verdict:
    """Verdict with ``score`` (+1 or −1) and ``passed`` (1 or 0), and the rules broken as evidence."""
    rules = rule_set(card)
    if artifact.document is None:
        raise failed("no_document", "There is no document to check.")
    data = artifact.document.read_bytes()
    report = await asyncio.to_thread(lint, data.decode("utf-8", "replace"), rules)
    return Verdict(
        case=case.id,
        sample=artifact.sample,
        judge=card.name,
        scores={"score": 1 if report.passed else -1, "passed": 1 if report.passed else 0},
        reasons=_reasons(report, rules),
        evidence={
            "rules": len(rules),
            "broken": report.counts,
            "findings": [
                {"rule": f.rule, "line": f.line, "column": f.column, "message": f.message}
                for f in report.findings
            ],
        },
    )


def lint(html: str, rules: Iterable[Rule], *, kept: int = KEPT) -> Report:
    """Check a page, showing at most ``kept`` findings a rule. Never raises; linear in the page's length."""
    page = Page(html)
    position = _Positions(html)
    counts: Counter[str] = Counter()
    findings: list[Finding] = []
    for rule in rules:
        page.allow = rule.allow
        for offset, message in CHECKS[rule.name](page):
            counts[rule.name] += 1
            if counts[rule.name] <= kept:
                findings.append(Finding(rule.name, *position(offset), message))
    return Report(dict(counts), tuple(findings))


class _Positions:
    """Offset → (line, column), both from 1. A line ends with a line feed."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._starts: list[int] = []

    def __call__(self, offset: int) -> tuple[int, int]:
        if not self._starts:
            self._starts = [0]
            at = self._html.find("\n")
            while at >= 0:
                self._starts.append(at + 1)
                at = self._html.find("\n", at + 1)
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def _reasons(report: Report, rules: Sequence[Rule]) -> tuple[str, ...]:
    if report.passed:
        intents = len({rule.intent for rule in rules})
        return (f"The page keeps all {len(rules)} rules, which stand for {intents} intents.",)
    first: dict[str, Finding] = {}
    for finding in report.findings:
        first.setdefault(finding.rule, finding)
    return tuple(
        f"{rule.intent}: broken {_times(report.counts[rule.name])}, "
        f"first in line {first[rule.name].line}: {first[rule.name].message} ({rule.name})"
        for rule in rules
        if rule.name in first
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
