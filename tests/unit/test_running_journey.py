"""From answer to summary: who failed, what is done again, and what enters a mean."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from opendesign.errors import UsageError, failed
from opendesign.running.compare import compare
from opendesign.running.store import Store
from opendesign.running.summary import summarize
from opendesign.types import Artifact, Case

from .running_support import CASES, PROTOCOL, FakeModel, FakeRenderer, carry_out, planned, seat


def good(case: Case, artifact: Artifact) -> dict[str, float]:
    return {"total": 80.0, "good": 1.0}


def page(case: Case, sample: int) -> str:
    return f"<p>{case.id} {sample}"


def test_a_second_run_asks_renders_and_judges_nothing(tmp_path: Path) -> None:
    model, renderer = FakeModel(page), FakeRenderer()
    plan = planned(tmp_path / "run", model, seat(good))
    carry_out(plan, renderer)
    files = {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.jsonl")}
    tally = carry_out(plan, renderer)
    assert len(model.asked) == len(renderer.rendered) == len(CASES)
    assert tally.stored == 3 * len(CASES)
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.jsonl")}


def test_failures_have_owners_and_only_the_models_count(tmp_path: Path) -> None:
    """Eight cases: two failed by the model, one by the network, one by the judge; four scored 80."""
    answers = {"website-0": "truncated", "website-1": "rate_limited"}

    def score(case: Case, artifact: Artifact) -> dict[str, float]:
        if case.id == "game-0":
            raise failed("unparsable", "No score in the reply.")
        return good(case, artifact)

    plan = planned(
        tmp_path / "run",
        FakeModel(lambda case, sample: answers.get(case.id) or page(case, sample)),
        seat(score),
    )
    carry_out(plan, FakeRenderer(lambda document: "page_hung" if "game-1" in document else None))
    summary = summarize(tmp_path / "run")
    total = summary.scores["looks.total"]
    assert total.n == 6
    assert total.mean == pytest.approx(4 * 80 / 6)
    assert summary.coverage == {"looks": 6 / 8}
    assert not summary.ranked
    assert summary.failures == {"page_hung": 1, "rate_limited": 1, "truncated": 1, "unparsable": 1}
    assert summary.failures_by_owner == {"instrument": 1, "judge": 1, "model": 2}
    assert summary.scores["looks.good"].mean == pytest.approx(4 / 6)
    assert summary.cost_usd == pytest.approx(4.0)
    assert summary.by_category["game"]["looks.total"].n == 3
    assert set(summary.by_difficulty) == {"easy", "medium", "hard"}
    frame = summary.to_pandas().set_index("case")
    assert frame.loc["website-0", "looks.total"] == 0
    assert frame["looks.total"].isna().sum() == 2
    json.dumps(summary.to_dict(), allow_nan=False)


def test_resuming_does_only_what_others_failed(tmp_path: Path) -> None:
    down = True

    def say(case: Case, sample: int) -> str:
        if case.id == "website-0":
            return "truncated"
        return "network" if down and case.category == "game" else page(case, sample)

    model = FakeModel(say)
    plan = planned(tmp_path / "run", model, seat(good))
    carry_out(plan, FakeRenderer())
    down = False
    model.asked.clear()
    carry_out(plan, FakeRenderer())
    assert sorted(case for case, _ in model.asked) == [case.id for case in CASES if case.category == "game"]
    summary = summarize(tmp_path / "run")
    assert summary.coverage == {"looks": 1.0}
    assert summary.failures == {"truncated": 1}


def test_what_a_judge_said_under_other_settings_is_not_its_score(tmp_path: Path) -> None:
    plan = planned(tmp_path / "run", FakeModel(page), seat(good))
    carry_out(plan, FakeRenderer())
    assert summarize(tmp_path / "run", judges={"looks": plan.seats[0].config}).coverage == {"looks": 1.0}
    edited = summarize(tmp_path / "run", judges={"looks": "another config"})
    assert edited.coverage == {"looks": 0.0}
    assert not edited.scores


def test_the_released_rule_flatters_and_ours_does_not(tmp_path: Path) -> None:
    answers = {"website-0": "no_document"}
    plan = planned(
        tmp_path / "run",
        FakeModel(lambda case, sample: answers.get(case.id) or page(case, sample)),
        seat(lambda case, artifact: {"total": 0.0 if case.id == "game-0" else 80.0, "good": 1.0}),
    )
    carry_out(plan, FakeRenderer())
    assert summarize(tmp_path / "run").scores["looks.total"].mean == pytest.approx(60)
    released = summarize(tmp_path / "run", aggregation="released")
    assert released.scores["looks.total"].mean == pytest.approx(80)
    assert released.aggregation == "released"


def test_a_measure_that_does_not_apply_is_no_zero(tmp_path: Path) -> None:
    plan = planned(
        tmp_path / "run",
        FakeModel(page),
        seat(lambda case, artifact: {"total": 50.0} if case.category == "game" else {}),
    )
    carry_out(plan, FakeRenderer())
    summary = summarize(tmp_path / "run")
    assert (summary.scores["looks.total"].mean, summary.scores["looks.total"].n) == (50.0, 4)
    assert "looks.good" not in summary.scores
    assert summary.coverage == {"looks": 1.0}


def test_an_edited_judge_reopens_its_own_work_alone_and_is_never_averaged_with_the_old_one(
    tmp_path: Path,
) -> None:
    model, renderer = FakeModel(page), FakeRenderer()
    old = seat(lambda case, artifact: {"total": 10.0, "good": 0.0})
    carry_out(planned(tmp_path / "run", model, old, seat(good, name="other")), renderer)
    other = (tmp_path / "run" / "verdicts-other.jsonl").read_bytes()
    new = seat(good, stands_in_for="static")
    carry_out(planned(tmp_path / "run", model, new, seat(good, name="other")), renderer)
    assert len(model.asked) == len(renderer.rendered) == len(CASES)
    assert (tmp_path / "run" / "verdicts-other.jsonl").read_bytes() == other
    lines = (tmp_path / "run" / "verdicts-looks.jsonl").read_text().splitlines()
    assert len(lines) == 2 * len(CASES), "the old verdicts are kept"
    assert summarize(tmp_path / "run").scores["looks.total"].mean == 80.0
    # Half of the new verdicts gone: the rest is coverage, not a mixture of two judges.
    (tmp_path / "run" / "verdicts-looks.jsonl").write_text("\n".join(lines[: len(CASES) + 4]) + "\n")
    half = summarize(tmp_path / "run")
    assert half.scores["looks.total"].mean == 80.0
    assert half.coverage["looks"] == 0.5


def test_judging_again_writes_no_answer_and_no_artifact(tmp_path: Path) -> None:
    model, renderer = FakeModel(page), FakeRenderer()
    plan = planned(tmp_path / "run", model, seat(good))
    carry_out(plan, renderer)
    kept = {name: (tmp_path / "run" / name).read_bytes() for name in ("answers.jsonl", "artifacts.jsonl")}
    blobs = sorted(path.name for path in (tmp_path / "blobs").rglob("*"))
    carry_out(replace(plan, seats=(seat(good, name="second"),)), renderer, model=None)
    assert len(model.asked) == len(renderer.rendered) == len(CASES)
    assert kept == {name: (tmp_path / "run" / name).read_bytes() for name in kept}
    assert blobs == sorted(path.name for path in (tmp_path / "blobs").rglob("*"))
    summary = summarize(tmp_path / "run")
    assert set(summary.coverage) == {"looks", "second"}
    assert summary.scores["second.good"].mean == 1.0


def test_samples_of_a_case_are_averaged_first(tmp_path: Path) -> None:
    plan = planned(
        tmp_path / "run",
        FakeModel(page),
        seat(lambda case, artifact: {"total": 100.0 * artifact.sample, "good": float(artifact.sample)}),
        samples=2,
    )
    carry_out(plan, FakeRenderer())
    summary = summarize(tmp_path / "run")
    assert (summary.scores["looks.total"].mean, summary.scores["looks.total"].n) == (50.0, len(CASES))
    assert summary.samples == 2


def test_another_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    carry_out(planned(tmp_path / "run", FakeModel(page), seat(good)), FakeRenderer())
    other = planned(tmp_path / "run", FakeModel(page, name="fake/two"), seat(good))
    with pytest.raises(UsageError, match="differs in model") as error:
        carry_out(other, FakeRenderer())
    assert "fake/one" in str(error.value)


def test_the_folder_is_named_after_what_is_asked() -> None:
    model = FakeModel(page)

    def name(**changes: object) -> Path:
        return replace_folder(planned(Path("x"), model, seat(good), **changes)).folder

    def replace_folder(plan):  # type: ignore[no-untyped-def]
        from opendesign.running.plan import plan_run

        return plan_run(
            plan.model, plan.benchmark, plan.protocol, plan.seats, plan.cases, samples=plan.samples
        )

    assert name() == name()
    assert name() != name(samples=2)
    assert name() != name(protocol=replace(PROTOCOL, hash="p2"))
    assert name().parts[0] == "runs"


def test_paired_differences(tmp_path: Path) -> None:
    """The first is 10 better on every website and 2 worse on every game, on scores that vary a lot."""
    base = {case.id: 10.0 * number for number, case in enumerate(CASES)}

    def better(case: Case, artifact: Artifact) -> dict[str, float]:
        return {"total": base[case.id] + (10 if case.category == "website" else -2), "good": 1.0}

    def plain(case: Case, artifact: Artifact) -> dict[str, float]:
        return {"total": base[case.id], "good": 0.0}

    carry_out(planned(tmp_path / "a", FakeModel(page, name="fake/a"), seat(better)), FakeRenderer())
    carry_out(planned(tmp_path / "b", FakeModel(page, name="fake/b"), seat(plain)), FakeRenderer())
    comparison = compare(tmp_path / "a", tmp_path / "b")
    total = comparison.differences["looks.total"]
    assert (total.estimate.mean, total.won, total.lost, total.tied) == (4.0, 4, 4, 0)
    assert comparison.by_category["website"]["looks.total"].estimate.mean == 10.0
    assert not comparison.by_category["website"]["looks.total"].separated, "four cases are too few to say"
    assert not total.separated
    assert len(comparison.to_pandas()) == 6
    json.dumps(comparison.to_dict(), allow_nan=False)


def test_what_is_not_comparable_is_refused(tmp_path: Path) -> None:
    carry_out(planned(tmp_path / "a", FakeModel(page), seat(good)), FakeRenderer())
    other = replace(PROTOCOL, hash="p2")
    carry_out(planned(tmp_path / "b", FakeModel(page), seat(good), protocol=other), FakeRenderer())
    with pytest.raises(UsageError, match="differ in protocol"):
        compare(tmp_path / "a", tmp_path / "b")
    renderer = FakeRenderer()
    renderer.engine = "fake-browser 2.0"
    carry_out(planned(tmp_path / "c", FakeModel(page), seat(good)), renderer)
    with pytest.raises(UsageError, match="differ in browser"):
        compare(tmp_path / "a", tmp_path / "c")
    renderer.engine = "fake-browser 1.9"
    carry_out(planned(tmp_path / "d", FakeModel(page), seat(good)), renderer)
    assert any("patch" in mark for mark in compare(tmp_path / "a", tmp_path / "d").marks)
    edited = seat(good, stands_in_for="static")
    carry_out(planned(tmp_path / "e", FakeModel(page), edited), FakeRenderer())
    with pytest.raises(UsageError, match="share no judge"):
        compare(tmp_path / "a", tmp_path / "e")


def test_an_unknown_failure_reason_cannot_be_stored(tmp_path: Path) -> None:
    plan = planned(tmp_path / "run", FakeModel(lambda case, sample: "made_up"), seat(good))
    with pytest.raises(KeyError):
        carry_out(plan, FakeRenderer())


def test_the_store_of_a_run_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    plan = planned(tmp_path / "run", FakeModel(page), seat(good))
    carry_out(plan, FakeRenderer())
    with Store(tmp_path / "run", write=True):
        assert summarize(tmp_path / "run").cases == len(CASES)
