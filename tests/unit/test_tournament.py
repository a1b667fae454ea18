"""Tournaments over stored runs: played over HTTP, stored as they happen, resumed without asking twice."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opendesign.answering.budget import Budget
from opendesign.answering.models import Model, resolve
from opendesign.errors import StoreError, UsageError
from opendesign.running.execute import run_sync
from opendesign.running.report import Tally
from opendesign.running.store import Store, runs
from opendesign.running.tournament import (
    Tournament,
    TournamentPlan,
    load_tournament,
    plan_tournament,
    play,
)
from opendesign.running.tournament_store import MATCHES, TournamentStore
from opendesign.testing import Fault, ScriptedRequest, ScriptedServer

from .litellm_support import QUICK, model_at
from .running_support import PROTOCOL
from .tournament_support import CASE_IDS, card, last_turn, prefers_longer, ratio, reply, shown, stored_run

HEIGHTS = {"tall": 900, "middle": 600, "short": 300}
ALL = 3 * len(CASE_IDS)


@pytest.fixture
def stored(tmp_path: Path) -> list[Path]:
    """Three runs on the eight test cases, told apart by the height of their pages."""
    return [stored_run(tmp_path / "runs", name, height) for name, height in HEIGHTS.items()]


def tournament(plan: TournamentPlan, tally: Tally | None = None, concurrency: int = 4) -> Tournament:
    return run_sync(lambda: play(plan, report=tally, concurrency=concurrency))


def looks_at(requests: Sequence[ScriptedRequest]) -> Counter[str]:
    """How often each order of each pair was asked for a case: a repair turn is no look."""
    asked: Counter[str] = Counter()
    for request in requests:
        if len(request.body["messages"]) == 2:
            pages = shown(request)
            text = last_turn(request)[0]["text"]
            asked[f"{text}{ratio(pages['A']):.2f} {ratio(pages['B']):.2f}"] += 1
    return asked


def test_a_judge_that_prefers_the_longer_page_gives_the_known_order(stored: list[Path]) -> None:
    tally = Tally()
    with ScriptedServer(prefers_longer) as server:
        plan = plan_tournament(stored, card(), model_at(server))
        found = tournament(plan, tally)
        assert len(server.requests) == found.calls == 2 * ALL
    assert [row.run for row in found.standings] == ["tall", "middle", "short"]
    assert [row.model for row in found.standings] == ["fake/tall", "fake/middle", "fake/short"]
    assert [(row.wins, row.ties, row.losses, row.n) for row in found.standings] == [
        (16, 0, 0, 16),
        (8, 0, 8, 16),
        (0, 0, 16, 16),
    ]
    assert [(row.best, row.worst) for row in found.standings] == [(1, 1), (2, 2), (3, 3)]
    top, _, bottom = found.standings
    assert (top.high, bottom.low) == (None, None), "no match says how far apart they are"
    assert found.consistency is not None
    assert found.consistency.mean == 1.0
    assert found.consistency.low is not None
    assert found.consistency.low > 0.6
    assert found.first_shown is not None
    assert found.first_shown.mean == 0.5
    assert found.taller is not None
    assert found.taller.mean == 1.0
    assert found.coverage == 1.0
    assert set(found.by_category) == {"website", "game"}
    assert [row.run for row in found.by_category["game"]] == ["tall", "middle", "short"]
    assert (tally.journeys, tally.done, tally.steps["verdict-pairwise"]) == (ALL, ALL, ALL)


def test_a_judge_that_always_says_a_ties_everything(stored: list[Path]) -> None:
    with ScriptedServer(reply("A")) as server:
        found = tournament(plan_tournament(stored, card(), model_at(server)))
    assert found.consistency is not None
    assert found.consistency.mean == 0.0
    assert found.first_shown is not None
    assert found.first_shown.mean == 1.0
    assert found.taller is None, "nobody won anything"
    for row in found.standings:
        assert (row.wins, row.ties, row.losses, row.rating) == (0, 16, 0, 1000.0)
        assert len(row.not_separated) == 2


def test_bad_replies_leave_matches_unscored_and_are_played_again(stored: list[Path]) -> None:
    bad = reply("the nicer one")

    def script(request: ScriptedRequest) -> str:
        return bad if "website 1\n" in last_turn(request)[0]["text"] else prefers_longer(request)

    with ScriptedServer(script) as server:
        tally = Tally()
        found = tournament(plan_tournament(stored, card(), model_at(server)), tally)
    assert found.failures == {"unparsable": 3}
    assert tally.failures == {"unparsable": 3}
    assert (found.scored, found.planned) == (ALL - 3, ALL)
    assert found.coverage == pytest.approx(1 - 3 / ALL)
    assert sum(row.n for row in found.standings) == 2 * (ALL - 3), "no default outcome"
    assert found.calls == 2 * ALL + 6, "a repair turn for each order"
    with ScriptedServer(prefers_longer) as server:
        mended = tournament(plan_tournament(stored, card(), model_at(server)))
        assert mended.folder != found.folder, "a model at another address is another judge"
        asked_here = {len(server.requests)}
    assert asked_here == {2 * ALL}


class Changing:
    """A script that can be changed while its server stays where it is."""

    def __init__(self, script: Callable[[ScriptedRequest], Any]) -> None:
        self.script = script

    def __call__(self, request: ScriptedRequest) -> Any:
        return self.script(request)


def test_only_what_failed_is_asked_again(stored: list[Path]) -> None:
    def half_bad(request: ScriptedRequest) -> Any:
        pages = shown(request)
        return prefers_longer(request) if ratio(pages["A"]) > ratio(pages["B"]) else Fault("refusal")

    script = Changing(half_bad)
    with ScriptedServer(script) as server:
        plan = plan_tournament(stored, card(), model_at(server))
        first = tournament(plan)
        assert (first.scored, first.failures) == (0, {"judge_refused": ALL})
        assert first.standings == ()
        script.script = prefers_longer
        before = len(server.requests)
        second = tournament(plan_tournament(stored, card(), model_at(server)))
        assert (second.scored, second.failures) == (ALL, {})
        assert len(server.requests) - before == ALL, "one order each"
        assert second.calls == 3 * ALL, "what the first sitting spent is in the sum"
        assert tournament(plan).calls == 3 * ALL
        assert len(server.requests) - before == ALL


def test_a_longer_tournament_goes_on_where_the_shorter_ended(stored: list[Path]) -> None:
    with ScriptedServer(prefers_longer) as server:
        half = tournament(plan_tournament(stored, card(), model_at(server), matches=ALL // 2))
        assert (half.planned, half.scored, len(server.requests)) == (ALL // 2, ALL // 2, ALL)
        plan = plan_tournament(stored, card(), model_at(server))
        assert plan.estimate()["stored"] == ALL // 2
        assert plan.estimate()["calls"] == 2 * (ALL - ALL // 2)
        whole = tournament(plan)
        assert whole.folder == half.folder
        assert looks_at(server.requests).most_common(1)[0][1] == 1, "nothing was asked twice"
        assert len(server.requests) == 2 * ALL
        assert whole.scored == ALL
        assert plan.estimate() == {"matches": ALL, "stored": ALL, "walkovers": 0, "usd": None}


def test_a_killed_tournament_gives_what_an_undisturbed_one_gives(stored: list[Path]) -> None:
    enough = threading.Event()
    seen = 0

    def counting(request: ScriptedRequest) -> str:
        nonlocal seen
        seen += 1
        if seen >= ALL:
            enough.set()
        return prefers_longer(request)

    async def interrupted(plan: TournamentPlan) -> None:
        task = asyncio.create_task(play(plan, concurrency=4))
        await asyncio.to_thread(enough.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ScriptedServer(counting, latency_s=0.02) as server:
        plan = plan_tournament(stored, card(), model_at(server))
        run_sync(lambda: interrupted(plan))
        path = plan.folder / MATCHES
        done = len(path.read_bytes().splitlines())
        assert 0 < done < ALL
        path.write_bytes(path.read_bytes() + b'{"v": 1, "case": "torn')
        before = len(server.requests)
        tally = Notes()
        found = tournament(plan, tally)
        assert len(server.requests) - before == 2 * (ALL - done), "stored matches are not asked for"
        assert any("cut short" in note for note in tally.notes)
        path.write_bytes(b"")
        undisturbed = tournament(plan)
    assert found.standings == undisturbed.standings
    assert load_tournament(plan.folder).standings == found.standings


class Notes(Tally):
    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


def test_pages_that_failed_lose_without_a_call(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    failing = {"website-0": "truncated", "website-1": "browser_crash", "website-2": "page_hung"}
    a = stored_run(root, "a", lambda case: failing.get(case, 900))
    b = stored_run(root, "b", lambda case: {"website-2": "refused", "game-0": "empty"}.get(case, 300))
    with ScriptedServer(prefers_longer) as server:
        plan = plan_tournament([a, b], card(), model_at(server))
        assert plan.estimate()["walkovers"] == 4
        found = tournament(plan)
        assert len(server.requests) == 2 * (len(CASE_IDS) - 4)
    winner, loser = found.standings
    assert (winner.run, winner.wins, winner.ties, winner.losses) == ("a", 5, 1, 1)
    assert (loser.wins, loser.ties, loser.losses) == (1, 1, 5)
    assert found.failures == {"browser_crash": 1}, "an instrument's fault decides nothing"
    assert (found.scored, found.walkovers, found.planned) == (7, 3, 8)
    assert found.consistency is not None
    assert found.consistency.n == 4


def priced(server: ScriptedServer, folder: Path, budget: Budget) -> Model:
    """A judge whose every look costs a cent at least: completion tokens at 1 USD each hundred."""
    file = folder / "models.toml"
    file.write_text(
        f'[judge]\nmodel = "openai/judge"\nbase_url = "{server.base_url}"\nmax_tokens = 100\n'
        "prices = { input = 0.0, output = 10_000.0 }\n",
        encoding="utf-8",
    )
    return resolve("judge", models_file=file, budget=budget, retry=QUICK)


def test_a_budget_ends_the_play_and_a_larger_one_goes_on(tmp_path: Path, stored: list[Path]) -> None:
    with ScriptedServer(prefers_longer) as server:
        plan = plan_tournament(stored, card(), priced(server, tmp_path, Budget(4.0)))
        tally = Notes()
        poor = tournament(plan, tally, concurrency=2)
        assert 0 < poor.scored < ALL
        assert poor.planned == ALL
        assert poor.cost_usd is not None
        assert poor.cost_usd <= 4.0
        assert plan.spent_usd() == pytest.approx(poor.cost_usd)
        assert any("larger --budget" in note for note in tally.notes)
        assert sum(poor.failures.values()) <= 2, "what was not begun is not played, not failed"
        money = Budget(100.0)
        richer = plan_tournament(stored, card(), priced(server, tmp_path, money))
        assert richer.folder == plan.folder
        money.carry_over(richer.spent_usd())
        rich = tournament(richer)
        assert (rich.scored, rich.failures) == (ALL, {})
        assert looks_at(server.requests).most_common(1)[0][1] == 1
        assert money.spent_usd == pytest.approx(rich.cost_usd)


def test_several_samples_of_a_case_are_matches_of_their_own(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    pair = [stored_run(root, name, height, samples=2) for name, height in (("a", 900), ("b", 300))]
    with ScriptedServer(prefers_longer) as server:
        found = tournament(plan_tournament(pair, card(), model_at(server)))
    assert found.scored == 2 * len(CASE_IDS)
    assert found.standings[0].cases == len(CASE_IDS)


def test_an_edited_card_or_another_page_is_played_anew(tmp_path: Path, stored: list[Path]) -> None:
    with ScriptedServer(prefers_longer) as server:
        model = model_at(server)
        plan = plan_tournament(stored, card(), model, matches=3)
        tournament(plan)
        edited = replace(card(), hash="another")
        assert plan_tournament(stored, edited, model).folder != plan.folder
        assert plan_tournament(stored, card(), model, seed=1).folder != plan.folder
        assert plan_tournament(stored[::-1], card(), model).folder == plan.folder
        journal = stored[0] / "artifacts.jsonl"
        other = journal.read_text(encoding="utf-8").replace('"document":"', '"document":"0', 1)
        assert other != journal.read_text(encoding="utf-8")
        before = len(server.requests)
        tournament(plan_tournament(stored, card(), model, matches=3))
        assert len(server.requests) == before
        stored_run(stored[0].parent, "elsewhere", 640)
        swapped = (stored[0].parent / "elsewhere" / "artifacts.jsonl").read_bytes()
        journal.write_bytes(swapped)
        tournament(plan_tournament(stored, card(), model, matches=3))
        assert len(server.requests) > before


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"protocol": replace(PROTOCOL, hash="p2")}, r"differ in protocol \(test p1 and test p2\)"),
        ({"protocol": replace(PROTOCOL, name="other")}, r"test p1 and other p1"),
    ],
)
def test_runs_on_other_terms_are_refused(
    tmp_path: Path, stored: list[Path], changes: dict[str, Any], told: str
) -> None:
    other = stored_run(tmp_path / "runs", "zzz", 500, **changes)
    with ScriptedServer(reply("A")) as server:
        model = model_at(server)
        with pytest.raises(UsageError, match=told):
            plan_tournament([*stored, other], card(), model)


def test_what_cannot_be_played_is_one_sentence(tmp_path: Path, stored: list[Path]) -> None:
    with ScriptedServer(reply("A")) as server:
        model = model_at(server)
        with pytest.raises(UsageError, match="two runs or more"):
            plan_tournament(stored[:1], card(), model)
        with pytest.raises(UsageError, match="named twice"):
            plan_tournament([*stored, stored[0]], card(), model)
        with pytest.raises(UsageError, match="at least one match"):
            plan_tournament(stored, card(), model, matches=0)
        with pytest.raises(StoreError, match="no tournament"):
            load_tournament(stored[0])
        assert plan_tournament(stored, card(), model, matches=10**6).notes
        assert "never meet" in plan_tournament(stored, card(), model, matches=2).notes[0]
        lines = (stored[1] / "artifacts.jsonl").read_text(encoding="utf-8").splitlines()
        (stored[1] / "artifacts.jsonl").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
        with pytest.raises(UsageError, match=r"lacks 1 of its 8 pages: finish it with `opendesign run"):
            plan_tournament(stored, card(), model)
        assert server.requests == []


def test_one_process_at_a_time_writes(stored: list[Path]) -> None:
    with ScriptedServer(prefers_longer) as server:
        plan = plan_tournament(stored, card(), model_at(server), matches=3)
        with TournamentStore(plan.folder, write=True), pytest.raises(StoreError, match="Another process"):
            tournament(plan)
        assert server.requests == []


def test_damage_is_one_sentence(stored: list[Path]) -> None:
    with ScriptedServer(prefers_longer) as server:
        plan = plan_tournament(stored, card(), model_at(server), matches=3)
        tournament(plan)
    path = plan.folder / MATCHES
    sound = path.read_text(encoding="utf-8")
    for broken, told in (
        (sound.replace('"pair":["', '"pair":[1,"', 1), "Line 1"),
        (sound.replace('"outcome":"', '"outcome":"x', 1), "outcome"),
        (sound.replace('"v":1', '"v":99', 1), "newer opendesign"),
    ):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(StoreError, match=told):
            load_tournament(plan.folder)
    path.write_text(sound, encoding="utf-8")
    (plan.folder / "tournament.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match=r"tournament\.json is damaged"):
        load_tournament(plan.folder)


def test_a_tournament_is_no_run_and_changes_none(stored: list[Path]) -> None:
    def contents() -> dict[str, bytes]:
        root = stored[0].parent
        return {
            str(p.relative_to(root)): p.read_bytes()
            for p in sorted(root.rglob("*"))
            if p.is_file() and not p.parent.name.startswith("tournament-")
        }

    before = contents()
    with ScriptedServer(prefers_longer) as server:
        found = tournament(plan_tournament(stored, card(), model_at(server), matches=3))
    assert contents() == before
    assert Path(found.folder).name not in runs(stored[0].parent)
    with pytest.raises(StoreError, match="is not a run"):
        Store(Path(found.folder)).manifest()


def test_records_say_how_they_came_to_be(stored: list[Path]) -> None:
    with ScriptedServer(prefers_longer) as server:
        plan = plan_tournament(stored, card(), model_at(server), matches=1)
        tournament(plan)
    record = json.loads((plan.folder / MATCHES).read_text(encoding="utf-8"))
    assert record["made"]["judge_hash"] == card().hash
    assert record["made"]["judge_model"] == "openai/anything"
    assert record["value"]["usage"]["calls"] == 2
    assert set(record["varies"]) >= {"at", "seconds", "host"}
    assert "at" not in record["value"]
    manifest = json.loads((plan.folder / "tournament.json").read_text(encoding="utf-8"))
    assert manifest["runs"] == {name: f"fake/{name}" for name in HEIGHTS}
    assert manifest["judge"]["asked"]["temperature"] == 0.0


def test_what_is_printed(stored: list[Path]) -> None:
    with ScriptedServer(prefers_longer) as server:
        found = tournament(plan_tournament(stored, card(), model_at(server)))
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["coverage"] == 1.0
    assert document["standings"][0]["model"] == "fake/tall"
    frame = found.to_pandas().set_index(["category", "run"])
    assert frame.loc[("all", "tall"), "rank"] == 1
    assert frame.loc[("game", "short"), "losses"] == 8
    said = str(found).splitlines()
    assert said[0].split()[:3] == ["rank", "model", "rating"]
    assert said[1].startswith("1     fake/tall ")
    assert any("no end" in line for line in said)
    assert any("24 of 24 matches count" in line for line in said)
    columns, rows = found.table()
    assert all(len(row) == len(columns) for row in rows)
