"""The agentic reward as veRL's custom reward function; nothing of veRL is imported here.

    reward:
      custom_reward_function:
        path: pkg://opendesign.train.verl      # or the path of this file
        name: compute_score
        reward_kwargs: {judges: [execution, computed], fallback: 0.0}

Each row's ``extra_info`` has the ``prompt`` and, where there are such, ``category``, ``case_id`` and
``requirements``. ``score`` is the weighted sum; for GDPO name the channels in ``algorithm.gdpo_reward_keys``
and their weights in ``algorithm.gdpo_reward_weights``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opendesign.errors import UsageError
from opendesign.train import AgenticReward

__all__ = ["compute_score"]

_COLUMNS = ("category", "case_id", "requirements")
#: What veRL hands over where a reward model is served beside: not settings of ours.
_OF_VERL = ("reward_router_address", "reward_model_tokenizer")
_rewards: dict[str, AgenticReward] = {}


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **settings: Any,
) -> dict[str, float]:
    """``score`` and every channel of one completion, all finite, and ``gated`` and ``unscored`` as 0 or 1.

    ``settings`` are those of ``AgenticReward`` and come from ``reward_kwargs``. veRL has no abstention, so
    that a ``fallback`` is needed: ``unscored`` says where it was used. Raises ``UsageError`` where it or the
    row's prompt is missing.
    """
    about = extra_info or {}
    prompt = about.get("prompt")
    if not prompt:
        raise UsageError("veRL passes no prompt to rewards: put it into each row's extra_info as 'prompt'.")
    columns = {name: [about.get(name)] for name in _COLUMNS}
    (found,) = await _reward(settings).evaluate([prompt], [solution_str], **columns)
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
        _rewards[key] = AgenticReward(**own)
    return _rewards[key]


def _finite(value: float | None) -> float:
    if value is None:
        raise UsageError(
            "veRL cannot leave a row out: 'fallback' has to be one number, or name every channel."
        )
    return value
