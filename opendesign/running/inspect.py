"""One case of a stored run in full: where its page and picture are, and what every judge said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from opendesign.errors import UnknownName
from opendesign.running.store import Store


def case_in_full(folder: Path, case: str) -> dict[str, Any]:
    """Prompt, requirements and, for each sample, files, failure and verdicts. Raises ``UnknownName``."""
    store = Store(folder)
    manifest = store.manifest()
    known = {stored["id"]: stored for stored in manifest["cases"]}
    if case not in known:
        raise UnknownName("case in this run", case, known)
    samples = [_sample(store, case, sample) for sample in range(manifest["samples"])]
    return {**known[case], "samples": samples}


def _sample(store: Store, case: str, sample: int) -> dict[str, Any]:
    key = (case, sample)
    answer = store.records("answers.jsonl").get(key)
    artifact = store.records("artifacts.jsonl").get(key)
    files = artifact["value"] if artifact else {}
    failure = (answer or {}).get("value", {}).get("failure") or files.get("failure")
    verdicts = {}
    for judge in store.judges():
        record = store.records(f"verdicts-{judge}.jsonl").get(key)
        if record:
            value = record["value"]
            failed = value.get("failure")
            reasons = [*value["reasons"], *([f"{failed['reason']}: {failed['detail']}"] if failed else [])]
            verdicts[judge] = {"scores": value["scores"], "reasons": list(dict.fromkeys(reasons))}
    return {
        "sample": sample,
        "failure": f"{failure['reason']}: {failure['detail']}" if failure else None,
        "page": _path(store, files.get("document")),
        "picture": _path(store, files.get("picture")),
        "facts": _path(store, files.get("facts")),
        "verdicts": verdicts,
    }


def _path(store: Store, name: str | None) -> str | None:
    return str(store.blobs.named(name).path) if name else None
