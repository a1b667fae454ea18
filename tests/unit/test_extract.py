"""Reply → document: which text of a reply is the page, and how exactly it comes back."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opendesign.answering.extract import extract

PAGE = '<!DOCTYPE html>\n<html lang="en">\n<head><title>T</title></head>\n<body><p>Hello</p></body>\n</html>'
OTHER = "<!doctype html><html><body>other</body></html>"


def fenced(text: str, info: str = "html", fence: str = "```") -> str:
    return f"{fence}{info}\n{text}\n{fence}"


@pytest.mark.parametrize(
    ("reply", "document", "how"),
    [
        pytest.param(PAGE, PAGE, "bare", id="the page alone"),
        pytest.param(f"\n\n{PAGE}\n", PAGE, "bare", id="blank lines around"),
        pytest.param(f"\ufeff{PAGE}", PAGE, "bare", id="byte order mark"),
        pytest.param(f"{PAGE}\n\nThis page says hello.", PAGE, "bare", id="prose after a bare page"),
        pytest.param(
            f"<!-- made with care -->\n{PAGE}", f"<!-- made with care -->\n{PAGE}", "bare", id="comment first"
        ),
        pytest.param(fenced(PAGE), PAGE, "fence", id="a block"),
        pytest.param(fenced(PAGE, "HTML"), PAGE, "fence", id="upper case tag"),
        pytest.param(fenced(PAGE, ""), PAGE, "fence", id="no tag"),
        pytest.param(fenced(PAGE, "html", "~~~~"), PAGE, "fence", id="tildes"),
        pytest.param(fenced(PAGE, 'html title="index.html"'), PAGE, "fence", id="more in the info string"),
        pytest.param(f"Sure!\n\n{fenced(PAGE)}\n\nEnjoy.", PAGE, "fence", id="prose around a block"),
        pytest.param(f"1. The page:\n\n   ```html\n   {OTHER}\n   ```\n", OTHER, "fence", id="inside a list"),
        pytest.param(f"> ```html\n> {OTHER}\n> ```\n", OTHER, "fence", id="inside a quote"),
        pytest.param(f"<div>\n{fenced(PAGE)}\n</div>", PAGE, "fence", id="a tag above the fence"),
        pytest.param(
            f"{fenced('npm run build', 'bash')}\n{fenced(PAGE)}", PAGE, "fence", id="after another block"
        ),
        pytest.param(f"{fenced('<p>part</p>')}\n{fenced(PAGE)}", PAGE, "fence", id="whole before fragment"),
        pytest.param(f"{fenced(PAGE, '')}\n{fenced(OTHER)}", OTHER, "fence", id="tagged before untagged"),
        pytest.param(f"{fenced(OTHER)}\n{fenced(PAGE)}", PAGE, "fence", id="the largest of two"),
        pytest.param(
            f"{fenced(PAGE, 'html about.html')}\n{fenced(OTHER, 'html index.html')}",
            OTHER,
            "fence",
            id="index.html",
        ),
        pytest.param(f"Here it is: {PAGE} Bye.", PAGE, "prose", id="prose around without fences"),
        pytest.param(
            f"Use it so:\n\n{fenced('open page', 'sh')}\n\n{PAGE}\n", PAGE, "prose", id="beside a block"
        ),
        pytest.param(f"```html\n{PAGE[:60]}", PAGE[:60], "unfinished", id="fence never closed, cut short"),
        pytest.param(
            f"```html\n{PAGE}\n\nI hope it helps.", PAGE, "long_fence", id="fence never closed, whole"
        ),
        pytest.param(PAGE[:50], PAGE[:50], "unfinished", id="bare and cut short"),
        pytest.param(f"Here:\n{PAGE[:50]}", PAGE[:50], "unfinished", id="prose, then cut short"),
        pytest.param(fenced("<p>One</p>"), "<p>One</p>", "fragment", id="a tagged fragment"),
        pytest.param("<div><p>One</p></div>", "<div><p>One</p></div>", "fragment", id="a bare fragment"),
        pytest.param(fenced("<p>One</p>", ""), "<p>One</p>", "fragment", id="an untagged fragment"),
        pytest.param("", None, "none", id="nothing"),
        pytest.param("I am sorry, no.", None, "none", id="prose"),
        pytest.param("A page starts with `<html>`, as you know.", None, "none", id="a tag in prose"),
        pytest.param("<!DOCTYPE html> comes first, then text.", None, "none", id="a doctype in prose"),
        pytest.param(fenced("print(1)", "python"), None, "none", id="other code"),
    ],
)
def test_finds_the_page(reply: str, document: str | None, how: str) -> None:
    found = extract(reply)
    assert (found.document, found.how) == (document, how)


NESTED = """<!doctype html>
<html><body><script>
const help = `
```
npm install
```
`;
</script></body></html>"""
QUOTING = NESTED.replace("npm install", OTHER).replace("```\n<!", "```html\n<!")


@pytest.mark.parametrize(
    "page", [NESTED, QUOTING, NESTED.replace("```\nnpm", "```js\nnpm")], ids=["plain", "page", "js"]
)
@pytest.mark.parametrize("after", ["", "\n\nThat is all.\n\n```sh\nopen index.html\n```\n"])
def test_a_fence_inside_the_page_does_not_end_it(page: str, after: str) -> None:
    assert extract(f"Here:\n\n{fenced(page)}{after}").document == page
    assert extract(f"Here:\n\n{fenced(page, 'html', '````')}{after}").document == page
    assert extract(f"Here:\n\n```html\n{page}").document == page, "nor where the outer fence is never closed"
    assert extract(f"Here:\n\n{page}{after}").document == page, "nor where there is none"


def test_two_documents_are_not_taken_for_one() -> None:
    cut = "<!doctype html>\n<html><body><p>first try"
    reply = f"{fenced(cut)}\n\nLet me do that again:\n\n{fenced(PAGE)}"
    assert extract(reply).document == PAGE


@pytest.mark.parametrize(
    ("reply", "document", "reasoning"),
    [
        (f"<think>A page, then.</think>\n{PAGE}", PAGE, "A page, then."),
        (f"<think>Draft:\n{fenced(OTHER)}\n</think>\n{fenced(PAGE)}", PAGE, f"Draft:\n{fenced(OTHER)}"),
        (f"<think>One</think><think>Two</think>{PAGE}", PAGE, "One\n\nTwo"),
        (f"<thinking>Hm\n</thinking>\n{fenced(PAGE)}", PAGE, "Hm"),
        (f"A page with a hero.\n</think>\n\n{fenced(PAGE)}", PAGE, "A page with a hero."),
        (f"Draft:\n```html\n{OTHER}\n</think>\n{fenced(PAGE)}", PAGE, f"Draft:\n```html\n{OTHER}"),
    ],
)
def test_reasoning_is_kept_apart(reply: str, document: str, reasoning: str) -> None:
    found = extract(reply)
    assert (found.document, found.reasoning) == (document, reasoning)


def test_a_thought_that_never_ends_is_no_page() -> None:
    found = extract(f"<think>I could write {fenced(PAGE)} or so")
    assert (found.document, found.how) == (None, "open_thought")
    assert PAGE in found.reasoning


def test_a_page_may_speak_of_thoughts() -> None:
    page = PAGE.replace("Hello", "<think>Hello\n</think>\nyou")
    for reply in (page, fenced(page), f"Here:\n\n{fenced(page)}"):
        assert extract(reply).document == page
        assert extract(reply).reasoning == ""


class TestFilesBesideThePage:
    page = (
        '<!doctype html><html><head><link rel="stylesheet" href="style.css">'
        '<script src="js/script.js" defer></script>'
        '<link rel="stylesheet" href="https://cdn.example.org/x.css"></head><body><p>Hi</p></body></html>'
    )

    def test_linked_files_are_put_in(self) -> None:
        reply = f"{fenced(self.page)}\n**style.css**\n{fenced('p { color: red }', 'css')}\n"
        reply += fenced("// script.js\nlet a = '</script>';", "js")
        document = extract(reply).document
        assert document is not None
        assert "<style>\np { color: red }\n</style>" in document
        assert 'href="style.css"' not in document
        assert "https://cdn.example.org/x.css" in document
        assert "let a = '<\\/script>';" in document
        # The script was deferred: it has to come after what it works on.
        assert document.index("let a") > document.index("<p>Hi</p>")

    def test_the_only_file_of_a_kind_needs_no_name(self) -> None:
        document = extract(f"{fenced(self.page)}\n{fenced('p { margin: 0 }', 'css')}").document
        assert document is not None
        assert "p { margin: 0 }" in document

    def test_a_file_of_another_name_is_left_out(self) -> None:
        reply = f"{fenced(self.page)}\n{fenced('/* a.css */', 'css')}\n{fenced('/* b.css */', 'css')}"
        assert extract(reply).document == self.page

    def test_a_page_that_links_nothing_is_left_alone(self) -> None:
        assert extract(f"{fenced(PAGE)}\n{fenced('p { margin: 0 }', 'css')}").document == PAGE


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "<!-- -->",
        "```html\n<html>\n",
        "```html\n<html>\n```\n",
        "<think>",
        "</think>",
        "<html>\n",
        "<link ",
        "> " * 40 + "\n",
        "`",
        "</html>",
        "<!doctype html ",
        "<script",
        "<a ",
        " \n",
        "<?xml ",
        "<think></think>",
    ],
)
def test_time_grows_with_length_and_no_faster(piece: str) -> None:
    start = time.process_time()
    extract(piece * (200_000 // len(piece)))
    # About 0.3 s where it is linear, minutes where it is not.
    assert time.process_time() - start < 10


# -- for any text at all ------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "```",
        "````",
        "~~~",
        "html",
        "\n",
        "\r\n",
        "\r",
        " ",
        "> ",
        "- ",
        "<html>",
        "</html>",
        "<!doctype html>",
        "<!--",
        "-->",
        "<think>",
        "</think>",
        "<script>",
        "</script>",
        "\x00",
        "\ufeff",
        "\ud800",
        "</body>",
        "é",
        "    ",
        "a",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))
DOCUMENTS = TEXTS.map(lambda text: f"<!doctype html>\n<html><body>{text}</body></html>")


@given(TEXTS)
def test_never_raises_and_invents_nothing(text: str) -> None:
    found = extract(text)
    assert found.document is None or found.document in text or re.search(r"[>\- ]", text)


@given(DOCUMENTS)
@example("<!doctype html>\n<html><body></html></body></html>")
def test_a_bare_document_comes_back_as_it_is(document: str) -> None:
    assert extract(document).document == document


@given(
    DOCUMENTS,
    st.sampled_from(["", "Here is the page:\n\n", "# Page\n"]),
    st.sampled_from(["", "\n\nEnjoy!\n"]),
)
def test_a_fence_long_enough_gives_the_document_back_exactly(document: str, before: str, after: str) -> None:
    longest = max((len(run) for run in re.findall(r"`+", document)), default=0)
    fence = "`" * max(3, longest + 1)
    assert extract(f"{before}{fence}html\n{document}\n{fence}{after}").document == document


@given(TEXTS)
def test_what_was_found_is_found_again(text: str) -> None:
    document = extract(text).document
    if document and re.match(r"\s*<!doctype html>\s*<", document):
        assert extract(document).document == document.strip().removeprefix("\ufeff")
