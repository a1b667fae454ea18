"""The execution cards against npm's htmlhint with the same rules switched on.

Asked for: the same verdict, the same rules broken, as often, and at the same places.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from htmlhint_pages import mutated, real_pages, soup
from htmlhint_reference import Found, NotInstalled, lint, run

from opendesign.judging.cards import load_card
from opendesign.judging.rules import Finding, rule_set
from opendesign.judging.rules import lint as ours
from opendesign.judging.rules.ruleset import FILE, Rule
from opendesign.judging.rules.tokens import tokens

CARDS = ("execution", "execution-paper", "execution-literal")
PRINTED = ("lang-require", "meta-charset-utf-8", "meta-viewport")  # no rules of htmlhint

#: Where ours differs on purpose: page, rule, how often (ours, htmlhint's), reason.
ON_PURPOSE = [
    (
        "<!-- htmlhint id-unique:false --><!doctype html><p id='a'></p><p id='a'></p>",
        "id-unique",
        (1, 0),
        "a page does not choose the rules by which it is judged",
    ),
    (
        "<!doctype html>\n<!-- htmlhint-disable -->\n<p id='a'></p><p id='a'></p>",
        "id-unique",
        (1, 0),
        "a page does not choose the rules by which it is judged",
    ),
    (
        '<!doctype html><p id="constructor"></p><p id="constructor"></p>',
        "id-unique",
        (1, 0),
        "htmlhint takes ids for members of a JavaScript object, some of which are there already",
    ),
    (
        "<!doctype html><constructor>",
        "tag-pair",
        (1, 0),
        "the same with tag names",
    ),
]


def compare(pages: list[str]) -> list[str]:
    """Differences between ours and htmlhint, each with the page. Every page is checked under every card."""
    sets = {name: rule_set(load_card(name)) for name in CARDS}
    switched_on = {name: [rule.name for rule in rules] for name, rules in sets.items()}
    switched_on["execution-literal"] += PRINTED
    try:
        references = lint(pages, switched_on)
    except NotInstalled as error:
        pytest.fail(str(error), pytrace=False)
    differences = []
    for page, reference in zip(pages, references, strict=True):
        for card in CARDS:
            if difference := _difference(page, sets[card], reference, card):
                differences.append(f"{card}: {difference} in {page[:3000]!r}")
    return differences


def _difference(page: str, rules: tuple[Rule, ...], reference: Found, card: str) -> str:
    report = ours(page, rules, kept=10**9)
    hits = sorted(reference[card])
    if report.passed != (not hits):
        return f"verdict {report.passed}, htmlhint's {not hits}"
    if set(report.counts) != {rule for rule, *_ in hits}:
        return f"broken {sorted(report.counts)}, htmlhint's {sorted({rule for rule, *_ in hits})}"
    if not _places_comparable(page):
        mine, theirs = sorted(f.rule for f in report.findings), [rule for rule, *_ in hits]
    else:
        lines = _Lines(page)
        mine, theirs = sorted(lines.theirs(finding) for finding in report.findings), hits
    if mine == theirs:
        return ""
    only = [x for x in mine if x not in theirs][:3], [x for x in theirs if x not in mine][:3]
    return f"only ours {only[0]}, only htmlhint's {only[1]}"


def _places_comparable(page: str) -> bool:
    """htmlhint reckons over several lines as if all ended as the first does, and loses count of the lines of
    a script or style that is never closed."""
    ends = re.findall(r"\r?\n", page)
    return len(set(ends)) <= 1 and (not page or tokens(page)[-1].kind != "raw")


class _Lines:
    """The places that htmlhint names: in UTF-16 units, the white space before an attribute, the end of a
    tag's name for two rules, and the next line where a place is the end of a line."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.starts = [0, *(match.end() for match in re.finditer("\n", page))]
        self.texts = re.split(r"\r?\n", page)

    def theirs(self, finding: Finding) -> tuple[str, int, int]:
        at = self.starts[finding.line - 1] + finding.column - 1
        if finding.rule in ("attr-lowercase", "attr-value-double-quotes", "id-unique"):
            while re.match(r"[^\S\x1c-\x1f\x85]|\ufeff", self.page[at - 1]):
                at -= 1
        elif finding.rule in ("alt-require", "html-lang-require"):
            at = re.compile(r"<[\w:-]+", re.ASCII).match(self.page, at).end()
        line = self.page.count("\n", 0, at) + 1
        column = len(self.page[self.starts[line - 1] : at].encode("utf-16-le")) // 2 + 1
        while column > len(self.texts[line - 1].encode("utf-16-le")) // 2 and line < len(self.texts):
            line, column = line + 1, 1
        return finding.rule, line, column


@pytest.fixture(scope="module")
def corpus() -> list[str]:
    try:
        return real_pages()
    except NotInstalled as error:
        pytest.fail(str(error), pytrace=False)


def sample(corpus: list[str], seed: int, real: int, damaged: int) -> list[str]:
    """Some of the corpus, and damaged copies of some of it."""
    rng = random.Random(seed)
    return rng.sample(corpus, real) + [mutated(rng, rng.choice(corpus)) for _ in range(damaged)]


def soups(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    return [soup(rng) for _ in range(count)]


def test_300_pages_agree(corpus: list[str]) -> None:
    pages = sample(corpus, 20251, real=80, damaged=220)
    differences = compare(pages)
    assert len(pages) == 300
    assert not differences, f"{len(differences)} differences, the first: {differences[0]}"


def test_pages_made_to_disagree_agree() -> None:
    differences = compare(soups(20252, 1_000))
    assert not differences, f"{len(differences)} differences, the first: {differences[0]}"


@pytest.mark.long
def test_all_pages_and_their_mutations_agree(corpus: list[str]) -> None:
    pages = sample(corpus, 20253, real=len(corpus), damaged=2_000)
    assert len(set(pages)) >= 2_500
    differences = compare(pages)
    assert not differences, f"{len(differences)} differences, the first: {differences[0]}"


@pytest.mark.long
def test_many_pages_made_to_disagree_agree() -> None:
    differences = compare(soups(20254, 5_000))
    assert not differences, f"{len(differences)} differences, the first: {differences[0]}"


def test_the_corpus_breaks_every_rule_and_passes_too(corpus: list[str]) -> None:
    rules = rule_set(load_card("execution-paper"))
    reports = [ours(page, rules) for page in corpus]
    assert {name for report in reports for name in report.counts} >= {rule.name for rule in rules} - {
        "tagname-lowercase"  # nobody who publishes a package writes tags in capitals; the mutations do
    }
    assert any(ours(page, rule_set(load_card("execution"))).passed for page in corpus)


@pytest.mark.parametrize(("page", "rule", "times", "reason"), ON_PURPOSE)
def test_differences_on_purpose_are_still_there(
    page: str, rule: str, times: tuple[int, int], reason: str
) -> None:
    try:
        found = lint([page], {"it": [rule]})[0]["it"]
    except NotInstalled as error:
        pytest.fail(str(error), pytrace=False)
    assert (ours(page, [Rule(rule, reason)]).counts.get(rule, 0), len(found)) == times


def test_the_names_as_printed_check_nothing() -> None:
    card = load_card("execution-literal")
    assert all(name in card.files[FILE] for name in PRINTED)
    try:
        found = lint(["<html><head></head><body></body></html>"], {"it": list(PRINTED)})
    except NotInstalled as error:
        pytest.fail(str(error), pytrace=False)
    assert found == [{"it": []}]


def test_without_a_registry_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    refuse = (
        "npm",
        "install",
        "--offline",
        "--no-audit",
        "--cache",
        str(tmp_path / "empty"),
        "htmlhint@1.9.2",
    )
    for command in (refuse, ("no-such-program", "install")):
        with pytest.raises(NotInstalled, match="The differential test needs") as caught:
            run(*command, cwd=tmp_path)
        assert " ".join(command) in str(caught.value)
        assert "\n" not in str(caught.value)
