"""Ballots: people say which of two pages is better, without knowing whose they are.

build_ballot(["runs/a", "runs/b"], Path("ballot.html"))            one HTML file, and its key beside it
tally(read_key(Path("ballot.html.key.json")), [Path("votes.json")])    checked, counted, rated
"""

from opendesign.balloting.build import Built, build_ballot
from opendesign.balloting.key import Key, key_path, read_key
from opendesign.balloting.tally import Limits, Tally, tally

__all__ = ["Built", "Key", "Limits", "Tally", "build_ballot", "key_path", "read_key", "tally"]
