"""The ``interactive`` judge: a model sees the page with numbered marks, plans, operates it, and judges.

In ``standard`` a point needs two witnesses: the agent's word that the page reacted as it should, and a
measured change beyond the page's own motion and beyond what the same input does to an inert element. In
``paper`` the agent's word alone counts. What the agent does wrong is counted apart and never held against
the page.
"""

from opendesign.judging.interactive.engine import judge
from opendesign.judging.interactive.expected import expected
from opendesign.judging.interactive.settings import check

__all__ = ["CHECK", "EXPECTED", "expected", "judge"]

EXPECTED = expected
CHECK = check
