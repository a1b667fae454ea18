"""What a page or a plot left behind, put among the blobs: the artifact that records name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from opendesign.types import Answer, Artifact, Blob, Case

if TYPE_CHECKING:
    from opendesign.plotting import Plot
    from opendesign.rendering import Rendering
    from opendesign.running.blobs import Blobs

__all__ = ["keep_page", "keep_plot", "keep_tasks", "source_of", "task_of"]


def source_of(document: str, case: Case, blobs: Blobs) -> Blob:
    """The page or code itself, as a blob."""
    return _text(document, "html" if case.task is None else "py", blobs)


def keep_tasks(cases: Iterable[Case], blobs: Blobs) -> None:
    """Put what plots are made of and held against beside the run, so that it needs its benchmark no more."""
    for case in cases:
        if case.task is not None:
            for blob in (case.task.data, case.task.truth, case.task.facts):
                if blob is not None:
                    blobs.put(blob.read_bytes(), blob.suffix)


def task_of(stored: Mapping[str, Any], blobs: Blobs) -> dict[str, Any]:
    """A stored task with its blobs, which a manifest only names."""
    names = {name: stored.get(name) for name in ("data", "truth", "facts")}
    return {**stored, **{name: blobs.named(blob) for name, blob in names.items() if blob is not None}}


def keep_page(answer: Answer, document: str, rendering: Rendering, engine: str, blobs: Blobs) -> Artifact:
    """The artifact of a rendering, its page, pictures and facts put among the blobs."""
    return Artifact(
        case=answer.case,
        sample=answer.sample,
        document=_text(document, "html", blobs),
        picture=_optional(rendering.picture, "png", blobs),
        thumbnail=_optional(rendering.thumbnail, "webp", blobs),
        facts=_text(rendering.facts.to_json(), "json", blobs) if rendering.facts else None,
        engine=engine,
        width=rendering.width,
        height=rendering.height,
        truncated=rendering.truncated,
        requests=rendering.requests,
        resources=rendering.resources,
        failure=rendering.failure,
        varies=rendering.varies,
    )


def keep_plot(answer: Answer, code: str, plot: Plot, engine: str, blobs: Blobs) -> Artifact:
    """The artifact of a plot, its code, picture and facts put among the blobs."""
    return Artifact(
        case=answer.case,
        sample=answer.sample,
        document=_text(code, "py", blobs),
        picture=_optional(plot.picture, "png", blobs),
        thumbnail=_optional(plot.thumbnail, "webp", blobs),
        facts=_text(plot.facts.to_json(), "json", blobs) if plot.facts else None,
        engine=engine,
        width=plot.width,
        height=plot.height,
        failure=plot.failure,
        varies=plot.varies,
    )


def _text(text: str, suffix: str, blobs: Blobs) -> Blob:
    return blobs.put(text.encode("utf-8", "replace"), suffix)


def _optional(data: bytes | None, suffix: str, blobs: Blobs) -> Blob | None:
    return blobs.put(data, suffix) if data is not None else None
