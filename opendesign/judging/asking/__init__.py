"""Asking a model for a verdict: prompts out of a card, a checked reply, one repair, or a failure.

Shared by every judge that a model sits in. There is no default score: a reply that cannot be read after its
repair turn is the judge's failure, and the artifact stays unscored.
"""

from opendesign.judging.asking.abilities import check
from opendesign.judging.asking.ask import Asked, Ledger, ask
from opendesign.judging.asking.pictures import PictureRule, Prepared, pictures_of, prepare
from opendesign.judging.asking.prompts import fill, nonce_for, turn, untrusted
from opendesign.judging.asking.reply import Malformed, json_in, number, text_of

__all__ = [
    "Asked",
    "Ledger",
    "Malformed",
    "PictureRule",
    "Prepared",
    "ask",
    "check",
    "fill",
    "json_in",
    "nonce_for",
    "number",
    "pictures_of",
    "prepare",
    "text_of",
    "turn",
    "untrusted",
]
