"""Figures are caught when they are shown, saved, closed, and at the end of the program.

A matplotlib figure is drawn at once, since the program may change it afterwards; its pixels are sent as they
are, so that nobody outside has to decode a file made by a stranger. A plotly figure is sent as its JSON.
"""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.plotting import reading
from opendesign.plotting.pictures import MOST_BYTES, MOST_SENT, MOST_SIDE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Capture"]

#: A white pixel, for programs that read the file back to which plotly would have written.
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c63f80f00010101001bb6ee560000000049454e44ae426082"
)


class Capture:
    """Catches what is drawn from ``install`` on. ``send`` takes a message and bytes."""

    def __init__(self, send: Callable[[dict[str, Any], bytes], None], most_pixels: int) -> None:
        self.figures = 0  # caught so far
        self._send = send
        self._most_pixels = most_pixels
        self._sent = 0
        self._numbers: dict[int, int] = {}  # id of a figure -> its number, from 1
        self._options: dict[int, dict[str, Any]] = {}  # id of a figure -> how the program saved it
        self._kept: list[Any] = []  # the figures, so that no id is used twice
        self._print: Callable[..., Any]

    def install(self) -> None:
        """Put our steps before matplotlib's and plotly's own."""
        self._install_matplotlib()
        self._install_plotly()
        reading.install()

    def finish(self, names: Mapping[str, Any]) -> None:
        """Catch what is left: open figures, and figures of plotly that no call has shown or saved."""
        from matplotlib._pylab_helpers import Gcf
        from plotly.basedatatypes import BaseFigure

        self._sent = 0
        for manager in list(Gcf.figs.values()):
            self._matplotlib(manager.canvas.figure)
        for value in list(names.values()):
            if isinstance(value, BaseFigure) and id(value) not in self._numbers:
                self._plotly(value)

    def _number(self, figure: Any) -> int:
        if id(figure) not in self._numbers:
            self.figures += 1
            self._numbers[id(figure)] = self.figures
            self._kept.append(figure)
        return self._numbers[id(figure)]

    # matplotlib

    def _install_matplotlib(self) -> None:
        import matplotlib
        from matplotlib import pyplot
        from matplotlib._pylab_helpers import Gcf
        from matplotlib.backend_bases import FigureCanvasBase
        from matplotlib.figure import Figure

        canvases: Any = FigureCanvasBase
        open_figures: Any = Gcf
        printed, destroy, destroy_all = canvases.print_figure, Gcf.destroy, Gcf.destroy_all
        self._print = printed

        @functools.wraps(printed)
        def print_figure(canvas: Any, filename: Any, *arguments: Any, **options: Any) -> Any:
            kept = ("facecolor", "bbox_inches", "pad_inches", "bbox_extra_artists")
            self._options[id(canvas.figure)] = {name: options[name] for name in kept if name in options}
            self._matplotlib(canvas.figure)
            printed(canvas, filename, *arguments, **options)
            canvas.figure.stale = False

        def show(*_: Any, block: bool | None = None, **__: Any) -> None:
            for manager in list(Gcf.figs.values()):
                self._matplotlib(manager.canvas.figure)
            if block is not False:  # as when a person has looked at the windows and closed them
                destroy_all()

        def close(manager: Any) -> None:
            found = Gcf.figs.get(manager) if isinstance(manager, int) else manager
            if found is not None:
                self._matplotlib(found.canvas.figure)
            destroy(manager)

        def close_all() -> None:
            for manager in list(Gcf.figs.values()):
                self._matplotlib(manager.canvas.figure)
            destroy_all()

        canvases.print_figure = print_figure
        open_figures.destroy, open_figures.destroy_all = close, close_all
        for owner, name, step in (
            (pyplot, "show", show),
            (Figure, "show", lambda figure, *_, **__: self._matplotlib(figure)),
            (matplotlib, "use", lambda *_, **__: None),  # no window here, whatever is asked for
            (pyplot, "switch_backend", lambda *_, **__: None),
        ):
            setattr(owner, name, step)

    def _matplotlib(self, figure: Figure) -> None:
        """Draw it and send the pixels, unless it has not changed since. ``ValueError``: it has no size."""
        if (id(figure) in self._numbers and not figure.stale) or self._sent >= MOST_SENT:
            return
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        if not isinstance(figure.canvas, FigureCanvasAgg):  # a figure that pyplot has not made
            FigureCanvasAgg(figure)
        across, down = figure.bbox.width, figure.bbox.height
        self._check_size(across, down, sys.float_info.max)  # which what is infinite exceeds
        scale = min(1.0, (self._most_pixels / (across * down)) ** 0.5, MOST_SIDE / max(across, down))
        buffer = io.BytesIO()
        options = self._options.get(id(figure), {})  # as it was saved, if it was
        self._print(figure.canvas, buffer, dpi=figure.dpi * scale, format="rgba", **options)
        canvas: Any = figure.canvas
        width, height = int(canvas.renderer.width), int(canvas.renderer.height)
        self._check_size(width, height, self._most_pixels)
        message = {
            "kind": "matplotlib",
            "figure": self._number(figure),
            "width": width,
            "height": height,
            "scaled": bool(scale < 1),
            "facts": reading.read(figure),
        }
        self._sent += 1
        self._send(message, buffer.getvalue())
        figure.stale = False

    @staticmethod
    def _check_size(width: float, height: float, most: float) -> None:
        if not (width >= 1 and height >= 1 and width * height <= most):
            raise ValueError(f"A figure of {width:g} × {height:g} pixels cannot be drawn here")

    # plotly

    def _install_plotly(self) -> None:
        import plotly.io
        import plotly.offline
        from plotly.basedatatypes import BaseFigure

        def shown(figure: Any, *_: Any, **__: Any) -> None:
            self._plotly(figure)

        def written(figure: Any, file: Any = None, *_: Any, **__: Any) -> None:
            self._plotly(figure)
            if hasattr(file, "write"):
                file.write(_PIXEL)
            elif file is not None:
                Path(file).write_bytes(_PIXEL)

        def as_bytes(figure: Any, *_: Any, **__: Any) -> bytes:
            self._plotly(figure)
            return _PIXEL

        for owner in (BaseFigure, plotly.io):
            for name, step in (("show", shown), ("write_image", written), ("to_image", as_bytes)):
                setattr(owner, name, step)
            for name in ("write_html", "to_html"):
                setattr(owner, name, self._before(getattr(owner, name)))
        for name in ("plot", "iplot"):
            setattr(plotly.offline, name, shown)

    def _before(self, own: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(own)
        def step(figure: Any, *arguments: Any, **options: Any) -> Any:
            self._plotly(figure)
            return own(figure, *arguments, **options)

        return step

    def _plotly(self, figure: Any) -> None:
        if self._sent >= MOST_SENT:
            return
        from plotly.graph_objects import Figure

        known = figure if hasattr(figure, "to_json") else Figure(figure)  # a dictionary will do for plotly.io
        text = known.to_json().encode()
        if len(text) > MOST_BYTES:
            raise ValueError(f"A figure may take {MOST_BYTES:,} bytes as JSON; this one takes {len(text):,}")
        self._sent += 1
        self._send({"kind": "plotly", "figure": self._number(figure)}, text)
