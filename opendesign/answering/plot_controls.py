"""The builtin controls for plots: models of known quality that need no key.

``reference`` answers with the code that drew the ground truth; ``plot-broken`` with code that has one defect
of ``DEFECTS``, in turn. They show whether the sandbox and the judges name what is wrong.
"""

from __future__ import annotations

import csv
import io
import re

from opendesign.canonical import digest
from opendesign.errors import UnknownName, UsageError
from opendesign.types import Case, PlotTask

__all__ = ["CONTROLS", "DEFECTS", "code", "defect", "reply"]

CONTROLS: tuple[str, ...] = ("reference", "plot-broken")
DEFECTS: tuple[str, ...] = (
    "syntax_error",
    "wrong_column",
    "blank_figure",
    "wrong_chart",
    "wrong_library",
    "endless_loop",
)

_IMPORTS = {
    "matplotlib": "import matplotlib.pyplot as plt\n",
    "seaborn": "import matplotlib.pyplot as plt\nimport seaborn as sns\n",
    "plotly": "import plotly.express as px\nimport plotly.graph_objects as go\n",
}
_VALUES = 'y = df.select_dtypes("number").iloc[:12, 0].abs().tolist()\nx = list(range(len(y)))\n'
_DRAWN = {
    "blank": {
        "matplotlib": "plt.figure()\nplt.show()\n",
        "seaborn": 'sns.set_theme(style="white")\nplt.figure()\nplt.show()\n',
        "plotly": 'figure = go.Figure().update_layout(template="simple_white")\n'
        "figure.update_xaxes(visible=False).update_yaxes(visible=False).show()\n",
    },
    "bars": {
        "matplotlib": "plt.bar(x, y)\nplt.show()\n",
        "seaborn": "sns.barplot(x=x, y=y)\nplt.show()\n",
        "plotly": "px.bar(x=x, y=y).show()\n",
    },
    "line": {
        "matplotlib": "plt.plot(x, y)\nplt.show()\n",
        "seaborn": "sns.lineplot(x=x, y=y)\nplt.show()\n",
        "plotly": "px.line(x=x, y=y).show()\n",
    },
}
_OTHER = {"matplotlib": "plotly", "seaborn": "plotly", "plotly": "matplotlib"}


def defect(case: Case) -> str:
    """The defect of the case's broken code: by the number its id ends with, so that each has its turn."""
    number = re.search(r"\d+$", case.id)
    turn = int(number[0]) - 1 if number else int(digest(case.id)[:8], 16)
    return DEFECTS[turn % len(DEFECTS)]


def code(control: str, case: Case) -> str:
    """The Python with which ``control`` answers a case about a plot. Raises ``UsageError`` for any other."""
    if control not in CONTROLS:
        raise UnknownName("control", control, CONTROLS)
    if case.task is None:
        raise UsageError(f"The control '{control}' draws plots; the case '{case.id}' is about a page.")
    return case.task.reference if control == "reference" else _broken(case.task, defect(case))


def reply(control: str, case: Case) -> str:
    """What a model would have said: a sentence, then the code in a fence longer than any inside it."""
    program = code(control, case)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", program)), default=0))
    return f"Here is the code of the plot.\n\n{fence}python\n{program.rstrip()}\n{fence}\n"


def _broken(task: PlotTask, wanted: str) -> str:
    if wanted == "syntax_error":
        head, _, tail = task.reference.rpartition(")")
        return head + tail
    if wanted == "wrong_column":
        return _without_column(task)
    if wanted == "blank_figure":
        return _drawn("blank", task.library)
    if wanted == "wrong_chart":
        return _drawn("line" if "bar" in task.chart or task.chart == "histogram" else "bars", task.library)
    if wanted == "wrong_library":
        return _drawn("bars", _OTHER[task.library])
    return f"count = 0\nwhile True:\n    count += 1\n\n{task.reference}"


def _drawn(what: str, library: str) -> str:
    return f"{_IMPORTS[library]}\n{_VALUES}{_DRAWN[what][library]}"


def _without_column(task: PlotTask) -> str:
    """The reference with a column's name misspelt wherever it is quoted."""
    names = next(csv.reader(io.StringIO(task.data.read_text())))
    for name in names:
        if f'"{name}"' in task.reference:
            return task.reference.replace(f'"{name}"', f'"{name}_total"')
    return f'values = df["{names[0]}_total"]\n\n{task.reference}'
