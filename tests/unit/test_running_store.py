"""The store: what is written is found again, and nothing is lost or destroyed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opendesign.canonical import to_json
from opendesign.errors import StoreError, UnknownName, UsageError
from opendesign.running.blobs import Blobs
from opendesign.running.journal import SCHEMA, Journal
from opendesign.running.store import Key, Store, find_run
from opendesign.types import Answer, Artifact, Failure, Usage, Verdict


def key(step: str = "answer", **changes: object) -> Key:
    values = {"case": "game-001", "sample": 0, "step": step, "config": "c1", "input": "i1", **changes}
    return Key(**values)  # type: ignore[arg-type]


def answer(**changes: object) -> Answer:
    values = {"case": "game-001", "sample": 0, "text": "hello", "usage": Usage(calls=1, cost_usd=0.25)}
    return Answer(**{**values, **changes})  # type: ignore[arg-type]


def test_an_outcome_is_found_by_its_key_and_by_no_other(tmp_path: Path) -> None:
    with Store(tmp_path / "run", write=True) as store:
        store.put(key(), answer(varies={"seconds": 1.5}))
    again = Store(tmp_path / "run")
    found = again.find(key(), Answer)
    assert found is not None
    assert (found.text, found.usage.cost_usd, found.varies["seconds"]) == ("hello", 0.25, 1.5)
    assert again.find(key(config="c2"), Answer) is None
    assert again.find(key(input="i2"), Answer) is None
    assert again.find(key(sample=1), Answer) is None
    assert again.spent_usd() == 0.25


def test_what_the_model_failed_stays_and_what_others_failed_is_done_again(tmp_path: Path) -> None:
    with Store(tmp_path / "run", write=True) as store:
        for case, reason in (("a", "truncated"), ("b", "rate_limited"), ("c", "unparsable")):
            failure = Failure(reason=reason, detail="x")
            store.put(key(case=case), answer(case=case, failure=failure))
    again = Store(tmp_path / "run")
    assert again.find(key(case="a"), Answer) is not None
    assert again.find(key(case="b"), Answer) is None
    assert again.find(key(case="c"), Answer) is None


def test_blobs_come_back_bound_to_their_folder(tmp_path: Path) -> None:
    with Store(tmp_path / "run", write=True) as store:
        page = store.blobs.put("<p>é".encode(), "html")
        store.put(key("artifact"), Artifact(case="game-001", sample=0, document=page))
    found = Store(tmp_path / "run").find(key("artifact"), Artifact)
    assert found is not None
    assert found.document is not None
    assert found.document.read_text() == "<p>é"
    found.document.path.unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        found.document.read_bytes()


def test_equal_outcomes_are_equal_lines_but_for_what_varies(tmp_path: Path) -> None:
    lines = []
    for run, seconds in (("a", 1.0), ("b", 9.0)):
        with Store(tmp_path / run, write=True) as store:
            store.put(key(), answer(varies={"seconds": seconds}))
        lines.append(json.loads((tmp_path / run / "answers.jsonl").read_text()))
    assert lines[0].pop("varies") != lines[1].pop("varies")
    assert to_json(lines[0]) == to_json(lines[1])
    assert lines[0]["made"]["opendesign"]


def test_a_torn_tail_is_cut_counted_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "run" / "answers.jsonl"
    with Store(tmp_path / "run", write=True) as store:
        store.put(key(case="a"), answer(case="a"))
        store.put(key(case="b"), answer(case="b"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    journal = Journal(path)
    assert [record["case"] for record in journal.records()] == ["a"]
    assert journal.torn > 0
    assert path.read_bytes() == whole[:-7], "reading changes nothing"
    with Store(tmp_path / "run", write=True) as store:
        assert store.find(key(case="b"), Answer) is None
        store.put(key(case="b"), answer(case="b", text="again"))
    assert [record["value"]["text"] for record in Journal(path).records()] == ["hello", "again"]


@given(cut=st.integers(min_value=0, max_value=600))
def test_a_file_cut_anywhere_keeps_every_whole_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "answers.jsonl"
    journal = Journal(path)
    for number in range(5):
        journal.append({"case": f"é{number}" * 9, "sample": number})
    journal.close()
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - cut] if cut < len(data) else b"")
    kept = path.read_bytes().count(b"\n")
    assert len(list(Journal(path).records())) == kept
    again = Journal(path)
    again.append({"case": "new", "sample": 0})
    again.close()
    assert [r["case"] for r in Journal(path).records()][-1] == "new"
    assert len(list(Journal(path).records())) == kept + 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken", "is not a record"),
        ('["v", 1]', "is not a record"),
        ('{"no": "version"}', "is not a record"),
        (f'{{"v": {SCHEMA + 1}, "case": "a", "sample": 0}}', "newer opendesign"),
    ],
)
def test_a_line_that_cannot_be_read_stops_everything_and_changes_nothing(
    tmp_path: Path, line: str, message: str
) -> None:
    path = tmp_path / "run" / "answers.jsonl"
    path.parent.mkdir()
    path.write_text(f'{line}\n{{"v": 1, "case": "a", "sample": 0}}\n')
    before = path.read_bytes()
    with Store(tmp_path / "run", write=True) as store, pytest.raises(StoreError, match=message) as error:
        store.find(key(), Answer)
    assert "Line 1 of" in str(error.value)
    assert path.read_bytes() == before


def test_a_record_with_a_damaged_field_names_it(tmp_path: Path) -> None:
    with Store(tmp_path / "run", write=True) as store:
        store.put(key("verdict-computed"), Verdict(case="game-001", sample=0, judge="computed"))
    path = tmp_path / "run" / "verdicts-computed.jsonl"
    path.write_text(path.read_text().replace('"scores":{}', '"scores":7'))
    with pytest.raises(StoreError, match="damaged at 'scores'"):
        Store(tmp_path / "run").find(key("verdict-computed"), Verdict)


def test_a_full_disk_is_one_sentence_and_leaves_whole_lines(tmp_path: Path) -> None:
    """A real limit on the size of files, in a process of its own."""
    script = f"""
import resource, signal
from pathlib import Path
from opendesign.errors import StoreError
from opendesign.running.journal import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(Path({str(tmp_path / "a.jsonl")!r}))
journal.append({{"case": "a", "sample": 0}})
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
try:
    journal.append({{"case": "b" * 500, "sample": 0}})
except StoreError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Cannot write")
    assert done.stdout.count("\n") == 1
    assert [record["case"] for record in Journal(tmp_path / "a.jsonl").records()] == ["a"]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Cannot write"), Store(tmp_path / "file" / "run", write=True):
        pass
    with pytest.raises(StoreError, match="Cannot write"):
        Blobs(tmp_path / "file").put(b"x", "png")


def test_two_processes_cannot_write_to_one_run(tmp_path: Path) -> None:
    with Store(tmp_path / "run", write=True):
        with (
            pytest.raises(StoreError, match=f"id {os.getpid()}"),
            Store(tmp_path / "run", write=True),
        ):
            pass
        with Store(tmp_path / "run"):
            pass  # reading needs no lock
    with Store(tmp_path / "run", write=True):
        pass


def test_blobs_are_written_once(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    first = blobs.put(b"picture", "png")
    stamp = first.path.stat().st_mtime_ns
    assert blobs.put(b"picture", "png") == first
    assert first.path.stat().st_mtime_ns == stamp
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [first.name]
    assert blobs.named(first.name).read_bytes() == b"picture"
    for name in ("../../etc/passwd", "short.png", f"{first.digest}.exe"):
        with pytest.raises(StoreError, match="not the name of a blob"):
            blobs.named(name)


def test_manifests_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(StoreError, match=r"no run\.json"):
        Store(tmp_path / "run").manifest()
    (tmp_path / "run" / "run.json").write_text("{")
    with pytest.raises(StoreError, match="damaged"):
        Store(tmp_path / "run").manifest()
    (tmp_path / "run" / "run.json").write_text(json.dumps({"v": SCHEMA + 1}))
    with pytest.raises(StoreError, match="newer opendesign"):
        Store(tmp_path / "run").manifest()
    with pytest.raises(UnknownName, match="did you mean run"):
        find_run("rum", tmp_path)
    for name in ("some-1", "some-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
    with pytest.raises(UsageError, match="2 runs named like 'some': some-1, some-2"):
        find_run("some", tmp_path)


def test_lone_surrogates_and_nan(tmp_path: Path) -> None:
    with Store(tmp_path / "run", write=True) as store:
        store.put(key(), answer(text="\ud800 ok"))
        with pytest.raises(ValueError, match="not JSON compliant"):
            store.put(key("verdict-x"), Verdict(case="a", sample=0, judge="x", scores={"t": float("nan")}))
    found = Store(tmp_path / "run").find(key(), Answer)
    assert found is not None
    assert found.text == "\ud800 ok"
