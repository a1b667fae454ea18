"""Where the elements of a document begin and end, what they hold, and whether they are shown at first.

Enough to change some of them without touching the rest. Reads HTML as written; closes what HTML leaves open.
Offsets are characters of the document.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_OPEN = frozenset(("p", "li", "td", "th", "tr", "option", "dt", "dd"))  # a second of these closes the first
_UNSEEN = frozenset(("head", "script", "style", "template", "noscript", "select", "option", "textarea"))
#: Classes of what is hidden until it is operated, in the frameworks that pages are made with.
_HIDDEN = frozenset(
    (
        *("modal", "dropdown-menu", "collapse", "carousel-item", "tab-pane", "offcanvas", "fixed-plugin"),
        *("dropdown-list", "toast", "tooltip", "d-none", "sr-only", "visually-hidden"),
    )
)
_SHOWN = frozenset(("show", "active"))
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>`]+))?""")


@dataclass(slots=True)
class Element:
    """A start tag at ``document[start:end]``; its content goes on to ``inner_end``, and it to ``close``.

    ``closed``: by an end tag of its own. ``own`` counts the characters directly in it.
    """

    tag: str
    attributes: Mapping[str, str]
    start: int
    end: int
    parent: Element | None
    inner_end: int
    close: int
    closed: bool = False
    own: int = 0
    children: list[Element] = field(default_factory=list)

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    @property
    def ancestors(self) -> Iterable[Element]:
        """Itself, its parent and so on."""
        element: Element | None = self
        while element is not None:
            yield element
            element = element.parent

    @property
    def text(self) -> int:
        """Characters of text in it and below."""
        return self.own + sum(child.text for child in self.children if child.tag not in ("script", "style"))

    @property
    def size(self) -> int:
        """Elements in it and below, itself among them."""
        return 1 + sum(child.size for child in self.children)

    @property
    def shown(self) -> bool:
        """Whether nothing in the markup says that it is hidden until something is operated."""
        return not any(
            e.tag in _UNSEEN
            or "hidden" in e.attributes
            or re.search(r"display:\s*none", e.attributes.get("style", ""))
            or (_HIDDEN & set(e.classes) and not _SHOWN & set(e.classes))
            for e in self.ancestors
        )

    def inside(self, *tags: str) -> bool:
        """Whether it is in (or is) an element of one of these tags."""
        return any(e.tag in tags for e in self.ancestors)

    @property
    def before(self) -> Element | None:
        """The element before it in its parent."""
        return self._neighbour(-1)

    @property
    def next(self) -> Element | None:
        """The element after it in its parent."""
        return self._neighbour(1)

    def _neighbour(self, step: int) -> Element | None:
        family = self.parent.children if self.parent else []
        at = next((i for i, child in enumerate(family) if child is self), 0) + step
        return family[at] if 0 <= at < len(family) else None


class Attribute(NamedTuple):
    """An attribute as written at ``document[start:end]``; ``value`` is unescaped, "" where there is none."""

    name: str
    value: str
    start: int
    end: int


Edit = tuple[int, int, str]  # what stands in the place of document[start:end]


def outline(document: str) -> list[Element]:
    """Every element in document order."""
    reader = _Reader(document)
    reader.feed(document)
    reader.close()
    return reader.elements


def attributes(document: str, element: Element) -> list[Attribute]:
    """The attributes of an element as they are written, in their order."""
    found = []
    for match in _ATTRIBUTE.finditer(document, element.start + 1 + len(element.tag), element.end - 1):
        value = match[2] or ""
        if value[:1] in "\"'":
            value = value[1:-1]
        found.append(Attribute(match[1].lower(), html.unescape(value), match.start(), match.end()))
    return found


def edited(document: str, edits: Iterable[Edit]) -> str:
    """The document with every edit made; they may not overlap."""
    parts, at = [], 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        if start < at:
            raise ValueError("two edits overlap")
        parts += [document[at:start], text]
        at = end
    return "".join((*parts, document[at:]))


def attribute_edit(document: str, element: Element, name: str, value: str) -> Edit:
    """The edit that gives an element an attribute, in the place of the one of that name if it has one."""
    written = f'{name}="{html.escape(value)}"'
    for attribute in attributes(document, element):
        if attribute.name == name:
            return attribute.start, attribute.end, written
    at = element.start + 1 + len(element.tag)
    return at, at, f" {written}"


def with_style(document: str, elements: Iterable[Element], style: str | Callable[[int], str]) -> str:
    """The document with declarations added to each element's own style: the same, or by its place."""
    edits = []
    for at, element in enumerate(elements):
        more = style if isinstance(style, str) else style(at)
        old = element.attributes.get("style", "").rstrip("; ")
        edits.append(attribute_edit(document, element, "style", f"{old}; {more}" if old else more))
    return edited(document, edits)


class _Reader(HTMLParser):
    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self._document = document
        self._lines = [0, *(found.end() for found in re.finditer("\n", document))]
        self._stack: list[Element] = []
        self.elements: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        start = self._here()
        end = start + len(self.get_starttag_text() or "")
        if tag in _OPEN and self._stack and self._stack[-1].tag == tag:
            _end(self._stack.pop(), start)
        element = Element(
            tag=tag,
            attributes={name: value or "" for name, value in reversed(attrs)},  # the first of a name counts
            start=start,
            end=end,
            parent=self._stack[-1] if self._stack else None,
            inner_end=end if tag in VOID else len(self._document),
            close=end if tag in VOID else len(self._document),
        )
        if element.parent:
            element.parent.children.append(element)
        self.elements.append(element)
        if tag not in VOID:
            self._stack.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            element = self._stack.pop()
            _end(element, element.end)

    def handle_endtag(self, tag: str) -> None:
        here = self._here()
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at].tag == tag:
                for element in self._stack[at + 1 :]:
                    _end(element, here)
                found = self._stack[at]
                _end(found, here)
                found.close, found.closed = self._document.find(">", here) + 1 or here, True
                del self._stack[at:]
                return

    def handle_data(self, data: str) -> None:
        if self._stack:
            self._stack[-1].own += len(" ".join(data.split()))

    def _here(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column


def _end(element: Element, at: int) -> None:
    element.inner_end = element.close = at
