"""Reply → document: find the page in what a model said.

Fences are read as CommonMark reads them, by markdown-it. Where that reading cuts a page in two, because the
page itself holds a line that would close the fence, the reading whose document is whole is preferred.

In order, the first that is there:

1. a block tagged html that is a whole document (one named ``index.html`` first, then the largest);
2. the largest whole document in any other block;
3. a whole document that starts in a block and runs past the end CommonMark gives it;
4. a whole document outside of any block;
5. a document that starts and never ends (a reply cut short), in a block, then outside of one;
6. a fragment: a block tagged html without an ``<html>``, then a reply or block that is nothing but markup.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from opendesign.answering.inline import inline_files

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["Block", "Extraction", "How", "extract", "fenced_blocks", "split_thoughts"]

How = Literal["bare", "fence", "long_fence", "prose", "unfinished", "fragment", "none", "open_thought"]

_LINES = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
# Possessive and atomic groups: text that fails to match must not be tried in every other way.
_COMMENTS = r"\s*+(?:<!--(?>.*?-->)\s*+)*+"
_LEAD = rf"{_COMMENTS}(?:<\?xml(?>.*?\?>){_COMMENTS})?+"
_STARTS = re.compile(rf"\ufeff?{_LEAD}(?:<!doctype\s+html[^<>]*+>|<html[\s>])", re.I | re.S)
# "<!DOCTYPE html> comes first in a page" is prose: a document goes on with a tag or a comment.
_START = r"<!doctype\s+html[^<>]*+>(?=\s*+(?:<|\Z))|<html[\s>]"
_BARE = re.compile(rf"\ufeff?{_LEAD}(?:{_START})", re.I | re.S)
_ANY_START = re.compile(_START, re.I)
_ENDS = re.compile(rf"</(?:html|body)\s*>{_COMMENTS}\Z", re.I | re.S)
_END = re.compile(r"</html\s*>", re.I)
_TAG = re.compile(r"<[a-z][^<>]*>", re.I)
_MARKUP = re.compile(rf"{_COMMENTS}<[a-z][^<>]*>", re.I | re.S)
_THOUGHT = re.compile(r"<(think|thinking)>", re.I)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.I)
_FENCE_LINE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_MOST_TRIES = 20  # blocks, or fences, looked at for a page that runs past its block
_HTML_TAGS = frozenset({"html", "html5", "htm", "xhtml"})


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. ``first`` and ``last`` are its lines in the reply: opening fence, one past the end."""

    info: str
    content: str
    first: int
    last: int
    fence: str
    closed: bool
    plain: bool  # neither indented nor inside a list or a quote: lines of the reply are lines of the block

    @property
    def language(self) -> str:
        """First word of the info string, in lower case: ``html`` of ```` ```html title="x" ````."""
        words = re.split(r"[\s,:;{]+", self.info.strip().lower().lstrip("{."), maxsplit=1)
        return words[0]

    @property
    def is_html(self) -> bool:
        return self.language in _HTML_TAGS


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a reply holds. ``document`` is None where there is none; ``how`` says how it was found.

    ``unfinished`` is a document whose end is missing; ``open_thought`` a reply that never left its reasoning.
    """

    document: str | None
    reasoning: str
    how: How


def extract(reply: str) -> Extraction:
    """The document in a reply, and the reasoning found beside it. Never raises."""
    if _BARE.match(reply):
        return Extraction(*_bare(reply, ""))
    thoughts, said, open_ended = split_thoughts(reply)
    if open_ended:
        return Extraction(None, thoughts, "open_thought")
    if _BARE.match(said):
        return Extraction(*_bare(said, thoughts))
    lines = lines_of(said)
    blocks = fenced_blocks(said, lines)
    for document, how, block in _candidates(said, lines, blocks):
        others = [other for other in blocks if other is not block]
        return Extraction(inline_files(document, others, lines), thoughts, how)
    return Extraction(None, thoughts, "none")


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends: LF, CRLF or CR."""
    return _LINES.findall(text)


def is_whole(text: str) -> bool:
    """Whether a text is a document from its start to its end."""
    return bool(_STARTS.match(text) and _ENDS.search(text))


def _balanced(text: str) -> bool:
    """A document cut at a page quoted inside it has more starts than ends."""
    low = text.lower()
    return len(re.findall(r"<html[\s>]", low)) <= max(1, low.count("</html")) and low.count(
        "<script"
    ) <= low.count("</script")


def _to_last_end(text: str) -> str | None:
    """The text up to its last ``</html>``; None where it has none."""
    ends = [end.end() for end in _END.finditer(text)]
    return text[: ends[-1]] if ends else None


def _bare(text: str, thoughts: str) -> tuple[str, str, How]:
    document = text.strip().removeprefix("\ufeff")
    if _ENDS.search(document):
        return document, thoughts, "bare"
    if page := _to_last_end(document):  # what comes after is what the model says of it
        return page, thoughts, "bare"
    return document, thoughts, "unfinished"


def split_thoughts(reply: str) -> tuple[str, str, bool]:
    """(reasoning, what is left, whether a thought was opened and never closed).

    Only thoughts that start before the document are thoughts: the text ``<think>`` may stand in a page.
    """
    thoughts: list[str] = []
    said: list[str] = []
    at = 0
    while opening := _THOUGHT.search(reply, at):
        before = reply[at : opening.start()]
        if any(_FENCE_LINE.match(line) for line in before.splitlines()) or _ANY_START.search(before):
            break
        said.append(before)
        closing = re.compile(rf"</{opening[1]}>", re.I).search(reply, opening.end())
        if closing is None:
            thoughts.append(reply[opening.end() :])
            return "\n\n".join(filter(None, map(str.strip, thoughts))), "".join(said), True
        thoughts.append(reply[opening.end() : closing.start()])
        at = closing.end()
    rest = "".join(said) + reply[at:]
    if not thoughts and (cut := _orphan_end(rest)):
        # The opening mark was part of the prompt, as chat templates of reasoning models do.
        return rest[: cut[0]].strip(), rest[cut[1] :], False
    return "\n\n".join(filter(None, map(str.strip, thoughts))), rest, False


def _orphan_end(text: str) -> tuple[int, int] | None:
    """Where a thought ends whose beginning is not in the reply; a mark inside a block is the page's own."""
    if not _THOUGHT_END.search(text):
        return None
    lines = lines_of(text)
    fenced = {n for block in fenced_blocks(text, lines) for n in range(block.first, block.last)}
    unfinished = _unfinished(lines)
    at = 0
    for number, line in enumerate(lines):
        found = _THOUGHT_END.search(line)
        if found and (number not in fenced or number in unfinished):
            return at + found.start(), at + found.end()
        at += len(line)
    return None


def _unfinished(lines: list[str]) -> set[int]:
    """Lines after which a fence opens, as its info string tells: a draft before it was left open."""
    found, opens = set(), False
    for number in range(len(lines) - 1, -1, -1):
        if opens:
            found.add(number)
        if _FENCE_LINE.match(lines[number]):
            opens = bool(lines[number].strip().lstrip("`~"))
    return found


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Only what decides where a fence starts and ends. HTML blocks are off: a tag on the line above a fence
    # must not hide it.
    parser = MarkdownIt("commonmark")
    parser.disable(["inline", "text_join", "html_block", "reference", "lheading"])
    return parser


def fenced_blocks(text: str, lines: list[str]) -> list[Block]:
    """The fenced blocks of a text, as CommonMark reads them; ``lines`` are the text's, with their ends."""
    blocks = []
    for token in _markdown().parse(text):
        if token.type != "fence" or token.map is None:
            continue
        first, last = token.map[0], min(token.map[1], len(lines))
        opening = lines[first]
        plain = token.level == 0 and opening.startswith(token.markup)
        closed = last - first > 1 and _closes(lines[last - 1], token.markup)
        content = token.content
        if plain:  # the very characters: markdown-it turns CRLF into LF and NUL into a mark
            content = "".join(lines[first + 1 : last - 1 if closed else last])
        blocks.append(
            Block(token.info, _without_last_break(content), first, last, token.markup, closed, plain)
        )
    return blocks


def _closes(line: str, fence: str) -> bool:
    found = _FENCE_LINE.match(line.lstrip("> \t"))
    return bool(
        found
        and found[1][0] == fence[0]
        and len(found[1]) >= len(fence)
        and not line.lstrip("> \t").strip().strip(fence[0])
    )


def _without_last_break(content: str) -> str:
    return re.sub(r"(?:\r\n?|\n)\Z", "", content, count=1)


def _candidates(said: str, lines: list[str], blocks: list[Block]) -> Iterator[tuple[str, How, Block | None]]:
    """Documents, best first."""
    whole = [block for block in blocks if is_whole(block.content)]
    sound = [block for block in whole if _balanced(block.content)]
    outside, holds = _outside(said, lines, blocks)
    if outside and holds and is_whole(outside) and _balanced(outside):
        yield outside, "prose", None
    for group in (
        [block for block in sound if block.is_html],
        [block for block in sound if not block.is_html],
    ):
        for block in sorted(
            group, key=lambda b: ("index.html" in b.info.lower(), len(b.content)), reverse=True
        ):
            yield block.content, "fence", block
    for block in blocks[:_MOST_TRIES]:
        if longer := _longer(block, lines):
            yield longer, "long_fence", block
    for block in sorted(whole, key=lambda b: (b.is_html, len(b.content)), reverse=True):
        yield block.content, "fence", block
    if outside and is_whole(outside):
        yield outside, "prose", None
    started = [block for block in blocks if _STARTS.match(block.content)]
    for block in sorted(started, key=lambda b: (b.is_html, len(b.content)), reverse=True):
        yield _trimmed(block), "unfinished", block
    if outside:
        yield outside, "unfinished", None
    fragments = [block for block in blocks if block.is_html and _TAG.search(block.content)]
    for block in sorted(fragments, key=lambda b: len(b.content), reverse=True):
        yield block.content, "fragment", block
    if _MARKUP.match(said) and said.rstrip().endswith(">"):
        yield said.strip(), "fragment", None
    for block in sorted(blocks, key=lambda b: len(b.content), reverse=True):
        if not block.language and _MARKUP.match(block.content) and block.content.rstrip().endswith(">"):
            yield block.content, "fragment", block


def _longer(block: Block, lines: list[str]) -> str | None:
    """The whole document that starts in a block and ends at a later closing fence, or at its own end."""
    if not block.plain or not _STARTS.match(block.content):
        return None
    tries = 0
    for number in range(block.last, len(lines)):
        # Only a fence right after the end of a page can be the one.
        if _closes(lines[number], block.fence) and lines[number - 1].rstrip().endswith(">"):
            text = _without_last_break("".join(lines[block.first + 1 : number]))
            if is_whole(text) and _balanced(text):
                return text
            tries += 1
            if tries == _MOST_TRIES:
                return None
    page = _to_last_end("".join(lines[block.first + 1 :]))
    return page if page and is_whole(page) and _balanced(page) else None


def _outside(said: str, lines: list[str], blocks: list[Block]) -> tuple[str | None, bool]:
    """The document that starts outside of every block, to its end or to the end of the reply.

    Also whether it holds whole pages in blocks, all there are: then they are parts of it.
    """
    offsets = [0, *accumulate(map(len, lines))]
    fenced = {n for block in blocks for n in range(block.first, block.last)}
    ends = [found.end() for found in _END.finditer(said)]
    for start in _ANY_START.finditer(said):
        line = bisect_right(offsets, start.start()) - 1
        if line in fenced:
            continue
        if ends and start.start() < ends[-1]:
            text = said[start.start() : ends[-1]]
            pages = [block for block in blocks if is_whole(block.content)]
            holds = all(offsets[b.first] > start.start() and offsets[b.last] <= ends[-1] for b in pages)
            return text, bool(pages) and holds
        if not said[offsets[line] : start.start()].strip():
            return said[start.start() :].strip(), False
    return None, False


def _trimmed(block: Block) -> str:
    """A block that was never closed runs to the end of the reply; the page may end before."""
    return block.content if block.closed else _to_last_end(block.content) or block.content
