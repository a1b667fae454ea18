"""Which fonts the browser can draw with: part of what makes pictures comparable."""

from __future__ import annotations

import functools
import subprocess

from opendesign.canonical import digest


@functools.cache
def font_set() -> str:
    """Hash (16 hex digits) of the installed families and their versions; "unknown" without fontconfig."""
    try:
        listing = subprocess.run(
            ["fc-list", "--format", "%{family} %{style} %{fontversion}\n"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return digest("\n".join(sorted(listing.splitlines())))[:16]
