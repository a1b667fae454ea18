"""The agentic reward as veRL's custom reward function; nothing of veRL is imported here.

    reward:
      custom_reward_function:
        path: pkg://opendesign.train.verl      # or the path of this file
        name: compute_score
        reward_kwargs: {judges: [execution, computed], fallback: 0.0}

Each row's ``extra_info`` has the ``prompt`` and, where there are such, ``category``, ``case_id`` and
``requirements``. ``score`` is the weighted sum. GDPO (``algorithm.adv_estimator=gdpo`` together with
``reward.reward_manager.name=gdpo``) reads the channels that ``algorithm.gdpo_reward_keys`` names, with the
weights in ``algorithm.gdpo_reward_weights``.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Mapping
from typing import Any

from opendesign.errors import UsageError
from opendesign.train import AgenticReward

__all__ = ["compute_score"]

_COLUMNS = ("category", "case_id", "requirements")
#: What veRL hands over where a reward model is served beside: not settings of ours.
_OF_VERL = ("reward_router_address", "reward_model_tokenizer")
_rewards: dict[str, AgenticReward] = {}
_said: set[type[Exception]] = set()

log = logging.getLogger("opendesign.train")


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **settings: Any,
) -> dict[str, float]:
    """``score`` and every channel of one completion, all finite, and ``gated`` and ``unscored`` as 0 or 1.

    ``settings`` are those of ``AgenticReward`` and come from ``reward_kwargs``. veRL has no abstention, so
    that a ``fallback`` is needed; ``unscored`` says where it was used. Raises ``UsageError`` for settings
    that make no sense and where the row's prompt is missing; whatever breaks later has the fallback, since an
    error would end veRL's job, and is logged once a kind.
    """
    about = extra_info or {}
    prompt = about.get("prompt")
    if not prompt:
        raise UsageError("veRL passes no prompt to rewards: put it into each row's extra_info as 'prompt'.")
    columns = {name: [about.get(name)] for name in _COLUMNS}
    reward = _reward(settings)
    try:
        (found,) = await reward.evaluate([prompt], [solution_str], **columns)
    except Exception as error:
        _say(error)
        found = reward.abstention()
    return {
        "score": _finite(found.total),
        **{name: _finite(value) for name, value in found.channels.items()},
        "gated": float(found.gated),
        "unscored": float(found.unscored),
    }


def _reward(settings: Mapping[str, Any]) -> AgenticReward:
    """The reward of these settings, one a process."""
    own = {name: value for name, value in settings.items() if name not in _OF_VERL}
    if own.get("fallback") is None:
        raise UsageError("veRL cannot leave a row out: give reward_kwargs a 'fallback' for failed judges.")
    key = json.dumps(own, sort_keys=True, default=repr)
    if key not in _rewards:
        _rewards[key] = _made(own)
    return _rewards[key]


def _made(settings: Mapping[str, Any]) -> AgenticReward:
    try:
        inspect.signature(AgenticReward).bind(**settings)
    except TypeError as error:
        raise UsageError(f"reward_kwargs are the settings of AgenticReward: {error}.") from None
    reward = AgenticReward(**settings)
    for name, value in reward.abstention().channels.items():
        if value is None:
            raise UsageError(f"veRL cannot leave a row out: 'fallback' has no number for '{name}'.")
    return reward


def _finite(value: float | None) -> float:
    assert value is not None  # every channel has a fallback
    return value


def _say(error: Exception) -> None:
    """Log what broke, the first time that something of this kind does."""
    kind: Exception = error
    while isinstance(kind, ExceptionGroup):
        kind = kind.exceptions[0]
    if type(kind) not in _said:
        _said.add(type(kind))
        log.error("A completion could not be scored and has the fallback.", exc_info=error)
