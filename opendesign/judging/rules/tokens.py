"""HTML text → tokens, as the HTMLHint linter sees a page, in one pass and in linear time.

HTMLHint does not build a tree; it finds pieces that look like tags and calls everything else text. What
looks like a tag to it is measured and kept, so that both find the same rules broken:

- ``</name >`` is a close tag, whatever the name holds except white space and ``>``; nothing else may follow.
- ``<!-- … -->`` is a comment; ``<! … >`` too, also a ``<!--`` that is never closed. Empty ones are nothing.
- ``<name attributes>`` is an open tag only if every attribute is well formed and set apart by white space;
  else its ``<`` is text. ``/`` directly before ``>`` closes it, unless an unquoted value swallows the ``/``.
- ``= value``, with white space, is a value where the tag can be read so; where it can be read only with the
  value as the next attribute's name (``<p a= b="c">``), the whole tag is text.
- From ``<script>`` or ``<style>`` (lower case, no template type) to its close tag all is raw.

Hostile input: every position from which an attribute list failed to parse is remembered, and so are failed
searches for the end of a comment or of a close tag, so that no stretch is read again for each ``<`` in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "open", "close", "comment", "raw", "nothing"]

#: White space as ECMAScript has it; Python's ``\s`` has four control characters more and no byte order mark.
SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_NAME = rf"[^{SPACE}\"'>/=\x00-\x0f\x7f-\x9f]++"
_TAG_NAME = re.compile(r"[A-Za-z0-9_\-:]++")
_TAIL = re.compile(rf"[{SPACE}]*+(/?+)>")
_ATTRIBUTE = re.compile(
    rf"[{SPACE}]++({_NAME})"
    rf"(?:[{SPACE}]*+=(?P<gap>[{SPACE}]*+)"
    rf"(?:\"(?P<double>[^\"]*+)\"|'(?P<single>[^']*+)'|(?P<bare>[^{SPACE}\"'>]*+)))?+"
)
_CLOSE_NAME_END = re.compile(rf"[{SPACE}>]")
_CLOSE_TAIL = re.compile(rf"[{SPACE}]*+>")


@dataclass(slots=True)
class Attribute:
    """``at`` is the offset of the name; ``quote`` is ``"``, ``'`` or nothing."""

    name: str
    value: str
    quote: str
    at: int


@dataclass(slots=True)
class Token:
    """One piece of the page, from offset ``start`` up to ``end``.

    ``name``: of a tag, as written. ``attributes`` and ``closed`` (``<br/>``): of an open tag. ``content``
    and ``short`` (``<!…>`` and not ``<!--…-->``): of a comment.
    """

    kind: Kind
    start: int
    end: int
    name: str = ""
    attributes: tuple[Attribute, ...] = ()
    closed: bool = False
    content: str = ""
    short: bool = False

    def values(self) -> dict[str, str]:
        """Attribute values by name, as written; of equal names the last one holds."""
        return {attribute.name: attribute.value for attribute in self.attributes}


def tokens(html: str) -> list[Token]:
    """All tokens of a page in order. Never raises; O(len(html))."""
    found: list[Token] = []
    scanner = _Scanner(html)
    raw: Token | None = None  # the open tag whose raw content is being passed
    last, at = 0, html.find("<")
    while at >= 0:
        token = scanner.markup(at)
        if token is None:
            at = html.find("<", at + 1)
            continue
        if raw is not None:
            if token.kind == "close" and token.name == raw.name:
                found += (Token("raw", raw.end, at), token)
                raw = None
        else:
            if at > last:
                found.append(Token("text", last, at))
            if token.kind != "nothing":
                found.append(token)
            if token.kind == "open" and _opens_raw(token):
                raw = token
        last = token.end
        at = html.find("<", last)
    if raw is not None:
        found.append(Token("raw", raw.end, len(html)))
    elif last < len(html):
        found.append(Token("text", last, len(html)))
    return found


def _opens_raw(token: Token) -> bool:
    if token.name not in ("script", "style"):
        return False
    kind = next((attribute.value for attribute in token.attributes if attribute.name == "type"), "")
    return "text/ng-template" not in kind


class _Scanner:
    """Reads one piece of markup at a ``<``; remembers what failed."""

    def __init__(self, html: str) -> None:
        self.html = html
        self._tried: set[int] = set()  # offsets behind an attribute from which the tag's end was sought
        self._comments_end = True  # a "-->" may still come
        self._bangs_end = True  # a ">" may still come
        self._close_name_end = -1  # where the close tag's name that failed last ends

    def markup(self, at: int) -> Token | None:
        """The markup that begins with the ``<`` at this offset, or None where it is only text."""
        after = self.html[at + 1 : at + 2]
        if after == "/":
            return self._close(at)
        if after == "!":
            return self._comment(at)
        return self._open(at)

    def _close(self, at: int) -> Token | None:
        if at + 2 <= self._close_name_end:
            return None  # inside the name that failed: this one ends, and fails, at the same place
        found = _CLOSE_NAME_END.search(self.html, at + 2)
        name_end = found.start() if found else len(self.html)
        tail = _CLOSE_TAIL.match(self.html, name_end)
        if tail is None:
            self._close_name_end = name_end
            return None
        if name_end == at + 2:
            return None
        return Token("close", at, tail.end(), name=self.html[at + 2 : name_end])

    def _comment(self, at: int) -> Token | None:
        if self._comments_end and self.html.startswith("<!--", at):
            end = self.html.find("-->", at + 4)
            if end >= 0:
                content = self.html[at + 4 : end]
                return Token("comment" if content else "nothing", at, end + 3, content=content)
            self._comments_end = False
        if self._bangs_end:
            end = self.html.find(">", at + 2)
            if end >= 0:
                content = self.html[at + 2 : end]
                return Token("comment" if content else "nothing", at, end + 1, content=content, short=True)
            self._bangs_end = False
        return None

    def _open(self, at: int) -> Token | None:
        html, tried = self.html, self._tried
        name = _TAG_NAME.match(html, at + 1)
        if name is None:
            return None
        attributes: list[Attribute] = []
        others: list[int] = []  # offsets from which the last readings can be tried another way
        other_way = False
        behind = name.end()
        while True:
            if behind not in tried:
                tried.add(behind)
                if tail := _TAIL.match(html, behind):
                    if other_way:
                        return Token("text", at, tail.end())
                    closed = tail[1] == "/"
                    return Token("open", at, tail.end(), name[0], tuple(attributes), closed)
                if found := _ATTRIBUTE.match(html, behind):
                    if found["gap"] and found["bare"]:
                        others.append(found.start("gap"))
                    attributes.append(_attribute(found))
                    behind = found.end()
                    continue
            if not others:
                return None
            behind, other_way = others.pop(), True


def _attribute(found: re.Match[str]) -> Attribute:
    name, at = found[1], found.start(1)
    if (value := found["double"]) is not None:
        return Attribute(name, value, '"', at)
    if (value := found["single"]) is not None:
        return Attribute(name, value, "'", at)
    return Attribute(name, found["bare"] or "", "", at)
