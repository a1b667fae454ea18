"""Reading the built pages of a site: elements, links, and what must never be in them."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

Element = tuple[str, dict[str, str]]
_LINKS = ("href", "src")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: Path) -> tuple[list[Element], str]:
    """Elements and text of a page."""
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader.elements, "".join(reader.text)


def elements(page: Path) -> list[Element]:
    return read(page)[0]


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def dangers(page: Path) -> Iterator[str]:
    """What a page of ours never has: scripts, styles and handlers in it, other addresses, embedded pages."""
    for tag, attributes in elements(page):
        if tag in ("iframe", "object", "embed", "form", "style", "base"):
            yield tag
        if tag == "script" and set(attributes) - {"src", "defer"}:
            yield f"script {attributes}"
        for name, value in attributes.items():
            if name.startswith("on") or name == "style":
                yield f"{tag} {name}={value}"
            elsewhere = urlsplit(value).scheme if name in _LINKS else ""
            if elsewhere and not (tag == "a" and attributes.get("rel") == "noreferrer"):
                yield f"{tag} {name}={value}"


def dead_links(page: Path, site: Path) -> Iterator[str]:
    """Links of a page to files or places that are not there, or that leave the folder of the site."""
    for _, attributes in elements(page):
        for name in _LINKS:
            parts = urlsplit(attributes.get(name, ""))
            if parts.scheme or not (parts.path or parts.fragment):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            there = target.is_relative_to(site.resolve()) and target.is_file()
            if not (there and _has(target, parts.fragment)):
                yield attributes[name]


def _has(page: Path, place: str) -> bool:
    return not place or any(attributes.get("id") == place for _, attributes in elements(page))
