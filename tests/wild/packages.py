"""Files out of pinned npm packages. Each package is fetched once, into ``.cache/`` of the checkout."""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".cache" / "wild" / "packages"

#: Packages that hold designed pages.
PAGES = {
    "startbootstrap-creative": "7.0.7",
    "startbootstrap-resume": "7.0.6",
    "startbootstrap-sb-admin": "7.0.7",
    "startbootstrap-sb-admin-2": "4.1.4",
    "startbootstrap-simple-sidebar": "6.0.6",
    "shards-ui": "3.0.0",
    "material-kit": "2.0.4",
    "soft-ui-dashboard": "1.0.1",
    "soft-ui-design-system": "1.0.4",
    "@digitallyhappy/backstrap": "0.5.1",
    "stisla": "2.3.0",
}
#: Packages that hold other designed pages: nobody looks at them while a judge is made (see ``fresh``).
FRESH = {
    "startbootstrap-agency": "7.0.12",
    "startbootstrap-business-casual": "7.0.9",
    "startbootstrap-clean-blog": "6.0.9",
    "startbootstrap-freelancer": "7.0.7",
    "startbootstrap-grayscale": "7.0.6",
    "startbootstrap-heroic-features": "5.0.6",
    "startbootstrap-landing-page": "6.0.6",
    "startbootstrap-modern-business": "5.0.7",
    "startbootstrap-new-age": "6.0.7",
    "startbootstrap-shop-homepage": "5.0.6",
    "startbootstrap-small-business": "5.0.6",
    "startbootstrap-stylish-portfolio": "6.0.6",
    "now-ui-kit": "1.3.0",
    "paper-kit-2": "2.1.0",
    "@creative-tim-official/argon-dashboard": "2.0.4",
    "@fontsource/lato": "5.3.0",
    "@fontsource/lora": "5.3.0",
    "@fontsource/montserrat": "5.3.0",
    "@fontsource/raleway": "5.3.0",
}
#: Packages that hold what those pages load from elsewhere.
PARTS = {
    "bootstrap": "5.2.3",
    "bootstrap-4": "4.3.1",
    "bootstrap-icons": "1.5.0",
    "chart.js": "2.8.0",
    "chocolat": "0.4.21",
    "@fortawesome/fontawesome-free": "5.15.4",
    "font-awesome": "4.7.0",
    "jquery": "3.3.1",
    "jquery.nicescroll": "3.7.6",
    "line-awesome": "1.3.0",
    "material-icons": "1.13.14",
    "moment": "2.24.0",
    "popper.js": "1.14.7",
    "prismjs": "1.15.0",
    "simple-datatables": "7.1.2",
    "simple-lightbox": "2.1.0",
    "tooltip.js": "1.3.3",
    "@fontsource/merriweather": "5.3.0",
    "@fontsource/merriweather-sans": "5.3.0",
    "@fontsource/mulish": "5.3.0",
    "@fontsource/nunito": "5.3.0",
    "@fontsource/open-sans": "5.3.0",
    "@fontsource/roboto": "5.3.0",
    "@fontsource/roboto-slab": "5.3.0",
    "@fontsource/saira-extra-condensed": "5.3.0",
    "@fontsource/source-sans-pro": "5.3.0",
}
_VERSIONS = PAGES | PARTS | FRESH
_REAL = {"bootstrap-4": "bootstrap"}  # a second version of the same package


class NotFetched(Exception):
    """A package could not be had, with the command that gets it."""


def known(package: str) -> bool:
    return package in _VERSIONS


def fetch(*, fresh: bool = False) -> None:
    """Every package that is not here yet, four at a time; those of ``fresh`` only on demand.

    Raises ``NotFetched``.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(_archive, _VERSIONS if fresh else PAGES | PARTS))


def read(package: str, path: str) -> bytes | None:
    """A file of a package, by its path inside; None where the package has no such file."""
    return _files(package).get(path)


@cache
def _files(package: str) -> dict[str, bytes]:
    """Path -> bytes of what a package holds, folders that no page uses apart."""
    found: dict[str, bytes] = {}
    with tarfile.open(_archive(package)) as tar:
        for member in tar:
            path = member.name.partition("/")[2]
            if member.isfile() and not path.endswith((".map", ".scss", ".ts", ".psd", ".mp4")):
                file = tar.extractfile(member)
                assert file is not None
                found[path] = file.read()
    return found


def _archive(package: str) -> Path:
    name, version = _REAL.get(package, package), _VERSIONS[package]
    path = FOLDER / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
    if path.is_file():
        return path
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = ("npm", "pack", "--loglevel=error", f"{name}@{version}")
    # Into a folder of its own first: two test processes may fetch at once, and half a file must not stay.
    with tempfile.TemporaryDirectory(dir=FOLDER) as own:
        try:
            done = subprocess.run(command, cwd=own, capture_output=True, text=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotFetched(f"'{' '.join(command)}' did not work: {error}") from error
        if done.returncode or not (Path(own) / path.name).is_file():
            raise NotFetched(f"'{' '.join(command)}' did not work: {done.stderr.strip()[-300:]}")
        (Path(own) / path.name).replace(path)
    return path
