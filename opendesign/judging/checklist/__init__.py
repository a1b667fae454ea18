"""The ``checklist`` judge: each requirement of the case answered yes or no, with where the evidence is.

What can be seen (content, layout, style) is asked in one call; what the page must do (behaviour) is tried by
the interactive agent. Unclear is no. The measures are shares of requirements met, of each kind and of all; a
kind that the case does not have is left out.
"""

from opendesign.judging.checklist.engine import judge
from opendesign.judging.checklist.expected import expected

__all__ = ["EXPECTED", "NEEDS_VISION", "expected", "judge"]

EXPECTED = expected
NEEDS_VISION = True
