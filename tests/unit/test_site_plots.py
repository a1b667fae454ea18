"""Plots on the site: a table of their own, beside pages in a column, and held against their ground truth."""

import json
from pathlib import Path
from typing import Any

import pytest

from opendesign.canonical import digest, hash_of, to_json
from opendesign.running.summary import summarize
from opendesign.site import build_site
from opendesign.site.ranking import groups_of
from opendesign.site.reading import read_entry
from opendesign.types import LIBRARIES
from tests.unit.site_support import _manifest, cases, measure, pictures, publish_made_up
from tests.unit.test_site import rows

TRUTH = pictures(1, first=70)[0]
JUDGES = {
    "plot-visual": {
        "model": "openai/judge",
        "measures": {"score": measure(100, headline=True), "good": measure(1, kind="rate")},
    },
    "plot-task": {"model": "openai/judge", "measures": {"score": measure(100, headline=True)}},
}


def publish_plots(results: Path, model: str, score: float, failed: int) -> Path:
    """A run of twelve plots whose first ``failed`` answers did not run, the others with this score."""
    asked = [
        {
            **{"id": f"{LIBRARIES[at % 3]}-{at:03}", "category": LIBRARIES[at % 3], "difficulty": "easy"},
            **{"prompt": "All of the instructions", "topic": "line", "language": "en", "tags": []},
            **{"requirements": [], "task": {"library": LIBRARIES[at % 3], "chart": "line"}},
        }
        for at in range(12)
    ]
    for case in asked:
        case["task"] |= {"description": "Draw <b>rain</b>.", "shown": f"{digest(TRUTH)}.webp"}
    folder = results / f"plots-{hash_of(model)}"
    (folder / "pictures").mkdir(parents=True)
    (folder / "pictures" / f"{digest(TRUTH)}.webp").write_bytes(TRUTH)
    manifest = _manifest(model, asked, JUDGES, 200)
    manifest["protocol"]["plots"] = {"data": "head"}
    manifest["benchmark"]["title"] = "Some plots"
    (folder / "run.json").write_text(json.dumps(manifest))

    def record(at: int, step: str, value: dict[str, Any], **made: str) -> str:
        failure = {"reason": "exception", "detail": "KeyError"} if at < failed and step != "answer" else None
        base = {"v": 1, "case": asked[at]["id"], "sample": 0, "step": step, "config": "c", "input": "i"}
        whole = {"case": asked[at]["id"], "sample": 0, "failure": failure, **value}
        return to_json({**base, "value": whole, "made": made, "varies": {"at": 1.0, "seconds": 1.0}})

    lines: dict[str, list[str]] = {}
    for at in range(12):
        lines.setdefault("answers.jsonl", []).append(record(at, "answer", {"text": ""}))
        lines.setdefault("artifacts.jsonl", []).append(record(at, "artifact", {}, plots="matplotlib 3.11"))
        for judge, about in JUDGES.items():
            value = 0.0 if at < failed else score
            given = {"score": value, "good": float(value >= 75)}
            scores = {name: given[name] for name in about["measures"]}
            made = {"judge_hash": hash_of(judge), "judge_version": "1", "judge_model": about["model"]}
            said = {"judge": judge, "scores": scores, "reasons": [], "evidence": {"blank": False}}
            lines.setdefault(f"verdicts-{judge}.jsonl", []).append(
                record(at, f"verdict-{judge}", said, **made)
            )
    for file, found in lines.items():
        (folder / file).write_text("".join(f"{line}\n" for line in found))
    summary = {**summarize(folder).to_dict(), "run": folder.name}
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("plots") / "results"
    for model, strength in (("lab/a", 80.0), ("lab/b", 60.0)):
        publish_made_up(results, model, strength=strength, of=cases(20), thumbnails=pictures(2))
    publish_plots(results, "lab/a", 50.0, failed=3)
    publish_plots(results, "lab/c", 90.0, failed=0)
    build_site(results.parent / "out", results=results)
    return results.parent / "out"


def test_pages_and_plots_are_never_in_one_table(site: Path) -> None:
    entries = [read_entry(path.parent) for path in (site.parent / "results").glob("*/run.json")]
    groups = groups_of(entries)
    assert [(g.kind, sorted(e.model for e in g.entries)) for g in groups] == [
        ("pages", ["lab/a", "lab/b"]),
        ("plots", ["lab/a", "lab/c"]),
    ]
    assert groups[1].headline == "plot-visual.score"
    assert not groups[1].smoke
    assert set(groups[0].beside) == {"lab/a", "lab/c"}
    assert not groups[1].beside


def test_the_board_of_pages_shows_what_a_model_did_on_plots(site: Path) -> None:
    first, second = rows(site / "index.html", "main-board")
    assert "lab/a" in first
    assert first[-6].startswith("25")  # of 12 answers 3 did not run
    assert "37.5" in first  # 9 × 50 of 12
    assert "37.5" not in second
    assert "Some plots: plot-visual.score, 0 to 100" in (site / "index.html").read_text()


def test_plots_are_ranked_with_their_errors(site: Path) -> None:
    (board,) = site.glob("board-*.html")
    first, second = rows(board, "main-board")
    assert "lab/c" in first
    assert "90.0" in first
    assert "lab/a" in second
    assert "25" in second
    assert "Error %" in board.read_text()


def test_a_plot_is_shown_with_what_it_is_held_against_and_what_it_was_asked(site: Path) -> None:
    (page,) = site.glob("cases/*matplotlib-000.html")
    text = page.read_text()
    assert f'src="../pictures/{digest(TRUTH)[:2]}/{digest(TRUTH)}.webp"' in text
    assert "No plot: exception" in text
    assert "All of the instructions" in text
    listed = (site / "cases" / "index.html").read_text()
    assert "Draw &lt;b&gt;rain&lt;/b&gt;." in listed
    assert "All of the instructions" not in listed
