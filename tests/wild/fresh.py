"""Pages by other people on which no judge was tuned: measured once a judge is done, never looked at before.

``python -m tests.wild.fresh FOLDER`` writes them, for ``opendesign judges check JUDGE --pages FOLDER``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.wild import packages
from tests.wild.inline import Place, self_contained

_BOOT = "startbootstrap-"
#: Package -> its pages, as paths without ``.html``.
PAGES = {
    f"{_BOOT}agency": ("dist/index",),
    f"{_BOOT}business-casual": ("dist/about", "dist/index", "dist/products", "dist/store"),
    f"{_BOOT}clean-blog": ("dist/about", "dist/contact", "dist/index", "dist/post"),
    f"{_BOOT}freelancer": ("dist/index",),
    f"{_BOOT}grayscale": ("dist/index",),
    f"{_BOOT}heroic-features": ("dist/index",),
    f"{_BOOT}landing-page": ("dist/index",),
    f"{_BOOT}modern-business": (
        *("dist/about", "dist/blog-home", "dist/blog-post", "dist/contact", "dist/faq", "dist/index"),
        *("dist/portfolio-item", "dist/portfolio-overview", "dist/pricing"),
    ),
    f"{_BOOT}new-age": ("dist/index",),
    f"{_BOOT}shop-homepage": ("dist/index",),
    f"{_BOOT}small-business": ("dist/index",),
    f"{_BOOT}stylish-portfolio": ("dist/index",),
    "now-ui-kit": ("index", "examples/landing-page", "examples/profile-page"),
    "paper-kit-2": ("index", "examples/landing", "examples/profile"),
    "@creative-tim-official/argon-dashboard": (
        *("pages/billing", "pages/dashboard", "pages/profile", "pages/tables"),
    ),
}


def write(folder: Path) -> list[Path]:
    """Every page as a file, ``PACKAGE-PAGE.html``. Raises ``NotFetched`` where a package cannot be had."""
    packages.fetch(fresh=True)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for package, paths in PAGES.items():
        for path in paths:
            short = package.rpartition("/")[2].removeprefix(_BOOT)
            files.append(folder / f"{short}-{path.rpartition('/')[2]}.html")
            files[-1].write_text(self_contained(Place(package, f"{path}.html")), encoding="utf-8")
    return files


if __name__ == "__main__":
    write(Path(sys.argv[1]))
