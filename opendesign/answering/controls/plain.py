"""``builtin/plain``: the template's content, unstyled and without behaviour, still a valid document."""

from __future__ import annotations

from opendesign.answering.controls.markup import RAW, Attributes, Rewriter

#: Attributes that are content or meaning. Style, state and everything that a script looks for is left out.
_KEPT = {
    *("lang", "dir", "charset", "name", "content", "src", "alt", "width", "height", "type", "value", "id"),
    *("for", "scope", "min", "max", "step", "checked", "selected", "aria-label"),
}


def plain(document: str) -> str:
    """The same headings, texts, lists and labels; all parts shown, nothing styled, links to nowhere."""
    return _Plain().rewrite(document)


class _Plain(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._inside = ""  # the script or style whose text is passed over

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag in RAW:
            self._inside = tag
            return
        kept: Attributes = [(name, value) for name, value in attrs if name in _KEPT]
        if tag == "a":
            kept.append(("href", "#"))
        if tag == "button":
            kept = [("type", "button"), *(pair for pair in kept if pair[0] != "type")]
        # A form would send itself and load the page anew: that is behaviour.
        self.start("div" if tag == "form" else tag, kept)

    def handle_endtag(self, tag: str) -> None:
        if tag in RAW:
            self._inside = ""
        else:
            self.end("div" if tag == "form" else tag)

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.write(data)
