"""The reference for the execution judges: npm's htmlhint, at its pinned version under ``.cache/``."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parent.parent / ".cache" / "differential"
Found = dict[str, list[tuple[str, int, int]]]  # card -> (rule, line, column in UTF-16 units)


class NotInstalled(Exception):
    """The reference or a package with pages cannot be had; the text says what to do."""


def install() -> Path:
    """Folder with htmlhint in its ``node_modules``; installs it the first time. Raises ``NotInstalled``."""
    folder = CACHE / "htmlhint"
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]["htmlhint"]
    manifest = folder / "node_modules" / "htmlhint" / "package.json"
    if manifest.is_file() and json.loads(manifest.read_text())["version"] == wanted:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "package.json", folder / "package.json")
    run("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", cwd=folder)
    return folder


def run(*command: str, cwd: Path) -> str:
    """Run a package manager; its standard output. Raises ``NotInstalled`` with a sentence that helps."""
    line = " ".join(command)
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(
            f"The differential test needs Node.js 18 or later, npm and a package registry: `{line}` in {cwd} "
            f"failed with: {error}."
        ) from error
    if done.returncode:
        tail = " ".join((done.stderr or done.stdout).split())[-400:]
        raise NotInstalled(
            f"The differential test needs a package registry: run `{line}` in {cwd} where one can be "
            f"reached, then the test again; it said: {tail}"
        )
    return done.stdout


def lint(pages: Sequence[str], rulesets: dict[str, list[str]], *, timeout: float = 900) -> list[Found]:
    """What htmlhint finds on every page with each card's rules switched on, in the order of ``pages``."""
    switched_on = {card: dict.fromkeys(rules, True) for card, rules in rulesets.items()}
    lines = [json.dumps({"rulesets": switched_on}), *(json.dumps({"html": page}) for page in pages)]
    done = subprocess.run(
        ["node", str(HERE / "htmlhint_lint.cjs"), str(install())],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"htmlhint ended with {done.returncode}: {done.stderr[-800:]}")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) != len(pages):
        raise RuntimeError(f"htmlhint answered for {len(found)} of {len(pages)} pages: {done.stderr[-800:]}")
    return [{card: [(r, line, col) for r, line, col in hits] for card, hits in one.items()} for one in found]
