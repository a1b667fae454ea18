"""PandasPlotBench as a local benchmark: its published tasks, asked for with each of three libraries.

Galimzyanov et al., *Drawing Pandas: A Benchmark for LLMs in Generating Plotting Code* (arXiv 2412.02764).
Read from the hub at a pinned revision, or from a parquet file. Rows or columns that are not those of that
revision are taken all the same, and named: in a warning, in version and title, and so in every result.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opendesign import content
from opendesign.canonical import digest, to_json
from opendesign.cases.plots import PlotLine
from opendesign.cases.reading import decode, read_text, shown
from opendesign.cases.writing import new_folder
from opendesign.errors import UsageError
from opendesign.types import LIBRARIES, Library

NAME = "pandasplotbench"
REPOSITORY = "JetBrains-Research/PandasPlotBench"
REVISION = "ece1d516f280755f4f1d53b2c07f719c633b175c"
FILE = "data/test-00000-of-00001.parquet"
ROWS = 175
COLUMNS = (
    *("id", "code_plot", "code_data", "data_csv", "task__plot_description", "task__plot_style", "plots_gt"),
    *("_task__plot_description_short", "_task__plot_description_short_single"),
)
_UNUSED = COLUMNS[-2:]
_SHARED = "plots-mini"  # whose protocols it is run under
_MOST_PIXELS = 25_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Where the benchmark is, and what a person must know of it: one sentence each."""

    folder: Path
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One row: ``number`` names its files."""

    number: str
    description: str
    style: str
    setup: str
    reference: str
    data: str
    truth: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instructs:
    """A released instructs.json. The system prompt is that of models and judges alike."""

    system_prompt: str
    setup_instruct: str
    data_instruct: str
    plot_instruct: str
    judge_instruct_vis: str
    judge_instruct_task: str


def import_pandasplotbench(
    path: Path | None = None,
    destination: Path | None = None,
    *,
    revision: str = REVISION,
    instructs: Path | None = None,
    force: bool = False,
) -> Imported:
    """Write the benchmark ``pandasplotbench`` from a parquet file, or from the hub where ``path`` is None.

    ``destination`` is the folder that holds benchmarks, ``./benchmarks`` when it is None. ``instructs`` is a
    copy of the released instructs.json: its words become the protocol ``released``, and two judge cards in
    the folder ``judges`` beside ``destination``. Existing folders are replaced only with ``force``. Raises
    ``UsageError`` for a file that is something else, or cannot be fetched.
    """
    file = path or _from_hub(revision)
    columns, rows = _read(file)
    differences = _differences(columns, len(rows), revision if path is None else REVISION)
    tasks = [_task(row, number) for number, row in enumerate(rows)]
    twice = [number for number, count in Counter(task.number for task in tasks).items() if count > 1]
    if twice:
        raise UsageError(
            f"{shown(file)} has two rows with the id {int(twice[0])}; it is not the published one."
        )
    words = _read_instructs(instructs) if instructs else None
    folder = (destination or Path.cwd() / "benchmarks") / NAME
    with new_folder(folder, force=force) as new:
        _write_tasks(new, tasks)
        origin = f"dataset {REPOSITORY}, revision {revision}" if path is None else f"a file named {path.name}"
        card = _card(digest(file.read_bytes()), origin, len(tasks), differences)
        (new / "benchmark.toml").write_text(card, encoding="utf-8")
        if words:
            _write_released(new, words)
            _write_judges(folder.parent.parent / "judges", words, force)
    return Imported(folder=folder, warnings=tuple(f"Not as published: {text}." for text in differences))


def _from_hub(revision: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        advice = "install it with: pip install 'opendesign[plots]', or name a parquet file"
        raise UsageError(f"huggingface_hub is not installed; {advice}.") from error
    try:
        return Path(hf_hub_download(REPOSITORY, FILE, repo_type="dataset", revision=revision))
    except Exception as error:  # what that client raises differs between its versions and HTTP libraries
        said = str(error).strip().partition("\n")[0].rstrip(".:") or type(error).__name__
        raise UsageError(
            f"{REPOSITORY} cannot be fetched at revision {revision}: {said}. "
            f"Fetch {FILE} by other means, and name that file."
        ) from error


def _read(file: Path) -> tuple[list[str], list[dict[str, Any]]]:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(
            "pyarrow is not installed; install it with: pip install 'opendesign[plots]'."
        ) from error
    try:
        with pyarrow.parquet.ParquetFile(file) as parquet:
            names: list[str] = parquet.schema_arrow.names
            used = [name for name in COLUMNS if name in names and name not in _UNUSED]
            rows: list[dict[str, Any]] = parquet.read(columns=used).to_pylist()
    except (OSError, ValueError, OverflowError, pyarrow.ArrowException) as error:  # of bytes, of dates
        said = str(error).partition("\n")[0].rstrip(".")
        raise UsageError(f"{shown(file)} cannot be read as a parquet file: {said}.") from error
    missing = [name for name in COLUMNS if name not in names and name not in _UNUSED]
    if missing or not rows:
        lacks = f"the columns {', '.join(missing)}" if missing else "rows"
        raise UsageError(f"{shown(file)} lacks {lacks}; it is not the data of {REPOSITORY}.")
    return names, rows


def _differences(columns: Sequence[str], rows: int, revision: str) -> list[str]:
    """What is not as in the pinned revision, as phrases."""
    found = []
    if revision != REVISION:
        found.append(f"revision {revision} instead of {REVISION}")
    if rows != ROWS:
        found.append(f"{rows} rows instead of {ROWS}")
    if more := [name for name in columns if name not in COLUMNS]:
        found.append(f"unknown columns {', '.join(more)}")
    if less := [name for name in COLUMNS if name not in columns]:
        found.append(f"without the columns {', '.join(less)}")
    return found


def _task(row: Mapping[str, Any], place: int) -> _Task:
    where = f"Row {place} of {NAME}"
    number = row["id"]
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise UsageError(f"{where}: 'id' is {repr(number)[:40]}, but it is a whole number of 0 or above.")
    texts = {name: row[name] for name in COLUMNS[1:6]}
    for name, text in texts.items():
        if text is None and name == "task__plot_style":
            texts[name] = ""
        elif not isinstance(text, str) or not (text.strip() or name == "task__plot_style"):
            raise UsageError(f"{where}: '{name}' is empty or no text.")
    return _Task(
        number=f"{number:03d}",
        description=texts["task__plot_description"],
        style=texts["task__plot_style"],
        setup=texts["code_data"],
        reference=texts["code_plot"],
        data=texts["data_csv"],
        truth=_picture(row["plots_gt"], where),
    )


def _picture(value: Any, where: str) -> bytes:
    """The ground truth as PNG: the first of a list, as the released judge takes it, or the only one.

    A picture is base64 as published, bytes, or what the hub makes of a column of images.
    """
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, dict):
        first = first.get("bytes")
    if isinstance(first, str):
        try:
            first = base64.b64decode("".join(first.split()), validate=True)
        except (binascii.Error, ValueError) as error:
            raise UsageError(f"{where}: the picture in 'plots_gt' is not base64.") from error
    if not isinstance(first, bytes):
        raise UsageError(f"{where}: 'plots_gt' holds no picture.")
    from PIL import Image

    try:
        with Image.open(io.BytesIO(first), formats=("PNG",)) as picture:
            too_large = picture.width * picture.height > _MOST_PIXELS
            if not too_large:
                picture.load()
    except (
        OSError,
        ValueError,
        SyntaxError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ) as error:
        raise UsageError(f"{where}: the picture in 'plots_gt' is not a sound PNG.") from error
    if too_large:
        raise UsageError(f"{where}: the picture in 'plots_gt' has more than {_MOST_PIXELS:,} pixels.")
    return first


def _write_tasks(folder: Path, tasks: Sequence[_Task]) -> None:
    for name in ("cases", "data", "reference", "truth"):
        (folder / name).mkdir()
    for task in tasks:
        (folder / "data" / f"{task.number}.csv").write_text(task.data, encoding="utf-8", newline="")
        (folder / "reference" / f"{task.number}.py").write_text(task.reference, encoding="utf-8", newline="")
        (folder / "truth" / f"{task.number}.png").write_bytes(task.truth)
    for library in LIBRARIES:
        lines = "".join(f"{to_json(_line(task, library))}\n" for task in tasks)
        (folder / "cases" / f"{library}.jsonl").write_text(lines, encoding="utf-8")


def _line(task: _Task, library: Library) -> PlotLine:
    return PlotLine(
        id=f"{library}-{task.number}",
        library=library,
        chart="unclassified",
        description=task.description,
        style=task.style,
        setup=task.setup,
        data=f"data/{task.number}.csv",
        reference=f"reference/{task.number}.py",
        truth=f"truth/{task.number}.png",
    )


def _card(checksum: str, origin: str, count: int, differences: Sequence[str]) -> str:
    """Text of the benchmark.toml. A TOML string may be written as JSON writes it."""
    text = {
        "version": checksum[:12] + ("-unverified" if differences else ""),
        "title": " ".join(["PandasPlotBench", *([f"({'; '.join(differences)})"] if differences else [])]),
        "origin": origin,
        "note": f"Not as published: {'; '.join(differences)}."
        if differences
        else f"{ROWS} rows, as published.",
    }
    text = {key: json.dumps(value, ensure_ascii=False) for key, value in text.items()}
    counts = "".join(f"{library} = {count}\n" for library in LIBRARIES)
    return f"""name = "{NAME}"
version = {text["version"]}
title = {text["title"]}
about = "The published tasks, each asked for with every library; ground truth and reference are matplotlib's."
kind = "plots"
protocols = "{_SHARED}"
protocol = "standard"
imported = true
requirements = false

[source]
origin = {text["origin"]}
sha256 = "{checksum}"
verified = {"false" if differences else "true"}
note = {text["note"]}
licence = "Apache-2.0; tasks made from the gallery of Matplotlib, under its own licence"

[counts]
{counts}"""


def _read_instructs(file: Path) -> _Instructs:
    try:
        given = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown(file)} is not valid JSON: {error}.") from error
    if not isinstance(given, dict):
        raise UsageError(f"{shown(file)} is not a released instructs.json: it holds no object.")
    used = {key: value for key, value in given.items() if key in _Instructs.__dataclass_fields__}
    return decode(_Instructs, used, lambda _: shown(file))


# The released code adds a sentence of its own for a library; this is what it says, in our words.
_ONLY: dict[Library, str] = {
    "matplotlib": " Use matplotlib itself, not seaborn.",
    "seaborn": "",
    "plotly": " Use plotly and nothing of matplotlib.",
}


def _write_released(folder: Path, words: _Instructs) -> None:
    """The protocol ``released``, beside copies of the shared ones: a folder of protocols hides those."""
    shared = content.find("benchmarks", _SHARED)
    for name in ("protocols", "prompts"):
        shutil.copytree(shared / name, folder / name)
    (folder / "prompts" / "released-system.md").write_text(words.system_prompt, encoding="utf-8")
    for library in LIBRARIES:
        setup = words.setup_instruct.replace("[PLOTLIB]", library) + _ONLY[library]
        parts = (setup, words.data_instruct + "\n{{data}}", "{{description}}", "{{style}}")
        numbered = (f"{number}. {part.lstrip()}" for number, part in enumerate(parts, start=1))
        prompt = "\n".join([words.plot_instruct, *numbered]).replace("\n\n", "\n")
        (folder / "prompts" / f"released-{library}.md").write_text(prompt, encoding="utf-8")
    files = "".join(f'{library} = "released-{library}.md"\n' for library in LIBRARIES)
    (folder / "protocols" / "released.toml").write_text(_RELEASED + files, encoding="utf-8")


def _write_judges(folder: Path, words: _Instructs, force: bool) -> None:
    """The two judges with the released wording; as there, none is asked again for a reply of no use."""
    asked = {
        "plot-visual": words.judge_instruct_vis,
        "plot-task": words.judge_instruct_task + "\n[PLOT TASK]:\n{{description}}\n{{style}}",
    }
    for judge, question in asked.items():
        ours = read_text(content.find("judges", judge) / "judge.toml")
        card = re.sub(r'(?m)^name = ".*"$', f'name = "{judge}-released"', ours, count=1)
        with new_folder(folder / f"{judge}-released", force=force) as new:
            (new / "judge.toml").write_text(card, encoding="utf-8")
            (new / "system.md").write_text(words.system_prompt, encoding="utf-8")
            (new / "user.md").write_text(question, encoding="utf-8")


_RELEASED = """name = "released"
version = "1"
about = "The released wording in the published order of parts; only the sentence for a library is ours."
judges = ["plot-visual", "plot-task"]

[stand_ins]
plot-visual = "plot-computed"
plot-task = "plot-computed"

[cards]
plot-visual = "plot-visual-released"
plot-task = "plot-task-released"

[generation]
temperature = 0.0

[generation.system]
"" = "released-system.md"

[plots]
data = "head"
cpu_s = 15.0
deadline_s = 90.0

[plots.instructions]
"""
