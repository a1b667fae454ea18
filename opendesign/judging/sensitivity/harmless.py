"""Edits that change a document and nothing of the page: other names, another order, comments, white space."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator

from opendesign.judging.sensitivity.outline import Edit, Element, attributes, edited, outline
from opendesign.judging.sensitivity.page import Good

_BLOCKS = frozenset(("div", "section", "article", "main", "header", "footer", "nav", "form", "ul", "ol"))
_REFERENCES = frozenset(
    (
        *("for", "list", "form", "headers", "aria-labelledby", "aria-describedby", "aria-controls"),
        *("aria-owns", "aria-details", "aria-activedescendant", "aria-errormessage"),
    )
)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"' r"|'((?:[^'\\\n]|\\.)*)'" r"|`((?:[^`\\]|\\.)*)`")
_RULE = re.compile(r"(\s*)([^{}@;/]+)\{([^{}@]*)\}")
_KEPT = ("pre", "textarea", "script", "style", "svg", "title", "select")


def class_renamed(page: Good, rng: random.Random) -> str | None:
    """A class that only class attributes, selectors and whole strings of scripts name has another name."""
    names = sorted({name for e in outline(page.document) for name in e.classes})
    return _renamed(page.document, rng, names, "class")


def id_renamed(page: Good, rng: random.Random) -> str | None:
    """An id that only attributes, selectors and whole strings of scripts name has another name."""
    names = sorted({e.attributes["id"] for e in outline(page.document) if e.attributes.get("id")})
    return _renamed(page.document, rng, names, "id")


def rules_reordered(page: Good, rng: random.Random) -> str | None:
    """Two rules that follow one another and set different properties change places."""
    pairs: list[tuple[int, int, str]] = []
    for sheet in _inside(page.document, "style"):
        rules = list(_RULE.finditer(page.document, sheet.end, sheet.inner_end))
        for one, other in itertools.pairwise(rules):
            if one.end() == other.start() and _apart(_groups(one[3]), _groups(other[3])):
                pairs.append((one.start(), other.end(), other[0] + one[0]))
    return edited(page.document, [rng.choice(pairs)]) if pairs else None


def comment_added(page: Good, rng: random.Random) -> str | None:
    """Up to three comments, each before a block."""
    blocks = [e for e in outline(page.document) if e.tag in _BLOCKS and not e.inside(*_KEPT)]
    if not blocks:
        return None
    chosen = rng.sample(blocks, min(3, len(blocks)))
    return edited(page.document, [(e.start, e.start, f"<!-- part {n} -->") for n, e in enumerate(chosen, 1)])


def whitespace(page: Good, rng: random.Random) -> str | None:
    """Lines and spaces more, where white space stands between tags and between attributes."""
    edits: list[Edit] = []
    for one in outline(page.document):
        if one.inside(*_KEPT):
            continue
        found = attributes(page.document, one)
        if len(found) > 1 and rng.random() < 0.3:
            edits.append((found[1].start, found[1].start, "\n    "))
        before = page.document[max(0, one.start - 1) : one.start]
        if one.tag in _BLOCKS and before == "\n" and rng.random() < 0.5:
            edits.append((one.start, one.start, "\n      "))
    return edited(page.document, edits) if edits else None


def attribute_order(page: Good, rng: random.Random) -> str | None:
    """Half of the elements have their attributes the other way round; fields for input keep theirs."""
    edits: list[Edit] = []
    for one in outline(page.document):
        found = attributes(page.document, one)
        distinct = len({a.name for a in found}) == len(found) > 1
        if distinct and one.tag not in ("input", "meta", "link", "script") and rng.random() < 0.5:
            written = [page.document[a.start : a.end] for a in found]
            # An unquoted value takes what follows it, so a space goes between all and after the last.
            edits.append((found[0].start, found[-1].end, " ".join(reversed(written)) + _gap(written)))
    return edited(page.document, edits) if edits else None


def _gap(written: list[str]) -> str:
    return "" if written[0].endswith(('"', "'")) else " "


def _renamed(document: str, rng: random.Random, names: list[str], attribute: str) -> str | None:
    """The first of ``names``, in an order by chance, that can be renamed without changing anything."""
    reader = _Names(document, attribute)
    rng.shuffle(names)
    for name in sorted(names[:40], key=lambda n: not reader.styled(n)):
        edits = reader.edits(name, f"{name}-x{rng.randrange(10, 100)}")
        if edits:
            return edited(document, edits)
    return None


class _Names:
    """Where a document names its classes or ids, and whether all of that is known for one of them."""

    def __init__(self, document: str, attribute: str) -> None:
        self.document = document
        self.attribute = attribute
        self.mark = "." if attribute == "class" else "#"
        self.elements = outline(document)
        self.sheets = _inside(document, "style")
        self.scripts = _inside(document, "script")
        self.literals = [
            (match.start(), match.end(), match[0][1:-1])
            for script in self.scripts
            for match in _LITERAL.finditer(document, script.end, script.inner_end)
        ]
        self.names = {
            name
            for e in self.elements
            for name in (e.classes if attribute == "class" else [e.attributes.get("id", "")])
        }

    def styled(self, name: str) -> bool:
        """Whether a style names it."""
        rule = re.compile(rf"{re.escape(self.mark + name)}(?![\w-])")
        return any(rule.search(self.document, s.end, s.inner_end) for s in self.sheets)

    def edits(self, name: str, new: str) -> list[Edit]:
        """Every place that names it; empty where a place could be missed."""
        if not re.fullmatch(r"[a-zA-Z][\w-]*", name) or self._built(name):
            return []
        known = [*self._in_markup(name), *self._in_styles(name), *self._in_scripts(name)]
        places = [m.start() for m in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", self.document)]
        inner = [at for at in places if not self._is_text(at)]
        return [(at, at + len(name), new) for at in known] if known and set(known) == set(inner) else []

    def _built(self, name: str) -> bool:
        """Whether a script or a selector could make the name out of parts, or use a part of it."""
        if any(name != other and (name in other or other in name) for other in self.names if other):
            return True
        if any(
            name.startswith(text) or name.endswith(text)
            for _, _, text in self.literals
            if 1 < len(text) < len(name)
        ):
            return True
        parts = re.findall(r"\[(?:class|id)[*^$~|]?=\s*[\"']?([\w-]+)", self.document)
        return any(part in name for part in parts)

    def _in_markup(self, name: str) -> Iterator[int]:
        whole = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        for element in self.elements:
            for one in attributes(self.document, element):
                if one.name == self.attribute or (
                    self.attribute == "id" and _refers(one.name, one.value, name)
                ):
                    at = one.start + len(one.name)
                    yield from (m.start() for m in whole.finditer(self.document, at, one.end))

    def _in_styles(self, name: str) -> Iterator[int]:
        rule = re.compile(rf"(?<=\{self.mark}){re.escape(name)}(?![\w-])")
        for sheet in self.sheets:
            yield from (m.start() for m in rule.finditer(self.document, sheet.end, sheet.inner_end))

    def _in_scripts(self, name: str) -> Iterator[int]:
        rule = re.compile(rf"(?<=\{self.mark}){re.escape(name)}(?![\w-])")
        for start, end, text in self.literals:
            if text == name:
                yield start + 1
            else:
                yield from (m.start() for m in rule.finditer(self.document, start + 1, end - 1))

    def _is_text(self, at: int) -> bool:
        """Whether the place is in the words of the page: outside tags, styles and scripts."""
        if any(s.start <= at < s.close for s in (*self.sheets, *self.scripts)):
            return False
        return not any(e.start <= at < e.end for e in self.elements)


def _refers(attribute: str, value: str, name: str) -> bool:
    return attribute in _REFERENCES or (
        value == f"#{name}" and (attribute == "href" or attribute.startswith("data-"))
    )


def _inside(document: str, tag: str) -> list[Element]:
    return [e for e in outline(document) if e.tag == tag and e.closed]


def _apart(one: set[str], other: set[str]) -> bool:
    return bool(one and other) and not one & other and "all" not in one | other


def _groups(declarations: str) -> set[str]:
    """Families of the properties that a rule sets: those that may touch the same thing share one."""
    return set(_families(re.findall(r"(?:^|;)\s*(-{0,2}[\w-]+)\s*:", declarations)))


def _families(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if name.startswith("--"):
            yield name
            continue
        first = name.lstrip("-").removeprefix("webkit-").removeprefix("moz-").partition("-")[0]
        yield _TOGETHER.get(name, _TOGETHER.get(first, first))


#: Properties that a shorthand of another name sets, or that mean the same place.
_TOGETHER = {
    **dict.fromkeys(("line-height", "letter-spacing"), "font"),
    **dict.fromkeys(("row-gap", "column-gap", "grid-gap", "grid-row-gap", "grid-column-gap"), "gap"),
    **dict.fromkeys(("place", "justify"), "align"),
    **dict.fromkeys(("top", "right", "bottom", "left"), "inset"),
    **dict.fromkeys(("min", "max", "width", "height", "inline", "block"), "size"),
    **{"columns": "column", "word": "overflow", "order": "flex"},
}
