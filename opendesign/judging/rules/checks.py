"""The rules: one small function a rule, under the name that HTMLHint gives it.

A check takes a ``Page`` and yields ``(offset, message)`` for every place where its rule is broken. What
each rule accepts follows HTMLHint 1.9, odd as some of it is (a page without a doctype satisfies
``doctype-html5``; any two letters are a language to ``html-lang-require``; the three rules on what the head
holds ask nothing of a page without a head): the name of a rule means one thing everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from opendesign.judging.rules.names import SVG_ATTRIBUTES, SVG_TAGS, VOID
from opendesign.judging.rules.tokens import SPACE, Token, tokens

Break = tuple[int, str]  # offset into the page, message


@dataclass
class Page:
    """A page as the checks see it. ``allow``: names that a rule on names lets pass."""

    html: str
    allow: frozenset[str] = frozenset()
    tokens: list[Token] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = tokens(self.html)

    @cached_property
    def opened(self) -> list[Token]:
        """The open tags."""
        return [token for token in self.tokens if token.kind == "open"]

    def blank(self, token: Token) -> bool:
        """Whether a text holds white space only."""
        return token.kind == "text" and not self.html[token.start : token.end].strip(_JS_SPACE)


Check = Callable[[Page], Iterator[Break]]

_JS_SPACE = SPACE.replace("\u2000-\u200a", "".join(map(chr, range(0x2000, 0x200B))))
_DOCTYPE = re.compile(rf"doctype[{SPACE}]", re.IGNORECASE | re.ASCII)
# The rule's own pattern of language tags is not anchored, which leaves only this of it.
_LANGUAGE = re.compile(r"[A-Za-z]{2}|x-[A-Za-z0-9]")


def doctype_first(page: Page) -> Iterator[Break]:
    """Something other than white space and comments comes before the doctype, or there is none."""
    for token in page.tokens:
        if token.kind == "comment":
            if token.short and _DOCTYPE.match(token.content):
                return
        elif not page.blank(token):
            yield token.start, "There is no doctype before the content of the page."
            return
    yield len(page.html), "The page has no doctype."


def doctype_html5(page: Page) -> Iterator[Break]:
    """A ``<!…>`` other than ``<!doctype html>``."""
    for token in page.tokens:
        if token.kind == "comment" and token.short and token.content.lower() != "doctype html":
            yield token.start, f"<!{clip(token.content)}> is not <!DOCTYPE html>."


def tagname_lowercase(page: Page) -> Iterator[Break]:
    for token in page.tokens:
        name = token.name
        if name and name != name.lower() and name not in SVG_TAGS and name not in page.allow:
            yield token.start, f"The tag name {clip(name)} is not in lower case."


def attr_lowercase(page: Page) -> Iterator[Break]:
    for token in page.opened:
        for attribute in token.attributes:
            name = attribute.name
            if name != name.lower() and name not in SVG_ATTRIBUTES and name not in page.allow:
                yield attribute.at, f"The attribute name {clip(name)} is not in lower case."


def attr_value_double_quotes(page: Page) -> Iterator[Break]:
    """A value that is not in double quotes; an attribute without a value needs none."""
    for token in page.opened:
        for attribute in token.attributes:
            if attribute.quote == "'" or (attribute.value and not attribute.quote):
                yield attribute.at, f"The value of {clip(attribute.name)} is not in double quotes."


def tag_pair(page: Page) -> Iterator[Break]:
    """An element not closed before its parent or the page ends, or a close tag that closes nothing."""
    stack: list[Token] = []
    names: list[str] = []
    waiting: Counter[str] = Counter()
    for token in page.tokens:
        name = token.name.lower()
        if token.kind == "open" and not token.closed and name not in VOID:
            stack.append(token)
            names.append(name)
            waiting[name] += 1
        elif token.kind == "close":
            if not waiting[name]:
                yield token.start, f"</{clip(token.name)}> has no open tag."
                continue
            inner, left = stack[-1], []
            while names[-1] != name:
                stack.pop()
                left.append(names.pop())
                waiting[left[-1]] -= 1
            stack.pop()
            waiting[names.pop()] -= 1
            if left:
                yield inner.start, f"{_several(left)} not closed before </{clip(token.name)}>."
    if names:
        yield len(page.html), f"{_several(names[::-1])} not closed before the page ends."


def tag_self_close(page: Page) -> Iterator[Break]:
    """An element without content that is not written with ``/>``, as XHTML had it and HTML does not."""
    for token in page.opened:
        name = token.name.lower()
        if not token.closed and (name in VOID or name == "bgsound"):
            yield token.start, f"<{name}> is not closed with />."


def id_unique(page: Page) -> Iterator[Break]:
    seen: set[str] = set()
    for token in page.opened:
        attribute = next((a for a in token.attributes if a.name.lower() == "id"), None)
        if attribute is None or not attribute.value:
            continue
        if attribute.value in seen:
            yield attribute.at, f"The id {clip(attribute.value)} is used before."
        seen.add(attribute.value)


def alt_require(page: Page) -> Iterator[Break]:
    """An ``img`` without ``alt``, or a clickable area or image button whose ``alt`` says nothing."""
    for token in page.opened:
        name = token.name.lower()
        if name not in ("img", "area", "input"):
            continue
        values = token.values()
        if name == "img":
            if "alt" not in values:
                yield token.start, "The img has no alt."
            continue
        acts = "href" in values if name == "area" else values.get("type") == "image"
        if acts and not values.get("alt"):
            yield token.start, f"The {name} has no text in alt."


def html_lang_require(page: Page) -> Iterator[Break]:
    for token in page.opened:
        if token.name.lower() == "html":
            language = token.values().get("lang")
            if not language:
                yield token.start, "The html tag names no language in lang."
            elif not _LANGUAGE.search(language):
                yield token.start, f"lang names no language: {clip(language)}."


def meta_charset_require(page: Page) -> Iterator[Break]:
    """A page with a head in which no ``<meta charset>`` names anything (the last one counts)."""
    charset = None
    for token in page.opened:
        if token.name.lower() == "meta":
            charset = token.values().get("charset", charset)
    yield from _head_lacks(page, charset, '<meta charset="utf-8">')


def meta_viewport_require(page: Page) -> Iterator[Break]:
    """A page with a head in which no ``<meta name="viewport">`` says anything (the last one counts)."""
    viewport = None
    for token in page.opened:
        if token.name.lower() == "meta":
            values = token.values()
            if values.get("name", "").lower() == "viewport":
                viewport = values.get("content", "")
    yield from _head_lacks(page, viewport, '<meta name="viewport" content="…">')


def title_require(page: Page) -> Iterator[Break]:
    """A head that ends without a title, or a title in it without text directly before its close tag."""
    in_head = has_title = False
    before: Token | None = None
    for token in page.tokens:
        name = token.name.lower()
        if token.kind == "open":
            in_head = in_head or name == "head"
            has_title = has_title or (name == "title" and in_head)
        elif token.kind == "close" and name == "title" and has_title:
            if before is None or before.kind != "text" or page.blank(before):
                yield token.start, "The title is empty."
        elif token.kind == "close" and name == "head":
            if not has_title:
                yield token.start, "The head has no title."
            return
        before = token


def _head_lacks(page: Page, value: str | None, what: str) -> Iterator[Break]:
    """Yield at the last head of the page, if there is one, when ``value`` is absent or blank."""
    heads = [token for token in page.opened if token.name.lower() == "head"]
    if heads and not (value or "").strip(_JS_SPACE):
        yield heads[-1].start, f"The head has no {what}." if value is None else f"The {what} is empty."


def _several(names: list[str]) -> str:
    """``<b> and 3 more are``: what is not closed, inner first."""
    more = f" and {len(names) - 1} more are" if len(names) > 1 else " is"
    return f"<{clip(names[0])}>{more}"


def clip(text: str, length: int = 40) -> str:
    """A piece of the page short enough for a message, on one line."""
    line = re.sub(r"\s+", " ", text[: length + 1])
    return line if len(line) <= length else f"{line[:length]}…"


#: Every rule by the name that a card uses.
CHECKS: dict[str, Check] = {
    "doctype-first": doctype_first,
    "doctype-html5": doctype_html5,
    "tagname-lowercase": tagname_lowercase,
    "attr-lowercase": attr_lowercase,
    "attr-value-double-quotes": attr_value_double_quotes,
    "tag-pair": tag_pair,
    "tag-self-close": tag_self_close,
    "id-unique": id_unique,
    "alt-require": alt_require,
    "html-lang-require": html_lang_require,
    "meta-charset-require": meta_charset_require,
    "meta-viewport-require": meta_viewport_require,
    "title-require": title_require,
}
#: Rules whose option is a list of further names that they let pass.
WITH_NAMES = ("tagname-lowercase", "attr-lowercase")
