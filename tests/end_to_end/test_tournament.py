"""Two stored runs compared page by page, from the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from opendesign.testing import ScriptedServer
from tests.unit.tournament_support import CASE_IDS, prefers_longer, stored_run

from .conftest import Command, document

PAIRWISE = ("--judges", "pairwise", "--judge-model", "pairwise=openai/x")


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    stored_run(tmp_path / "runs", "tall", 900)
    stored_run(tmp_path / "runs", "short", 300)
    return "tall", "short"


def test_estimated_then_played_then_played_on(opendesign: Command, two: tuple[str, str]) -> None:
    with ScriptedServer(prefers_longer) as server:
        key = {"OPENAI_API_KEY": "not-a-key", "OPENAI_API_BASE": server.base_url}
        told = document(opendesign("judge", *two, *PAIRWISE, "--estimate", "--json"))
        assert (told["matches"], told["calls"]) == (len(CASE_IDS), 2 * len(CASE_IDS))
        assert server.requests == []
        part = opendesign("judge", *two, *PAIRWISE, "--matches", "3", "--json", **key)
        assert document(part)["scored"] == 3, part.stderr
        done = opendesign("judge", *two, *PAIRWISE, **key)
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == told["calls"]  # none was paid twice
    assert done.stdout.index("fake/tall") < done.stdout.index("fake/short")
    assert f"{len(CASE_IDS)} of {len(CASE_IDS)} matches count" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("tall", *PAIRWISE), "compares pages of two runs"),
        (("tall", "short", "--judges", "static"), "takes one run at a time"),
        (("tall", "short", "--judges", "pairwise"), "needs a model"),
        (("tall", "short", "--judges", "pairwise,static"), "compared by one judge"),
        (("tall", "--judges", "computed", "--matches", "3"), "go with two RUNs"),
        (("tall", "nothing", *PAIRWISE), "nothing"),
    ],
)
def test_what_does_not_fit_is_one_sentence(
    opendesign: Command, two: tuple[str, str], arguments: tuple[str, ...], told: str
) -> None:
    done = opendesign("judge", *arguments, OPENAI_API_KEY="not-a-key")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
