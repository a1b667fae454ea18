"""Which fonts this machine has: a page looks different with others, so the set is part of every record."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from opendesign.canonical import hash_of

__all__ = ["SCRIPTS", "coverage", "families", "font_set"]

#: What pages are written in beside Latin -> fontconfig's name for it.
SCRIPTS: Mapping[str, str] = {
    "Chinese": "zh-cn",
    "Japanese": "ja",
    "Korean": "ko",
    "Arabic": "ar",
    "Hindi": "hi",
    "emoji": "und-zsye",
}
_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts")


@cache
def families() -> tuple[str, ...]:
    """Font families, sorted; names of font files where fontconfig's ``fc-list`` is not installed."""
    listed = _list(":")
    if listed is not None:
        return listed
    files = (path for folder in _FOLDERS for path in Path(folder).rglob("*.[to]t[fc]"))
    return tuple(sorted({path.stem for path in files}))


@cache
def font_set() -> str:
    """Name of the set, the same where the same families are: ``57 families, 1f2e3d4c``."""
    found = families()
    return f"{len(found)} families, {hash_of(found)[:8]}"


def coverage() -> Mapping[str, bool] | None:
    """Which of ``SCRIPTS`` has a font; None where that cannot be asked."""
    if _list(":") is None:
        return None
    return {name: bool(_list(f":lang={code}")) for name, code in SCRIPTS.items()}


def _list(pattern: str) -> tuple[str, ...] | None:
    program = shutil.which("fc-list")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, pattern, "family"], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return tuple(sorted({line.strip() for line in done.stdout.splitlines() if line.strip()}))
