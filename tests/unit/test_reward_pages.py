"""The reward on drawn pages: judges, guards, pages that hang, judges that are down."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opendesign.answering import controls
from opendesign.answering.retry import RetryPolicy
from opendesign.cases.benchmark import load_benchmark
from opendesign.rendering import Renderer
from opendesign.rendering.browser import BrowserFound, browsers
from opendesign.testing import Fault, ScriptedRequest, ScriptedServer
from opendesign.train import AgenticReward, Evaluation
from opendesign.train.panel import GUARDS
from opendesign.types import CATEGORIES, Case
from tests.unit.litellm_support import model_at
from tests.unit.static_support import verdict

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not any(True for _ in browsers()), reason="there is no browser here"),
]

PROMPT = (
    "A page for a small bakery in Ghent with its opening hours, three kinds of bread and a way to order for "
    "the next day"
)
PAGES = {path.stem: path.read_text() for path in Path(__file__).parent.joinpath("train_pages").glob("*.html")}
HANGS = PAGES["giant"].replace("</body>", "<script>while (true) {}</script></body>")


def evaluate(reward: AgenticReward, prompts: list[str], completions: list[str]) -> list[Evaluation]:
    return asyncio.run(reward.evaluate(prompts, completions))


@pytest.fixture(scope="module")
def guarded() -> Iterator[AgenticReward]:
    with AgenticReward(("execution",), guards=list(GUARDS)) as reward:
        yield reward


def test_each_guard_sees_its_page_and_no_other(guarded: AgenticReward) -> None:
    assert set(PAGES) == set(GUARDS)
    found = evaluate(guarded, [PROMPT] * len(PAGES), list(PAGES.values()))
    for name, one in zip(PAGES, found, strict=True):
        tripped = {channel for channel, value in one.channels.items() if channel != "execution" and value}
        assert tripped == {f"guard_{name}"}, name
        assert one.total == pytest.approx(0.1 - 1.0)


def _train_cases() -> list[Case]:
    cases = load_benchmark("opendesign-train").cases
    return [case for kind in CATEGORIES for case in [c for c in cases if c.category == kind][:2]]


def test_good_pages_trip_no_guard(guarded: AgenticReward) -> None:
    cases = _train_cases()
    assert len(cases) == 10
    found = evaluate(
        guarded, [case.prompt for case in cases], [controls.reply("template", case) for case in cases]
    )
    for case, one in zip(cases, found, strict=True):
        assert {name: value for name, value in one.channels.items() if value} == {"execution": 1}, case.id


def test_better_pages_earn_more_and_channels_are_looked_at_once() -> None:
    case = load_benchmark("opendesign-train").cases[0]
    completions = [controls.reply(control, case) for control in ("template", "plain", "broken")]
    batch = {"prompts": [case.prompt] * 3, "completions": completions, "category": [case.category] * 3}

    async def all_channels() -> list[list[float | None]]:
        return [await channel(**batch) for channel in reward.channels()]

    with AgenticReward(("execution", "computed", "probe")) as reward:
        totals = reward(**batch)
        found = asyncio.run(reward.evaluate(**batch))
        channels = asyncio.run(all_channels())
    assert totals == sorted(totals, reverse=True)
    assert len(set(totals)) == 3
    assert all(one.cached for one in found)
    assert channels[0] == [1, 1, -1]
    assert channels[2][0] == 1
    weighted = [
        sum(w * c for w, c in zip((0.1, 0.8, 0.1), row, strict=True)) for row in zip(*channels, strict=True)
    ]
    assert weighted == pytest.approx(totals)


def test_what_is_kept_of_a_page_is_of_the_browser_that_drew_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    real = Renderer.render

    async def render(self: Renderer, document: str) -> Any:
        drawn.append(document)
        return await real(self, document)

    monkeypatch.setattr(Renderer, "render", render)
    page = controls.document("plain", _train_cases()[0])
    for browser, times in (("this", 1), ("this", 1), ("a newer one", 2)):
        monkeypatch.setattr(BrowserFound, "stamp", browser)
        with AgenticReward(("execution", "computed"), cache=tmp_path) as reward:
            reward(["A bakery"], [page])
        assert len(drawn) == times
    assert len(list(tmp_path.glob("*/*.json"))) == 3  # execution reads the source, and is kept once


def test_a_page_that_hangs_is_the_models_failure_and_no_others() -> None:
    good = controls.document("template", _train_cases()[0])
    with AgenticReward(("execution", "computed"), deadline_s=24) as reward:
        hung, fine = evaluate(reward, ["A bakery"] * 2, [HANGS, good])
    assert dict(hung.channels) == {"execution": -1, "static": 0}
    assert {failure.reason for failure in hung.failures.values()} == {"page_hung"}
    assert fine.total is not None
    assert fine.total > 0.5
    assert hung.seconds > fine.seconds > 0


def test_a_judge_that_is_down_abstains_and_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key-0123456789")
    page = controls.document("template", _train_cases()[0])
    prompts = [f"Bees, number {number}." for number in range(6)]
    down = {prompts[0], prompts[3]}

    def script(request: ScriptedRequest) -> str | Fault:
        return Fault("server_error") if any(prompt in request.prompt for prompt in down) else verdict()

    with ScriptedServer(script) as server:
        model = model_at(server, retry=RetryPolicy(attempts=1))
        with AgenticReward(("execution", "static"), {"static": model}) as reward:
            found = evaluate(reward, prompts, [page] * 6)
            assert [one.channels["static"] for one in found] == [None, 0.73, 0.73, None, 0.73, 0.73]
            assert [one.channels["execution"] for one in found] == [1] * 6
            assert [one.total is None for one in found] == [True, False, False, True, False, False]
            assert found[0].failures["static"].reason == "provider_error"
            down.clear()
            assert reward(prompts, [page] * 6) == pytest.approx([0.1 + 0.8 * 0.73] * 6)
        assert [server.count(prompt) for prompt in prompts] == [2, 1, 1, 2, 1, 1]
