"""Where the elements of a document begin, what they hold and whether they are shown at first.

Enough to damage some of them without touching the rest. Reads HTML as written; closes what HTML leaves open.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_OPEN = frozenset(("p", "li", "td", "th", "tr", "option", "dt", "dd"))  # a second of these closes the first
_UNSEEN = frozenset(
    ("head", "script", "style", "template", "noscript", "select", "option", "textarea", "svg")
)
#: Classes of what is hidden until it is operated, in the frameworks that pages are made with.
_HIDDEN = frozenset(
    (
        *("modal", "dropdown-menu", "collapse", "carousel-item", "tab-pane", "offcanvas", "fixed-plugin"),
        *("dropdown-list", "toast", "tooltip", "d-none", "sr-only", "visually-hidden"),
    )
)
_SHOWN = frozenset(("show", "active"))


@dataclass(slots=True)
class Element:
    """A start tag at ``document[start:end]``. ``own`` counts the characters directly in it."""

    tag: str
    attributes: Mapping[str, str]
    start: int
    end: int
    parent: Element | None
    own: int = 0
    children: list[Element] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def ancestors(self) -> Iterable[Element]:
        element: Element | None = self
        while element is not None:
            yield element
            element = element.parent

    @property
    def text(self) -> int:
        """Characters of text in it and below."""
        return self.own + sum(child.text for child in self.children)

    @property
    def shown(self) -> bool:
        """Whether nothing says that it is hidden until something is operated."""
        return not any(
            e.tag in _UNSEEN
            or "hidden" in e.attributes
            or re.search(r"display:\s*none", e.attributes.get("style", ""))
            or (_HIDDEN & e.classes and not _SHOWN & e.classes)
            for e in self.ancestors
        )

    @property
    def next(self) -> Element | None:
        """The element after it in its parent."""
        family = self.parent.children if self.parent else []
        at = next(i for i, child in enumerate(family) if child is self) if family else 0
        return family[at + 1] if at + 1 < len(family) else None

    @property
    def before(self) -> Element | None:
        """The element before it in its parent."""
        family = self.parent.children if self.parent else []
        at = next(i for i, child in enumerate(family) if child is self) if family else 0
        return family[at - 1] if at else None


def outline(document: str) -> list[Element]:
    """Every element in document order."""
    reader = _Reader(document)
    reader.feed(document)
    return reader.elements


def with_style(document: str, elements: Iterable[Element], style: str) -> str:
    """The document with declarations added to each element's own style."""
    changes = []
    for element in elements:
        old = element.attributes.get("style", "").rstrip("; ")
        changes.append((element, "style", f"{old}; {style}" if old else style))
    return with_attribute(document, changes)


def with_attribute(document: str, changes: Iterable[tuple[Element, str, str]]) -> str:
    """The document with attributes set, as (element, attribute, value)."""
    wanted: dict[int, dict[str, str]] = {}
    elements: dict[int, Element] = {}
    for element, name, value in changes:
        wanted.setdefault(element.start, {})[name] = value
        elements[element.start] = element
    parts, at = [], 0
    for start in sorted(wanted):
        tag = document[start : elements[start].end]
        for name, value in wanted[start].items():
            tag = _set(tag, elements[start].tag, name, value)
        parts += [document[at:start], tag]
        at = elements[start].end
    return "".join(parts) + document[at:]


def _set(tag: str, name: str, attribute: str, value: str) -> str:
    old = rf"""\s{re.escape(attribute)}\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+)"""
    tag = re.sub(old, "", tag, count=1, flags=re.IGNORECASE)
    cut = len(name) + 1
    return f'{tag[:cut]} {attribute}="{html.escape(value)}"{tag[cut:]}'


class _Reader(HTMLParser):
    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self._lines = [0, *(found.end() for found in re.finditer("\n", document))]
        self._stack: list[Element] = []
        self.elements: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _OPEN and self._stack and self._stack[-1].tag == tag:
            self._stack.pop()
        line, column = self.getpos()
        start = self._lines[line - 1] + column
        element = Element(
            tag=tag,
            attributes={name: value or "" for name, value in attrs},
            start=start,
            end=start + len(self.get_starttag_text() or ""),
            parent=self._stack[-1] if self._stack else None,
        )
        if element.parent:
            element.parent.children.append(element)
        self.elements.append(element)
        if tag not in _VOID:
            self._stack.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._stack.pop()

    def handle_endtag(self, tag: str) -> None:
        for at in range(len(self._stack) - 1, -1, -1):
            if self._stack[at].tag == tag:
                del self._stack[at:]
                return

    def handle_data(self, data: str) -> None:
        if self._stack:
            self._stack[-1].own += len(" ".join(data.split()))
