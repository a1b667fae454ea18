"""The wheel, installed elsewhere: content included, and cards that are copied, edited and run from both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import environment

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package out of its wheel, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "dist")]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True, env=environment())
    (wheel,) = (folder / "dist").glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile"]
    subprocess.run(
        [*install, "--target", str(folder / "site"), str(wheel)],
        check=True,
        capture_output=True,
        env=environment(),
    )
    return folder / "site"


def command(site: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "opendesign", *arguments],
        cwd=cwd,
        env=environment(PYTHONPATH=str(site), OPENDESIGN_CACHE=str(cwd / "cache")),
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_content_is_inside(installed: Path, tmp_path: Path) -> None:
    where = subprocess.run(
        [sys.executable, "-c", "import opendesign; print(opendesign.__file__)"],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(installed)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(installed), "the checkout must not answer here"
    shipped = {p.name for p in (installed / "opendesign" / "content" / "judges").iterdir()}
    assert shipped >= {"execution", "execution-paper", "execution-literal", "computed", "probe"}
    here = {p.relative_to(ROOT / "judges") for p in (ROOT / "judges").rglob("*") if p.is_file()}
    there = installed / "opendesign" / "content" / "judges"
    assert here == {p.relative_to(there) for p in there.rglob("*") if p.is_file()}
    data = {p.suffix for p in (installed / "opendesign").rglob("*") if p.is_file()}
    assert {".js", ".html", ".css"} <= data, "scripts and templates travel with the package"
    listed = command(installed, tmp_path, "cases", "list", "--json")
    assert listed.returncode == 0, listed.stderr
    assert len(json.loads(listed.stdout)["cases"]) >= 60


@pytest.mark.browser
@pytest.mark.parametrize("from_wheel", [True, False])
def test_a_card_is_copied_edited_and_run(installed: Path, tmp_path: Path, from_wheel: bool) -> None:
    """Rules that every page keeps and one that none can: the edited card decides, in both places."""
    site = installed if from_wheel else ROOT
    copied = command(site, tmp_path, "judges", "copy", "execution", "judges/lenient")
    assert copied.returncode == 0, copied.stderr
    rules = tmp_path / "judges" / "lenient" / "rules.toml"
    before, _, rest = rules.read_text().partition("[intents.language]")
    rules.write_text(before + rest[rest.index("[intents.") :])
    page = '<!doctype html><html><head><meta charset="utf-8"><title>A</title>'
    page += '<meta name="viewport" content="width=device-width"></head><body><p>A</p></body></html>'
    (tmp_path / "page.html").write_text(page)
    done = command(site, tmp_path, "score", "page.html", "--judges", "execution,lenient", "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)["scores"]
    assert scores["execution.passed"]["mean"] == 0
    assert scores["lenient.passed"]["mean"] == 1


def test_opendesign_home_is_searched(installed: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "judges").mkdir(parents=True)
    copied = command(installed, tmp_path, "judges", "copy", "execution", str(home / "judges" / "mine"))
    assert copied.returncode == 0, copied.stderr
    done = subprocess.run(
        [sys.executable, "-m", "opendesign", "judges", "list", "--json"],
        cwd=tmp_path,
        env={**environment(PYTHONPATH=str(installed)), "OPENDESIGN_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "mine" in {judge["name"] for judge in json.loads(done.stdout)["judges"]}
    assert os.environ.get("OPENDESIGN_HOME") is None


def test_the_leaderboard_is_built_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    built = command(installed, tmp_path, "leaderboard", "build", "--json")
    assert built.returncode == 0, built.stderr
    assert json.loads(built.stdout)["pages"] == 5
    text = (tmp_path / "dist" / "leaderboard" / "index.html").read_text(encoding="utf-8")
    assert "Reported, not re-run" in text, "the paper's table travels with the package"
