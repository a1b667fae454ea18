"""Facts: what was measured on a rendered page. Frozen, JSON only, deterministic for equal pages.

All boxes are in CSS pixels from the page's top left corner (the scroll position does not matter); colours are
sRGB with channels 0–255 and alpha 0–1. ``facts.js`` collects everything but the picture's part, in a world of
its own that a page's scripts can neither see nor change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from opendesign.errors import StoreError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

SCHEMA = 1
#: Bounds of one collection: what is over them is left out, and a note says so.
LIMITS: Mapping[str, int] = {
    "nodes": 10_000,  # DOM nodes visited
    "milliseconds": 6_000,  # of the walk, and again of the hit tests
    "text": 20_000,  # characters of visible text, and of hidden text
    "excerpt": 200,  # characters of one text box or name
    "address": 500,  # characters of a picture's address
    "texts": 800,
    "blocks": 800,
    "interactive": 300,
    "images": 200,
    "canvases": 20,
    "svgs": 100,
    "headings": 100,
    "landmarks": 50,
    "overlaps": 60,
    "overflowing": 20,
    "scrolls": 60,  # positions from which hit tests are made
}
EVALUATE_MS = 15_000  # the browser ends the script after this long
_MESSAGES = 50  # dialogs and script errors kept
_REQUESTS = 300


class Box(NamedTuple):
    """A rectangle in CSS pixels of the page."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def area(self) -> float:
        return self.width * self.height


class Colour(NamedTuple):
    """sRGB, 0–255 a channel; ``alpha`` 0–1, every ancestor's opacity included."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBox:
    """The text that one element holds directly (its children's text is in their own boxes).

    ``background`` is what is painted behind the text: from the styles where ``behind`` is "colour", else read
    off the picture ("gradient", "picture", "other": something that is no ancestor), or None where it is not
    known. ``hidden`` says why nobody can see the text (None: it can be seen): "transparent", "offscreen",
    "clipped", "scrolled" (reachable by scrolling a box), "tiny", "same_colour". ``cut`` says how a part of it
    is lost: "clipped", "offscreen" or "ellipsis".
    """

    text: str
    length: int  # characters before the excerpt was cut
    box: Box
    lines: int
    tag: str
    parent: int  # index of the layout block that holds it; -1: none
    colour: Colour
    background: Colour | None
    behind: Literal["colour", "gradient", "picture", "other", "unknown"]
    size: float  # of the font
    weight: int
    family: str  # the first of the stack that is available, or a generic name
    line_height: float  # in pixels
    align: str
    underline: bool
    link: bool
    hidden: str | None
    cut: str | None
    covered: bool  # something opaque lies over it
    under_fixed: bool  # and that is fixed to the window, as a dialog is
    aria_hidden: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Interactive:
    """An element a person can operate, or that looks so.

    ``selector`` is a Playwright selector from the document of ``frames`` (selectors of iframes, outermost
    first); " >> " steps into an open shadow root. ``kind`` says why it is listed: "native", "role",
    "tabindex", "onclick", "editable", "pointer". ``covered`` is None where no hit test could be made.
    """

    index: int
    tag: str
    role: str
    kind: str
    name: str  # accessible name
    labelled: bool  # by more than its placeholder
    type: str
    value: str
    href: str
    box: Box
    visible: bool
    disabled: bool
    covered: bool | None
    covered_by: str | None
    inline: bool  # in running text
    dangling: bool  # a link to a place in the page that is not there
    frames: tuple[str, ...]
    selector: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An <img> that is shown, or broken. ``alt`` is None where the attribute is missing."""

    box: Box
    source: str
    natural_width: int
    natural_height: int
    broken: bool
    pending: bool
    alt: str | None
    placeholder: bool  # the network policy served a stand-in
    decorative: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """``blank`` and ``webgl`` are None where they cannot be known (a tainted canvas without a picture)."""

    box: Box
    width: int
    height: int
    webgl: bool | None
    blank: bool | None
    tainted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Svg:
    """An inline <svg> that is shown, with how much is drawn in it."""

    box: Box
    shapes: int
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A visible box that is laid out as a block, flex, grid or table part. ``parent`` is an index or -1."""

    box: Box
    tag: str
    parent: int
    depth: int
    display: str
    positioned: str  # "static", "relative", "absolute", "fixed", "sticky"
    painted: bool  # background, border or shadow of its own
    background: Colour | None  # its own background colour, None where transparent
    radius: float
    text: int  # characters of visible text in it
    media: int  # pictures, canvases, drawings and controls in it
    clips: bool
    label: str  # tag with its id or first class, for people


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    level: int
    text: str
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmark:
    role: str
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Two text boxes (indexes) drawn over one another; ``share`` of the smaller one's area, 0–1."""

    first: int
    second: int
    share: float
    area: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflowing:
    """An element that reaches beyond the right edge of the viewport, by ``amount`` pixels."""

    label: str
    amount: float
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """``outcome``: served, cached, placeholder, refused or failed."""

    url: str
    kind: str
    outcome: str
    reason: str = ""
    digest: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    kind: str  # alert, confirm, prompt, beforeunload, print
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Numbers of the captured picture (pixels, the first screen and the whole alike)."""

    width: int
    height: int
    colours: int  # of 4,096 (4 bits a channel) that cover at least 0.05 % of it
    dominant: tuple[tuple[Colour, float], ...]  # the most common ones and their shares
    flat: float  # share of the most common colour
    entropy: float  # bits, of the luminance histogram (32 bins)
    edges: float  # share of pixels on an edge
    cells: int  # squares of 40 × 40 pixels that something is drawn in
    colourfulness: float  # Hasler and Süsstrunk 2003
    blank: bool  # nothing is on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything measured on one page. See ``collect``."""

    schema: int = SCHEMA
    collected: bool  # False: the script could not run, and only the picture's part is there
    complete: bool  # False: it ran out of time, so that another run may find more
    width: float  # true size of the page
    height: float
    viewport: tuple[float, float]
    elements: int  # in the document
    title: str
    lang: str
    quirks: bool
    meta_viewport: bool
    text: str  # visible, cut
    text_length: int
    hidden_text: str  # in the document and not shown, cut
    texts: tuple[TextBox, ...]
    interactive: tuple[Interactive, ...]
    images: tuple[Image, ...]
    background_images: int
    canvases: tuple[Canvas, ...]
    svgs: tuple[Svg, ...]
    blocks: tuple[Block, ...]
    headings: tuple[Heading, ...]
    landmarks: tuple[Landmark, ...]
    overlaps: tuple[Overlap, ...]
    overflow: float  # pixels the page is wider than the viewport
    overflowing: tuple[Overflowing, ...]
    fonts_missing: tuple[str, ...]  # first choices that are not available
    styles: int  # style rules that apply to the page
    picture: Picture | None
    dialogs: tuple[Dialog, ...]
    script_errors: tuple[str, ...]
    requests: tuple[Request, ...]
    popups: int
    downloads: int
    notes: tuple[str, ...]

    def to_json(self) -> str:
        """One line of canonical JSON: equal facts give equal bytes."""
        return json.dumps(
            self, default=_fields, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Facts:
        """Facts as stored. Raises ``StoreError`` for anything else."""
        try:
            value = json.loads(text)
            if value.get("schema") != SCHEMA:
                raise StoreError(
                    f"The facts of a page have schema {value.get('schema')!r}, and this version reads "
                    f"{SCHEMA}: render the page again with this version."
                )
            return _decode(cls, value)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"The facts of a page cannot be read ({error}): render the page again."
            ) from error


async def collect(
    cdp: CDPSession,
    frame: str,
    *,
    dialogs: Iterable[Dialog] = (),
    script_errors: Iterable[str] = (),
    requests: Iterable[Request] = (),
    popups: int = 0,
    downloads: int = 0,
    notes: Iterable[str] = (),
) -> Facts:
    """Facts of the page as it is loaded now, without its picture's part. ``cdp`` is a session of that page,
    ``frame`` the id of its main frame.

    One script in an isolated world, ended by the browser after ``EVALUATE_MS``; the scroll position is as
    before. Never raises for what a page does; errors of the driver (a page that is gone) pass through.
    """
    raw, problem = await _measure(cdp, frame)
    served = tuple(requests)[:_REQUESTS]
    return _facts(
        raw,
        dialogs=tuple(dialogs)[:_MESSAGES],
        script_errors=tuple(_excerpt(error) for error in script_errors)[:_MESSAGES],
        requests=served,
        popups=popups,
        downloads=downloads,
        notes=(*notes, *problem),
    )


async def _measure(cdp: CDPSession, frame: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What ``facts.js`` found in the main frame (empty where it could not run), and notes."""
    world = await cdp.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "opendesign"})
    reply = await cdp.send(
        "Runtime.evaluate",
        {
            "expression": f"({_script()})({json.dumps(dict(LIMITS))})",
            "contextId": world["executionContextId"],
            "returnByValue": True,
            "timeout": EVALUATE_MS,
        },
    )
    value = reply["result"].get("value")
    if "exceptionDetails" in reply or not isinstance(value, str):
        return {}, ("facts: the page could not be measured",)
    raw: dict[str, Any] = json.loads(value)
    return raw, tuple(raw.pop("notes", ()))


@cache
def _script() -> str:
    return Path(__file__).with_name("facts.js").read_text(encoding="utf-8")


def _facts(raw: Mapping[str, Any], **known: Any) -> Facts:
    """Facts from what the script returned; whatever is not there has its empty value."""
    size = LIMITS["address"]
    placeholders = {r.url[:size] for r in known["requests"] if r.outcome == "placeholder"}
    facts = _decode(Facts, {**_EMPTY, **raw, "collected": bool(raw)})
    images = tuple(replace(i, placeholder=True) if i.source in placeholders else i for i in facts.images)
    return replace(facts, images=images, **known)


def _fields(value: Any) -> dict[str, Any]:
    """The fields of one record; the JSON encoder asks for them, which is far faster than a deep copy."""
    return {name: getattr(value, name) for name in value.__slots__}


def _excerpt(text: str) -> str:
    return text[: LIMITS["excerpt"]]


_EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(
        ("width", "height", "elements", "text_length", "background_images", "overflow", "styles"), 0
    ),
    **dict.fromkeys(("title", "lang", "text", "hidden_text"), ""),
    **dict.fromkeys(("texts", "interactive", "images", "canvases", "svgs", "blocks", "headings"), ()),
    **dict.fromkeys(("landmarks", "overlaps", "overflowing", "fonts_missing", "dialogs", "requests"), ()),
    **{"script_errors": (), "notes": (), "viewport": (0, 0), "quirks": False, "meta_viewport": False},
    **{"picture": None, "popups": 0, "downloads": 0, "complete": False},
}


_T = TypeVar("_T")


def _decode(kind: type[_T], value: Mapping[str, Any]) -> _T:
    """An instance of ``kind`` from its JSON value. Raises TypeError for a key that is missing or unknown."""
    made = dict(value)
    for name, convert in _CONVERT.get(kind, ()):
        if made[name] is not None:
            made[name] = convert(made[name])
    return kind(**made)


def _many(kind: type[Any]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda values: tuple(_decode(kind, value) for value in values)


def _dominant(values: Any) -> tuple[tuple[Colour, float], ...]:
    return tuple((Colour(*colour), share) for colour, share in values)


def _box(value: Any) -> Box:
    return Box(*value)


def _colour(value: Any) -> Colour:
    return Colour(*value)


#: Fields that are not JSON values as they are.
_CONVERT: Mapping[type[Any], tuple[tuple[str, Callable[[Any], Any]], ...]] = {
    TextBox: (("box", _box), ("colour", _colour), ("background", _colour)),
    Interactive: (("box", _box), ("frames", tuple)),
    Block: (("box", _box), ("background", _colour)),
    **dict.fromkeys((Image, Canvas, Svg, Heading, Landmark, Overflowing), (("box", _box),)),
    Picture: (("dominant", _dominant),),
    Facts: (
        ("viewport", tuple),
        ("texts", _many(TextBox)),
        ("interactive", _many(Interactive)),
        ("images", _many(Image)),
        ("canvases", _many(Canvas)),
        ("svgs", _many(Svg)),
        ("blocks", _many(Block)),
        ("headings", _many(Heading)),
        ("landmarks", _many(Landmark)),
        ("overlaps", _many(Overlap)),
        ("overflowing", _many(Overflowing)),
        ("fonts_missing", tuple),
        ("picture", lambda value: _decode(Picture, value)),
        ("dialogs", _many(Dialog)),
        ("script_errors", tuple),
        ("requests", _many(Request)),
        ("notes", tuple),
    ),
}
