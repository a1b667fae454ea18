"""Rates of a run's plots, and repairs: every share from stored records, every try kept and paid for once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opendesign.plotting import Plot
from opendesign.running.execute import run_sync
from opendesign.running.journey import Setup, journey
from opendesign.running.plan import Plan, plan_run
from opendesign.running.plot_rates import PlotRates, plot_rates
from opendesign.running.repair import repair_prompt
from opendesign.running.report import Tally
from opendesign.running.statistics import Estimate, Resampling, median, rate
from opendesign.running.store import Store
from opendesign.types import (
    Answer,
    Artifact,
    Benchmark,
    Case,
    Failure,
    GenerationSettings,
    PlotSettings,
    PlotTask,
    Usage,
    Verdict,
)
from tests.unit.plot_support import FACTS, drawn, plot_case
from tests.unit.running_support import PROTOCOL, FakeRenderer, seat

CHARTS = ("line", "bar", "pie")


def cases(folder: Path) -> tuple[Case, ...]:
    """Six cases: three charts of matplotlib and of seaborn."""
    made = []
    for library in ("matplotlib", "seaborn"):
        for chart in CHARTS:
            case = plot_case(folder, id=f"{library}-{chart}", category=library, topic=chart)
            assert case.task is not None
            task: PlotTask = replace(case.task, library=library, chart=chart)
            made.append(replace(case, prompt=f"Draw a {chart} with {library}.", task=task))
    return tuple(made)


class Coder:
    """Answers with what ``say`` makes of the prompt: code, or the reason of a failure."""

    name = "fake/coder"

    def __init__(self, say: Callable[[str], str]) -> None:
        self._say, self.prompts = say, list[str]()

    async def answer(self, case: Case, sample: int, settings: GenerationSettings) -> Answer:
        self.prompts.append(case.prompt)
        said = self._say(case.prompt)
        made = Answer(case=case.id, sample=sample, text=said, usage=Usage(calls=1, cost_usd=0.25))
        if " " not in said:
            return replace(made, failure=Failure(reason=said, detail=f"It was {said}."))
        return replace(made, document=said)

    async def chat(self, messages: Any, **options: Any) -> Any:
        raise NotImplementedError

    def config(self, settings: GenerationSettings) -> dict[str, Any]:
        return {"model": self.name}


class Sandbox:
    """Code that says ``fail REASON`` fails with it; ``draw blank`` draws nothing that can be seen."""

    engine, isolation = "matplotlib 3", "none"

    def __init__(self) -> None:
        self.run = list[str]()

    async def get(self) -> Sandbox:
        return self

    async def plot(self, code: str, task: PlotTask) -> Plot:
        self.run.append(code)
        word, what = code.split()[:2]
        if word == "fail":
            return Plot(failure=Failure(reason=what, detail=f"line 1: {what}"))
        facts = replace(FACTS, blank=what == "blank")
        return Plot(picture=drawn(), facts=facts, width=320, height=240)


def looks(case: Case, artifact: Artifact) -> Mapping[str, float]:
    return {"total": 80.0 if case.category == "matplotlib" else 60.0, "good": float(case.topic == "line")}


def carried_out(folder: Path, coder: Coder, sandbox: Sandbox, *, repairs: int = 0, samples: int = 1) -> Plan:
    asked = cases(folder / "own")
    benchmark = Benchmark(
        name="plots", version="1", title="Plots", cases=asked, splits={}, path=Path(), hash="p", kind="plots"
    )
    protocol = replace(PROTOCOL, plots=PlotSettings(repairs=repairs))
    judge = _blank_aware(seat(looks))
    plan = plan_run(
        coder, benchmark, protocol, (judge,), asked, folder=folder / "runs" / "one", samples=samples
    )

    async def all_of_them() -> None:
        with Store(plan.folder, write=True) as store:
            if not store.manifest_path.exists():
                store.create(plan.manifest())
            setup = Setup(
                model=coder,
                protocol=protocol,
                renderer=FakeRenderer(),  # type: ignore[arg-type]
                plotter=sandbox,  # type: ignore[arg-type]
                seats=(judge,),
            )
            for case in asked:
                for sample in range(samples):
                    await journey(case, sample, setup, store, Tally())

    run_sync(all_of_them)
    return plan


def _blank_aware(made: Any) -> Any:
    """A judge that says so where a plot is blank, as every judge of plots does."""

    async def engine(case: Case, artifact: Artifact, card: Any, page: Any, model: Any) -> Verdict:
        assert artifact.facts is not None
        blank = b'"blank":true' in artifact.facts.read_bytes()
        scores = {"total": 0.0, "good": 0.0} if blank else looks(case, artifact)
        return Verdict(
            case=case.id, sample=artifact.sample, judge="looks", scores=scores, evidence={"blank": blank}
        )

    return replace(made, engine=engine)


def rates(plan: Plan) -> PlotRates:
    store = Store(plan.folder)
    verdicts = {"looks": store.records("verdicts-looks.jsonl")}
    measures = {"looks": {"total": {"headline": True, "kind": "mean"}, "good": {"kind": "rate"}}}
    resampling = Resampling([case.category for case in plan.cases], resamples=500)
    found = plot_rates(
        store,
        store.records("answers.jsonl"),
        store.records("artifacts.jsonl"),
        verdicts,
        measures,
        resampling,
    )
    assert found is not None
    return found


def share(estimate: Estimate | None) -> tuple[float, int]:
    assert estimate is not None
    return round(estimate.mean, 4), estimate.n


SAID = {
    "Draw a line with matplotlib.": "draw well",
    "Draw a bar with matplotlib.": "fail exception",
    "Draw a pie with matplotlib.": "refused",
    "Draw a line with seaborn.": "fail no_plot",
    "Draw a bar with seaborn.": "draw blank",
    "Draw a pie with seaborn.": "fail sandbox_unavailable",
}


def test_every_outcome_has_its_rate(tmp_path: Path) -> None:
    found = rates(carried_out(tmp_path, Coder(SAID.__getitem__), Sandbox()))
    assert share(found.all.error) == (0.4, 5), "a failure of the sandbox is nobody's: it is not in n"
    assert share(found.all.no_plot) == (0.2, 5)
    assert share(found.all.blank) == (0.2, 5)
    assert found.all.error == rate([[0], [1], [1], [0], [0]])
    assert share(found.by_library["matplotlib"].error) == (round(2 / 3, 4), 3)
    assert share(found.by_library["seaborn"].error) == (0, 2)
    assert share(found.by_chart["bar"].blank) == (0.5, 2)
    assert list(found.by_chart) == sorted(CHARTS)
    whole = found.all.judges["looks"]
    assert share(whole.mean) == (16, 5), "what the model failed counts as the lowest score"
    assert share(whole.median) == (0, 5)
    assert share(whole.good) == (0.2, 5)
    assert share(found.by_chart["line"].judges["looks"].mean) == (40, 2)
    assert found.by_chart["pie"].judges["looks"].good == rate([[0]])
    assert found.repairs is None
    assert found.to_dict()["by_library"]["seaborn"]["no_plot"]["n"] == 2


def test_a_run_of_pages_has_none(tmp_path: Path) -> None:
    plan = carried_out(tmp_path, Coder(lambda _: "draw well"), Sandbox())
    store = Store(plan.folder)
    manifest = store.manifest()
    pages = [{name: value for name, value in case.items() if name != "task"} for case in manifest["cases"]]
    store.create({**manifest, "cases": pages})
    assert plot_rates(store, {}, {}, {}, {}, Resampling(["website"] * 6, resamples=10)) is None


def test_samples_of_a_case_move_together(tmp_path: Path) -> None:
    found = rates(carried_out(tmp_path, Coder(SAID.__getitem__), Sandbox(), samples=3))
    assert share(found.all.error) == (0.4, 5)


# Repairs


def mended(prompt: str) -> str:
    """Mends the bar of matplotlib at the second try, never draws the line of seaborn."""
    case, tries = prompt.split("\n")[0], prompt.count("What went wrong")
    if case == "Draw a bar with matplotlib.":
        return ("fail exception", "fail syntax_error")[tries] if "syntax_error" not in prompt else "draw well"
    return SAID[case]


def test_repairs_are_told_the_error_kept_and_reported_apart(tmp_path: Path) -> None:
    coder, sandbox = Coder(mended), Sandbox()
    plan = carried_out(tmp_path, coder, sandbox, repairs=3)
    found = rates(plan)
    assert found.repairs is not None
    assert [share(one) for one in found.repairs.runs] == [(0.4, 5), (0.4, 5), (0.6, 5), (0.6, 5)]
    assert (found.repairs.asked, found.repairs.cost_usd) == (5, 1.25)
    bar, line = (
        [prompt for prompt in coder.prompts if prompt.startswith(start)]
        for start in ("Draw a bar with matplotlib.", "Draw a line with seaborn.")
    )
    assert len(bar) == 3
    assert "```python\nfail exception\n```" in bar[1]
    assert "What went wrong: line 1: exception" in bar[1]
    assert "fail syntax_error" in bar[2]
    assert "fail exception" not in bar[2], "one failed answer is shown, the last"
    assert len(line) == 4
    store = Store(plan.folder)
    assert store.records("answers.jsonl")["matplotlib-bar", 0]["value"]["document"] == "fail exception"
    scores = store.records("verdicts-looks.jsonl")["matplotlib-bar", 0]["value"]["scores"]
    assert scores["total"] == 0, "a plot that was repaired still failed"
    assert store.spent_usd() == (6 + 5) * 0.25


def test_a_resumed_run_asks_for_no_try_again(tmp_path: Path) -> None:
    coder, sandbox = Coder(mended), Sandbox()
    plan = carried_out(tmp_path, coder, sandbox, repairs=1)
    asked, drawn_ = len(coder.prompts), len(sandbox.run)
    carried_out(tmp_path, coder, sandbox, repairs=1)
    assert len(coder.prompts) == asked
    assert sandbox.run[drawn_:] == ["fail sandbox_unavailable"], (
        "only the instrument's failure is tried again"
    )
    first = rates(plan)
    carried_out(tmp_path, coder, sandbox, repairs=3)
    assert len(coder.prompts) == asked + 3, "more tries go on from the ones that are there"
    assert first.repairs is not None
    assert len(first.repairs.runs) == 2


def test_a_try_that_nobody_could_make_is_left_out(tmp_path: Path) -> None:
    def say(prompt: str) -> str:
        return "rate_limited" if "What went wrong" in prompt else mended(prompt)

    found = rates(carried_out(tmp_path, Coder(say), Sandbox(), repairs=2))
    assert found.repairs is not None
    assert [share(one) for one in found.repairs.runs] == [(0.4, 5), (0.6667, 3)]


@pytest.mark.parametrize(
    ("document", "text", "shown"),
    [("a = 1", "Here: a = 1", "```python\na = 1\n```"), (None, "I cannot.", "```python\nI cannot.\n```")],
)
def test_the_prompt_of_a_repair(document: str | None, text: str, shown: str) -> None:
    case = Case(id="a", category="seaborn", prompt="Draw {answer} {{x}}.")
    answer = Answer(case="a", sample=0, text=text, document=document)
    prompt = repair_prompt(case, answer, Failure(reason="exception", detail="NameError: {reason}"))
    assert prompt.startswith("Draw {answer} {{x}}.\n\n"), "nothing in it is filled a second time"
    assert shown in prompt
    assert "NameError: {reason}" in prompt
    fenced = replace(answer, document="s = '''```'''")
    assert "````python\ns" in repair_prompt(case, fenced, Failure(reason="exception", detail="x"))
    long = repair_prompt(
        case, replace(answer, document="x" * 90_000), Failure(reason="exception", detail="x")
    )
    assert len(long) < 21_000


@pytest.mark.parametrize("n", [1, 5, 6, 7, 10, 36, 175, 2_000])
def test_the_interval_of_a_median_covers_it(n: int) -> None:
    """Coverage of order statistics is exact: 1 − 2·P(B < k) ≥ 95 %, and one step closer it would be less."""
    from scipy.stats import binom

    values = [float(value) for value in range(1, n + 1)]
    found = median(values[::-1])
    assert found is not None
    assert found.mean == (n + 1) / 2
    if n < 6:
        assert found.low is found.high is None
        return
    assert found.low is not None
    assert found.high == n + 1 - found.low
    k = int(found.low)
    assert 1 - 2 * binom.cdf(k - 1, n, 0.5) >= 0.95 > 1 - 2 * binom.cdf(k, n, 0.5)


def test_no_values_have_no_median() -> None:
    assert median([]) is None
