"""The curves of a training as a picture and as numbers, from what the trainer logged."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opendesign.train.heldout import points

if TYPE_CHECKING:
    from transformers import TrainerCallback

__all__ = ["draw", "keep", "rows"]

JSON, PICTURE = "curves.json", "curves.png"
#: panel, in the order of the picture → metrics in it, as the trainer names them and as they are shown
_PANELS: Mapping[str, Mapping[str, str]] = {
    "reward": {"reward": "mean"},
    "channels": {},  # rewards/<name>/mean
    "pages": {"judges/gated": "fail the gate", "judges/unscored": "unscored"},
    "held-out prompts": {},  # from heldout.points, as is
    "gap": {},
    "loss": {"loss": "loss", "kl": "KL"},
}


def rows(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """``panel``, ``curve``, ``step``, ``value`` of everything that is drawn, in the order of the steps."""
    found = []
    for entry in history:
        for name, value in entry.items():
            place = _place(name)
            if place and isinstance(value, (int, float)) and math.isfinite(value):
                panel, curve = place
                found.append({"panel": panel, "curve": curve, "step": entry["step"], "value": float(value)})
    for point in points(history):
        values = {"training judge": point.training, "held-out judge": point.held_out, "gap": point.gap}
        for curve, value in values.items():
            panel = "gap" if curve == "gap" else "held-out prompts"
            if value is not None:
                found.append({"panel": panel, "curve": curve, "step": point.step, "value": value})
    return found


def _place(metric: str) -> tuple[str, str] | None:
    for panel, curves in _PANELS.items():
        if metric in curves:
            return panel, curves[metric]
    if metric.startswith("rewards/") and metric.endswith("/mean"):
        return "channels", metric.removeprefix("rewards/").removesuffix("/mean")
    return None


def draw(history: Sequence[Mapping[str, Any]], folder: Path, title: str = "") -> None:
    """Write ``curves.json`` and, where there is anything to draw, ``curves.png`` into ``folder``.

    ``title`` stands over all panels.
    """
    import vl_convert

    values = rows(history)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / JSON).write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    panels = {panel: [row for row in values if row["panel"] == panel] for panel in _PANELS}
    if not values:
        return
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": title,
        "columns": 2,
        "concat": [_panel(panel, its) for panel, its in panels.items() if its],
        "resolve": {"scale": {"color": "independent"}},
    }
    (folder / PICTURE).write_bytes(vl_convert.vegalite_to_png(spec, scale=2, allowed_base_urls=[]))


def _panel(title: str, values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    color = {"field": "curve", "type": "nominal", "title": None}
    if {row["curve"] for row in values} == {title}:  # a legend would say it again
        color["legend"] = None
    return {
        "title": title,
        "width": 320,
        "height": 180,
        "data": {"values": list(values)},
        "mark": {"type": "line", "point": len({row["step"] for row in values}) < 40},
        "encoding": {
            "x": {"field": "step", "type": "quantitative", "axis": {"title": "step", "tickMinStep": 1}},
            "y": {"field": "value", "type": "quantitative", "title": None, "scale": {"zero": False}},
            "color": color,
        },
    }


def keep(folder: Path, title: str = "") -> TrainerCallback:
    """Draws the curves anew with every checkpoint, every evaluation, and at the end."""
    from transformers import TrainerCallback

    class Keep(TrainerCallback):  # type: ignore[misc]
        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                draw(state.log_history, folder, title)

        on_evaluate = on_train_end = on_save

    return Keep()
