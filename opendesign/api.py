"""The package from Python, for scripts and notebooks: what the command line does, as functions.

They are synchronous and work where an event loop runs already. Everything they do is stored, and the same
call again resumes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opendesign.errors import UsageError
from opendesign.running.compare import Comparison
from opendesign.running.compare import compare as _compare
from opendesign.running.execute import CONCURRENCY, Means, execute, rejudge, run_sync
from opendesign.running.plan import RUNS, Plan, composed, plan_run, seats_for, stored_plan, with_repairs
from opendesign.running.report import Report, Tally
from opendesign.running.store import Store, find_run
from opendesign.running.summary import Aggregation, Summary, summarize

if TYPE_CHECKING:
    from opendesign.answering.models import Model
    from opendesign.running.tournament import Tournament, TournamentPlan

PathLike = str | Path


def plan(
    model: str | Model,
    *,
    benchmark: str = "opendesign",
    split: str | None = None,
    category: str | None = None,
    limit: int | None = None,
    samples: int = 1,
    judges: Sequence[str] = (),
    judge_models: Mapping[str, str] | None = None,
    protocol: str | None = None,
    budget: float | None = None,
    folder: PathLike | None = None,
    base_url: str | None = None,
    models_file: PathLike | None = None,
    repairs: int = 0,
    need_keys: bool = True,
) -> Plan:
    """What ``run`` with the same arguments will do. Nothing is sent and nothing is written.

    Without ``need_keys`` models whose keys are not set yet are no error: for estimates.
    """
    from opendesign.answering.budget import Budget
    from opendesign.answering.models import resolve
    from opendesign.cases.benchmark import load_benchmark, load_card, load_protocol, select
    from opendesign.cases.categories import category_of

    money = Budget(budget) if budget is not None else None
    file = Path(models_file) if models_file is not None else None
    chosen = (
        resolve(model, base_url=base_url, models_file=file, budget=money, need_key=need_keys)
        if isinstance(model, str)
        else model
    )
    asked = load_benchmark(benchmark)
    rules = with_repairs(load_protocol(benchmark, protocol or load_card(benchmark).protocol), repairs)
    seats, notes = seats_for(rules, judges, judge_models, budget=money, models_file=file, need_keys=need_keys)
    if repairs:
        notes += (f"Up to {repairs} more calls an answer follow where code fails; no estimate counts them.",)
    category = category_of(category) if category is not None else None
    made = plan_run(
        chosen,
        asked,
        rules,
        seats,
        composed(select(asked, split=split, category=category, limit=limit), rules),
        selection={"split": split, "category": category, "limit": limit},
        samples=samples,
        folder=Path(folder) if folder is not None else None,
        notes=notes,
    )
    if money is not None:
        money.carry_over(Store(made.folder).spent_usd())
    return made


def run(
    model: str | Model,
    *,
    benchmark: str = "opendesign",
    split: str | None = None,
    category: str | None = None,
    limit: int | None = None,
    samples: int = 1,
    judges: Sequence[str] = (),
    judge_models: Mapping[str, str] | None = None,
    protocol: str | None = None,
    budget: float | None = None,
    folder: PathLike | None = None,
    base_url: str | None = None,
    models_file: PathLike | None = None,
    repairs: int = 0,
    concurrency: int = CONCURRENCY,
    browser: str | None = None,
    unsafe_plots: bool = False,
    report: Report | None = None,
) -> Summary:
    """Take every case through answer, page and verdicts; returns the summary of all that is stored.

    ``budget`` is in USD and covers the whole run, resumes included. ``folder`` names the run's folder, by
    default one under ``runs/`` made from the arguments. Raises ``OpenDesignError`` for what cannot be done;
    failures of cases never raise, see ``Summary.failures``. Where answers are plots, code that fails is
    shown its error and asked again up to ``repairs`` times, reported apart; ``unsafe_plots`` runs it also
    where this machine cannot isolate it.
    """
    made = plan(
        model,
        benchmark=benchmark,
        split=split,
        category=category,
        limit=limit,
        samples=samples,
        judges=judges,
        judge_models=judge_models,
        protocol=protocol,
        budget=budget,
        folder=folder,
        base_url=base_url,
        models_file=models_file,
        repairs=repairs,
    )
    return carry_out(made, concurrency=concurrency, browser=browser, unsafe_plots=unsafe_plots, report=report)


def carry_out(
    plan: Plan,
    *,
    concurrency: int = CONCURRENCY,
    browser: str | None = None,
    unsafe_plots: bool = False,
    report: Report | None = None,
) -> Summary:
    """Do what is not done yet of a plan."""
    listener = report or Tally()
    for sentence in plan.notes:
        listener.note(sentence)
    means = Means(concurrency=concurrency, browser=browser, unsafe_plots=unsafe_plots)
    store = run_sync(lambda: execute(plan, listener, means))
    return summarize(store, judges={seat.card.name: seat.config for seat in plan.seats})


def score(
    *paths: PathLike,
    benchmark: str | None = None,
    category: str = "website",
    judges: Sequence[str] = (),
    judge_models: Mapping[str, str] | None = None,
    protocol: str | None = None,
    budget: float | None = None,
    folder: PathLike | None = None,
    concurrency: int = CONCURRENCY,
    browser: str | None = None,
    unsafe_plots: bool = False,
    report: Report | None = None,
) -> Summary:
    """Judge pages that exist already: files, folders of HTML, or a JSONL of answers.

    Without ``benchmark`` each page is a case of its own, of the given ``category`` and without requirements.
    """
    from opendesign.running.pages import plan_pages

    made = plan_pages(
        [Path(path) for path in paths],
        benchmark=benchmark,
        category=category,
        judges=judges,
        judge_models=judge_models,
        protocol=protocol,
        budget=budget,
        folder=Path(folder) if folder is not None else None,
    )
    return carry_out(made, concurrency=concurrency, browser=browser, unsafe_plots=unsafe_plots, report=report)


def judge(
    run: PathLike,
    judges: Iterable[str],
    *,
    judge_models: Mapping[str, str] | None = None,
    budget: float | None = None,
    models_file: PathLike | None = None,
    concurrency: int = CONCURRENCY,
    browser: str | None = None,
    report: Report | None = None,
) -> Summary:
    """Judge a stored run (again): asks no model for an answer and writes no page or picture."""
    from opendesign.answering.budget import Budget

    folder = find_run(str(run), RUNS)
    listener = report or Tally()
    _, _, rules = stored_plan(Store(folder))
    money = Budget(budget, spent_usd=Store(folder).spent_usd()) if budget is not None else None
    file = Path(models_file) if models_file is not None else None
    seats, notes = seats_for(rules, tuple(judges), judge_models, budget=money, models_file=file)
    for sentence in notes:
        listener.note(sentence)
    means = Means(concurrency=concurrency, browser=browser)
    store = run_sync(lambda: rejudge(folder, seats, listener, means))
    return summarize(store, judges={seat.card.name: seat.config for seat in seats})


def plan_tournament(
    runs: Sequence[PathLike],
    judge: str = "pairwise",
    *,
    model: str | None = None,
    matches: int | None = None,
    seed: int = 0,
    budget: float | None = None,
    folder: PathLike | None = None,
    models_file: PathLike | None = None,
    need_keys: bool = True,
) -> TournamentPlan:
    """What ``tournament`` with the same arguments will do. Nothing is sent and nothing is written."""
    from opendesign.answering.budget import Budget
    from opendesign.answering.models import resolve
    from opendesign.judging.asking.abilities import check
    from opendesign.judging.cards import load_card, trait
    from opendesign.running.tournament import plan_tournament as _plan

    card = load_card(judge)
    if not trait(card, "COMPARES_RUNS"):
        raise UsageError(f"The judge '{judge}' takes one run at a time: name one RUN, or --judges pairwise.")
    if model is None:
        raise UsageError(f"The judge '{judge}' needs a model: add --judge-model {judge}=PROVIDER/MODEL.")
    money = Budget(budget) if budget is not None else None
    file = Path(models_file) if models_file is not None else None
    chosen = resolve(model, budget=money, models_file=file, need_key=need_keys)
    check(chosen, card)
    made = _plan(
        [find_run(str(run), RUNS) for run in runs],
        card,
        chosen,
        matches=matches,
        seed=seed,
        folder=Path(folder) if folder is not None else None,
    )
    if money is not None:
        money.carry_over(made.spent_usd())
    return made


def tournament(
    runs: Sequence[PathLike],
    judge: str = "pairwise",
    *,
    model: str | None = None,
    matches: int | None = None,
    seed: int = 0,
    budget: float | None = None,
    folder: PathLike | None = None,
    models_file: PathLike | None = None,
    concurrency: int = CONCURRENCY,
    report: Report | None = None,
) -> Tournament:
    """Bradley–Terry ratings of stored runs on the same cases, from pages compared two by two.

    ``model`` judges. At most ``matches`` are played, in an order drawn by ``seed``, and ``budget`` (USD) ends
    the play early; the same call again resumes, and a larger number plays on.
    """
    made = plan_tournament(
        runs,
        judge,
        model=model,
        matches=matches,
        seed=seed,
        budget=budget,
        folder=folder,
        models_file=models_file,
    )
    return play(made, concurrency=concurrency, report=report)


def play(plan: TournamentPlan, *, concurrency: int = CONCURRENCY, report: Report | None = None) -> Tournament:
    """Play what is not stored yet of a planned tournament."""
    from opendesign.running.tournament import play as _play

    listener = report or Tally()
    for sentence in plan.notes:
        listener.note(sentence)
    return run_sync(lambda: _play(plan, report=listener, concurrency=concurrency))


def load(run: PathLike, *, aggregation: Aggregation | None = None) -> Summary:
    """The summary of a stored run, by path or by name under ``runs/``."""
    return summarize(find_run(str(run), RUNS), aggregation=aggregation)


def compare(first: PathLike | Summary, second: PathLike | Summary) -> Comparison:
    """Paired differences of two stored runs, first minus second: by summary, path or name."""
    a, b = (run.run if isinstance(run, Summary) else str(run) for run in (first, second))
    return _compare(find_run(a, RUNS), find_run(b, RUNS))
