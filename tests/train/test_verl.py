"""veRL's custom reward function, called as veRL calls it."""

from __future__ import annotations

import errno
import importlib.util
import inspect
import logging
import math
import tempfile
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

import opendesign.train.verl as ours
from opendesign.errors import UsageError
from tests.hostile.good import GOOD

#: veRL 0.9.1: the parameters of verl.utils.reward_score.default_compute_score that every reward manager
#: (naive, gdpo, dapo, limited, remote) passes by name, and what they add where a reward model is served.
VERL = "0.9.1"
PASSED = ("data_source", "solution_str", "ground_truth", "extra_info")
ADDED = ("reward_router_address", "reward_model_tokenizer")

ROW = {
    "data_source": "opendesign-train",
    "solution_str": GOOD[0],
    "ground_truth": "",
    "extra_info": {"prompt": "x"},
}
KWARGS = {"judges": ["execution"], "fallback": 0.0}


def test_the_signature_is_that_of_verl() -> None:
    parameters = inspect.signature(ours.compute_score).parameters
    assert tuple(parameters)[: len(PASSED)] == PASSED
    assert parameters["extra_info"].default is None
    # veRL awaits what this says is asynchronous, also with the settings bound to it.
    assert inspect.iscoroutinefunction(partial(ours.compute_score, **KWARGS))


@pytest.mark.parametrize("added", [{}, dict.fromkeys(ADDED)])
async def test_scores_and_channels_are_finite_and_have_the_same_keys(added: dict[str, None]) -> None:
    good = await ours.compute_score(**ROW, **added, **KWARGS)
    bad = await ours.compute_score(**{**ROW, "solution_str": "I cannot."}, **KWARGS)
    assert good == {"score": 0.1, "execution": 1.0, "gated": 0.0, "unscored": 0.0}
    assert bad == {"score": -0.1, "execution": -1.0, "gated": 1.0, "unscored": 0.0}
    assert all(type(value) is float and math.isfinite(value) for value in (*good.values(), *bad.values()))


async def test_verl_loads_the_file_by_its_path() -> None:
    spec = importlib.util.spec_from_file_location("custom_module", Path(ours.__file__))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (await module.compute_score(**ROW, **KWARGS))["score"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("row", "kwargs", "said"),
    [
        ({**ROW, "extra_info": None}, KWARGS, "'prompt'"),
        (ROW, {"judges": ["execution"]}, "'fallback'"),
        (ROW, {**KWARGS, "judges": ["executon"]}, "did you mean execution"),
        (ROW, {**KWARGS, "judgs": 1}, "reward_kwargs.*judgs"),
        (ROW, {"judges": ["execution"], "guards": ["blank"], "fallback": {"execution": 0}}, "guard_blank"),
    ],
)
async def test_what_is_missing_is_said(row: dict, kwargs: dict, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        await ours.compute_score(**row, **kwargs)


@pytest.mark.parametrize(
    ("browser", "disk"), [("/bin/true", None), (None, OSError(errno.ENOSPC, "No space left on device"))]
)
async def test_what_breaks_while_the_job_runs_has_the_fallback_and_is_said_once(
    browser: str | None,
    disk: OSError | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A browser that cannot be started; a disk that is full."""
    monkeypatch.setattr(ours, "_said", set())
    kwargs = {"judges": ["execution", "computed"], "fallback": {"execution": 0.5, "static": 0.25}}
    kwargs |= {"browser": browser} if browser else {}
    if disk is not None:
        monkeypatch.setattr(tempfile, "mkdtemp", Mock(side_effect=disk))
    with caplog.at_level(logging.ERROR, "opendesign.train"):
        found = [
            await ours.compute_score(**{**ROW, "solution_str": f"{GOOD[0]}<!-- {n} -->"}, **kwargs)
            for n in range(2)
        ]
    assert found == [{"score": 0.25, "execution": 0.5, "static": 0.25, "gated": 0.0, "unscored": 1.0}] * 2
    assert len(caplog.records) == 1
