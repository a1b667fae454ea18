"""What a study reads of stored runs, and which runs it puts together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from opendesign.errors import OpenDesignError, UnknownName, UsageError
from opendesign.running.store import Store
from opendesign.studying import load_scores
from opendesign.studying.runs import RunRecords, read_runs
from opendesign.studying.scores import headline_of, mean_scores
from tests.unit.studying_support import stored_run

TOTALS = {"static": [80.0, 60.0, 40.0, 20.0, 100.0]}


def pair(tmp_path: Path, **second: object) -> list[str]:
    """Two runs that are alike but for ``second``."""
    given = {"model": "b", "scores": TOTALS, **second}
    runs = [stored_run(tmp_path / "one", "a", TOTALS), stored_run(tmp_path / "two", **given)]  # type: ignore[arg-type]
    return [str(run) for run in runs]


def test_unscored_is_nan_and_a_models_own_failure_is_its_score(tmp_path: Path) -> None:
    scores = {"static": [80.0, None, "unparsable", "rate_limited", 0.0]}
    table = load_scores(pair(tmp_path, scores=scores))
    np.testing.assert_array_equal(table.values[:, 1], [80, np.nan, np.nan, np.nan, 0])
    assert mean_scores(table)["overall"] == {"a": 60.0, "b": 40.0}
    assert any("two: 'static' covers 40% of the answers" in mark for mark in table.marks)


def test_categories_are_in_the_houses_order(tmp_path: Path) -> None:
    kinds = ["dataviz", "game", "website", "game", "other"]
    run = stored_run(tmp_path / "one", "a", TOTALS, categories=kinds)
    means = mean_scores(load_scores([str(run)]))
    assert list(means) == ["overall", "website", "game", "dataviz", "other"]
    assert means["game"] == {"a": 40.0}


def test_one_draw_of_cases_is_shared_by_all_models(tmp_path: Path) -> None:
    """Equal scores stay equal in every resample, so their difference has no spread."""
    draws = load_scores(pair(tmp_path)).resampled(50)
    np.testing.assert_array_equal(draws[:, 0], draws[:, 1])
    assert np.ptp(draws[:, 0]) > 0


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({"model": "a"}, "one and two are both of a: name one run of each model"),
        ({"benchmark": "b2"}, "one and two are not comparable: another benchmark"),
        ({"scores": {"static": [1.0] * 4}}, "they have different cases"),
        ({"judge_model": "openai/other"}, "different versions or models of 'static'"),
        ({"browser": "chromium 151.0.0"}, "their pictures are by chromium 150.0.1 and chromium 151.0.0"),
        ({"browser": "firefox 150.0.1"}, "their pictures are by chromium 150.0.1 and firefox 150.0.1"),
        ({"fonts": "f2"}, "drawn with the fonts f1 and f2"),
        ({"scores": {"execution": [1.0] * 5}}, "No judge has scored a page of every one of these runs"),
        ({"scores": {"static": [None] * 5}}, "No judge has scored a page of every one of these runs"),
    ],
)
def test_what_is_not_comparable_is_not_put_together(
    tmp_path: Path, second: dict[str, object], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        load_scores(pair(tmp_path, **second))


def test_another_patch_of_the_browser_is_a_mark(tmp_path: Path) -> None:
    table = load_scores(pair(tmp_path, browser="chromium 150.0.9"))
    assert table.marks == ("Browser patch versions differ: chromium 150.0.1, chromium 150.0.9.",)


def test_the_headline_is_the_static_judges_or_of_what_stands_in_for_it(tmp_path: Path) -> None:
    both = {**TOTALS, "execution": [1, 0, 1, 0, 1], "interactive": [0.5] * 5}
    run = stored_run(tmp_path / "one", "a", both)
    assert headline_of(read_runs([str(run)])) == "static.total"
    manifest = run / "run.json"
    planned = json.loads(manifest.read_text(encoding="utf-8"))
    planned["judges"]["interactive"]["stands_in_for"] = "static"
    manifest.write_text(json.dumps(planned), encoding="utf-8")
    (run / "verdicts-static.jsonl").unlink()
    assert headline_of(read_runs([str(run)])) == "interactive.rate"


def test_only_verdicts_of_the_settings_last_used_count(tmp_path: Path) -> None:
    run = stored_run(tmp_path / "one", "a", TOTALS)
    file = run / "verdicts-static.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for record in lines[:3]:
        record |= {"config": "edited", "varies": {"at": 9.0}}
    file.write_text("".join(json.dumps(record) + "\n" for record in lines), encoding="utf-8")
    assert [case for case, _ in RunRecords(run).verdicts("static")] == ["c0", "c1", "c2"]


def test_names_that_are_nowhere_and_damaged_runs(tmp_path: Path) -> None:
    runs = pair(tmp_path)
    with pytest.raises(
        UnknownName, match=r"no score in these runs named 'static\.totl': did you mean static\.t"
    ):
        load_scores(runs, score="static.totl")
    with pytest.raises(UnknownName, match="no run named"):
        load_scores([*runs, str(tmp_path / "nowhere")])
    with pytest.raises(UsageError, match="Name the runs"):
        load_scores([])
    with (tmp_path / "two" / "verdicts-static.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"v": 1, "case": 3}\n')
    with pytest.raises(OpenDesignError, match=r"Line 6 of .* is damaged"):
        load_scores(runs)


def test_a_file_is_read_once_and_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = pair(tmp_path, scores={**TOTALS, "execution": [1.0] * 5})
    read: list[str] = []
    records = Store.records
    monkeypatch.setattr(Store, "records", lambda self, file: [read.append(file), records(self, file)][1])
    load_scores(runs)
    assert sorted(read) == ["artifacts.jsonl"] * 2 + ["verdicts-static.jsonl"] * 2
