"""Measuring whether an input changed the page: beyond its own motion, and beyond what the browser does alone.

Shared by the judges that operate pages. The method:

1. The page's clock and chance are ours (``clock.js``): time stands still unless we advance it, so a change
   right after an input was made by that input, and the same steps after a reload give the same page again.
2. A snapshot holds what a person could see, element by element (``snapshot.js``): visible text, states,
   paint, place, canvas pixels, scroll position. CSS transitions are brought to their end first.
3. Where a change could be the browser's own doing (hover, focus, a checkbox's own tick), or the page moves by
   itself, the same input is given once more to a fresh load that is *muted*: its scripts hear no input. Only
   what differs from that control counts.
"""

from opendesign.judging.change.decide import Action, Change, beyond, earned, strength
from opendesign.judging.change.observer import Manner, Observer, PageLeft, Unanswered

__all__ = ["Action", "Change", "Manner", "Observer", "PageLeft", "Unanswered", "beyond", "earned", "strength"]
