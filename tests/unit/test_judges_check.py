"""``judges check`` on real pages in a real browser: what a judge sees, what it spares, and what it costs."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from opendesign.cli import check_table
from opendesign.cli.judges import judges
from opendesign.errors import UnknownName, UsageError
from opendesign.judging.cards import load_card
from opendesign.judging.static import judge_text
from opendesign.running.check import CheckPlan, carry_out_check, plan_check
from opendesign.running.check_result import Check
from opendesign.running.journey import Seat
from opendesign.running.report import Tally
from opendesign.testing import ScriptedReply, ScriptedRequest, ScriptedServer
from tests.unit.litellm_support import KEY, model_at
from tests.wild import fresh

pytestmark = pytest.mark.browser

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Bees of the valley</title><style>.note {{ color: #222; }} body {{ margin: 24px; }}</style></head>
<body><main><h1>Bees {0}</h1>{1}<img src="{0}.png" {2}></main></body></html>"""
TEXT = '<p class="note">A paragraph about bees that is long enough to be read as one, number {}.</p>\n'
FIRM = "<script>onload = () => { for (const p of document.querySelectorAll('p, h1')) p.style = '' }</script>"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENDESIGN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def given(folder: Path, *, alt: str = 'alt="bees"') -> Path:
    """Two pages of our own that keep every rule, or none where a picture has no alternative text."""
    folder.mkdir()
    for name in ("one", "two"):
        texts = "".join(TEXT.format(f"{n} of {name}") for n in range(6))
        (folder / f"{name}.html").write_text(PAGE.format(name, texts, alt), encoding="utf-8")
    return folder


def carried_out(plan: CheckPlan) -> Check:
    return asyncio.run(carry_out_check(plan, Tally(), concurrency=4))


def test_the_rules_see_markup_and_spare_harmless_edits(tmp_path: Path) -> None:
    arguments = ["check", "execution", "--limit", "4", "--pages", str(given(tmp_path / "good")), "--json"]
    kinds = "no_title,unpaired,tiny,comment_added,class_renamed"
    arguments += ["--kinds", kinds, "--markdown", str(tmp_path / "table.md")]
    done = CliRunner().invoke(judges, arguments, standalone_mode=False)
    assert done.exception is None, done.output
    assert done.return_value == 0
    found = json.loads(done.stdout)
    assert found["good_pages"] == {"template": 2, "given": 2}
    kinds_found = {kind["kind"]: kind for kind in found["kinds"]}
    for kind in ("no_title", "unpaired"):
        assert kinds_found[kind]["role"] == "sees"
        assert (kinds_found[kind]["pages"], kinds_found[kind]["fell"]["mean"]) == (4, 1)
        assert kinds_found[kind]["median_fall"] == 1
    assert kinds_found["tiny"]["role"] == "other"
    assert kinds_found["tiny"]["fell"]["mean"] == 0
    assert found["harmless"]["mean"] == 0
    assert found["harmless"]["n"] >= 6
    assert set(found["meets"]) == {"no_title", "unpaired"}
    assert found["sound"] is True
    kept = json.loads((Path(found["run"]) / "check.json").read_text(encoding="utf-8"))
    assert kept == found
    table = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert re.search(r"^\| no_title \| fall \| 4 \| 100\.0 \[51–100\] \| 1 \|$", table, re.MULTILINE)
    assert "all harmless edits | not fall" in table


@pytest.mark.parametrize(
    ("judge", "kinds"),
    [
        ("computed", "contrast,overlap,columns,sideways,tiny,fonts,whitespace,rules_reordered"),
        ("probe", "controls,attribute_order"),
    ],
)
def test_a_judge_sees_what_it_is_meant_to_see(judge: str, kinds: str) -> None:
    """Two pages of the template; sixty, half of them by other people, in the long test."""
    found = carried_out(plan_check(judge, limit=2, seed=3, kinds=kinds.split(",")))
    assert found.misses == ()
    assert found.spares
    assert found.unscored == 0
    assert len(found.meets) >= len(kinds.split(",")) - 3


@pytest.mark.long
@pytest.mark.parametrize("judge", ["execution", "computed", "probe"])
def test_a_judge_is_sensitive_on_pages_it_was_not_made_for(judge: str, tmp_path: Path) -> None:
    fresh.write(tmp_path / "fresh")
    plan = plan_check(judge, limit=60, pages=tmp_path / "fresh", seed=2026)
    found = carried_out(plan)
    assert found.good_pages == {"template": 30, "given": 30}
    assert found.misses == (), check_table.markdown(found)
    assert found.spares, check_table.markdown(found)
    assert set(found.meets) == plan.role.sees
    assert found.unscored <= 0.02 * len(found.pairs)


def test_a_page_with_the_lowest_score_already_is_no_test_and_is_told(tmp_path: Path) -> None:
    plan = plan_check("execution", limit=4, pages=given(tmp_path / "good", alt=""), kinds=["no_title"])
    found = carried_out(only_given(plan))
    assert found.kinds[0].left_out == {"floor": 2}
    assert found.kinds[0].fell is None
    assert not found.sound


def test_what_does_not_show_is_left_out_before_it_is_judged(tmp_path: Path) -> None:
    """A style that wins over the damage: nothing is seen, so nothing is asked of the judge."""
    folder = given(tmp_path / "good")
    for page in folder.iterdir():
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("</body>", f"{FIRM}</body>"), encoding="utf-8")
    plan = plan_check("computed", limit=4, pages=folder, kinds=["tiny"])
    found = carried_out(only_given(plan))
    assert found.kinds[0].left_out == {"unseen": 2}
    assert not list(plan.folder.glob("verdicts-computed.jsonl")) or all(
        "~tiny" not in line
        for line in (plan.folder / "verdicts-computed.jsonl").read_text(encoding="utf-8").splitlines()
    )


def test_a_check_goes_on_where_it_was(tmp_path: Path) -> None:
    plan = plan_check("execution", limit=2, kinds=["no_title"])
    first = carried_out(plan)
    lines = (plan.folder / "artifacts.jsonl").read_text(encoding="utf-8")
    again = carried_out(plan)
    assert (plan.folder / "artifacts.jsonl").read_text(encoding="utf-8") == lines
    assert again.pairs == first.pairs


class Moody:
    """A judge that reads the source: 25 points less where text is tiny, and a point of its own mood, which
    changes each time that it sees a page."""

    def __init__(self) -> None:
        self.looks: Counter[str] = Counter()

    def __call__(self, request: ScriptedRequest) -> ScriptedReply:
        name = re.findall(r"Bees (one|two)", request.prompt)[0]
        mood = self.looks[name] % 2
        self.looks[name] += 1
        tiny = 25 * ("font-size: 8px" in request.prompt)
        scores = {"alignment": 35, "aesthetics": 28 - tiny, "structure": 26 + mood}
        return ScriptedReply(text=json.dumps({"reasons": {}, "scores": scores}))


def only_given(plan: CheckPlan) -> CheckPlan:
    return replace(plan, pages=tuple(page for page in plan.pages if page[0] == "given"))


def model_plan(server: ScriptedServer, folder: Path, kinds: list[str]) -> CheckPlan:
    """Two pages of our own, judged by their source."""
    plan = only_given(plan_check("execution", limit=4, pages=given(folder), kinds=kinds))
    seat = Seat(card=load_card("text"), engine=judge_text, model=model_at(server))
    return replace(plan, seat=seat, folder=Path("runs/check-text"))


def test_a_judge_with_a_model_is_held_to_its_own_noise(tmp_path: Path) -> None:
    with ScriptedServer(Moody()) as server:
        found = carried_out(model_plan(server, tmp_path / "good", ["tiny", "comment_added"]))
        calls = len(server.requests)
    kinds = {kind.kind: kind for kind in found.kinds}
    assert kinds["tiny"].fell is not None
    assert kinds["tiny"].fell.mean == 1
    assert kinds["tiny"].mean_fall == pytest.approx(25, abs=1.01)
    assert found.tolerance == pytest.approx(1.96), "a point of mood is noise"
    assert kinds["comment_added"].fell is not None
    assert kinds["comment_added"].fell.mean == 0
    assert found.calls == calls == 2 * 4, "the good page twice, and two copies of it"


def test_a_failure_of_the_judge_is_unscored_and_never_a_fall(tmp_path: Path) -> None:
    moody = Moody()

    def refuses(request: ScriptedRequest) -> ScriptedReply:
        tiny = "font-size: 8px" in json.dumps(request.body)
        return ScriptedReply(text="I cannot say.") if tiny else moody(request)

    with ScriptedServer(refuses) as server:
        found = carried_out(model_plan(server, tmp_path / "good", ["tiny"]))
    assert found.kinds[0].left_out == {"unscored": 2}
    assert found.unscored == 2
    assert found.kinds[0].fell is None
    assert all(re.match("The changed page: .+", pair.detail) for pair in found.pairs)


def test_what_cannot_be_checked_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a model: add --judge-model text=PROVIDER/MODEL"):
        plan_check("text")
    with pytest.raises(UnknownName, match="did you mean overlap"):
        plan_check("computed", kinds=["overlaps"])
    arguments = ["check", "computed", "--markdown", str(tmp_path / "nowhere" / "table.md")]
    refused = CliRunner().invoke(judges, arguments, standalone_mode=False)
    assert isinstance(refused.exception, UsageError)
    assert "make it first" in str(refused.exception)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="There is no HTML file in"):
        plan_check("computed", pages=tmp_path / "empty")


def test_the_good_pages_are_of_all_categories_and_drawn_by_the_seed() -> None:
    first, again, other = (plan_check("computed", limit=10, seed=seed) for seed in (1, 1, 2))
    ids = [[page.case.id for _, page in plan.pages] for plan in (first, again, other)]
    assert ids[0] == ids[1] != ids[2]
    assert {page.case.category for _, page in first.pages} == {
        "website",
        "3d",
        "game",
        "component",
        "dataviz",
    }
    assert all(page.other != page.document for _, page in first.pages)
