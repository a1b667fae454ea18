"""What a program's text tells before it is run: whether it parses, and which libraries it uses."""

from __future__ import annotations

import ast
import contextlib
from dataclasses import dataclass

__all__ = ["Source", "look", "other_library"]

#: Names of seaborn that draw. What is not here (themes, palettes, data sets) only styles or loads.
_SEABORN_DRAWS = {
    *("relplot", "scatterplot", "lineplot", "displot", "histplot", "kdeplot", "ecdfplot", "rugplot"),
    *("distplot", "catplot", "stripplot", "swarmplot", "boxplot", "violinplot", "boxenplot", "pointplot"),
    *("barplot", "countplot", "factorplot", "lmplot", "regplot", "residplot", "heatmap", "clustermap"),
    *("FacetGrid", "pairplot", "PairGrid", "jointplot", "JointGrid", "Plot"),
}
#: Libraries that draw, beside the three that tasks are about, by the name they are imported by.
_OTHERS = {
    **{
        "altair": "Altair",
        "bokeh": "Bokeh",
        "plotnine": "plotnine",
        "pygal": "Pygal",
        "holoviews": "HoloViews",
    },
    **{"hvplot": "hvPlot", "ggplot": "ggplot", "lets_plot": "Lets-Plot", "pyecharts": "pyecharts"},
    **{"cufflinks": "Cufflinks", "geoplot": "geoplot", "mayavi": "Mayavi", "pyvista": "PyVista"},
    **{
        "vispy": "VisPy",
        "chartify": "Chartify",
        "dash": "Dash",
        "folium": "Folium",
        "pyqtgraph": "PyQtGraph",
    },
    **{"matplotlib": "matplotlib", "seaborn": "seaborn", "plotly": "plotly", "kaleido": "plotly's Kaleido"},
    **{"proplot": "ProPlot", "ultraplot": "UltraPlot", "termplotlib": "termplotlib", "turtle": "turtle"},
    **{"cartopy": "Cartopy", "squarify": "squarify", "joypy": "JoyPy", "missingno": "missingno"},
}


@dataclass(frozen=True, slots=True)
class Source:
    """``error`` is why it does not parse, at ``line``; ``imports`` are the top names of what it imports."""

    error: str = ""
    line: int | None = None
    imports: tuple[str, ...] = ()
    uses_seaborn: bool = False  # any name of it
    draws_with_seaborn: bool = False  # a function that draws


def look(code: str, setup: str = "") -> Source:
    """``code`` as it is seen after ``setup``, whose imports it shares. Executes nothing.

    What is wrong with ``setup`` is not told here: it shows where it is run.
    """
    before: ast.AST = ast.Module([], [])
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        before = ast.parse(setup)
    try:
        tree = ast.parse(code)
        compile(tree, "answer.py", "exec")
    except SyntaxError as error:
        return Source(error=f"{type(error).__name__}: {error.msg}", line=error.lineno)
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return Source(error=f"Python cannot read it ({type(error).__name__}: {error})")
    imports = {alias.split(".")[0] for alias, _ in _imported(tree)}
    bound = dict(name for part in (before, tree) for name in _bound(part))
    used = {bound[node.id] for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in bound}
    used |= {
        f"seaborn.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and _is_seaborn(node.value, bound)
    }
    draws = any(name.rpartition(".")[2] in _SEABORN_DRAWS for name in used)
    return Source(imports=tuple(sorted(imports)), uses_seaborn=bool(used), draws_with_seaborn=draws)


def other_library(module: str) -> str:
    """The name of the plotting library that a module belongs to, or nothing."""
    return _OTHERS.get(module.split(".")[0], "")


def _imported(tree: ast.AST) -> list[tuple[str, str]]:
    """(module, or module.name; the name it gets)."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(one.name, one.asname or one.name.split(".")[0]) for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [(f"{node.module}.{one.name}", one.asname or one.name) for one in node.names]
    return found


def _bound(tree: ast.AST) -> list[tuple[str, str]]:
    """(name in the program, what of seaborn it is)."""
    found = [(name, module) for module, name in _imported(tree) if module.split(".")[0] == "seaborn"]
    everything = any(name == "*" for name, _ in found)
    return found + [(name, f"seaborn.{name}") for name in _SEABORN_DRAWS if everything]


def _is_seaborn(node: ast.expr, bound: dict[str, str]) -> bool:
    """Whether an expression is seaborn or a module inside it: ``sns``, ``seaborn.objects``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in bound
