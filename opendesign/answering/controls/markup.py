"""Rewriting of the template's documents, token by token: what plain and broken are made with."""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser

Attributes = list[tuple[str, str | None]]

RAW = frozenset(("script", "style"))  # elements whose text is not markup


class Rewriter(HTMLParser):
    """Copies a document as it is. Subclasses change a start tag, an end tag or a text on its way out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self._out: list[str] = []

    def rewrite(self, document: str) -> str:
        self._out = []
        self.feed(document)
        self.close()
        return "".join(self._out)

    def write(self, text: str) -> None:
        self._out.append(text)

    def start(self, tag: str, attributes: Attributes) -> None:
        """Writes a start tag; ``attributes`` hold plain text, None for one without a value."""
        written = "".join(
            f" {name}" if value is None else f' {name}="{escape(value, quote=True)}"'
            for name, value in attributes
        )
        self.write(f"<{tag}{written}>")

    def end(self, tag: str) -> None:
        self.write(f"</{tag}>")

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self.start(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self.end(tag)

    def handle_data(self, data: str) -> None:
        self.write(data)

    def handle_entityref(self, name: str) -> None:
        self.write(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.write(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self.write(f"<!{decl}>")
