"""``builtin/broken``: the template with known defects, drawn from the case's id.

Every page has dead controls, at least two defects that can be seen and at least two of markup.
"""

from __future__ import annotations

from opendesign.answering.controls.markup import Attributes, Rewriter
from opendesign.answering.controls.palettes import Palette, mix, palette_of
from opendesign.answering.controls.words import Seed
from opendesign.types import Case

VISUAL: tuple[str, ...] = (
    "low_contrast",
    "overlapping_text",
    "horizontal_overflow",
    "tiny_text",
    "clipped_text",
    "broken_pictures",
)
MARKUP: tuple[str, ...] = (
    "missing_title",
    "missing_lang",
    "missing_viewport",
    "missing_alt",
    "duplicate_ids",
    "unclosed_tags",
)
BEHAVIOUR: tuple[str, ...] = ("dead_controls", "script_error")


def defects(case: Case) -> tuple[str, ...]:
    """Names of the defects of the case's broken page, in the order of the tables above."""
    seed = Seed(case.id, "defects")
    chosen = {"dead_controls"}
    chosen.update(seed.sample(VISUAL[:-1], seed.between(3, 4)))
    if seed.number(2):
        chosen.add("broken_pictures")
    chosen.update(seed.sample(MARKUP, seed.between(2, 4)))
    if seed.number(2):
        chosen.add("script_error")
    return tuple(name for name in (*VISUAL, *MARKUP, *BEHAVIOUR) if name in chosen)


def broken(document: str, case: Case) -> str:
    """``document``, the template's page of ``case``, with the case's defects put in."""
    wanted = defects(case)
    document = _Broken(wanted).rewrite(document)
    style = "\n".join(text for name, text in _styles(palette_of(case)).items() if name in wanted)
    document = document.replace("</style>", f"{style}\n</style>", 1)
    document = document.replace("\nlisten();\n", "\n", 1)  # the one line that attaches all handlers
    if "script_error" in wanted:
        document = document.replace('"use strict";\n', '"use strict";\nstartPage(settings);\n', 1)
    return document


def _styles(palette: Palette) -> dict[str, str]:
    faint = mix(palette.surface, palette.muted, 0.28)
    return {
        "low_contrast": f"main p, main li, main td, main label, main h2 {{ color: {faint} !important; }}",
        "overlapping_text": "h1 + p, h2 + p, h3 + p "
        "{ position: relative; top: -34px; margin-bottom: -34px !important; }\n"
        "main p + p, main li + li, main .field + .field { margin-top: -16px; }",
        "horizontal_overflow": "main > *, main > div > * "
        "{ width: 1720px !important; max-width: none !important; }",
        "tiny_text": "main p, main li, main td, main label { font-size: 7px !important; }",
        "clipped_text": "main h2, main h3, main p "
        "{ max-height: 13px; max-width: 190px; overflow: hidden; white-space: nowrap; }",
    }


class _Broken(Rewriter):
    def __init__(self, wanted: tuple[str, ...]) -> None:
        super().__init__()
        self._wanted = frozenset(wanted)
        self._in_title = False
        self._pictures = 0
        self._sections = 0

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self._in_title = tag == "title"
        if tag == "title" and "missing_title" in self._wanted:
            return
        if ("name", "viewport") in attrs and "missing_viewport" in self._wanted:
            return
        self.start(tag, self._spoiled(tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title" and "missing_title" in self._wanted:
            return
        if tag == "section" and "unclosed_tags" in self._wanted:
            self._sections += 1
            if self._sections % 2:
                return
        self.end(tag)

    def handle_data(self, data: str) -> None:
        if not (self._in_title and "missing_title" in self._wanted):
            self.write(data)
        self._in_title = False

    def _spoiled(self, tag: str, attrs: Attributes) -> Attributes:
        values = dict(attrs)
        if tag == "html" and "missing_lang" in self._wanted:
            del values["lang"]
        elif tag == "img":
            self._pictures += 1
            if "missing_alt" in self._wanted:
                del values["alt"]
            if "broken_pictures" in self._wanted:
                values["src"] = f"pictures/{self._pictures}.png"
        elif tag == "a":
            values["href"] = "#"  # the browser would follow a link to a part of the page by itself
        elif tag == "button":
            values["type"] = "button"  # and would send a form
        elif tag in ("h1", "h2", "h3") and "duplicate_ids" in self._wanted:
            values.setdefault("id", "heading")
        return list(values.items())
