"""Reply → Python code: find the program in what a model said about a plot.

Fences are read as CommonMark reads them. In order, the first that is there:

1. the blocks tagged python, else the blocks without a tag that are Python;
2. a reply that is nothing but Python.

One block is taken as it stands, right or wrong. Several are one program, joined in their order, as in
PandasPlotBench; where they do not compile together, the largest that does compile is. Commands of a notebook
(``%matplotlib inline``, ``!pip install …``) become comments, since that benchmark runs code in one.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

from opendesign.answering.extract import Block, Extraction, How, fenced_blocks, lines_of, split_thoughts

__all__ = ["extract_code"]

_PYTHON = frozenset({"python", "python3", "py", "py3", "ipython", "ipython3"})
# Possessive groups: text that fails to match must not be tried in every other way.
_COMMAND = re.compile(r"^([ \t]*+)([%!][ \t]*+\w)", re.M)
_IMPORT_FIRST = re.compile(r"\ufeff?\s*+(?:#[^\n]*+\s*+)*+(?:import|from)\s+\w")
_MOST = 200_000  # characters of code that is looked into; more is no program for a plot


def extract_code(reply: str) -> Extraction:
    """The program in a reply, and the reasoning found beside it. Never raises."""
    thoughts, said, open_ended = split_thoughts(reply)
    if open_ended:
        return Extraction(None, thoughts, "open_thought")
    blocks = fenced_blocks(said, lines_of(said))
    tagged = [block for block in blocks if block.language in _PYTHON]
    if chosen := tagged or [one for one in blocks if not one.language and _is_program(one.content)]:
        how: How = "fence" if chosen[-1].closed else "unfinished"
        return Extraction(_program(chosen), thoughts, how)
    if not blocks and (_IMPORT_FIRST.match(said) or _is_program(said)):
        return Extraction(_plain(said.strip().removeprefix("\ufeff")), thoughts, "bare")
    return Extraction(None, thoughts, "none")


def _program(blocks: Sequence[Block]) -> str:
    codes = [_plain(block.content) for block in blocks if block.content.strip()]
    together = "\n\n".join(codes)
    if len(codes) < 2 or _parsed(together) is not None:
        return together
    return max((code for code in codes if _parsed(code) is not None), key=len, default=together)


def _plain(code: str) -> str:
    """Code without the commands of a notebook; lines keep their numbers, and valid code stays as it is."""
    return code if _parsed(code) is not None else _COMMAND.sub(r"\1# \2", code)


def _is_program(text: str) -> bool:
    """Whether a text is Python that does something: words and numbers alone are Python too."""
    tree = _parsed(_plain(text))
    return tree is not None and any(isinstance(node, (ast.Call, ast.Import)) for node in ast.walk(tree))


def _parsed(code: str) -> ast.Module | None:
    if len(code) > _MOST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\\d" in a string is a warning of its own
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
