"""The controls of plots: the reference as it is, and code with one known defect."""

from __future__ import annotations

from collections import Counter

import pytest

from opendesign.answering.extract_code import extract_code
from opendesign.answering.models import builtin_names, check_kind, resolve
from opendesign.answering.plot_controls import DEFECTS, code, defect, reply
from opendesign.cases.benchmark import load_benchmark
from opendesign.errors import UnknownName, UsageError
from opendesign.types import GenerationSettings

CASES = load_benchmark("plots-mini").cases
PAGE = load_benchmark("opendesign").cases[0]


async def test_the_reference_is_answered_as_it_stands() -> None:
    for case in CASES:
        answer = await resolve("builtin/reference").answer(case, 0, GenerationSettings())
        assert case.task is not None
        assert answer.failure is None
        assert answer.document == case.task.reference.rstrip()


def test_every_defect_has_its_turn_in_every_library() -> None:
    for library in ("matplotlib", "seaborn", "plotly"):
        found = Counter(defect(case) for case in CASES if case.category == library)
        assert found == dict.fromkeys(DEFECTS, 2)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_broken_code_has_its_defect_and_no_other(case) -> None:  # type: ignore[no-untyped-def]
    broken, wanted = code("plot-broken", case), defect(case)
    assert extract_code(reply("plot-broken", case)).document == broken.rstrip()
    if wanted == "syntax_error":
        with pytest.raises(SyntaxError):
            compile(broken, case.id, "exec")
        return
    compile(broken, case.id, "exec")
    imports = {
        line.split()[1].split(".")[0] for line in broken.splitlines() if line.startswith(("import ", "from "))
    }
    assert (case.category in imports) == (wanted != "wrong_library")
    assert ("_total" in broken) == (wanted == "wrong_column")
    assert ("while True" in broken) == (wanted == "endless_loop")
    if wanted == "wrong_column":
        name = broken.split("_total")[0].rsplit('"', 1)[1]
        assert f'"{name}"' in case.task.reference
        assert f'"{name}"' not in broken
        assert name in case.task.data.read_text().splitlines()[0].split(",")


async def test_a_control_is_for_its_own_kind_of_benchmark() -> None:
    with pytest.raises(UsageError, match=r"'builtin/template' makes pages, but .* about a plot"):
        check_kind(resolve("builtin/template"), CASES)
    with pytest.raises(UsageError, match=r"'builtin/plot-broken' makes plots, but .* about a page"):
        await resolve("builtin/plot-broken").answer(PAGE, 0, GenerationSettings())
    with pytest.raises(UsageError, match="draws plots"):
        code("reference", PAGE)
    with pytest.raises(UnknownName):
        code("referense", CASES[0])
    check_kind(resolve("builtin/reference"), CASES)
    check_kind(resolve("builtin/plain"), [PAGE])
    assert {"builtin/reference", "builtin/plot-broken", "builtin/template"} <= set(builtin_names())


def test_a_change_of_one_kind_of_control_leaves_answers_of_the_other() -> None:
    settings = GenerationSettings()
    pages, plots = (
        resolve(f"builtin/{name}").config(settings)["controls"] for name in ("plain", "reference")
    )
    assert pages != plots
