"""The small part of a run, made to be kept in git and shown by the leaderboard.

    results/<run>/run.json            the manifest, without this machine's name and times
    results/<run>/answers.jsonl …     the last record of each case and step, without texts and bulk
    results/<run>/summary.json        what ``runs show --json`` prints
    results/<run>/pictures/<sha>.webp thumbnails of the cases of the benchmark's ``lite`` split

A published run reads like any other (``runs show``, ``runs compare``, studies): what is left out are answers'
texts, long evidence, pages and full pictures. ``--pictures all`` puts those pictures into an archive.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opendesign.canonical import digest, plain, to_json
from opendesign.errors import OpenDesignError, StoreError, UsageError
from opendesign.running.blobs import cannot_write
from opendesign.running.journal import SCHEMA
from opendesign.running.store import Store
from opendesign.running.summary import summarize
from opendesign.types import Usage

__all__ = ["PICTURES", "RESULTS", "Published", "publish"]

RESULTS = Path("results")
PICTURES = "pictures"
SPLIT = "lite"
_EVIDENCE = 300  # characters of one piece of evidence, beyond which it is bulk
_WHOLE = {"steps": 6_000, "replies": 4_000}  # but for traces, which the site shows, and replies, for studies
_STEP = ("did", "worked", "why", "word", "word_why", "measured", "measured_why", "point", "before", "after")
_DETAIL = 2_000  # characters of one reason or failure
_NEEDED = ("case", "sample", "judge", "scores", "failure", "text")  # of a value, even where empty
_FRAME_WIDTH, _FRAME_BYTES = 400, 10_000
_VARIES = ("at", "seconds", "attempts")  # of a record; the machine's name is nobody's business


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What was written. ``missing`` counts cases of the split that have no picture."""

    folder: Path
    records: int
    pictures: int
    missing: int
    bytes: int
    archive: Path | None
    archived: int

    def to_dict(self) -> dict[str, Any]:
        return dict(plain(self))


def publish(run: Path, results: Path = RESULTS, *, archive: Path | None = None) -> Published:
    """Copy the small part of a stored run to ``results/<run's name>``, in place of what was there.

    ``archive`` names a zip file for the full pictures of every case. Raises ``StoreError`` where the run
    cannot be read, ``UsageError`` where it is published already or nothing of it is done.
    """
    store = Store(run)
    manifest = store.manifest()
    if run.resolve().parent == results.resolve():
        raise UsageError(f"{run} is the published part of a run already: name the run itself.")
    if not store.records("answers.jsonl") and not store.records("artifacts.jsonl"):
        raise UsageError(f"{run} has no answer yet: `opendesign run` does it, then publish.")
    folder = results / run.resolve().name
    unfinished = results / f".{folder.name}.part"
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        (unfinished / PICTURES).mkdir(parents=True)
        counts = _write(store, manifest, unfinished)
        summary = {**summarize(store).to_dict(), "run": folder.name}
        _text(unfinished / "summary.json", json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.replace(folder)
        archived = _archive(store, archive) if archive else 0
    except OSError as error:
        raise StoreError(cannot_write(Path(error.filename or folder), error)) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return Published(
        folder=folder,
        **counts,
        bytes=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        archive=archive,
        archived=archived,
    )


def _write(store: Store, manifest: dict[str, Any], folder: Path) -> dict[str, int]:
    chosen = _pictured(manifest)
    kept = _without_machine(manifest)
    kept["cases"] = [_with_truth(store, case, folder / PICTURES) for case in manifest["cases"]]
    _text(folder / "run.json", json.dumps(kept, ensure_ascii=False) + "\n")
    files = ["answers.jsonl", "artifacts.jsonl", *(f"verdicts-{judge}.jsonl" for judge in store.judges())]
    files += sorted(path.name for path in store.folder.glob("*-repair-*.jsonl"))
    records = pictures = 0
    shown: set[str] = set()
    for file in files:
        lines = []
        for key, record in sorted(store.records(file).items()):
            slim = _slim(record)
            if key[0] in chosen:
                names = _pictures(store, record, slim, folder / PICTURES)
                pictures += names
                if names and file == "artifacts.jsonl":
                    shown.add(key[0])
            lines.append(to_json({**slim, "v": SCHEMA}))
        records += len(lines)
        _text(folder / file, "".join(f"{line}\n" for line in lines))
    return {"records": records, "pictures": pictures, "missing": len(chosen - shown)}


def _pictured(manifest: Mapping[str, Any]) -> set[str]:
    """Cases whose thumbnails are published: the ``lite`` split; without one, all of a small run."""
    from opendesign.cases.benchmark import load_benchmark

    cases = [case["id"] for case in manifest["cases"]]
    try:
        splits = load_benchmark(manifest["benchmark"]["name"]).splits
    except OpenDesignError:
        splits = {}  # pages scored without a benchmark, or one that is not installed here
    return set(cases) & set(splits[SPLIT]) if SPLIT in splits else set(cases[:100])


def _without_machine(manifest: Mapping[str, Any]) -> dict[str, Any]:
    varies = {k: v for k, v in dict(manifest.get("varies") or {}).items() if k in ("started", "python")}
    return {**_without_addresses(manifest), "varies": varies}


def _without_addresses(value: Any) -> Any:
    """The same without servers' addresses, which may be of a house: equal ones still read as equal."""
    if isinstance(value, list):
        return [_without_addresses(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: f"a server of one's own ({digest(item)[:8]})"
        if key == "base_url" and isinstance(item, str)
        else _without_addresses(item)
        for key, item in value.items()
    }


def _with_truth(store: Store, case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A case about a plot with a small picture of what answers are held against."""
    task = case.get("task")
    data = _read(store, task["truth"]) if task else None
    frame = _frame(data) if data else None
    if task is None or frame is None:
        return case
    name = f"{digest(frame)}.webp"
    (folder / name).write_bytes(frame)
    return {**case, "task": {**task, "shown": name}}


def _slim(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without what is bulky. What is left out reads as empty: the value's own default."""
    value = dict(record["value"])
    step = record["step"].partition("-")[0]  # "answer-repair-1" is an answer too
    if step == "answer":
        value |= {"text": "", "reasoning": "", "document": None}
    elif step == "artifact":
        value |= {"resources": {}, "facts": None}
    else:
        value["reasons"] = [str(reason)[:_DETAIL] for reason in value.get("reasons", ())]
        value["evidence"] = _evidence(value.get("evidence") or {})
    if value.get("failure"):
        failure = value["failure"]
        value["failure"] = {**failure, "detail": str(failure.get("detail", ""))[:_DETAIL]}
    if value.get("usage") == plain(Usage()):
        del value["usage"]
    return {
        **record,
        "value": {k: v for k, v in value.items() if v or k in _NEEDED},
        "varies": {k: v for k, v in record["varies"].items() if k in _VARIES},
    }


def _evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in evidence.items() if k != "files"}
    steps = kept.get("steps")
    if isinstance(steps, list):
        kept["steps"] = [{k: s[k] for k in _STEP if k in s} for s in steps if isinstance(s, dict)]
    return {k: v for k, v in kept.items() if len(to_json(v)) <= _WHOLE.get(k, _EVIDENCE)}


def _pictures(store: Store, record: Mapping[str, Any], slim: dict[str, Any], folder: Path) -> int:
    """Copy the pictures of a record that are there; how many. ``slim`` names those of a verdict."""
    value, written = record["value"], 0
    if record["step"] == "artifact" and value.get("thumbnail"):
        data = _read(store, value["thumbnail"])
        if data:
            (folder / value["thumbnail"]).write_bytes(data)
            written += 1
    files = (value.get("evidence") or {}).get("files") or {}
    frames = {}
    for name, blob in sorted(files.items()) if record["step"].startswith("verdict-") else ():
        data = _read(store, blob)
        if data and (frame := _frame(data)):
            frames[name] = f"{digest(frame)}.webp"
            (folder / frames[name]).write_bytes(frame)
            written += 1
    if frames:
        slim["value"].setdefault("evidence", {})["files"] = frames
    return written


def _read(store: Store, name: str) -> bytes | None:
    try:
        return store.blobs.named(name).read_bytes()
    except StoreError:
        return None  # gone: the site marks a picture that was not published


def _frame(data: bytes) -> bytes | None:
    """A picture of a judge's trace as a small WebP; None for a file that is no picture."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as opened:
            image = opened.convert("RGB")
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError):
        return None
    height = max(1, round(image.height * _FRAME_WIDTH / image.width))
    image = image.resize((_FRAME_WIDTH, min(height, 4 * _FRAME_WIDTH)), Image.Resampling.BICUBIC)
    for quality in (60, 40, 20, 5, 0):
        out = io.BytesIO()
        image.save(out, "WEBP", quality=quality, method=4)
        if out.tell() <= _FRAME_BYTES:
            break
    return out.getvalue()


def _archive(store: Store, path: Path) -> int:
    """Full pictures of every case as ``<case>-<sample>.png``; how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")
    count = 0
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_STORED) as archive:
            for name, data in _full(store):
                # One time for all: equal pictures make equal archives.
                archive.writestr(zipfile.ZipInfo(name), data)
                count += 1
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def _full(store: Store) -> Iterator[tuple[str, bytes]]:
    for (case, sample), record in sorted(store.records("artifacts.jsonl").items()):
        name = record["value"].get("picture")
        data = _read(store, name) if name else None
        if data:
            safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in case)[:100]
            yield f"{safe}-{sample}.{name.rpartition('.')[2]}", data


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
