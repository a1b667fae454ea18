"""Who failed, and the errors a person sees.

    OpenDesignError            one sentence a stranger can act on
    ├── UsageError             what was asked for cannot be done as asked (exit code 2)
    │   └── UnknownName        a name that nothing has, with the nearest ones
    ├── StoreError             a run on disk cannot be read or written (exit code 2)
    └── Failed                 one step of one case failed; carries the owner

``Failed`` never reaches a person: the journey of a case catches it in one place and stores it as data.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import StrEnum

from opendesign.types import Failure

__all__ = [
    "REASONS",
    "Failed",
    "OpenDesignError",
    "Owner",
    "StoreError",
    "UnknownName",
    "UsageError",
    "failed",
]


class Owner(StrEnum):
    """Whose fault a failure is. Only a model's failure counts against the model."""

    MODEL = "model"
    JUDGE = "judge"
    INSTRUMENT = "instrument"


#: The closed table of reasons. A reason that is not here cannot be stored.
REASONS: dict[str, Owner] = {
    **dict.fromkeys(
        (
            *("truncated", "refused", "content_filter", "empty", "no_document"),
            *("page_hung", "page_out_of_memory"),
            *("syntax_error", "exception", "timeout", "no_plot", "wrong_library"),  # of a plot's code
        ),
        Owner.MODEL,
    ),
    **dict.fromkeys(("unparsable", "out_of_range", "judge_truncated", "judge_refused"), Owner.JUDGE),
    **dict.fromkeys(
        (
            "rate_limited",
            "provider_error",
            "network",
            "cdn_unreachable",
            "browser_crash",
            "deadline_under_load",
            "budget_exhausted",
            "sandbox_unavailable",
        ),
        Owner.INSTRUMENT,
    ),
}


class OpenDesignError(Exception):
    """Root of all errors of this package; its text is one sentence that says what happened and what to do."""


class UsageError(OpenDesignError):
    """What was asked for cannot be done as asked."""


class UnknownName(UsageError):
    """Nothing has that name; the message lists the nearest names."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or names[:5]
        hint = (
            f"did you mean {' or '.join(n if len(n) <= 80 else n[:77] + '…' for n in near)}?"
            if near
            else "there is none yet."
        )
        shown = name if len(name) <= 80 else f"{name[:77]}…"
        super().__init__(f"There is no {kind} named '{shown}': {hint}")
        self.kind, self.name, self.near = kind, name, near


class StoreError(OpenDesignError):
    """A run on disk cannot be read or written; nothing was changed."""


class Failed(OpenDesignError):
    """One step of one case failed, with the reason and so the owner."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.reason}: {failure.detail}")
        self.failure = failure


def failed(reason: str, detail: str) -> Failed:
    """The error to raise for ``reason``; ``detail`` is one sentence for a person."""
    return Failed(Failure(reason=reason, detail=detail))
