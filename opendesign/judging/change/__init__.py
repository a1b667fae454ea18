"""Measuring whether an input changed the page: beyond its own motion, and beyond what the browser does alone.

Shared by the judges that operate pages. The method:

1. The page's clock and chance are ours (``clock.js``, ``time.js``): time stands still unless we advance it,
   so a change right after an input was made by that input, and the same steps after a reload give the same
   page again. What the page was seen to change in our time, untouched, never counts.
2. A snapshot holds what a person could see, element by element (``snapshot.js``): visible text, states,
   paint, place, canvas pixels, scroll position. CSS transitions are brought to their end first.
3. Where a change could be the browser's own doing (hover, focus, a checkbox's own tick), or the page moves by
   itself, the same input is given once more to a fresh load that is *muted*: its scripts hear no input. Only
   what differs from that control counts.

Only ``clock.js`` runs where the page's own scripts do, and it decides nothing; all else is in an isolated
world, which the page can neither see nor change. What comes back is data, and is checked (``answers``).
"""

from opendesign.judging.change.answers import PageLeft, Rubbish, Unanswered
from opendesign.judging.change.decide import Action, Change, alike, beyond, earned, strength
from opendesign.judging.change.observer import Manner, Observer

__all__ = [
    "Action",
    "Change",
    "Manner",
    "Observer",
    "PageLeft",
    "Rubbish",
    "Unanswered",
    "alike",
    "beyond",
    "earned",
    "strength",
]
