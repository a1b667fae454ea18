"""The static judge's cards: what makes no sense is told before it is asked, and every slot is filled."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from opendesign.answering.models import close_models, resolve
from opendesign.errors import UsageError
from opendesign.judging.cards import load_card
from opendesign.judging.static import expected, judge
from opendesign.testing import ScriptedServer
from tests.unit.litellm_support import KEY
from tests.unit.static_support import CASE, STATIC, artifact, edited, judged, one, texts, verdict


@pytest.fixture(autouse=True)
async def _with_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield
    await close_models()


def test_what_it_will_cost() -> None:
    low, high = (expected(STATIC, CASE, height, model="openai/x") for height in (960, 9_000))
    assert (low["calls"], low["pictures"], high["pictures"]) == (1, 1, 7)
    assert high["prompt_tokens"] > low["prompt_tokens"] > 1_000
    text = expected(load_card("text"), CASE)
    assert text["pictures"] == 0
    assert text["prompt_tokens"] > 1_000


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('parts = ["alignment", "aesthetics", "structure"]', "parts = []", "settings.parts"),
        ('"structure"]', '"beauty"]', "measures.beauty"),
        ("high = 40", "high = 45", "0 to 105"),
        ("repeats = 1 ", "repeats = 0 ", "repeats"),
        ("low = 0\nname", "low = 5\nname", "bands"),
        ("good = 75 ", 'good = "75" ', "settings.good"),
        ("good = 75 ", "good = 600 ", "the total goes from 0 to 100"),
        ("good = 75 ", "goood = 75 ", "has no 'goood'"),
        ('rule = "tiles"', 'rule = "all"', "rule"),
        ("tiles = 6", 'tiles = "6"', "tiles"),
        ("quality = 85", "qualty = 85", "qualty"),
    ],
)
async def test_a_card_that_makes_no_sense_is_one_sentence(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    card = edited(tmp_path, "static", old, new)
    with ScriptedServer(verdict()) as server:
        with pytest.raises(UsageError, match=re.escape(told)):
            await judged(server, artifact(tmp_path), card)
        assert server.requests == []


async def test_every_slot_that_the_readme_names_is_filled(tmp_path: Path) -> None:
    rows = (STATIC.path / "README.md").read_text().splitlines()
    named = {
        slot
        for row in rows
        if row.startswith(("| `system.md`", "| `user.md`"))
        for slot in re.findall(r"\{\{(\w+)\}\}", row)
    }
    assert {"prompt", "pictures", "bands", "nonce", "most", "structure"} <= named
    text = "\n".join(f"{name} is {{{{{name}}}}}" for name in sorted(named))
    card = replace(STATIC, files={**STATIC.files, "user.md": text, "system.md": text})
    _, server = await one(tmp_path, verdict(), card)
    for told in texts(server.requests[0]):
        assert "{{" not in told
        assert f"prompt is {CASE.prompt}" in told
        assert "most is 100" in told


async def test_a_card_without_a_system_turn_asks_with_one_turn(tmp_path: Path) -> None:
    files = {"user.md": "{{prompt}} Score it."}
    got, server = await one(tmp_path, verdict(), replace(STATIC, files=files))
    assert got.status == "ok"
    assert [message["role"] for message in server.requests[0].body["messages"]] == ["user"]


async def test_a_slot_that_is_none_is_one_sentence_and_nothing_is_sent(tmp_path: Path) -> None:
    card = replace(STATIC, files={**STATIC.files, "user.md": "{{promt}}"})
    with pytest.raises(UsageError, match="no slot 'promt'"):
        await one(tmp_path, verdict(), card)


async def test_a_model_that_cannot_chat_is_one_sentence(tmp_path: Path) -> None:
    card = edited(tmp_path, "static", "repeats = 1 ", "repeats = 3 ")
    with pytest.raises(UsageError, match="answers cases only"):
        await judge(CASE, artifact(tmp_path), card, None, resolve("builtin/plain"))
