"""Studies: what finished runs, published rankings and people's votes say about each other.

    correlate(load_board(["paper"]), load_reference("design-arena"))     two rankings
    agree(read_votes(path), judges)                                    judges and people
    robustness(load_panel(runs))                                       several judges
    weights(load_channels(runs))                                       the reward's weights
    power_study(load_scores(runs))                                     how many cases

Each gives a frozen object with ``to_dict()`` (a JSON document, which is also what the site shows) and
``to_pandas()``. Every number in it is a ``Figure``: a value with its intervals, or why there is none.
"""

from opendesign.studying.agreement import Agreement, agree
from opendesign.studying.boards import Board, load_board, load_reference, references
from opendesign.studying.bradley_terry import Rated, bradley_terry
from opendesign.studying.correlation import Correlation, correlate
from opendesign.studying.figure import Figure
from opendesign.studying.panel import Panel, load_panel, page_scores, read_panel
from opendesign.studying.power import Power, cases_needed, power_study
from opendesign.studying.robustness import Robustness, robustness
from opendesign.studying.scores import CaseScores, load_scores
from opendesign.studying.votes import Vote, Votes, read_page_scores, read_votes
from opendesign.studying.weights import Channels, Weights, load_channels, weights

__all__ = [
    "Agreement",
    "Board",
    "CaseScores",
    "Channels",
    "Correlation",
    "Figure",
    "Panel",
    "Power",
    "Rated",
    "Robustness",
    "Vote",
    "Votes",
    "Weights",
    "agree",
    "bradley_terry",
    "cases_needed",
    "correlate",
    "load_board",
    "load_channels",
    "load_panel",
    "load_reference",
    "load_scores",
    "page_scores",
    "power_study",
    "read_page_scores",
    "read_panel",
    "read_votes",
    "references",
    "robustness",
    "weights",
]
