"""Every kind of page, in both themes and on two widths, is held against axe-core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .support_site import KINDS, a_browser, axe, make_site

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with a_browser() as opened:
        yield opened


def violations(page: Any) -> list[str]:
    """What axe-core finds, as one line a finding."""
    page.evaluate(axe())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("kind", KINDS)
def test_no_page_has_a_violation(browser: Any, folder: Path, kind: str, theme: str, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme) as context:
        page = context.new_page()
        page.goto((folder / KINDS[kind]).as_uri())
        assert violations(page) == []


def test_it_would_find_one(browser: Any, folder: Path) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto((folder / KINDS["board"]).as_uri())
        page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=x>')")
        assert any(line.startswith("image-alt") for line in violations(page))
