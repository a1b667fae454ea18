"""Style and script given in blocks of their own, put into the page that links them by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

__all__ = ["inline_files"]

_LINK = re.compile(r"<link\b[^<>]*>", re.I)
_SCRIPT = re.compile(r"<script\b([^<>]*)>\s*</script\s*>", re.I)
_ATTRIBUTE = re.compile(r"""\b(href|src|rel)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)
_SRC = re.compile(r"""\s*\bsrc\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+)""", re.I)
_DEFER = re.compile(r"\s*\b(?:defer|async)\b(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'))?", re.I)
_BODY_END = re.compile(r"</body\s*>", re.I)
_KINDS = {"css": "css", "js": "js", "javascript": "js", "mjs": "js"}


class _Block(Protocol):
    @property
    def info(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def first(self) -> int: ...
    @property
    def language(self) -> str: ...


def inline_files(document: str, blocks: Sequence[_Block], lines: Sequence[str]) -> str:
    """The document with each ``style.css`` or ``script.js`` it links replaced by the block of that name.

    A block is named by its info string, the line above it or its first line; without a name it is taken
    where the page links exactly one file of that kind and there is exactly one such block.
    """
    for kind in ("css", "js"):
        of_kind = [block for block in blocks if _KINDS.get(block.language) == kind]
        linked = _linked(document, kind) if of_kind else []
        for name in linked:
            named = [block for block in of_kind if _names(block, name, lines)]
            if not named and len(of_kind) == len(linked) == 1:
                named = of_kind
            if named:
                document = _replace(document, kind, name, "\n\n".join(block.content for block in named))
    return document


def _linked(document: str, kind: str) -> list[str]:
    """Local files of a kind that a page links, in order, each once."""
    names: dict[str, None] = {}
    for tag in _LINK.findall(document) if kind == "css" else (m.group() for m in _SCRIPT.finditer(document)):
        address = _attributes(tag).get("href" if kind == "css" else "src", "")
        if address and not re.match(r"(?:[a-z][a-z0-9+.-]*:|//)", address, re.I):
            if kind == "css" and "stylesheet" not in _attributes(tag).get("rel", "stylesheet").lower():
                continue
            names.setdefault(address, None)
    return list(names)


def _attributes(tag: str) -> dict[str, str]:
    return {m[1].lower(): m[2] or m[3] or m[4] or "" for m in _ATTRIBUTE.finditer(tag)}


def _names(block: _Block, address: str, lines: Sequence[str]) -> bool:
    name = address.split("?")[0].split("#")[0].rsplit("/", 1)[-1]
    if not name:
        return False
    above = next(
        (line for line in reversed(lines[max(0, block.first - 2) : block.first]) if line.strip()), ""
    )
    own = block.content.lstrip().splitlines()[:1]
    said = [block.info, above, *(line for line in own if line.startswith(("/*", "//")))]
    return any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text, re.I) for text in said)


def _replace(document: str, kind: str, name: str, content: str) -> str:
    if kind == "css":

        def style(tag: re.Match[str]) -> str:
            return (
                f"<style>\n{content}\n</style>"
                if _attributes(tag.group()).get("href") == name
                else tag.group()
            )

        return document if "</style" in content.lower() else _LINK.sub(style, document)

    safe = re.sub(r"</(script)", r"<\\/\1", content, flags=re.I)
    late: list[str] = []

    def script(tag: re.Match[str]) -> str:
        if _attributes(tag.group()).get("src") != name:
            return tag.group()
        rest = _SRC.sub("", tag[1])
        kept = _DEFER.sub("", rest)
        text = f"<script{kept}>\n{safe}\n</script>"
        if kept != rest and "module" not in kept:
            # A deferred file waits for the page; an inline script would not.
            late.append(text)
            return ""
        return text

    document = _SCRIPT.sub(script, document)
    if late:
        ends = list(_BODY_END.finditer(document))
        at = ends[-1].start() if ends else len(document)
        document = document[:at] + "\n".join(late) + "\n" + document[at:]
    return document
