"""The static judge: a model looks at a page's picture (``judge``) or reads its source (``judge_text``).

It gives reasons, then a score for each part of the rubric; the total is always their sum. Everything that is
said to the model is in the card's folder, see ``judges/static/README.md``.
"""

from opendesign.judging.static.engine import judge, judge_text
from opendesign.judging.static.estimate import expected
from opendesign.judging.static.rubric import Band, Reading, Rubric

__all__ = ["CHECK", "EXPECTED", "Band", "Reading", "Rubric", "expected", "judge", "judge_text"]

EXPECTED = expected
CHECK = Rubric.of
