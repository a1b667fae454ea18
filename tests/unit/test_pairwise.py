"""Two pages, two orders: what the judge is shown, what its replies come to, and what a bad one does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opendesign.answering.models import close_models
from opendesign.errors import Failed, UsageError
from opendesign.judging.asking import Malformed
from opendesign.judging.pairwise import Look, Match, compare, expected, judge
from opendesign.judging.pairwise.question import read_preference
from opendesign.running.blobs import Blobs
from opendesign.testing import Fault, ScriptedReply, ScriptedRequest, ScriptedServer
from opendesign.types import Artifact, Case, Requirement

from .litellm_support import model_at
from .tournament_support import WIDTH, card, last_turn, png, prefers_longer, ratio, reply, shown

CASE = Case(
    id="bees",
    category="website",
    prompt="A page about bees, {{requirements}}",
    requirements=(
        Requirement(kind="content", text="A list of bee species is shown."),
        Requirement(kind="behaviour", text="The list can be filtered."),
    ),
)


def page(folder: Path, height: int) -> Artifact:
    blobs = Blobs(folder / "blobs")
    return Artifact(
        case=CASE.id,
        sample=0,
        document=blobs.put(f"<p>{height}".encode(), "html"),
        picture=blobs.put(png(height), "png"),
        width=WIDTH,
        height=height,
    )


async def play(
    folder: Path, script: object, *, heights: tuple[int, int] = (900, 400), known: tuple[Look, ...] = ()
) -> tuple[Match, list[ScriptedRequest]]:
    with ScriptedServer(script) as server:  # type: ignore[arg-type]
        first, second = (page(folder, height) for height in heights)
        try:
            match = await compare(CASE, first, second, card(), model_at(server), known=known)
        finally:
            await close_models()
        return match, server.requests


async def test_the_longer_page_wins_in_both_orders(tmp_path: Path) -> None:
    match, requests = await play(tmp_path, prefers_longer)
    assert match.outcome == "first"
    assert match.consistent is True
    assert [look.shown_first for look in match.looks] == ["first", "second"]
    assert match.looks[0].reasons == ("A: Tidy.", "B: Plain.", "It shows more.")
    assert match.usage.calls == len(requests) == 2
    assert match.evidence["model_returned"] == ["anything fp_scripted"]
    turned, _ = await play(tmp_path, prefers_longer, heights=(400, 900))
    assert turned.outcome == "second"


async def test_each_order_shows_both_pages_below_their_own_line(tmp_path: Path) -> None:
    match, requests = await play(tmp_path, prefers_longer, heights=(4000, 400))
    orders = set()
    for request in requests:
        pages = shown(request)
        assert set(pages) == {"A", "B"}
        orders.add(ratio(pages["A"]) > ratio(pages["B"]))
        tall = max(pages.values(), key=ratio)
        assert len(tall) > 1, "a page that is scaled down is shown in parts too"
    assert orders == {True, False}
    sent = match.evidence["pictures"]
    assert [one["kind"] for one in sent["second"]] == ["overview"]
    assert sent["first"][0]["scale"] < 1


async def test_the_question_holds_the_case_and_expands_nothing_in_it(tmp_path: Path) -> None:
    _, requests = await play(tmp_path, prefers_longer)
    said = "\n".join(part["text"] for part in last_turn(requests[0]) if part["type"] == "text")
    assert "A page about bees, {{requirements}}" in said
    assert "- A list of bee species is shown." in said
    assert "filtered" not in said, "what cannot be seen in a picture is not asked about"


async def test_a_judge_of_places_makes_a_tie_and_shows_it(tmp_path: Path) -> None:
    match, _ = await play(tmp_path, reply("A"))
    assert (match.outcome, match.consistent) == ("tie", False)
    match, _ = await play(tmp_path, reply("tie"))
    assert (match.outcome, match.consistent) == ("tie", True)


def when_long_is_first(other: object) -> Callable[[ScriptedRequest], object]:
    """Sound replies where the longer page stands at A, ``other`` where it stands at B."""

    def script(request: ScriptedRequest) -> object:
        pages = shown(request)
        return prefers_longer(request) if ratio(pages["A"]) > ratio(pages["B"]) else other

    return script


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("I prefer page A.", "unparsable"),
        (reply("the left one"), "unparsable"),
        (json.dumps({"better": "A"}), "unparsable"),
        (json.dumps({"a": "x", "b": "y", "reason": "z"}), "unparsable"),
        ("", "unparsable"),
        (ScriptedReply(text='{"a": "tid', finish_reason="length"), "judge_truncated"),
        (Fault("refusal"), "judge_refused"),
        (Fault("content_filter"), "judge_refused"),
        (Fault("wrong_key"), "provider_error"),
    ],
)
async def test_one_bad_order_leaves_the_match_unscored(tmp_path: Path, bad: object, reason: str) -> None:
    match, requests = await play(tmp_path, when_long_is_first(bad))
    assert match.outcome is None
    assert match.consistent is None
    assert match.failure is not None
    assert match.failure.reason == reason
    assert match.usage.calls >= 1, "what the sound order has cost is kept"
    again, more = await play(tmp_path, prefers_longer, known=match.looks)
    assert again.outcome == "first"
    assert len(more) == 1, "only the order that failed is asked again"
    assert again.usage.calls == 1
    repaired = 1 if reason == "unparsable" else 0
    assert len(requests) == 2 + repaired


async def test_a_reply_is_mended_once(tmp_path: Path) -> None:
    def script(request: ScriptedRequest) -> str:
        turns = request.body["messages"]
        return prefers_longer(request) if len(turns) > 2 else "Page A, clearly."

    match, requests = await play(tmp_path, script)
    assert match.outcome == "first"
    assert all(look.repaired for look in match.looks)
    assert len(requests) == match.usage.calls == 4
    told = requests[-1].body["messages"][-1]["content"]
    assert "could not be used" in told
    assert "JSON object: answer with the JSON object only" in told
    assert "{{" not in told


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("A", "A"),
        ("b", "B"),
        ("Page B.", "B"),
        ("TIE", "tie"),
        ("draw", "tie"),
        (" 'a' ", "A"),
    ],
)
def test_places_are_read_as_they_are_written(said: str, place: str) -> None:
    assert read_preference(f"Let me see.\n```json\n{reply(said)}\n```")[0] == place


@pytest.mark.parametrize("said", ["AB", "A or B", "", None, 1, True, ["A"], "neither", "both", "页面A"])
def test_anything_else_is_no_place(said: object) -> None:
    with pytest.raises(Malformed, match="better"):
        read_preference(json.dumps({"a": "x", "b": "y", "reason": "z", "better": said}))


@given(st.text(), st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_any_reply_is_a_place_or_malformed(text: str, value: object) -> None:
    for reply_text in (text, json.dumps({"better": value, "a": text}), f'{{"better": "A", "a": {text!r}}}'):
        try:
            place, reasons = read_preference(reply_text)
        except Malformed:
            continue
        assert place in ("A", "B", "tie")
        assert reasons


async def test_a_page_without_a_picture_is_never_judged(tmp_path: Path) -> None:
    with ScriptedServer(reply("A")) as server:
        blind = replace(page(tmp_path, 400), picture=None)
        with pytest.raises(Failed, match="no picture"):
            await compare(CASE, page(tmp_path, 900), blind, card(), model_at(server))
        await close_models()
        assert server.requests == []


async def test_one_page_alone_is_refused() -> None:
    artifact = Artifact(case=CASE.id, sample=0, document=None)
    with pytest.raises(UsageError, match="opendesign judge RUN RUN --judges pairwise"):
        await judge(CASE, artifact, card(), None, None)


def test_expected_counts_two_orders_of_two_pages() -> None:
    found = expected(card(), CASE)
    tiles = card().settings["pictures"]["tiles"]
    assert found["calls"] == 2
    assert found["pictures"] == 2 * 2 * (1 + tiles)
    longer = expected(card(), replace(CASE, prompt="x" * 40_000))
    assert longer["prompt_tokens"] - found["prompt_tokens"] > 15_000
