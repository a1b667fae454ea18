"""``opendesign train sft``: TRL's supervised fine-tuning with the paper's settings."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opendesign.canonical import hash_of
from opendesign.cases.reading import shown
from opendesign.errors import UsageError
from opendesign.train import cards
from opendesign.train.config import Settings, trainer_settings
from opendesign.train.folder import Outcome, take_folder
from opendesign.train.loading import fingerprint, load_model, need_extra, set_up
from opendesign.train.pairs import read_pairs
from opendesign.train.prompts import refuse_test_cases
from opendesign.train.rows import rows_of
from opendesign.train.running import train

__all__ = ["run_sft"]

log = logging.getLogger("opendesign.train")


def run_sft(settings: Settings, *, allow_test_cases: bool = False) -> Outcome:
    """Fit the model to the completions of ``settings.data``; the same call again resumes.

    Raises ``UsageError`` for what cannot be done as asked, before the model is loaded.
    """
    need_extra()
    if settings.data is None:
        raise UsageError(
            "SFT needs answers to learn from: name a JSONL of prompts and completions as 'data'."
        )
    rows = read_pairs(Path(settings.data))
    asked = [row.case.prompt for row in rows_of([row["prompt"] for row in rows], [""] * len(rows), {})]
    found = refuse_test_cases(asked, allow=allow_test_cases)

    from trl import SFTConfig

    config = configured(SFTConfig, trainer_settings("sft", settings))
    test_cases = tuple(dict.fromkeys([*found, *cards.inherited(settings.model)]))
    made_of = {"data": hash_of(rows), "model files": fingerprint(settings.model)}
    if outcome := take_folder(settings, "sft", made_of):
        return outcome
    model, tokenizer = load_model(settings.model, settings.dtype)
    trainer = _trainer(model, tokenizer, config, rows)
    if cut := sum(len(row["input_ids"]) >= config.max_length for row in trainer.train_dataset):
        log.warning(
            "%d of %d answers are cut at %d tokens, and the model never sees their end: raise 'max_length' "
            "of [trainer] or leave them out.",
            cut,
            len(rows),
            config.max_length,
        )
    facts = {
        "Base": cards.short(settings.model),
        "Stage": "SFT",
        "Data": f"{shown(Path(settings.data))}, {len(rows)} rows, {settings.batch} a step",
        **cards.about_steps(config),
        "Settings": settings.hash,
    }
    title = f"{Path(settings.out).name}: fitted to {len(rows)} answers"
    return train(trainer, settings, cards.Provenance(title=title, facts=facts, test_cases=test_cases))


def _trainer(model: Any, tokenizer: Any, config: Any, rows: list[dict[str, Any]]) -> Any:
    from datasets import Dataset
    from trl import SFTTrainer

    with set_up():
        data = Dataset.from_list(rows)
        return SFTTrainer(model, config, train_dataset=data, processing_class=tokenizer)


def configured(kind: Any, arguments: Mapping[str, Any]) -> Any:
    """TRL's configuration. Raises ``UsageError`` for a field that it does not have or a value it refuses."""
    import dataclasses

    from opendesign.errors import UnknownName

    known = {field.name for field in dataclasses.fields(kind)}
    for name in arguments:
        if name not in known:
            raise UnknownName("field of [trainer]", name, known)
    try:
        return kind(**arguments)
    except (TypeError, ValueError) as error:
        raise UsageError(f"TRL refuses these settings: {' '.join(str(error).split())}") from error
