"""The published PandasPlotBench as a local benchmark: from a parquet file, and from a hub."""

from __future__ import annotations

import base64
import io
import json
import os
import struct
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from PIL import Image

from opendesign.cases.benchmark import load_benchmark, load_card, load_protocol, protocols
from opendesign.cases.pandasplotbench import COLUMNS, REVISION, import_pandasplotbench
from opendesign.cases.plots import compose
from opendesign.cli import cli
from opendesign.errors import UsageError
from opendesign.judging.cards import load_card as load_judge
from opendesign.types import LIBRARIES

INSTRUCTS = {
    "system_prompt": "You plot.",
    "setup_instruct": "Draw with [PLOTLIB], really [PLOTLIB].",
    "plot_instruct": "Write code.\nNothing else.",
    "data_instruct": "The data is this:\n",
    "judge_instruct_vis": "Compare.",
    "judge_instruct_task": "Check.",
}


def png(size: int = 4) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (size, size), (size, 0, 0)).save(out, "PNG")
    return out.getvalue()


def row(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "code_plot": f"import matplotlib.pyplot as plt\nplt.plot(df['x'])  # {number}\nplt.show()\n",
        "code_data": "import pandas as pd\ndf = pd.read_csv('data.csv')\n",
        "data_csv": f"x,y\n1,{number}\n2,3\n",
        "task__plot_description": f"Plot Description: draw x as a line, number {number}.",
        "task__plot_style": "Plot Style: blue.",
        "plots_gt": [base64.encodebytes(png()).decode()],
        "_task__plot_description_short": "Draw x.",
        "_task__plot_description_short_single": "Draw.",
        **changes,
    }


def rows(count: int, **changes: Any) -> list[dict[str, Any]]:
    """As many rows, of which the importer has to run one reference only."""
    return [
        row(number, code_plot=row(0)["code_plot"], data_csv="x\n1\n3\n", **changes) for number in range(count)
    ]


def write(file: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_published_set_becomes_three_tasks_a_row(here: Path) -> None:
    made = import_pandasplotbench(write(here / "test.parquet", [row(n) for n in range(175)]))
    assert made.warnings == ()
    benchmark = load_benchmark("pandasplotbench")
    assert Counter(case.category for case in benchmark.cases) == dict.fromkeys(LIBRARIES, 175)
    assert (benchmark.title, benchmark.kind) == ("PandasPlotBench", "plots")
    case = next(case for case in benchmark.cases if case.id == "seaborn-007")
    assert case.task is not None
    given = row(7)
    assert (case.task.setup, case.task.reference) == (given["code_data"], given["code_plot"])
    assert (case.task.description, case.task.style) == (
        given["task__plot_description"],
        given["task__plot_style"],
    )
    assert case.task.data.read_text() == given["data_csv"]
    assert case.task.truth.read_bytes() == png()
    protocol = load_protocol("pandasplotbench", "standard")
    assert protocol == load_protocol("plots-mini", "standard")
    assert protocol.plots is not None
    assert "Draw with seaborn" in compose(case, protocol.plots).prompt


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (rows(178), "178 rows instead of 175"),
        (rows(175, __index_level_0__=1), "unknown columns __index_level_0__"),
        (
            [{key: value for key, value in one.items() if key != COLUMNS[-1]} for one in rows(175)],
            f"without the columns {COLUMNS[-1]}",
        ),
    ],
)
def test_another_set_is_named_in_a_warning_and_in_every_result(
    given: list[dict[str, Any]], says: str, here: Path
) -> None:
    made = import_pandasplotbench(write(here / "test.parquet", given))
    assert made.warnings == (f"Not as published: {says}.",)
    benchmark, card = load_benchmark("pandasplotbench"), load_card("pandasplotbench")
    assert says in benchmark.title
    assert says in str(card.source["note"])
    assert benchmark.version.endswith("-unverified")
    assert card.source["verified"] is False


@pytest.mark.parametrize(
    "plots",
    [
        pytest.param(
            [base64.b64encode(png(3)).decode(), base64.b64encode(png(5)).decode()], id="the first of several"
        ),
        pytest.param(base64.b64encode(png(3)).decode(), id="one, not in a list"),
        pytest.param([png(3)], id="bytes"),
        pytest.param([{"bytes": png(3), "path": None}], id="a column of images"),
    ],
)
def test_pictures_come_in_several_forms(plots: Any, here: Path) -> None:
    import_pandasplotbench(write(here / "test.parquet", [row(0, plots_gt=plots)]))
    task = load_benchmark("pandasplotbench").cases[0].task
    assert task is not None
    assert task.truth.read_bytes() == png(3)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"plots_gt": ["!!"]}, "Row 0 .* is not base64"),
        ({"plots_gt": [base64.b64encode(b"GIF89a").decode()]}, "not a sound PNG"),
        ({"plots_gt": [base64.b64encode(png(40)[:60]).decode()]}, "not a sound PNG"),
        ({"plots_gt": pa.scalar([], pa.list_(pa.string())).as_py()}, "holds no picture"),
        ({"plots_gt": None}, "holds no picture"),
        ({"plots_gt": 7}, "holds no picture"),
        ({"id": -1}, "'id' is -1"),
        ({"id": "one"}, "'id' is 'one'"),
        ({"id": "x" * 5000}, "'id' is 'x{39}, but"),
        ({"id": True}, "'id' is True"),
        ({"data_csv": ""}, "'data_csv' is empty or no text"),
        ({"code_plot": None}, "'code_plot' is empty or no text"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(changes: dict[str, Any], says: str, here: Path) -> None:
    file = write(here / "test.parquet", [row(0, **changes)])
    with pytest.raises(UsageError, match=says):
        import_pandasplotbench(file)
    assert not (here / "benchmarks").exists()


def test_what_is_not_used_is_not_read(here: Path) -> None:
    table = pa.Table.from_pylist([row(0)])
    far = table.append_column("when", pa.array([2**62], pa.timestamp("us")))
    pq.write_table(far, here / "far.parquet")
    assert "unknown columns when" in import_pandasplotbench(here / "far.parquet").warnings[1]

    text = pa.StringArray.from_buffers(1, pa.py_buffer(struct.pack("<2i", 0, 2)), pa.py_buffer(b"\xff\xfe"))
    at = COLUMNS.index("task__plot_style")
    pq.write_table(table.set_column(at, COLUMNS[at], text), here / "bytes.parquet")
    with pytest.raises(UsageError, match=r"bytes\.parquet cannot be read as a parquet file: 'utf-8' codec"):
        import_pandasplotbench(here / "bytes.parquet", force=True)


def test_what_is_not_the_published_file_is_refused(here: Path) -> None:
    (here / "text.parquet").write_text("not parquet", encoding="utf-8")
    with pytest.raises(UsageError, match=r"text\.parquet cannot be read as a parquet file"):
        import_pandasplotbench(here / "text.parquet")
    other = write(here / "other.parquet", [{"id": 1, "code_plot": "x"}])
    with pytest.raises(UsageError, match="lacks the columns code_data, data_csv"):
        import_pandasplotbench(other)
    with pytest.raises(UsageError, match="two rows with the id 3"):
        import_pandasplotbench(write(here / "twice.parquet", [row(3), row(3)]))
    good = write(here / "test.parquet", [row(0)])
    import_pandasplotbench(good)
    with pytest.raises(UsageError, match="exists already"):
        import_pandasplotbench(good)
    import_pandasplotbench(good, force=True)


def test_released_words_become_a_protocol_of_their_own(here: Path) -> None:
    words = here / "instructs.json"
    words.write_text(json.dumps(INSTRUCTS), encoding="utf-8")
    import_pandasplotbench(write(here / "test.parquet", [row(0)]), instructs=words)
    assert protocols("pandasplotbench") == ("released", "standard")
    released = load_protocol("pandasplotbench", "released")
    assert released.generation.system == {"": "You plot."}
    assert released.generation.temperature == 0
    assert released.plots is not None
    asked = {
        case.category: compose(case, released.plots).prompt
        for case in load_benchmark("pandasplotbench").cases
    }
    assert asked["seaborn"].startswith(
        "Write code.\nNothing else.\n1. Draw with seaborn, really seaborn.\n2. The data is this:\n2 rows and"
    )
    assert asked["seaborn"].endswith("3. Plot Description: draw x as a line, number 0.\n4. Plot Style: blue.")
    assert "not seaborn" in asked["matplotlib"]
    assert "nothing of matplotlib" in asked["plotly"]
    assert released.cards == {"plot-visual": "plot-visual-released", "plot-task": "plot-task-released"}
    visual, task = (load_judge(name) for name in released.cards.values())
    assert (visual.files["user.md"], visual.files["system.md"]) == ("Compare.", "You plot.")
    assert "{{description}}" in task.files["user.md"]
    assert "repair.md" not in task.files
    words.write_text(json.dumps({**INSTRUCTS, "plot_instruct": None}), encoding="utf-8")
    with pytest.raises(UsageError, match=r"instructs\.json: 'plot_instruct' is null"):
        import_pandasplotbench(here / "test.parquet", instructs=words, force=True)
    words.write_text('{"system_prompt": "x"}', encoding="utf-8")
    with pytest.raises(UsageError, match="the field 'setup_instruct' is missing"):
        import_pandasplotbench(here / "test.parquet", instructs=words, force=True)
    words.write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match="it holds no object"):
        import_pandasplotbench(here / "test.parquet", instructs=words, force=True)


class _Hub(BaseHTTPRequestHandler):
    """As much of the hub as serves one file at one revision."""

    data = b""

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        found = self.path == (
            f"/datasets/JetBrains-Research/PandasPlotBench/resolve/{REVISION}/data/test-00000-of-00001.parquet"
        )
        self.send_response(200 if found else 404)
        body = self.data if found else b""
        for name, value in (
            ("Content-Length", str(len(body))),
            ("X-Repo-Commit", REVISION),
            ("ETag", '"0123"'),
            *(() if found else (("X-Error-Code", "RevisionNotFound"), ("X-Error-Message", "Invalid rev id"))),
        ):
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def test_a_setup_that_fails_at_length_is_told_in_short(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(cases: object) -> None:
        raise UsageError(f"The setup of the case fails (ValueError: {'x' * 5000}).")

    monkeypatch.setattr("opendesign.running.references.add_facts", fail)
    file = write(here / "test.parquet", [row(0)])
    told = CliRunner().invoke(cli, ["cases", "import", "pandasplotbench", str(file)]).stderr
    assert "were not run, so 'plot-computed' cannot score here. The setup of the case fails (Value" in told
    assert len(told) < 400


@pytest.fixture
def hub(here: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """The command ``cases import pandasplotbench`` with more arguments, where the hub is ours."""
    _Hub.data = write(here / "hub.parquet", rows(178)).read_bytes()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_HUB_OFFLINE": "0",  # which tests of training switch on for themselves
        "HF_HOME": str(here / "hub"),
    }
    command = [sys.executable, "-m", "opendesign", "cases", "import", "pandasplotbench"]
    yield lambda *more: subprocess.run(
        [*command, *more], env=environment, capture_output=True, text=True, check=False
    )
    server.shutdown()
    server.server_close()


def test_the_hub_is_asked_for_the_pinned_revision(
    hub: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = hub()
    assert done.returncode == 0, done.stderr
    assert "534 cases are in" in done.stdout
    assert "Warning: Not as published: 178 rows instead of 175." in done.stderr
    assert REVISION in str(load_card("pandasplotbench").source["origin"])
    facts = [case.task and case.task.facts for case in load_benchmark("pandasplotbench").cases]
    assert all(facts) or "references were not run" in done.stderr  # where nothing isolates them


def test_a_revision_that_is_not_there_is_said_in_one_sentence(
    hub: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = hub("--revision", "f" * 40)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "Error: JetBrains-Research/PandasPlotBench cannot be fetched at revision fff"
    )
    assert "Traceback" not in done.stderr
