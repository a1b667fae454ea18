"""A ballot as people use it: filled in by keys and clicks, left and come back to, saved, and tallied."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opendesign.balloting import Built, Key, Limits, build_ballot, read_key, tally
from tests.unit.ballot_support import make_run, make_runs, saved, sheet
from tests.unit.site_support import cases
from tests.unit.test_site_hostile import EVIL

from .conftest import Command, document
from .support_site import a_browser, axe

pytestmark = pytest.mark.browser
LOOK_MS = 3_000  # on the page's clock, which the tests turn
KEYS = {"left": "ArrowLeft", "right": "ArrowRight", "tie": "t", "both_bad": "B"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("ballot")
    return build_ballot(make_runs(folder / "runs"), folder / "ballot.html", pairs=30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with a_browser() as opened:
        yield opened


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """Pages that must not log an error, ask anybody, or open a dialog."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    wrong: list[str] = []
    context.on("console", lambda message: wrong.append(message.text))
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("dialog", lambda dialog: wrong.append(dialog.message))
    context.on(
        "request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else wrong.append(r.url)
    )
    yield context
    context.close()
    assert wrong == []


def opened(context: Any, file: Path) -> Any:
    page = context.new_page()
    page.clock.install()
    page.goto(file.as_uri())
    return page


def shown(page: Any) -> tuple[str, str]:
    """The ids of both pages, once there is something to see and to vote on."""
    page.locator('[data-choice="left"]:enabled').wait_for()
    left, right = page.locator("#pages img").evaluate_all("images => images.map(image => image.dataset.page)")
    return left, right


def vote(page: Any, choice: str, *, by_key: bool, look_ms: int = LOOK_MS) -> None:
    before = page.locator("#progress").evaluate("bar => bar.value")
    page.clock.run_for(look_ms)
    if by_key:
        page.keyboard.press(KEYS[choice])
    else:
        page.locator(f'[data-choice="{choice}"]').click()
    assert page.locator("#progress").evaluate("bar => bar.value") == before + 1


class Voter:
    """Votes by a plan for each kind of question, and knows what it voted."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.at = 0
        self.cast = Counter[str]()
        self.won = Counter[str]()

    def go(self, page: Any, count: int) -> None:
        for _ in range(count):
            question = self.key.questions[self.at]
            left, right = shown(page)
            assert {left, right} == {question.left, question.right}
            choice = ("left", "right", "tie", "both_bad")[self.at % 4]
            if question.kind == "check":  # the first of them is failed
                fail = self.key.questions.index(question) == self.first_check
                choice = "left" if (question.good == left) != fail else "right"
            vote(page, choice, by_key=self.at % 3 > 0)
            if question.kind == "pair":
                self.cast[choice] += 1
                self.won[self.key.pages[left if choice == "left" else right].model] += choice in (
                    "left",
                    "right",
                )
            self.at += 1

    @property
    def first_check(self) -> int:
        return next(at for at, question in enumerate(self.key.questions) if question.kind == "check")


def won(pairs: list[dict[str, Any]]) -> Counter[str]:
    """Model → votes for its pages."""
    found = Counter[str]()
    for met in pairs:
        found[met["first"]] += met["first_won"]
        found[met["second"]] += met["second_won"]
    return found


def save(page: Any, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save votes as a file").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_thirty_pairs_with_a_break_and_a_failed_check_are_counted_as_they_were_cast(
    context: Any, built: Built, tmp_path: Path, opendesign: Command
) -> None:
    key = read_key(built.key)
    voter = Voter(key)
    page = opened(context, built.file)
    page.get_by_role("button", name="Start").click()
    voter.go(page, 14)
    page.get_by_role("button", name="Votes").click()
    half = save(page, tmp_path)
    page.reload()
    page.get_by_role("button", name="Go on with question 15").click()
    voter.go(page, 10)
    page.close()
    page = opened(context, built.file)
    page.get_by_role("button", name="Go on with question 25").click()
    page.get_by_text("Comment", exact=True).click()
    page.get_by_label("Why?").fill("=Tab and T are typed here: t t ")
    voter.go(page, 12)
    assert page.get_by_role("heading", name="Thank you").is_visible()
    file = save(page, tmp_path)
    assert file == half, "one rater, one name"
    page.reload()
    assert page.get_by_role("heading", name="Thank you").is_visible(), "all of it is kept"

    done = opendesign("ballot", "tally", str(built.key), str(file), "--out", "votes.csv", "--json")
    found = document(done)
    assert done.returncode == 0, done.stderr
    assert found["counts"] == {choice: voter.cast[choice] for choice in KEYS}
    assert sum(found["counts"].values()) == 30
    assert won(found["pairs"]) == voter.won
    assert sum(row["won"] for row in found["ratings"]) == 30
    (rater,) = found["raters"]
    assert (rater["checks"], rater["failed"], rater["repeats"]) == (3, 1, 3)
    assert found["dropped"] == []
    assert "'=Tab and T are typed here: t t" in (tmp_path / "votes.csv").read_text()

    strict = tally(key, [file], Limits(most_failed=0))
    assert (strict.votes, strict.dropped[0].detail) == (0, "1 of 3 were failed.")
    study = document(opendesign("study", "agreement", "votes.csv", "--json"))
    assert (study["counts"]["votes"], study["counts"]["repeats"]) == (30, 3)


def test_a_hasty_vote_is_seen_and_hidden_time_and_a_held_key_do_not_count(
    context: Any, built: Built, tmp_path: Path
) -> None:
    page = opened(context, built.file)
    page.get_by_role("button", name="Start").click()
    shown(page)
    vote(page, "left", by_key=True, look_ms=500)
    page.keyboard.down("ArrowLeft")
    page.keyboard.down("ArrowLeft")  # held: a repeat of the same press
    page.keyboard.up("ArrowLeft")
    assert page.locator("#where").inner_text().startswith("3 of")
    shown(page)
    page.evaluate(
        "Object.defineProperty(document, 'hidden', { value: true, configurable: true });"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    vote(page, "tie", by_key=False, look_ms=9_000)
    page.get_by_role("button", name="Back").click()
    assert page.locator('[data-choice="tie"]').get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Votes").click()
    votes = json.loads(page.locator("#text").input_value())["votes"]
    assert [one["question"] for one in votes] == ["q1", "q2", "q3"]
    assert all(one["seconds"] < 2 for one in votes)
    path = saved(tmp_path / "votes.json", json.loads(page.locator("#text").input_value()))
    assert tally(read_key(built.key), [path]).votes == 0


def test_without_storage_it_says_so_and_a_vote_can_still_be_saved(
    browser: Any, built: Built, tmp_path: Path
) -> None:
    with browser.new_context() as context:
        context.add_init_script(
            "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })"
        )
        page = opened(context, built.file)
        assert page.get_by_text("This browser keeps nothing").is_visible()
        page.get_by_role("button", name="Start").click()
        shown(page)
        vote(page, "left", by_key=False)
        page.get_by_role("button", name="Votes").click()
        assert len(json.loads(save(page, tmp_path).read_text())["votes"]) == 1


@pytest.mark.parametrize(
    "kept",
    [
        "no JSON",
        "[]",
        '{"rater": "<b>", "votes": {}}',
        '{"rater": "00aa00aa00aa00aa", "votes": {"q1": {"choice": "<b>"}, "x": 1, "q2": null}}',
    ],
)
def test_what_storage_holds_is_not_trusted(context: Any, built: Built, kept: str) -> None:
    page = opened(context, built.file)
    page.evaluate(
        "([name, text]) => localStorage.setItem(name, text)", [f"opendesign-ballot:{built.ballot}", kept]
    )
    page.reload()
    assert page.get_by_role("button", name="Start").is_visible()
    assert page.locator("#text").input_value() == ""


def test_two_tabs_lose_no_vote_and_another_rater_starts_afresh(context: Any, built: Built) -> None:
    first, second = (opened(context, built.file) for _ in range(2))
    for page in (first, second):
        page.get_by_role("button", name="Start").click()
        shown(page)
    for _ in range(3):
        vote(second, "left", by_key=False)
        shown(second)
    first.locator('[data-choice="tie"]').click()
    assert first.locator("#where").inner_text() == "4 of 36", "it goes on where the other tab is"
    second.reload()
    second.get_by_role("button", name="Go on with question 4").click()
    second.get_by_role("button", name="Votes").click()
    before = json.loads(second.locator("#text").input_value())
    assert [one["choice"] for one in before["votes"]] == ["tie", "left", "left"]
    second.get_by_text("Someone else wants to vote").click()
    second.get_by_role("button", name="Forget these votes").click()
    second.reload()
    assert second.get_by_role("button", name="Start").is_visible()
    assert before["rater"] not in second.evaluate("JSON.stringify(localStorage)")


def test_both_pages_scroll_together_and_one_can_be_made_larger(context: Any, built: Built) -> None:
    page = opened(context, built.file)
    page.get_by_role("button", name="Start").click()
    left, right = (page.locator(f"#{side} img") for side in ("left", "right"))
    shown(page)
    before = left.bounding_box()["y"], right.bounding_box()["y"]
    assert before[0] == before[1]
    page.evaluate("scrollTo(0, 120)")
    assert left.bounding_box()["y"] == right.bounding_box()["y"] < before[0]
    width = left.bounding_box()["width"]
    page.get_by_role("button", name="Left page larger").click()
    assert left.bounding_box()["width"] > width
    assert not right.is_visible()
    page.get_by_role("button", name="Show right").click()
    assert right.is_visible()
    assert not left.is_visible()
    right.click()
    assert left.is_visible()
    assert right.is_visible()


@pytest.mark.parametrize(("theme", "width"), [("light", 1024), ("dark", 390), ("dark", 1920)])
def test_no_screen_has_a_violation_or_is_too_wide(browser: Any, built: Built, theme: str, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme) as context:
        page = opened(context, built.file)
        page.evaluate(axe())

        def check() -> None:
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
            assert [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width

        page.clock.resume()
        check()
        page.get_by_role("button", name="Start").click()
        shown(page)
        check()
        page.get_by_role("button", name="Votes").click()
        check()


def test_prompts_of_strangers_are_text(context: Any, tmp_path: Path) -> None:
    asked = cases(len(EVIL))
    for case, text in zip(asked, EVIL, strict=True):
        case |= {"prompt": text, "language": text[:40]}
    runs = [str(make_run(tmp_path / "runs", name, asked)) for name in EVIL[:2]]
    built = build_ballot(runs, tmp_path / "b.html", pairs=len(EVIL), repeats=0, checks=0)
    page = opened(context, built.file)
    page.get_by_role("button", name="Start").click()
    seen = set()
    for _ in EVIL:
        shown(page)
        seen.add(page.locator("#prompt").evaluate("one => one.textContent"))
        assert page.locator("#prompt *").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert page.locator("#prompt").bounding_box()["height"] < 250
        vote(page, "tie", by_key=False)
    assert {text for text in EVIL if "\ud800" not in text} <= seen
    assert page.title() == "Which page is better?"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_names_that_no_terminal_can_show_are_counted(
    opendesign: Command, tmp_path: Path, options: list[str]
) -> None:
    runs = [str(make_run(tmp_path / "runs", name, cases(6))) for name in (EVIL[3], EVIL[7], EVIL[8])]
    built = build_ballot(runs, tmp_path / "b.html", pairs=6, repeats=0, checks=1)
    votes = saved(tmp_path / "votes.json", sheet(read_key(built.key)))
    done = opendesign("ballot", "tally", str(built.key), str(votes), *options)
    assert (done.returncode, done.stderr) == (0, "")
    if options:
        assert {row["name"] for row in document(done)["ratings"]} >= {EVIL[8]}
    else:
        assert max(map(len, done.stdout.splitlines())) < 400
