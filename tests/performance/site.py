"""The leaderboard of 40 models × 840 cases with 5,040 pictures: built, again after one new model, and opened.

Time is processor time of one process and its own, which a busy machine does not change.
"""

from __future__ import annotations

from pathlib import Path

from tests.performance.bench import Bench, Row, Sample, Samples, Variant, at_most, column, work

MODELS, PICTURES = 40, 5_040
_READY = """
addEventListener("load", () => setTimeout(() => {
  const loaded = performance.now();
  document.querySelector("#main-board th[data-key=total] button").click();
  requestAnimationFrame(() => setTimeout(() => {
    const first = document.querySelector("#main-board tbody tr td.total .mean");
    const sorted = document.querySelector("#main-board th[aria-sort]").dataset.key;
    window.ready = { ms: performance.now() - loaded, sorted, first: first.textContent };
  }));
}));
"""


def variants(bench: Bench) -> list[Variant]:
    full = bench.sizes.repeats > 1
    models, cases, pictures = (MODELS, bench.sizes.stored_cases, PICTURES) if full else (10, 200, 500)
    folder = bench.folder / "site"

    def run() -> Sample:
        results, out = str(folder / "results"), str(folder / "out")
        made = work("site:make", memory=False, results=results, models=models, cases=cases, pictures=pictures)
        first = work("site:build", results=results, out=out)
        work(
            "site:make",
            memory=False,
            results=results,
            models=1,
            cases=cases,
            pictures=pictures // models,
            at=99,
        )
        again = work("site:build", results=results, out=out)
        opened = work("site:open_board", memory=False, out=out)
        return {
            "distinct": made["distinct"],
            "first_s": first["cpu_s"],
            "first_mb": max(first["peak_mb"] or 0, again["peak_mb"] or 0),
            "wall_s": first["wall_s"],
            "again_s": again["cpu_s"],
            "pages": again["pages"],
            "board_kb": (Path(out) / "index.html").stat().st_size / 1_000,
            "ready_ms": opened["ms"],
        }

    return [Variant(name="site", repeats=1, run=run)]


def make(results: str, models: int, cases: int, pictures: int, at: int = 0) -> Sample:
    """Published runs of made-up models, each with pictures of its own."""
    from tests.unit.site_support import cases as asked
    from tests.unit.site_support import pictures as drawn
    from tests.unit.site_support import publish_made_up

    shots, of, each = drawn(pictures, first=at * pictures), asked(cases), pictures // models
    for n in range(models):
        publish_made_up(
            Path(results),
            f"lab-{n % 9}/model-{at + n}",
            strength=85 - 40 * n / MODELS,
            of=of,
            thumbnails=shots[n * each : (n + 1) * each],
            seed=at + n,
            resamples=10_000,
            cost_usd=0.05 / (1 + n),
        )
    return {"distinct": len(set(shots))}


def build(results: str, out: str) -> Sample:
    from opendesign.site import build_site

    return build_site(Path(out), results=Path(results)).to_dict()


def open_board(out: str) -> Sample:
    """Milliseconds from the board's load until a click on a head has sorted it."""
    from playwright.sync_api import sync_playwright

    from opendesign.rendering.browser import find_browser

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_browser().path))
        page = browser.new_page()
        page.add_init_script(_READY)
        page.goto((Path(out) / "index.html").as_uri())
        while not (
            found := page.evaluate("window.ready")
        ):  # waiting in the page needs eval, which it forbids
            page.wait_for_timeout(20)
        browser.close()
    return dict(found)


def rows(samples: Samples) -> list[Row]:
    site = samples["site"]
    pages = f"{site[0]['pages']:,} pages; {site[0]['wall_s']:.0f} s by the clock"
    return [
        Row(quantity="site: distinct pictures", values=column(site, "distinct")),
        at_most("site: built", column(site, "first_s"), 90, "CPU-s", note=pages),
        at_most("site: memory", column(site, "first_mb"), 1_500, "MB"),
        at_most("site: built after one new model", column(site, "again_s"), 15, "CPU-s"),
        at_most("site: the board's page", column(site, "board_kb"), 500, "kB"),
        at_most("site: sorted after load", column(site, "ready_ms"), 300, "ms"),
    ]
