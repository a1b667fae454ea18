"""The leaderboard in a real browser: sorting, filtering, search, links, theme, keyboard, phone, no script."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit import site_pages
from tests.unit.test_site_hostile import EVIL, hostile_results

from .support_site import KINDS, a_browser, build_site, make_site, served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with a_browser() as opened:
        yield opened


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that must not log an error, ask another host, or open a dialog."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("request", lambda r: None if re.match(r"file:|http://127\.", r.url) else wrong.append(r.url))
    yield page
    context.close()
    assert wrong == []


@pytest.fixture
def board(page: Any, folder: Path) -> Any:
    page.goto((folder / "index.html").as_uri())
    return page


def names(page: Any) -> list[str]:
    """Models of the board that can be seen, from the top."""
    shown: list[str] = page.locator("#main-board tbody tr:visible th a").all_inner_texts()
    return shown


def column(page: Any, key: str) -> list[float]:
    cells = page.locator(f'#main-board tbody tr:visible td[data-key="{key}"]')
    return [
        float(text) for text in cells.evaluate_all("cells => cells.map(cell => cell.dataset.value ?? 'NaN')")
    ]


def state(page: Any) -> dict[str, str]:
    return dict(part.split("=") for part in page.url.partition("#")[2].split("&") if part)


def follow(link: Any) -> None:
    """Click, and wait for the page that it leads to."""
    with link.page.expect_navigation(wait_until="load"):
        link.click()


def head(page: Any, title: str) -> Any:
    return page.locator("#main-board thead th").filter(has_text=title).first


# Sorting, filtering, search, addresses


def test_a_click_on_a_head_sorts_and_another_turns_it_round(board: Any) -> None:
    before = names(board)
    head(board, "Total").get_by_role("button").click()
    totals = column(board, "total")
    assert totals == sorted(totals, reverse=True)
    assert head(board, "Total").get_attribute("aria-sort") == "descending"
    assert head(board, "Rank").get_attribute("aria-sort") is None
    head(board, "Total").get_by_role("button").click()
    assert column(board, "total") == totals[::-1]
    assert state(board) == {"sort": "total", "dir": "up"}
    head(board, "Rank").get_by_role("button").click()
    assert (names(board), state(board)) == (before, {})


def test_what_has_no_number_is_last_both_ways_and_cheap_is_first(board: Any) -> None:
    head(board, "$ / case").get_by_role("button").click()
    costs = column(board, "cost")
    assert costs[:-1] == sorted(costs[:-1])
    assert names(board)[-1] == "lab/half"
    head(board, "$ / case").get_by_role("button").click()
    assert names(board)[-1] == "lab/half"
    assert column(board, "cost")[:-1] == costs[-2::-1]


def test_a_category_has_its_own_numbers_and_ranks(board: Any, folder: Path) -> None:
    everything = column(board, "total")
    board.get_by_label("Show").select_option("game")
    for model, total in zip(names(board), column(board, "total"), strict=True):
        file = next((folder / "models").glob(f"{model.replace('/', '-')}-*.json"))
        scores = json.loads(file.read_text())["summary"]["by_category"]["game"]
        assert total == pytest.approx(scores["static.total"]["mean"], rel=1e-5)
    assert column(board, "total") != everything
    ranks = board.locator("#main-board tbody .rank b").all_inner_texts()
    assert ranks == ["1", "2", "3", "4", "5", "–"]
    assert state(board) == {"view": "game"}
    board.get_by_label("Show").select_option("all")
    assert column(board, "total") == everything


def test_search_hides_and_counts(board: Any) -> None:
    board.get_by_label("Search").fill("LAB model-03")
    assert names(board) == ["lab-3/model-03"]
    assert board.get_by_text("1 of 6 models").is_visible()
    board.get_by_label("Search").fill("nobody")
    assert names(board) == []
    board.get_by_label("Search").fill("")
    assert len(names(board)) == 6


def test_an_address_brings_back_what_was_seen(board: Any, folder: Path) -> None:
    board.get_by_label("Show").select_option("hard")
    board.get_by_label("Search").fill("model")
    head(board, "Model").get_by_role("button").click()
    head(board, "Model").get_by_role("button").click()
    seen, address = (names(board), column(board, "total")), board.url
    board.goto("about:blank")
    board.goto(address)
    assert (names(board), column(board, "total")) == seen
    assert board.get_by_label("Show").input_value() == "hard"
    assert seen[0] == sorted(seen[0], reverse=True)


@pytest.mark.parametrize("odd", ["sort=__proto__&view=constructor", "view=%00&sort=&q=", "sort=\"]'<&dir=x"])
def test_an_odd_address_is_the_board_as_it_is(page: Any, folder: Path, odd: str) -> None:
    page.goto((folder / "index.html").as_uri())
    plain = names(page)
    page.goto("about:blank")
    page.goto(f"{(folder / 'index.html').as_uri()}#{odd}")
    assert names(page) == plain


def test_two_models_are_chosen_and_compared(page: Any, folder: Path) -> None:
    page.goto((folder / "compare/index.html").as_uri())
    picker = page.locator(".picker").first
    picker.get_by_label("First").select_option(label="lab-3/model-03")
    picker.get_by_label("Second").select_option(label="lab-3/model-03")
    assert picker.get_by_text("Compare", exact=True).get_attribute("href") is None
    picker.get_by_label("Second").select_option(label="lab-0/model-00")
    follow(picker.get_by_role("link", name="Compare"))
    heading = page.get_by_role("heading", level=1).inner_text()
    assert heading.split() == ["lab-0/model-00", "and", "lab-3/model-03"]


def test_cases_are_searched_by_words_of_their_prompt(page: Any, folder: Path) -> None:
    page.goto((folder / "cases/index.html").as_uri())
    ids = page.locator("tbody tr:visible th")
    page.get_by_label("Search").fill("17, GAME")
    assert ids.all_inner_texts() == ["game-017"]
    assert page.get_by_text("1 case", exact=True).is_visible()
    page.get_by_label("Search").fill("form hard dataviz")
    assert ids.all_inner_texts() == ["dataviz-014"]


# Without a script, without a mouse, by night, on a phone, on paper


def test_without_a_script_all_is_there_in_order(browser: Any, folder: Path) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto((folder / "index.html").as_uri())
        rows = page.locator("#main-board tbody tr")
        assert rows.count() == 6
        assert page.locator("#main-board tbody .rank b").all_inner_texts() == ["1", "2", "3", "4", "5", "–"]
        assert not page.locator(".tools, .theme").filter(visible=True).count()
        follow(page.get_by_role("link", name="lab-0/model-00").first)
        follow(page.get_by_role("link", name=re.compile("website-")).first)
        assert page.locator("img.shot").first.is_visible()
        page.locator("summary").nth(1).click()
        assert page.get_by_text("click button 0").first.is_visible()


def test_a_keyboard_is_enough(board: Any) -> None:
    board.keyboard.press("Tab")
    skip = board.get_by_role("link", name="Skip to content")
    assert skip.is_visible()
    board.keyboard.press("Enter")
    assert board.evaluate("document.activeElement.id") == "main"
    board.get_by_label("Search").focus()
    board.keyboard.type("model")
    for _ in range(9):
        board.keyboard.press("Tab")
        if board.evaluate("document.activeElement.textContent") == "Total":
            break
    outline = board.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none", "the focus can be seen"
    board.keyboard.press("Enter")
    assert head(board, "Total").get_attribute("aria-sort") == "descending"
    assert board.evaluate("document.activeElement.textContent") == "Total", "the focus stays"


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_theme_is_the_systems_until_it_is_chosen(browser: Any, folder: Path, system: str) -> None:
    def ground(page: Any) -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    with served(folder) as address, browser.new_context(color_scheme=system) as context:
        page = context.new_page()
        page.goto(address)
        before = ground(page)
        assert (before < 200) == (system == "dark")
        button = page.get_by_role("button", name="Dark theme")
        assert button.get_attribute("aria-pressed") == str(system == "dark").lower()
        button.click()
        assert (ground(page) < 200) == (system == "light")
        follow(page.get_by_role("link", name="Method", exact=True))
        assert (ground(page) < 200) == (system == "light"), "the choice is kept"
        page.get_by_role("button", name="Dark theme").click()
        page.reload()
        assert ground(page) == before


@pytest.mark.parametrize("width", [320, 390, 1024, 1920])
def test_no_page_is_wider_than_the_screen(browser: Any, folder: Path, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 800}) as context:
        page = context.new_page()
        for name in KINDS.values():
            page.goto((folder / name).as_uri())
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            small = page.evaluate(
                "[...document.querySelectorAll('main :not(svg *)')].filter(one => one.checkVisibility()"
                " && one.innerText && parseFloat(getComputedStyle(one).fontSize) < 11.9).length"
            )
            assert small == 0, f"text is too small to read on {name}"


def test_a_phone_shows_each_number_with_its_name(browser: Any, folder: Path) -> None:
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        page.goto((folder / "index.html").as_uri())
        cell = page.locator('#main-board tbody tr:first-child td[data-key="points"]')
        label = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
        assert label == '"Inter. pts"'
        page.get_by_label("Sort").select_option("cost")
        costs = column(page, "cost")[:-1]
        assert costs == sorted(costs)


def test_paper_shows_the_tables_and_no_controls(board: Any) -> None:
    board.emulate_media(media="print")
    assert board.locator("#main-board tbody tr:visible").count() == 6
    assert not board.locator("button.theme, .tools, .bar nav").filter(visible=True).count()
    assert board.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


# Anywhere


def test_it_works_under_any_path_and_asks_nobody_else(page: Any, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "a" / "b c" / "site")
    shutil.copy(folder / "index.html", tmp_path / "index.html")
    with served(tmp_path) as address:
        page.goto(f"{address}a/b%20c/site/")
        for link in ("Cases", "Compare", "Studies", "Method", "Board"):
            follow(page.get_by_role("navigation", name="Pages").get_by_role("link", name=link))
            assert page.get_by_role("heading", level=1).count() == 1
        follow(page.get_by_role("link", name="lab-1/model-01").first)
        shot = page.locator("img.shot").first
        shot.scroll_into_view_if_needed()
        assert shot.evaluate("async shot => (await shot.decode(), shot.naturalWidth)") == 480
        page.goto("about:blank")


def test_no_script_of_others_ever_runs(page: Any, tmp_path: Path) -> None:
    build_site(tmp_path / "out", results=hostile_results(tmp_path / "results"))
    found = site_pages.pages(tmp_path / "out")
    kinds = [tmp_path / "out" / "index.html", tmp_path / "out" / "studies.html"]
    kinds += [one for one in found if one.parent.name == "cases"][:9]
    kinds += [one for one in found if one.parent.name in ("models", "compare")][::4]
    for one in kinds:
        page.goto(one.as_uri())
        assert page.title() != "hit"
        assert page.locator("script").count() == 2
        assert not page.locator("[onerror], [onclick], [onload], iframe, object, embed").count()
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, one
    for text in EVIL[:3]:
        shown = [site_pages.read(one)[1] for one in found if one.parent.name == "models"]
        at = next(n for n, words in enumerate(shown) if text in words)
        page.goto(sorted((tmp_path / "out" / "models").glob("*.html"))[at].as_uri())
        assert page.get_by_role("heading", level=1).inner_text().startswith(text)
