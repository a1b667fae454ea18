"""What a person would do on each page by hand, and where they would look to see that it did something.

``at`` and ``seen`` are CSS selectors (open shadow roots included); ``frame | selector`` goes into a frame.
``seen`` names what a working control changes. What it must not name is anything that changes by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["click", "type", "submit", "select", "slide", "drag", "hover", "keys"]


@dataclass(frozen=True, slots=True)
class Step:
    """One operation. ``value``: the text, option, slider value or keys; for a drag, where it ends.

    ``spot`` is where in the element it happens, in parts of its width and height.
    """

    kind: Kind
    at: str
    seen: str
    value: Any = None
    spot: tuple[float, float] = (0.5, 0.5)


STEPS: dict[str, tuple[Step, ...]] = {
    "bakery": (
        Step("click", ".add >> nth=1", "#cartButton"),
        Step("submit", "#code", "#promoNote", "FRESH"),
        Step("click", "#cartButton", "#drawer"),
    ),
    "inn": (
        Step("click", "[data-p=dining]", "main"),
        Step("click", ".q >> nth=0", ".faq >> nth=0"),
        Step("submit", "[name=mail]", "#note", "ana@example.org"),
    ),
    "clinic": (
        Step("select", "#dept", "#doctors", "skin"),
        Step("click", ".doctor >> nth=1", "#sDoc"),
        Step("click", "#slots button >> nth=2", "#sTime"),
        Step("type", "#patient", "#sName", "سلمى"),
        Step("click", "#send", "#done"),
    ),
    "festival": (
        Step("click", "[data-s=Silo]", "#acts"),
        Step("click", "#more", "#total"),
        Step("click", ".act >> nth=0", "#sheet"),
    ),
    "portfolio": (
        Step("click", "#next", "#dots"),
        Step("keys", "#slider", "#dots", ("ArrowRight",)),
        Step("click", "a[data-k=sea]", "#wall"),
        Step("click", "#theme", "html"),
        Step("click", ".shot >> nth=0", "#light"),
    ),
    "recipe": (
        Step("slide", "#r", "#list", 9),
        Step("click", "#oz", "#list"),
        Step("click", "step-list input >> nth=1", "#say"),
        Step("click", "star-rating span >> nth=3", "star-rating p"),
    ),
    "cube": (
        Step("drag", "#view", "#view", (0.65, 0.6)),
        Step("click", ".sw >> nth=1", "#view"),
        Step("slide", "#size", "#view", 130),
        Step("click", "#reset", "#view"),
    ),
    "cards3d": (
        Step("click", ".stage", "#reading"),
        Step("click", "#right", "#ring"),
        Step("keys", "#left", "#ring", ("ArrowLeft", "ArrowLeft")),
        Step("click", "#shuffle", "#ring"),
    ),
    "terrain": (
        Step("slide", "#relief", "#c", 90),
        Step("slide", "#sea", "#c", 55),
        Step("select", "#ink", "#c", "#8a2d1c"),
        Step("drag", "#c", "#c", (0.3, 0.6)),
        Step("click", "#again", "#seed"),
    ),
    "planet": (
        Step("select", "#pick", ".facts", "Jupiter"),
        Step("slide", "#spin", "#spinOut", 30),
        Step("click", "#pause", "#pause"),
        Step("hover", ".moon i >> nth=1", "#tip"),
    ),
    "blocks": (
        Step("click", "#yard", "#count", spot=(0.4, 0.55)),
        Step("click", ".c >> nth=2", "#tray"),
        Step("keys", "#yard", "#yard", ("e",)),
        Step("click", "#undo", "#count"),
    ),
    "speaker": (
        Step("drag", "#scene", "#box", (0.8, 0.4)),
        Step("click", "#fin a >> nth=1", "#finish"),
        Step("click", "#inside", "#box"),
        Step("click", "#buy", "#bag"),
    ),
    "snake": (
        Step("click", "#wrap", "#wrap"),
        Step("keys", "body", "#state", ("Enter",)),
        Step("keys", "body", "#state", ("Space",)),
    ),
    "memory": (
        Step("click", ".tile >> nth=0", ".tile >> nth=0"),
        Step("click", ".tile >> nth=1", "#moves"),
        Step("select", "#level", "#board", "3"),
        Step("click", "#peek", ".tile >> nth=2"),
    ),
    "noughts": (
        Step("click", ".cell >> nth=4", ".status"),
        Step("click", "[data-act=undo]", ".log"),
        Step("click", ".cell >> nth=0", ".board"),
        Step("select", "[data-act=names]", ".board", "animals"),
    ),
    "merge": (
        Step("keys", "body", "#grid", ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown")),
        Step("click", "#back", "#moves"),
        Step("click", "#fresh", "#grid"),
    ),
    "breakout": (
        Step("hover", "#game", "#game", spot=(0.2, 0.5)),
        Step("slide", "#wide", "#game", 240),
        Step("keys", "body", "#info", ("Space",)),
        Step("click", "#restart", "#info"),
    ),
    "hanzi": (
        Step("click", "#tip", "#hint"),
        Step("submit", "#answer", "#word", "pengyou"),
        Step("select", "#level", "#word", "hard"),
        Step("click", "#skip", "#word"),
        Step("click", "#start", "#time"),
    ),
    "colour": (
        Step("drag", "#area", "#chip", (0.9, 0.8)),
        Step("slide", "#hue", "#chip", 40),
        Step("type", "#hex", "#chip", "#00FF88"),
        Step("click", "#save", "#saved"),
    ),
    "kanban": (
        Step("drag", ".note >> nth=0", "#done", ".list >> nth=2"),
        Step("submit", ".list form input >> nth=0", "#lists", "Order flowers"),
        Step("click", ".note b >> nth=2", "#lists"),
        Step("type", "#find", "#lists", "draft"),
    ),
    "calculator": (
        Step("click", "text='7'", "#value"),
        Step("keys", "body", "#value", ("5", "*", "3")),
        Step("click", "text='='", "#tape"),
    ),
    "calendar": (
        Step("click", "#after", "#month"),
        Step("click", ".day >> nth=9", "#out"),
        Step("click", ".day >> nth=14", "#grid"),
        Step("click", "[data-n='7']", "#out"),
    ),
    "settings": (
        Step("slide", "iframe | #size", "iframe | #sample", 30),
        Step("select", "iframe | #face", "iframe | #sample", "serif"),
        Step("click", "iframe | #contrast", "iframe | #sample"),
        Step("click", "iframe | #save", "iframe | #said"),
        Step("click", "iframe | [data-s=alerts]", "iframe | main"),
    ),
    "combobox": (
        Step("type", "#q", "#list", "ju"),
        Step("keys", "#q", "#sum", ("Enter",)),
        Step("click", "#list li >> nth=1", "#sum"),
        Step("click", ".chip button >> nth=0", "#field"),
        Step("click", "#clear", "#sum"),
    ),
    "bars": (
        Step("click", "#byValue", "#chart"),
        Step("click", "input[value=art]", "#chart"),
        Step("hover", "rect >> nth=2", "#tip", spot=(0.2, 0.5)),
    ),
    "tides": (
        Step("select", "#station", "#plot", "1"),
        Step("slide", "#days", "#daysOut", 11),
        Step("click", "#units", "#plot"),
        Step("hover", "#plot", "#read", spot=(0.6, 0.3)),
    ),
    "scatter": (
        Step("drag", "#svg", "#stats", (0.8, 0.8)),
        Step("select", "#axis", "#svg", "flipper"),
        Step("click", ".key >> nth=0", "#svg"),
    ),
    "pyramid": (
        Step("slide", "#slider", "#year", 2030),
        Step("select", "#land", "#chart", "2"),
        Step("hover", ".bar >> nth=3", "#detail"),
        Step("click", "#play", "#year"),
    ),
    "network": (
        Step("slide", "#min", "#shown", 5),
        Step("type", "#find", "#who", "el"),
        Step("click", "#pin", "#pin"),
    ),
    "heatmap": (
        Step("click", "th >> nth=6", "#body"),
        Step("select", "#metric", "#body", "growth"),
        Step("hover", ".cell >> nth=7", "#info"),
        Step("type", "#search", "#body", "run"),
    ),
}
