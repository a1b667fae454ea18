"""A built site with every kind of page, a browser to look at it with, and axe-core."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from opendesign.rendering.browser import find_browser
from opendesign.site import build_site
from opendesign.site.serve import server_of
from tests.differential.htmlhint_reference import CACHE, run
from tests.unit.site_support import cases, made_up_board, pictures, publish_made_up

HERE = Path(__file__).parent
#: Kind of page → a page of it.
KINDS = {
    "board": "index.html",
    "model": "models/lab-1-model-01-1.html",
    "case": "cases/game-002.html",
    "cases": "cases/index.html",
    "pair": "compare/lab-0-model-00-0--lab-1-model-01-1.html",
    "compare": "compare/index.html",
    "studies": "studies.html",
    "method": "method.html",
}


def make_site(folder: Path) -> Path:
    """Five models in one table, another judge's, a half done one, key-free ones, and a study."""
    results, asked = folder / "results", cases(25)
    made_up_board(results, models=5, count=25, distinct=10)
    one: dict[str, Any] = {"of": asked, "thumbnails": pictures(2)}
    publish_made_up(results, "lab/elsewhere", strength=70, judge_model="other/judge", **one)
    publish_made_up(results, "lab/half", strength=75, scored=0.5, cost_usd=None, failed="No page.", **one)
    for name, strength in (("builtin/good", 90), ("builtin/bad", 60)):
        publish_made_up(results, name, strength=strength, key_free=True, **one)
    (results / "studies").mkdir()
    points = [{"ours": f"m{n}", "our_score": n, "their_score": n * n} for n in range(6)]
    figure = {"value": 0.9, "n": 6, "ranges": {"models": [0.5, 1.0]}, "why": ""}
    study = {
        "study": "correlation",
        "rankings": [{"category": "overall", "kendall": figure, "points": points}],
    }
    (results / "studies" / "correlation.json").write_text(json.dumps(study))
    build_site(folder / "site", results=results)
    return folder / "site"


@contextmanager
def a_browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_browser().path))
        yield browser
        browser.close()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Address of a folder on the loopback, by the server of `leaderboard serve`."""
    with server_of(folder) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def axe() -> str:
    """The source of axe-core at its pinned version, installed the first time."""
    folder = CACHE / "axe"
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]["axe-core"]
    manifest = folder / "node_modules" / "axe-core" / "package.json"
    if not manifest.is_file() or json.loads(manifest.read_text())["version"] != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / "package.json", folder / "package.json")
        run("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", cwd=folder)
    return (manifest.parent / "axe.min.js").read_text(encoding="utf-8")
