"""How much two texts have in common: character shingles, and runs of words known only by their hashes.

The runs of a text that may not be repeated are shipped as salted hashes, so that a repetition is found
without the text being there.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from opendesign.cases.reading import read_text, shown
from opendesign.errors import UsageError

RUN = 8  # words
SHINGLE = 5  # characters
_DIGITS = 10  # of the hash: a chance of 1 in 5,000 for a false alarm in 840 prompts
_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text without case and punctuation."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def shingles(text: str) -> frozenset[str]:
    """Every run of ``SHINGLE`` characters of a text without case and punctuation."""
    plain = " ".join(words(text))
    return frozenset(plain[at : at + SHINGLE] for at in range(max(1, len(plain) - SHINGLE + 1)))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared part of two sets, 0 to 1."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def near_duplicates(
    texts: Sequence[str], threshold: float, *, against: Sequence[str] = ()
) -> Iterator[tuple[int, int, float]]:
    """Pairs of places whose texts are at least that similar.

    Without ``against``, pairs within ``texts`` (first place below second); with it, (place in ``texts``,
    place in ``against``).
    """
    sets = [shingles(text) for text in texts]
    others = [shingles(text) for text in against] if against else sets
    for first, one in enumerate(sets):
        for second in range(0 if against else first + 1, len(others)):
            other = others[second]
            # The smaller set bounds what can be shared, which spares most of the work.
            small, large = sorted((len(one), len(other)))
            if small >= threshold * large and (similarity := jaccard(one, other)) >= threshold:
                yield first, second, similarity


def run_hashes(text: str, salt: str) -> dict[str, str]:
    """Hash -> run, for every run of ``RUN`` words in a row."""
    listed = words(text)
    runs = (" ".join(listed[at : at + RUN]) for at in range(len(listed) - RUN + 1))
    return {hashlib.sha256(f"{salt}\n{run}".encode()).hexdigest()[:_DIGITS]: run for run in runs}


def write_runs(texts: Iterable[str], file: Path, *, salt: str, about: str) -> None:
    """Write the hashes of all runs of the texts, one a line, for ``read_runs``."""
    hashes = sorted({digest for text in texts for digest in run_hashes(text, salt)})
    head = f"# {about}\n# Each line: SHA-256 of salt, line feed, {RUN} words; its first {_DIGITS} digits.\n"
    file.write_text(f"{head}# salt: {salt}\n" + "".join(f"{digest}\n" for digest in hashes), encoding="utf-8")


def read_runs(file: Path) -> tuple[str, frozenset[str]]:
    """Salt and hashes of a file of ``write_runs``."""
    lines = read_text(file).splitlines()
    salts = [line.removeprefix("# salt: ") for line in lines if line.startswith("# salt: ")]
    hashes = frozenset(line for line in lines if not line.startswith("#"))
    if len(salts) != 1 or any(not re.fullmatch(rf"[0-9a-f]{{{_DIGITS}}}", line) for line in hashes):
        raise UsageError(f"{shown(file)} is not a file of hashed runs of words; restore it from the package.")
    return salts[0], hashes
