"""What `runs publish` keeps of a run, what it leaves out, and that nothing of a score changes by it."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest
from click.testing import CliRunner
from PIL import Image

import opendesign
from opendesign.canonical import digest
from opendesign.cli import cli
from opendesign.errors import OpenDesignError, StoreError, UsageError
from opendesign.rendering import Rendering
from opendesign.running import publish as publishing
from opendesign.running.journey import Seat
from opendesign.running.publish import publish
from opendesign.running.summary import summarize
from opendesign.types import Artifact, Case, Verdict
from tests.unit.running_support import CASES, FakeModel, FakeRenderer, carry_out, planned, seat

SECRET_TEXT = "<!doctype html><p>" + "what the model wrote " * 50


class Painter(FakeRenderer):
    """Renders every page to a picture with a thumbnail of its own."""

    async def render(self, document: str) -> Rendering:
        picture = Image.new("RGB", (64, 48), tuple(digest(document.encode()).encode()[:3]))
        thumbnail, full = io.BytesIO(), io.BytesIO()
        picture.save(thumbnail, "WEBP")
        picture.save(full, "PNG")
        made = await super().render(document)
        if made.failure:
            return made
        resources = {f"https://cdn.example/{n}.js": "ab" * 32 for n in range(40)}
        return replace(made, picture=full.getvalue(), thumbnail=thumbnail.getvalue(), resources=resources)


def looking() -> Seat:
    """A judge with bulky evidence, a trace, and a frame of what it saw."""
    chair = seat(lambda case, artifact: {"total": 40.0 + len(case.id), "good": 0.0})
    frame = io.BytesIO()
    Image.effect_noise((1280, 960), 90).save(frame, "PNG")

    async def engine(case: Case, artifact: Artifact, card: Any, page: Any, model: Any) -> Verdict:
        verdict = await chair.engine(case, artifact, card, page, model)
        step = {"did": "click", "worked": True, "after": "1.png", "hit_test": "x" * 900}
        return replace(
            verdict,
            reasons=("It " + "is good. " * 900,),
            evidence={"bulk": ["a measured thing"] * 400, "steps": [step], "points_for": [1]},
            attachments={"1.png": frame.getvalue(), "broken.png": b"no picture"},
        )

    return replace(chair, engine=engine)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Eight cases, the last of which the model refused."""
    model = FakeModel(
        lambda case, sample: "refused" if case.id == CASES[-1].id else f"{SECRET_TEXT}{case.id}"
    )
    carry_out(planned(tmp_path / "runs" / "mine", model, looking()), Painter())
    return tmp_path / "runs" / "mine"


def records(folder: Path, file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / file).read_text().splitlines()]


def picture(file: Path | IO[bytes]) -> tuple[str | None, tuple[int, int]]:
    with Image.open(file) as opened:
        return opened.format, opened.size


def without_run(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in summary.items() if name != "run"}


def test_every_number_is_the_same_as_before(run: Path, tmp_path: Path) -> None:
    done = publish(run, tmp_path / "results")
    before = summarize(run)
    assert without_run(summarize(done.folder).to_dict()) == without_run(before.to_dict())
    assert [dict(row) for row in summarize(done.folder).rows] == [dict(row) for row in before.rows]
    stored = json.loads((done.folder / "summary.json").read_text())
    assert without_run(stored) == json.loads(json.dumps(without_run(before.to_dict())))
    assert (stored["run"], stored["failures"]) == ("mine", {"refused": 1})
    assert opendesign.compare(str(done.folder), str(run)).differences["looks.total"].tied == len(CASES)


def test_addresses_of_servers_are_left_out(run: Path, tmp_path: Path) -> None:
    manifest = json.loads((run / "run.json").read_text())
    manifest["model"]["config"] = {"base_url": "http://gpu7.lab.example:8000/v1", "model": "m"}
    manifest["judges"]["looks"]["asked"] = {"base_url": None}
    (run / "run.json").write_text(json.dumps(manifest))
    text = (publish(run, tmp_path / "results").folder / "run.json").read_text()
    assert "gpu7" not in text
    assert json.loads(text)["judges"]["looks"]["asked"] == {"base_url": None}
    assert json.loads(text)["model"]["config"]["base_url"].startswith("a server of one's own (")


def test_texts_bulk_and_the_machine_are_left_out(run: Path, tmp_path: Path) -> None:
    folder = publish(run, tmp_path / "results").folder
    everything = "".join(path.read_text() for path in folder.glob("*.json*"))
    for bulk in ("what the model wrote", "a measured thing", "cdn.example", "x" * 900, str(tmp_path)):
        assert bulk not in everything
    assert set(json.loads((folder / "run.json").read_text())["varies"]) <= {"started", "python"}
    verdict = next(r for r in records(folder, "verdicts-looks.jsonl") if not r["value"]["failure"])
    assert set(verdict["varies"]) <= {"at", "seconds", "attempts"}
    assert verdict["value"]["evidence"]["points_for"] == [1]
    assert len(verdict["value"]["reasons"][0]) == 2_000
    assert verdict["value"]["evidence"]["steps"] == [{"did": "click", "worked": True, "after": "1.png"}]


def test_pictures_are_small_and_named_by_what_is_in_them(run: Path, tmp_path: Path) -> None:
    done = publish(run, tmp_path / "results")
    looks = {path.name: picture(path) for path in (done.folder / "pictures").iterdir()}
    (frame,) = [name for name, look in looks.items() if look == ("WEBP", (400, 300))]  # equal in all verdicts
    assert (done.folder / "pictures" / frame).stat().st_size <= 15_000
    artifacts = records(done.folder, "artifacts.jsonl")
    shown = {r["value"]["thumbnail"] for r in artifacts if r["value"].get("thumbnail")}
    assert set(looks) == shown | {frame}
    verdict = next(r for r in records(done.folder, "verdicts-looks.jsonl") if not r["value"]["failure"])
    assert verdict["value"]["evidence"]["files"] == {"1.png": frame}
    assert done.missing == 1, "the refused answer has no picture"


def test_only_the_lite_split_is_pictured(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lite = [CASES[0].id, CASES[1].id, "not in this run"]
    found = type("Found", (), {"splits": {"lite": lite}})
    monkeypatch.setattr("opendesign.cases.benchmark.load_benchmark", lambda name: found)
    done = publish(run, tmp_path / "results")
    assert (done.pictures, done.missing) == (4, 0)  # a thumbnail and a frame each
    assert done.bytes == sum(p.stat().st_size for p in done.folder.rglob("*") if p.is_file())


def test_the_archive_holds_every_full_picture_and_is_equal_each_time(run: Path, tmp_path: Path) -> None:
    archives = [tmp_path / "one.zip", tmp_path / "two.zip"]
    for path in archives:
        assert publish(run, tmp_path / "results", archive=path).archived == len(CASES) - 1
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with zipfile.ZipFile(archives[0]) as archive:
        assert sorted(archive.namelist()) == sorted(f"{case.id}-0.png" for case in CASES[:-1])
        with archive.open(f"{CASES[0].id}-0.png") as file:
            assert picture(file) == ("PNG", (64, 48))


def test_publishing_again_takes_the_place_of_what_was_there(run: Path, tmp_path: Path) -> None:
    folder = publish(run, tmp_path / "results").folder
    first = {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    (folder / "pictures" / "old.webp").write_bytes(b"from before")
    publish(run, tmp_path / "results")
    assert {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == first
    assert [p.name for p in (tmp_path / "results").iterdir()] == ["mine"]


def test_a_gone_picture_is_counted_and_a_half_done_run_is_published(run: Path, tmp_path: Path) -> None:
    lines = (run / "verdicts-looks.jsonl").read_text().splitlines(keepends=True)
    (run / "verdicts-looks.jsonl").write_text("".join(lines[:3]))
    artifact = records(run, "artifacts.jsonl")[0]["value"]["thumbnail"]
    (run.parent / "blobs" / artifact[:2] / artifact).unlink()
    done = publish(run, tmp_path / "results")
    assert done.missing == 2
    assert json.loads((done.folder / "summary.json").read_text())["coverage"] == {"looks": 3 / len(CASES)}


def test_what_cannot_be_published_is_one_sentence_and_changes_nothing(run: Path, tmp_path: Path) -> None:
    folder = publish(run, tmp_path / "results").folder
    empty = tmp_path / "runs" / "empty"
    empty.mkdir()
    (empty / "run.json").write_text((run / "run.json").read_text())
    (tmp_path / "file").write_text("")
    asked: list[tuple[Path, Path, type[OpenDesignError], str]] = [
        (folder, tmp_path / "results", UsageError, "published part"),
        (empty, tmp_path / "results", UsageError, "no answer yet"),
        (tmp_path / "nothing", tmp_path / "results", StoreError, "no run.json"),
        (run, tmp_path / "file", StoreError, "Cannot write"),
    ]
    for source, target, kind, words in asked:
        with pytest.raises(kind, match=words) as caught:
            publish(source, target)
        assert "\n" not in str(caught.value)
    assert [p.name for p in (tmp_path / "results").iterdir()] == ["mine"]


def test_evidence_is_kept_by_size_and_kind() -> None:
    kept = publishing._evidence({"files": {"a": "b"}, "note": "x" * 290, "long": "x" * 310, "steps": "?"})
    assert set(kept) == {"note", "steps"}
    assert publishing._evidence({"replies": [{"total": n} for n in range(100)]})["replies"]


def test_the_command_says_what_it_wrote_and_where(run: Path, tmp_path: Path) -> None:
    asked = ["runs", "publish", str(run), "--results", str(tmp_path / "results")]
    archived = ["--pictures", "all", "--archive", str(tmp_path / "a.zip"), "--json"]
    done = CliRunner().invoke(cli, asked + archived)
    written = json.loads(done.stdout)
    assert (written["records"], written["archived"]) == (3 * len(CASES) - 1, len(CASES) - 1), (
        "a refused answer has no page"
    )
    assert "without a picture, which the site marks: 1." in CliRunner().invoke(cli, asked).stdout
    odd = CliRunner().invoke(cli, [*asked, "--archive", "a.zip"])
    assert (odd.exit_code, "--pictures all" in odd.stderr) == (2, True)
