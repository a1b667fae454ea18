"""Votes are counted as they were cast; what is not counted is named with its reason."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opendesign.balloting import Key, Limits, build_ballot, read_key, tally
from opendesign.balloting.key import Question
from opendesign.balloting.votes_file import REASONS
from opendesign.balloting.votes_table import write_table
from opendesign.errors import UsageError
from opendesign.studying.agreement import agree, judges_of
from opendesign.studying.votes import read_votes
from tests.unit.ballot_support import RATER, make_runs, prefer_left, saved, sheet

OTHER = "bb00bb00bb00bb00"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return make_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def key(runs: list[str]) -> Key:
    built = build_ballot(runs, Path(runs[0]).parent.parent / "b.html", pairs=15, repeats=3, checks=3)
    return read_key(built.key)


def of_kind(key: Key, kind: str) -> list[Question]:
    return [question for question in key.questions if question.kind == kind]


def prefer(key: Key, *order: str) -> Callable[[Question], dict[str, Any]]:
    """The page whose model comes first in ``order``."""

    def choose(question: Question) -> dict[str, Any]:
        if question.good:
            return prefer_left(question)
        left, right = (order.index(key.pages[page].model) for page in (question.left, question.right))
        return {"choice": "left" if left < right else "right"}

    return choose


def test_every_vote_is_counted_for_the_page_it_was_for(key: Key, tmp_path: Path) -> None:
    order = ("lab/two", "lab/three", "lab/one")
    file = saved(tmp_path / "a.json", sheet(key, prefer(key, *order)))
    found = tally(key, [file])
    assert [row.name for row in found.ratings] == list(order)
    assert [row.won for row in found.ratings] == [10, 5, 0]
    won = {(met.first, met.second): (met.first_won, met.second_won) for met in found.pairs}
    assert won == {
        ("lab/one", "lab/three"): (0, 5),
        ("lab/one", "lab/two"): (0, 5),
        ("lab/three", "lab/two"): (0, 5),
    }
    assert (found.votes, found.repeats, found.consistent, found.dropped) == (15, 3, 3, ())
    assert found.left_share is not None
    assert 0.4 <= found.left_share <= 0.6


def test_a_pair_seen_the_other_way_round_counts_for_the_same_page(key: Key, tmp_path: Path) -> None:
    document = sheet(key, prefer(key, "lab/two", "lab/three", "lab/one"))
    for vote in document["votes"]:
        vote["left"], vote["right"] = vote["right"], vote["left"]
        vote["choice"] = {"left": "right", "right": "left"}[vote["choice"]]
    found = tally(key, [saved(tmp_path / "a.json", document)])
    assert [row.name for row in found.ratings] == ["lab/two", "lab/three", "lab/one"]
    assert found.raters[0].failed == 0


def test_both_bad_is_a_tie_and_told_apart_and_always_left_disagrees_with_itself(
    key: Key, tmp_path: Path
) -> None:
    pairs = [question.id for question in of_kind(key, "pair")]

    def choose(question: Question) -> dict[str, Any]:
        special = {pairs[-1]: "both_bad", pairs[-2]: "both_bad", pairs[-3]: "tie"}
        return prefer_left(question) | ({"choice": special[question.id]} if question.id in special else {})

    found = tally(key, [saved(tmp_path / "a.json", sheet(key, choose))])
    assert found.counts == {"left": 12, "right": 0, "tie": 1, "both_bad": 2}
    assert sum(met.both_bad for met in found.pairs) == 2
    assert sum(met.tie for met in found.pairs) == 1
    assert sum(row.won for row in found.ratings) == 15
    assert (found.repeats, found.consistent) == (3, 0), "sides of a repeat are swapped"
    assert found.left_share == 1.0


def test_study_agreement_reads_the_very_same_votes(key: Key, runs: list[str], tmp_path: Path) -> None:
    choose = prefer(key, "lab/one", "lab/two", "lab/three")
    files = [saved(tmp_path / f"{rater}.json", sheet(key, choose, rater=rater)) for rater in (RATER, OTHER)]
    found = tally(key, files)
    write_table(tmp_path / "votes.csv", found.table)
    votes = read_votes(tmp_path / "votes.csv")
    assert (votes.rows, len(votes.votes), votes.raters) == (36, 30, 2)
    assert (votes.repeats, votes.consistent) == (found.repeats, found.consistent) == (6, 6)
    scores, categories = judges_of(votes, runs=runs, judges=["static"])
    study = agree(votes, scores, categories=categories)
    assert study.ratings == found.ratings
    assert study.counts["unknown_pages"] == 0
    assert study.people.pairs.value == 1.0
    assert set(study.by_category) == {key.categories[key.pages[q.left].case] for q in of_kind(key, "pair")}


def test_a_comment_is_no_formula_and_stays_out_of_the_document(key: Key, tmp_path: Path) -> None:
    said = '=HYPERLINK("x")\n"a", b'
    document = sheet(key, lambda q: {**prefer_left(q), "comment": said})
    found = tally(key, [saved(tmp_path / "a.json", document)])
    assert "'=HYPERLINK" in found.table
    assert "HYPERLINK" not in json.dumps(found.to_dict())
    write_table(tmp_path / "votes.csv", found.table)
    assert read_votes(tmp_path / "votes.csv").rows == 18


# What is dropped

Change = Callable[[Key, dict[str, Any]], Any]


def vote(**changes: Any) -> Change:
    """Change the vote on the last pair that is not asked again."""

    def change(key: Key, document: dict[str, Any]) -> Any:
        last = of_kind(key, "pair")[-1].id
        for one in document["votes"]:
            one |= changes if one["question"] == last else {}
        return document

    return change


def checks(choice: str, count: int) -> Change:
    def change(key: Key, document: dict[str, Any]) -> Any:
        wrong = {"spoilt": {"right": "left", "left": "right"}}.get(choice)
        of = {question.id for question in of_kind(key, "check")[:count]}
        for one in document["votes"]:
            if one["question"] in of:
                one["choice"] = wrong[one["choice"]] if wrong else choice
        return document

    return change


def fast(count: int) -> Change:
    def change(key: Key, document: dict[str, Any]) -> Any:
        for one in document["votes"][:count]:
            one["seconds"] = 0.4
        return document

    return change


def without_checks(key: Key, document: dict[str, Any]) -> Any:
    of = {question.id for question in of_kind(key, "check")}
    return document | {"votes": [one for one in document["votes"] if one["question"] not in of]}


def twice(key: Key, document: dict[str, Any]) -> Any:
    return document | {"votes": [*document["votes"], {**document["votes"][0], "choice": "tie"}]}


DROPS: dict[str, tuple[str, int, Change]] = {
    "no JSON": ("unreadable", 0, lambda _, document: json.dumps(document)[:-9]),
    "nothing": ("unreadable", 0, lambda *_: ""),
    "very deep": ("unreadable", 0, lambda *_: "[" * 100_000),
    "a list": ("unreadable", 0, lambda *_: [1, 2]),
    "votes that are none": ("unreadable", 0, lambda _, document: document | {"votes": 3}),
    "another format": ("unreadable", 0, lambda _, document: document | {"format": "x"}),
    "another version": ("unreadable", 0, lambda _, document: document | {"v": 2}),
    "a rater with a name": ("unreadable", 0, lambda _, document: document | {"rater": "Ann <b>"}),
    "no rater": ("unreadable", 0, lambda _, document: document | {"rater": None}),
    "another ballot": ("other_ballot", 0, lambda _, document: document | {"ballot": "0" * 16}),
    "two checks failed": ("failed_checks", 0, checks("spoilt", 2)),
    "ties on checks": ("failed_checks", 0, checks("tie", 3)),
    "one check failed": ("", 15, checks("both_bad", 1)),
    "no check answered": ("unchecked", 0, without_checks),
    "no vote at all": ("unchecked", 0, lambda _, document: document | {"votes": []}),
    "most are fast": ("hasty", 0, fast(11)),
    "one is fast": ("too_fast", 14, vote(seconds=1.99)),
    "one is just slow enough": ("", 15, vote(seconds=2)),
    "an odd choice": ("malformed", 14, vote(choice="<script>")),
    "a choice that is a list": ("malformed", 14, vote(choice=["left"])),
    "no time": ("malformed", 14, vote(seconds=None)),
    "a time that is none": ("malformed", 14, vote(seconds=float("nan"))),
    "a yes for a time": ("malformed", 14, vote(seconds=True)),
    "less than no time": ("malformed", 14, vote(seconds=-1)),
    "a number for a comment": ("malformed", 14, vote(comment=7)),
    "a number for a question": ("malformed", 14, vote(question=7)),
    "a vote that is a text": ("malformed", 15, lambda _, d: d | {"votes": [*d["votes"], "left"]}),
    "a question of nobody": ("unknown_question", 14, vote(question="q999")),
    "pages of nobody": ("wrong_pages", 14, vote(left="p0")),
    "a list for a page": ("wrong_pages", 14, vote(right=["p0"])),
    "one question twice": ("duplicate", 15, twice),
}


@pytest.mark.parametrize("kind", DROPS)
def test_what_is_not_counted_is_named_with_its_reason(key: Key, kind: str, tmp_path: Path) -> None:
    reason, votes, change = DROPS[kind]
    found = tally(key, [saved(tmp_path / "a.json", change(key, sheet(key)))])
    assert [one.reason for one in found.dropped] == ([reason] if reason else [])
    assert found.votes == votes == sum(row.counted for row in found.raters)
    if reason in ("failed_checks", "unchecked", "hasty"):
        assert found.raters[0].dropped == reason
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_every_reason_is_tried_above() -> None:
    assert {reason for reason, _, _ in DROPS.values() if reason} == set(REASONS)


def test_one_bad_rater_does_not_spoil_the_others(key: Key, tmp_path: Path) -> None:
    good = saved(tmp_path / "good.json", sheet(key))
    bad = saved(tmp_path / "bad.json", checks("spoilt", 3)(key, sheet(key, rater=OTHER)))
    torn = saved(tmp_path / "torn.json", "{")
    found = tally(key, [bad, torn, good])
    assert {row.rater: row.counted for row in found.raters} == {OTHER: 0, RATER: 15}
    assert found.lost == {"unreadable": 1, "failed_checks": 18}
    assert OTHER not in found.table
    assert [one["file"] for one in found.to_dict()["dropped"]] == ["torn.json", ""]


def test_a_rater_who_saved_twice_counts_once_as_saved_last(key: Key, tmp_path: Path) -> None:
    whole = sheet(key, lambda q: {**prefer_left(q), **({} if q.good else {"choice": "tie"})})
    early = sheet(key)
    early["votes"] = early["votes"][:6]
    found = tally(key, [saved(tmp_path / "a.json", early), saved(tmp_path / "b.json", whole)])
    assert found.counts == {"left": 0, "right": 0, "tie": 15, "both_bad": 0}
    assert found.lost == {"duplicate": 6}


def test_a_repeat_counts_where_the_first_vote_does_not(key: Key, tmp_path: Path) -> None:
    first = of_kind(key, "repeat")[0].of
    document = sheet(key, lambda q: prefer_left(q) | ({"seconds": 0.1} if q.id == first else {}))
    found = tally(key, [saved(tmp_path / "a.json", document)])
    assert (found.votes, found.repeats) == (15, 2)


@pytest.mark.parametrize(
    ("limits", "votes"),
    [({"fastest_s": 6}, 0), ({"fastest_s": 0}, 15), ({"most_failed": 0.0}, 0), ({"most_failed": 0.34}, 15)],
)
def test_limits_are_the_callers(key: Key, limits: dict[str, float], votes: int, tmp_path: Path) -> None:
    file = saved(tmp_path / "a.json", checks("spoilt", 1)(key, sheet(key)))
    assert tally(key, [file], Limits(**limits)).votes == votes


@pytest.mark.parametrize("limits", [{"fastest_s": float("nan")}, {"most_hasty": 1.5}, {"most_failed": -0.1}])
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="--"):
        Limits(**limits)


def test_a_file_that_is_not_there_is_an_error(key: Key, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot read"):
        tally(key, [tmp_path / "none.json"])


KEYS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "is not JSON": lambda _: "{",
    "no key of a ballot": lambda _: {"format": "opendesign-votes"},
    "another version": lambda key: key | {"v": 9},
    "or is damaged": lambda key: {k: v for k, v in key.items() if k != "pages"},
    "was changed": lambda key: key | {"seed": 7},
    "after it was written": lambda key: key | {"pages": [1]},
}


@pytest.mark.parametrize("words", KEYS)
def test_a_key_that_is_none_is_said_in_a_sentence(key: Key, words: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "key.json", KEYS[words](json.loads(key.to_json())))
    with pytest.raises(UsageError, match=words):
        read_key(path)
