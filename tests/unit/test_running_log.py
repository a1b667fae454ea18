"""What is kept of an internal error: its traceback, without keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from opendesign.errors import StoreError
from opendesign.running.execute import log_error

KEY = "sk-not-a-real-key-0123456789"


def _fail(path: Path) -> None:
    try:
        raise RuntimeError(f"headers: {{'Authorization': 'Bearer {KEY}'}}")
    except RuntimeError:
        log_error(path, "game-1", 0)


def test_a_key_in_a_traceback_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    _fail(tmp_path / "errors.log")
    kept = (tmp_path / "errors.log").read_text()
    assert "case game-1, sample 0" in kept
    assert "RuntimeError" in kept
    assert KEY[3:] not in kept


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"Cannot write .*errors\.log"):
        _fail(tmp_path / "nowhere" / "errors.log")
