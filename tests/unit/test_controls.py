"""The builtin controls: the same for a case everywhere, valid, safe, and good, plain or broken on purpose."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opendesign.answering.controls import CONTROLS, defects, document, reply
from opendesign.answering.controls.broken import BEHAVIOUR, MARKUP, VISUAL
from opendesign.answering.controls.page import VARIANTS, variant_of
from opendesign.answering.controls.palettes import PALETTES, contrast
from opendesign.answering.controls.words import TITLE_LENGTH, title_of
from opendesign.errors import UnknownName
from opendesign.types import CATEGORIES, Case, Category

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

NEUTRAL = "Make something nice for the village hall"
HOSTILE = (
    "",
    "   \n\t ",
    "<script>alert(1)</script>",
    "</title></style></script><script>alert(1)</script>",
    'Page called "><img src=x onerror=alert(1)> now',
    'Build a site called A & B\'s "best" <b>shop</b>',
    "A page for {{ 7 * 7 }} {% raw %} {# x #}",
    "${alert(1)} `$(id)` \\u003cscript\\u003e",
    "A page called ticks ```` and ``` more",
    "x" * 1_000,
    "word " * 300,
    "NUL \x00 bell \x07 lone \ud800 surrogate \u202e turned",
    "صمم صفحة هبوط لمقهى صغير في بيروت مع قائمة المشروبات",
    "设计一个在线书店的首页，要有购物车",
    "🎉🎉🎉",
)
VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


def case(category: Category, number: int = 0, prompt: str = NEUTRAL, language: str = "en") -> Case:
    return Case(id=f"{category}-{number:03d}", category=category, prompt=prompt, language=language)


def one_each() -> list[Case]:
    """One case for every variant of every category, asked for by a word of its prompt."""
    return [
        case(category, 0, f"Make a {words[0]} page")
        for category in CATEGORIES
        for words in VARIANTS[category].values()
    ]


class Read(HTMLParser):
    """What a strict reader finds in a document: elements, texts by element, and everything that is wrong."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.wrong: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        self.wrong += [f"<{tag}> never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raw = self.get_starttag_text() or ""
        if not re.fullmatch(r"<[a-z0-9]+(?: [a-z-]+(?:=\"[^\"<]*\")?)*>", raw):
            self.wrong.append(f"not lowercase and double-quoted: {raw[:80]}")
        if len({name for name, _ in attrs}) < len(attrs):
            self.wrong.append(f"attribute twice: {raw[:80]}")
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.wrong.append(f"</{tag}> where <{'> <'.join(self._open[-2:])}> is open")

    def handle_data(self, data: str) -> None:
        if data.strip() and self._open:
            self.texts.append((self._open[-1], " ".join(data.split())))

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag in tags]

    def text(self, *tags: str) -> list[str]:
        return [text for tag, text in self.texts if not tags or tag in tags]

    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]

    def faults(self) -> set[str]:
        """The markup defects of the table in ``broken``, found here."""
        [root] = self.all("html")
        found = {
            "missing_title": not self.text("title"),
            "missing_lang": not root.get("lang"),
            "missing_viewport": not any(meta.get("name") == "viewport" for meta in self.all("meta")),
            "missing_alt": any("alt" not in image for image in self.all("img")),
            "duplicate_ids": len(set(self.ids())) < len(self.ids()),
            "unclosed_tags": bool(self.wrong),
        }
        return {name for name, present in found.items() if present}


def assert_sound(source: str) -> Read:
    page = Read(source)
    assert source.startswith("<!DOCTYPE html>\n<html lang=")
    assert page.wrong == []
    assert page.faults() == set()
    assert {"charset": "utf-8"} in page.all("meta")
    assert len(page.all("title")) == len(page.all("h1")) == len(page.all("main")) == 1
    named = {attributes.get("for") for attributes in page.all("label") if "for" in attributes}
    assert named <= set(page.ids())
    return page


def test_every_variant_is_reached_by_a_word_of_the_prompt() -> None:
    assert {(one.category, variant_of(one)) for one in one_each()} == {
        (category, variant) for category in CATEGORIES for variant in VARIANTS[category]
    }


@pytest.mark.parametrize("category", CATEGORIES)
def test_cases_of_a_category_do_not_look_the_same(category: Category) -> None:
    cases = [case(category, number) for number in range(12)]
    assert len({variant_of(one) for one in cases}) >= 3
    assert len({document("template", one) for one in cases}) == 12


@pytest.mark.parametrize("one", one_each(), ids=variant_of)
def test_template_and_plain_are_sound_documents_that_need_nothing_from_outside(one: Case) -> None:
    for control in ("template", "plain"):
        page = assert_sound(document(control, one))
        addresses = [str(a.get("src") or a.get("href") or "") for _, a in page.elements]
        assert all(address.startswith(("data:image/svg+xml,", "#")) for address in addresses if address)
    source = document("template", one)
    for unwanted in (
        "Math.random",
        "new Date",
        "Date.now",
        "performance.now",
        "alert(",
        "fetch(",
        "import ",
        "@import",
    ):
        assert unwanted not in source
    assert source.count("\nlisten();\n") == 1
    assert source.count("<script>") == source.count("<style>") == 1


@pytest.mark.parametrize("one", one_each(), ids=variant_of)
def test_plain_is_the_same_content_without_style_or_behaviour(one: Case) -> None:
    good, plain = Read(document("template", one)), Read(document("plain", one))
    assert not plain.all("style", "script", "link", "form")
    for tag, attributes in plain.elements:
        assert not {"style", "class", "hidden"} & set(attributes)
        assert not any(name.startswith(("on", "data-")) for name in attributes)
        assert tag != "a" or attributes["href"] == "#"
        assert tag != "button" or attributes["type"] == "button"
    assert [text for text in good.texts if text[0] not in ("style", "script")] == [
        ("form" if tag == "form" else tag, text) for tag, text in plain.texts
    ]
    kinds = (
        "h1",
        "h2",
        "h3",
        "li",
        "label",
        "button",
        "input",
        "select",
        "option",
        "img",
        "canvas",
        "td",
        "a",
    )
    assert [tag for tag, _ in plain.elements if tag in kinds] == [
        tag for tag, _ in good.elements if tag in kinds
    ]


@pytest.mark.parametrize("prompt", HOSTILE)
@pytest.mark.parametrize("category", CATEGORIES)
def test_a_hostile_prompt_is_only_text(category: Category, prompt: str) -> None:
    one = case(category, 7, prompt)
    page = assert_sound(document("template", one))
    assert document("template", one).encode()  # no lone surrogate is left
    assert_sound(document("plain", one))
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert 1 <= len(title_of(one)) <= TITLE_LENGTH
    assert title_of(one).isprintable()
    assert title_of(one) in page.text("h1")
    assert title_of(one) in page.text("title")


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Create a landing page for a local bakery called 'Sunrise Bread', with a menu.", "Sunrise Bread"),
        ("Please build a bar chart showing monthly rainfall in cities", "Monthly rainfall in cities"),
        ("I'm opening a yoga studio in Porto and would like people to book.", "Yoga studio in Porto"),
        ("Make a snake game.", "Snake game"),
        ("设计一个在线书店的首页，要有购物车", "在线书店的首页"),
        (HOSTILE[12], "صفحة هبوط لمقهى صغير في بيروت"),
    ],
)  # fmt: skip
def test_the_title_is_the_subject_of_the_prompt(prompt: str, title: str) -> None:
    assert title_of(case("website", 0, prompt)) == title


@pytest.mark.parametrize(
    ("prompt", "stated", "language", "direction"),
    [
        (NEUTRAL, "en", "en", "ltr"),
        (HOSTILE[12], "ar", "ar", "rtl"),
        (HOSTILE[12], "en", "ar", "rtl"),  # the letters say so
        (HOSTILE[13], "zh-Hans", "zh-Hans", "ltr"),
        (NEUTRAL, '"><script>', "en", "ltr"),
    ],
)
def test_language_and_direction(prompt: str, stated: str, language: str, direction: str) -> None:
    page = assert_sound(document("template", case("component", 1, prompt, stated)))
    assert page.all("html") == [{"lang": language, "dir": direction}]
    if language != "en":
        assert page.all("h1") == [{"lang": language, "dir": direction}]


def test_broken_pages_have_the_defects_they_are_said_to_have() -> None:
    seen: set[str] = set()
    for category, number in itertools.product(CATEGORIES, range(12)):
        one = case(category, number)
        names, source = defects(one), document("broken", one)
        assert "dead_controls" in names
        assert len(set(names) & set(VISUAL)) >= 3
        assert len(set(names) & set(MARKUP)) >= 2
        assert set(names) <= {*VISUAL, *MARKUP, *BEHAVIOUR}
        assert Read(source).faults() == set(names) & set(MARKUP)
        assert "\nlisten();\n" not in source
        assert ("startPage(settings);" in source) == ("script_error" in names)
        assert ('src="pictures/1.png"' in source) == ("broken_pictures" in names)
        assert not any(name in source for name in names)  # nothing in the page gives it away
        seen.update(names)
    assert seen == {*VISUAL, *MARKUP, *BEHAVIOUR}


def test_every_pair_of_colours_can_be_read() -> None:
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    for colours in PALETTES:
        grounds = (colours.ground, colours.surface, colours.soft)
        texts = itertools.product((colours.ink, colours.muted, colours.accent), grounds)
        for text, ground in (*texts, (colours.on_accent, colours.accent)):
            assert contrast(text, ground) >= 4.5, (colours.name, text, ground)
        for series in colours.series:
            assert contrast(series, colours.surface) >= 4.5, (colours.name, series)


def test_the_reply_holds_the_whole_document_in_one_fence() -> None:
    from markdown_it import MarkdownIt

    for control, prompt in itertools.product(CONTROLS, HOSTILE):
        one = case("website", 3, prompt)
        fences = [token for token in MarkdownIt().parse(reply(control, one)) if token.type == "fence"]
        assert [(token.info, token.content) for token in fences] == [("html", document(control, one))]
    assert "```" in document("template", case("website", 3, HOSTILE[8]))  # the hard case is among them


def test_another_process_gives_the_same_bytes() -> None:
    program = (
        "import hashlib\nfrom tests.unit.test_controls import one_each, CONTROLS, document\n"
        "pages = ''.join(document(control, one) for one in one_each() for control in CONTROLS)\n"
        "print(hashlib.sha256(pages.encode()).hexdigest())"
    )
    root = Path(__file__).parents[2]
    digests = set()
    for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root, env=environment)
        digests.add(done.stdout)
    assert len(digests) == 1


def test_an_unknown_control_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean template"):
        document("templat", case("game"))


# In a browser: the template answers to its controls, the other two do not.

OPERATED: dict[
    Category, tuple[str, str]
] = {  # a prompt that asks for a variant, and a name of a control in it
    "website": ("A shop page", "Add to cart"),
    "3d": ("A cube scene", "Right →"),
    "game": ("A snake game", "Start"),
    "component": ("A tabs component", "Details"),
    "dataviz": ("A bar chart", "Months"),
}
SEEN = """[
  document.querySelector("main").innerHTML,
  ...[...document.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()),
].join()"""


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    from playwright.async_api import async_playwright

    path = next(
        filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None
    )
    flags = ["--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--disable-background-networking"]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=["--no-sandbox", *flags])
        yield browser
        await browser.close()


async def opened(browser: Browser, source: str) -> Page:
    # Reduced motion: the scene then stands still, so that any change is the control's doing.
    context = await browser.new_context(reduced_motion="reduce", viewport={"width": 1280, "height": 960})
    page = await context.new_page()
    await page.set_content(source)
    return page


@pytest.mark.browser
@pytest.mark.parametrize("control", CONTROLS)
async def test_only_the_template_answers_to_its_controls(browser: Browser, control: str) -> None:
    for category, (prompt, name) in OPERATED.items():
        page = await opened(browser, document(control, case(category, 0, prompt)))
        before = await page.evaluate(SEEN)
        await page.get_by_text(name, exact=True).first.click(force=True)
        await page.wait_for_timeout(100)
        assert (await page.evaluate(SEEN) != before) == (control == "template"), (category, control)
        await page.close()


@pytest.mark.browser
async def test_templates_fit_their_width_and_throw_nothing(browser: Browser) -> None:
    for one in one_each():
        errors: list[str] = []
        page = await browser.new_page(viewport={"width": 1280, "height": 960})
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        await page.set_content(document("template", one))
        for width in (1280, 390):
            await page.set_viewport_size({"width": width, "height": 960})
            assert await page.evaluate("document.documentElement.scrollWidth") == width, (
                variant_of(one),
                width,
            )
        assert errors == []
        await page.close()


@pytest.mark.browser
async def test_games_react_to_every_key_and_scenes_to_a_drag(browser: Browser) -> None:
    for one in one_each():
        if one.category not in ("game", "3d"):
            continue
        page = await opened(browser, document("template", one))
        keys = ("ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight", "Space") if one.category == "game" else ()
        for key in keys:
            before = await page.evaluate(SEEN)
            await page.keyboard.press(key, delay=30)
            assert await page.evaluate(SEEN) != before, (variant_of(one), key)
        if one.category == "3d":
            before = await page.evaluate(SEEN)
            await page.mouse.move(600, 500)
            await page.mouse.down()
            await page.mouse.move(700, 520, steps=4)
            await page.mouse.up()
            assert await page.evaluate(SEEN) != before, variant_of(one)
        await page.close()
