"""The builtin controls: models of known quality that answer any case, without a key, always the same.

``template`` is a competent page of the case's category that works when operated; ``plain`` is its content,
unstyled and dead; ``broken`` is the template with known defects. They show whether a judge can tell good
from bad. The page's own words are English; the title, taken from the prompt, keeps its language.
"""

from __future__ import annotations

import re

from opendesign.answering.controls.broken import defects
from opendesign.errors import UnknownName
from opendesign.types import Case

__all__ = ["CONTROLS", "defects", "document", "reply"]

CONTROLS: tuple[str, ...] = ("template", "plain", "broken")


def document(control: str, case: Case) -> str:
    """The HTML document with which ``control`` answers ``case``. Raises ``UnknownName``."""
    if control not in CONTROLS:
        raise UnknownName("control", control, CONTROLS)
    from opendesign.answering.controls.broken import broken
    from opendesign.answering.controls.page import render
    from opendesign.answering.controls.plain import plain

    page = render(case)
    if control == "plain":
        return plain(page)
    return broken(page, case) if control == "broken" else page


def reply(control: str, case: Case) -> str:
    """What a model would have said: a sentence, then the document in a fence longer than any inside it."""
    page = document(control, case)
    longest = max((len(run) for run in re.findall(r"`+", page)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"Here is the page as one HTML document.\n\n{fence}html\n{page}{fence}\n"
