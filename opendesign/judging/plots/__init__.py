"""Judges of plots.

``judge`` (engine ``plot``) asks a vision model one question: what it is shown and told is in the card, see
``judges/plot-visual`` and ``judges/plot-task``. ``computed.judge`` (engine ``plot-computed``) asks nobody.
"""

from opendesign.judging.plots.asking import check, expected, judge, read_score

__all__ = ["CHECK", "EXPECTED", "KIND", "expected", "judge", "read_score"]

KIND = "plots"
EXPECTED = expected
CHECK = check
