"""The engine ``rules``: tokens, every rule on small pages, the rule list of a card, the verdict."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opendesign import canonical
from opendesign.errors import Failed, UnknownName, UsageError
from opendesign.judging.cards import load_card
from opendesign.judging.rules import Rule, judge, lint, rule_set
from opendesign.judging.rules.checks import CHECKS
from opendesign.judging.rules.tokens import tokens
from opendesign.types import Artifact, Blob, Case, Verdict

ALL = tuple(Rule(name, name) for name in CHECKS)
CASE = Case(id="website-1", category="website", prompt="A page.")
GOOD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A page</title>
<style>p > b { color: red !important }</style>
</head>
<body>
<img src="a.png" alt=""><br/>
<script>if (1 < 2) { document.write('<p id="a">') }</script>
<p id="a" onclick="x()" hidden>a &amp; b</p>
</body>
</html>
"""


def outline(html: str) -> list[str]:
    """Tokens as ``kind:text``."""
    return [f"{token.kind}:{html[token.start : token.end]}" for token in tokens(html)]


def broken(html: str, rule: str, *allow: str) -> list[tuple[int, int]]:
    """Places (line, column) where a page breaks one rule."""
    report = lint(html, [Rule(rule, rule, frozenset(allow))], kept=100)
    return [(finding.line, finding.column) for finding in report.findings]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a<b>c</b >d", ["text:a", "open:<b>", "text:c", "close:</b >", "text:d"]),
        ("<b c", ["text:<b c"]),
        ("</b c>", ["text:</b c>"]),
        ("</>", ["text:</>"]),
        ("a < b > c", ["text:a < b > c"]),
        ("<!-- <b> -- > -->x", ["comment:<!-- <b> -- > -->", "text:x"]),
        ("<!-- <b>x", ["comment:<!-- <b>", "text:x"]),
        ("<!----><!>x", ["text:x"]),
        ('<a b="<c>">', ['open:<a b="<c>">']),
        ('<a b="c>', ['text:<a b="c>']),
        ('<a b="c"d>', ['text:<a b="c"d>']),
        ("<br / >", ["text:<br / >"]),
        ("<script><b></script>", ["open:<script>", "raw:<b>", "close:</script>"]),
        ("<script></SCRIPT></script>", ["open:<script>", "raw:</SCRIPT>", "close:</script>"]),
        ("<script><!--</script>-->", ["open:<script>", "raw:<!--</script>-->"]),
        ("<SCRIPT><b>", ["open:<SCRIPT>", "open:<b>"]),
        ('<script type="text/ng-template"><b>', ['open:<script type="text/ng-template">', "open:<b>"]),
        ("<a b= c>", ["open:<a b= c>"]),
        ('<a b= c="d">x', ['text:<a b= c="d">', "text:x"]),
        ('<a b = c = "d">', ['text:<a b = c = "d">']),
        ("<a\u00a0b\ufeffc>", ["open:<a\u00a0b\ufeffc>"]),
        ("<a\x1cb>", ["text:<a\x1cb>"]),
        ("<a b\x85c>", ["text:<a b\x85c>"]),
    ],
)
def test_tokens(html: str, expected: list[str]) -> None:
    assert outline(html) == expected


def test_attributes_and_self_closing() -> None:
    (token,) = tokens("<a b=\"1\" C='2' d=3 e f= g/>")
    assert [(a.name, a.value, a.quote) for a in token.attributes] == [
        ("b", "1", '"'),
        ("C", "2", "'"),
        ("d", "3", ""),
        ("e", "", ""),
        ("f", "g/", ""),
    ]
    assert not token.closed  # the unquoted value took the slash
    assert tokens("<br/>")[0].closed
    assert tokens('<br a="b"/>')[0].closed


@pytest.mark.parametrize(
    ("rule", "html", "places"),
    [
        ("doctype-first", "<!doctype html><p>", []),
        ("doctype-first", "\ufeff <!-- x --><!DOCTYPE  html>", []),
        ("doctype-first", "<p>\n<!doctype html>", [(1, 1)]),
        ("doctype-first", "\n x<!doctype html>", [(1, 1)]),
        ("doctype-first", "<!doctype><p>", [(1, 11)]),
        ("doctype-first", "", [(1, 1)]),
        ("doctype-html5", "<!DOCTYPE html><p><!doctype HTML>", []),
        ("doctype-html5", "<p>", []),
        ("doctype-html5", "<!DOCTYPE html >", [(1, 1)]),
        ("doctype-html5", '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0">', [(1, 1)]),
        ("doctype-html5", "<!doctype html>\n<p><![endif]>", [(2, 4)]),
        ("tagname-lowercase", "<p><svg><linearGradient></linearGradient></svg></p>", []),
        ("tagname-lowercase", "<P>\n</P>", [(1, 1), (2, 1)]),
        ("attr-lowercase", '<svg viewBox="0 0 1 1" onClick="x">', []),
        ("attr-lowercase", '<p a="b"\n  ID="c" dataX>', [(2, 3), (2, 10)]),
        ("attr-value-double-quotes", '<p a="1" b c="" d=>', []),
        ("attr-value-double-quotes", "<p a='1' b=2 c=''>", [(1, 4), (1, 10), (1, 14)]),
        ("tag-pair", "<p><br><img/></p><P></p><x/>", []),
        ("tag-pair", "<div>\n<b><i></div>", [(2, 4)]),
        ("tag-pair", "</div>\n<p>\n", [(1, 1), (3, 1)]),
        ("tag-pair", "<p></br></p>", [(1, 4)]),
        ("tag-pair", "<script>'</p>'</script>", []),
        ("tag-self-close", "<br/><br /><p></p>", []),
        ("tag-self-close", '<br>\n<META charset="utf-8"><bgsound>', [(1, 1), (2, 1), (2, 23)]),
        ("id-unique", "<p id=a><p id=A><p id><p id><p name=a>", []),
        ("id-unique", "<p id=a><p ID='a'>\n<p id=a>", [(1, 12), (2, 4)]),
        ("id-unique", "<p id=constructor><p id=constructor>", [(1, 22)]),
        ("alt-require", '<img alt><area><input><input type="text"><area href="x" alt="y">', []),
        ("alt-require", "<IMG ALT=''>", [(1, 1)]),
        ("alt-require", "<area href>\n<input type=image alt=''>", [(1, 1), (2, 1)]),
        ("html-lang-require", "<html lang=en><html lang=x-1>", []),
        ("html-lang-require", "<html>\n<html lang=''>\n<html LANG=en>", [(1, 1), (2, 1), (3, 1)]),
        ("html-lang-require", "<html lang=7>", [(1, 1)]),
        ("html-lang-require", "<p>", []),
        ("meta-charset-require", "<head></head><meta charset=utf-8>", []),
        ("meta-charset-require", "<p>", []),
        ("meta-charset-require", "\n<head>", [(2, 1)]),
        ("meta-charset-require", "<head><meta charset=utf-8><meta charset=' '>", [(1, 1)]),
        ("meta-viewport-require", "<head><meta name=Viewport content=x>", []),
        ("meta-viewport-require", "<head><meta name=viewport>", [(1, 1)]),
        ("meta-viewport-require", "<head><meta content=x>", [(1, 1)]),
        ("title-require", "<head><title>x</title></head>", []),
        ("title-require", "<title></title>", []),
        ("title-require", "<head>\n</head><title>x</title>", [(2, 1)]),
        ("title-require", "<head><title></title>\n<title> \n</title></head>", [(1, 14), (3, 1)]),
        ("title-require", "<head><title>x<b></title></head>", [(1, 18)]),
    ],
)
def test_each_rule(rule: str, html: str, places: list[tuple[int, int]]) -> None:
    assert broken(html, rule) == places


def test_every_rule_is_tested_both_ways() -> None:
    cases = next(mark for mark in test_each_rule.pytestmark if mark.name == "parametrize").args[1]  # type: ignore[attr-defined]
    for outcome in (True, False):
        assert {rule for rule, _, places in cases if bool(places) is outcome} == set(CHECKS)


def test_names_that_a_card_lets_pass() -> None:
    assert broken("<MyTag A=1 B=1>", "tagname-lowercase", "MyTag") == []
    assert broken("<MyTag A=1 B=1>", "attr-lowercase", "A") == [(1, 12)]


def test_a_good_page_passes_ours_and_not_the_papers_twelve() -> None:
    assert lint(GOOD, rule_set(load_card("execution"))).passed
    assert lint(GOOD, rule_set(load_card("execution-paper"))).counts == {"tag-self-close": 3}
    assert lint(GOOD, rule_set(load_card("execution-literal"))).counts == {"tag-self-close": 3}


@pytest.mark.parametrize(
    ("old", "new", "intent"),
    [
        ("<!DOCTYPE html>\n", "", "doctype"),
        ("<!DOCTYPE html>", '<!DOCTYPE html SYSTEM "about:legacy-compat">', "doctype"),
        ("<p ", "<P ", "tag-case"),
        ("onclick", "onMouseUp", "attribute-case"),
        ('"x()"', "'x()'", "quotes"),
        ("</p>", "", "pairs"),
        ("<html", '<html id="a"', "ids"),
        (' alt=""', "", "alt"),
        (' lang="en"', "", "language"),
        ('<meta charset="utf-8">\n', "", "charset"),
        ('name="viewport"', 'name="view"', "viewport"),
        ("<title>A page</title>\n", "", "title"),
    ],
)
def test_each_intent_of_execution_fails_on_its_own_defect(old: str, new: str, intent: str) -> None:
    import tomllib

    card = load_card("execution")
    rules = tomllib.loads(card.files["rules.toml"])["intents"][intent]["rules"]
    page = GOOD.replace(old, new)
    assert page != GOOD
    counts = lint(page, rule_set(card)).counts
    assert counts
    assert set(counts) <= set(rules)


def test_the_three_cards_ask_what_they_say() -> None:
    sets = {name: {rule.name for rule in rule_set(load_card(name))} for name in
            ("execution", "execution-paper", "execution-literal")}  # fmt: skip
    assert sets["execution-paper"] - sets["execution"] == {"tag-self-close"}
    assert sets["execution"] <= sets["execution-paper"]
    gone = {"doctype-first", "html-lang-require", "meta-charset-require", "meta-viewport-require"}
    assert sets["execution-paper"] - sets["execution-literal"] == gone


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("[intents.a]\nabout='x'\nrules=['id-uniqe']", UnknownName, "'id-uniqe': did you mean id-unique"),
        ("[intents.a]\nabout='x'\nrules=['lang-require']", UnknownName, "html-lang-require"),
        (
            "[intents.a]\nabout='x'\nwithout_effect=['id-unique']\nrules=[]",
            UsageError,
            "'id-unique' is a rule",
        ),
        ("[intents.a]\nabout='x'\nruls=['id-unique']", UsageError, "'intents.a.ruls': did you mean rules?"),
        ("[intent.a]\nabout='x'", UsageError, r"no \[intents"),
        ("[intents.a]\nrules=['id-unique']", UsageError, "'intents.a.about' must say"),
        ("[intents.a]\nabout='x'\nrules='id-unique'", UsageError, "'intents.a.rules' must be a list"),
        ("[intents.a]\nabout='x'\nrules=['id-unique','id-unique']", UsageError, "listed twice"),
        ("[intents.a]\nabout='x'\nrules=['id-unique']\nnames=['A']", UsageError, "'intents.a.names' has a"),
        ("[intents]\na=1", UsageError, "'intents.a' must be a table"),
        ("[intents.a]\nabout='x'\nrules=[]", UsageError, "every page would pass"),
        ("[intents.a", UsageError, "is not TOML"),
    ],
)
def test_an_unsound_rule_list_is_one_sentence(text: str, error: type[UsageError], says: str) -> None:
    card = replace(load_card("execution"), files={"rules.toml": text})
    with pytest.raises(error, match=says) as caught:
        rule_set(card)
    assert "rules.toml" in str(caught.value)


def test_a_card_without_a_rule_list_is_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"needs a file 'rules\.toml'"):
        rule_set(replace(load_card("execution"), files={}))


async def verdict_on(page: bytes, folder: Path, card: str = "execution") -> Verdict:
    blob = Blob(digest=canonical.digest(page), suffix="html", root=folder)
    blob.path.parent.mkdir(exist_ok=True)
    blob.path.write_bytes(page)
    artifact = Artifact(case=CASE.id, sample=3, document=blob)
    return await judge(CASE, artifact, load_card(card), None, None)


async def test_verdict_of_a_good_page(tmp_path: Path) -> None:
    verdict = await verdict_on(GOOD.encode(), tmp_path)
    assert verdict.scores == {"score": 1, "passed": 1}
    assert verdict.evidence == {"rules": 12, "broken": {}, "findings": []}
    assert verdict.reasons == ("The page keeps all 12 rules, which stand for 11 intents.",)
    assert (verdict.case, verdict.sample, verdict.judge, verdict.status) == (CASE.id, 3, "execution", "ok")


async def test_verdict_of_a_broken_page_says_what_and_where(tmp_path: Path) -> None:
    page = GOOD.replace("</body>", "<P ID='a'>\n<p id=a>\n</body>")
    verdict = await verdict_on(page.encode(), tmp_path)
    assert verdict.scores == {"score": -1, "passed": 0}
    assert verdict.evidence["broken"] == {
        "tagname-lowercase": 1,
        "attr-lowercase": 1,
        "attr-value-double-quotes": 2,
        "tag-pair": 1,
        "id-unique": 2,
    }
    assert {"rule": "id-unique", "line": 14, "column": 4, "message": "The id a is used before."} in (
        verdict.evidence["findings"]
    )
    assert any(re.match(r"Ids are unique: broken 2 times, first in line 13: ", r) for r in verdict.reasons)


async def test_evidence_stays_small_whatever_the_page_holds(tmp_path: Path) -> None:
    ugly, name = "\x01\U0001f4a5Ä" * 500, "\U0001f4a5Ä" * 500
    page = f"<HTML><{'A' * 5000} {name}=1 id='{ugly}'><P {name}=' ' id='{ugly}'><IMG><BR></{ugly}>\n" * 300
    verdict = await verdict_on(page.encode(), tmp_path, "execution-paper")
    assert verdict.evidence["broken"]["id-unique"] > 100
    assert len(canonical.to_json(verdict.evidence)) < 20_000
    assert len(json.dumps(verdict.reasons)) < 20_000
    assert verdict == await verdict_on(page.encode(), tmp_path, "execution-paper")


async def test_bytes_that_are_no_text_are_judged_as_a_browser_reads_them(tmp_path: Path) -> None:
    assert (await verdict_on(GOOD.encode().replace(b"A page", b"\xff\xfe"), tmp_path)).scores["passed"] == 1


async def test_no_document_is_a_failure() -> None:
    artifact = Artifact(case=CASE.id, sample=0, document=None)
    with pytest.raises(Failed):
        await judge(CASE, artifact, load_card("execution"), None, None)


PIECES = st.sampled_from(
    ["<", ">", "/", "=", '"', "'", "!", "--", "-", "a", "A", "id=", "<a", "</a>", "<p>", "</p>", "<!--",
     "-->", "<script>", "</script>", "<title>", "<head>", "</head>", "<br/>", " ", "\n", "\r\n", "\ufeff",
     "\x1c", "é", "💥", "\ud800"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_any_text_has_tokens_in_order_and_findings_inside_it(html: str) -> None:
    last = 0
    for token in tokens(html):
        assert last <= token.start <= token.end <= len(html)
        assert html[last : token.start].replace("<!---->", "").replace("<!>", "") == ""
        last = token.end
    lines = html.split("\n")
    for finding in lint(html, ALL, kept=10**6).findings:
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1


HOSTILE = {
    "angles": "<",
    "close marks": "</",
    "close names": "</a",
    "close names and space": "</a ",
    "bangs": "<!",
    "comments": "<!--",
    "open tags in tags": "<a ",
    "double quotes": '<a b="',
    "both quotes": "<a b=\"<c d='",
    "values or names": "<a b= c ",
    "values or names, unfinished": "<p a= b = c=' ",
    "scripts": "<script>",
    "comments in scripts": "<script><!--",
    "ids": "<p id=a>",
    "depth": "<div>",
    "depth and no way back": "<div></p>",
    "names of attributes": "<p a<p a",
    "lines": "<a\n\n",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_time_is_linear(piece: str) -> None:
    def seconds(size: int, tail: str) -> float:
        html = piece * (size // len(piece)) + tail
        start = time.process_time()
        lint(html, ALL)
        return time.process_time() - start

    for tail in ("", '">'):
        # Three times as long as linear time, with room for noise; a quadratic step takes minutes here.
        assert seconds(160_000, tail) < 12 * max(seconds(40_000, tail), 0.05)
