"""Charts: Vega-Lite specifications of ``leaderboard/charts``, drawn to SVG once and kept.

Colours in a specification are names of the style sheet (``var(--accent)``), so that one drawing serves the
light and the dark theme.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opendesign.canonical import hash_of
from opendesign.errors import UsageError
from opendesign.site.writing import Kept

__all__ = ["Charts", "place_labels"]


class Charts:
    """Draws charts out of ``folder``; what was drawn is ``kept`` for the next build."""

    def __init__(self, folder: Path, kept: Kept) -> None:
        self.folder = folder
        self._kept = kept
        self._specs: dict[str, dict[str, Any]] = {}

    def svg(self, name: str, rows: Sequence[Mapping[str, Any]], **titles: str) -> str:
        """The chart ``name`` of ``rows`` as an SVG element, or nothing where there is no row.

        ``titles`` replace ``{{slots}}`` in the specification. Raises ``UsageError`` for a bad specification.
        """
        if not rows:
            return ""
        values = [{key: _printable(value) for key, value in row.items()} for row in rows]
        spec = {**_filled(self._spec(name), titles), "data": {"values": values}}
        file = f"chart-{hash_of(spec)}.svg"
        return self._kept.text(file) or self._kept.keep(file, self._draw(name, spec))

    def _spec(self, name: str) -> dict[str, Any]:
        if name not in self._specs:
            path = self.folder / f"{name}.json"
            try:
                common = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
                spec = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise UsageError(f"The chart {path} cannot be read: {error}.") from error
            self._specs[name] = {**spec, "config": common}
        return self._specs[name]

    def _draw(self, name: str, spec: Mapping[str, Any]) -> str:
        import vl_convert

        try:
            svg: str = vl_convert.vegalite_to_svg(dict(spec), allowed_base_urls=[])
        except ValueError as error:
            raise UsageError(f"The chart {self.folder / name}.json cannot be drawn: {error}.") from error
        start = svg.index("<svg")
        # Hidden from screen readers: each chart stands beside the table of its numbers.
        return svg[start:].replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def _filled(value: Any, titles: Mapping[str, str]) -> Any:
    """``{{slot}}`` as a whole text replaced; slot text is not looked into again."""
    if isinstance(value, dict):
        return {key: _filled(item, titles) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, titles) for item in value]
    if isinstance(value, str) and value.startswith("{{") and value.endswith("}}"):
        return _printable(titles.get(value[2:-2].strip(), ""))
    return value


def _printable(value: Any) -> Any:
    """A text without control characters and the like: the library ends the whole process at some of them."""
    return "".join(filter(str.isprintable, value)) if isinstance(value, str) else value


def place_labels(rows: list[dict[str, Any]], *, log_x: bool = False) -> None:
    """Give points (``x``, ``y``) their ``label`` on the side with room, as ``left`` or ``right``.

    A point that has a higher point's label where its own would be has none.
    """
    if not rows:
        return
    xs = [math.log(row["x"]) if log_x else row["x"] for row in rows]
    ys = [row["y"] for row in rows]
    wide, tall = (max(max(v) - min(v), 1e-9) for v in (xs, ys))
    placed: list[tuple[float, float]] = []
    for at in sorted(range(len(rows)), key=lambda at: -ys[at]):
        x, y = xs[at] / wide, ys[at] / tall
        label = rows[at].pop("label")
        side = "left" if x - min(xs) / wide > 0.55 else "right"
        free = not any(abs(x - a) < 0.35 and abs(y - b) < 0.06 for a, b in placed)
        rows[at] |= {"left": "", "right": "", **({side: label} if free else {})}
        placed += [(x, y)] if free else []
