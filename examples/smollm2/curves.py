"""Draw trainings beside each other: what passes ``execution``, step by step.

python examples/smollm2/curves.py curves.svg judged=smollm2/grpo shuffled=smollm2/control
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import vl_convert


def rows(name: str, folder: Path) -> list[dict[str, Any]]:
    """Shares of answers that pass, from the mean of a channel of -1 and 1."""
    found = json.loads((folder / "curves.json").read_text(encoding="utf-8"))
    return [
        {"training": name, "step": row["step"], "passing": (row["value"] + 1) / 2}
        for row in found
        if (row["panel"], row["curve"]) == ("channels", "execution")
    ]


def main(picture: Path, *named: str) -> None:
    """Write the picture of ``name=folder`` trainings."""
    values = [row for one in named for row in rows(one.partition("=")[0], Path(one.partition("=")[2]))]
    axis = {"grid": False, "tickMinStep": 1}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "width": 520,
        "height": 240,
        "data": {"values": values},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "step", "type": "quantitative", "title": "step", "axis": axis},
            "y": {
                "field": "passing",
                "type": "quantitative",
                "title": "answers that pass execution",
                "scale": {"domain": [0, 1]},
                "axis": {"format": "%"},
            },
            "color": {"field": "training", "type": "nominal", "title": None},
            "strokeDash": {"field": "training", "type": "nominal", "title": None},
        },
    }
    picture.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
