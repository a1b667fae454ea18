"""Tests marked ``train`` need the train extra (torch, TRL) and are run by ``make test-train``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two threads on a busy machine wait for each other
os.environ["HF_HUB_OFFLINE"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("train"):
            # What TRL and transformers say about each other is theirs to mend.
            item.add_marker(
                pytest.mark.filterwarnings("ignore:::(torch|transformers|trl|datasets|accelerate)")
            )


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that knows nothing, of some thousand weights, and with its tokenizer."""
    from tests.train.support import make_tiny

    return make_tiny(tmp_path_factory.mktemp("tiny"))
