"""Pages to compare the execution judges on: HTML out of pinned npm and PyPI packages, and damage done to it.

The packages are fetched into ``.cache/`` the first time. Everything after that is a function of a seed.
"""

from __future__ import annotations

import random
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from htmlhint_reference import CACHE, NotInstalled, run

NPM = {
    "uikit": "3.25.29",
    "gentelella": "4.2.0",
    "vis": "4.21.0",
    "dygraphs": "2.2.2",
    "impress.js": "1.1.0",
    "startbootstrap-sb-admin-2": "4.1.4",
}
PYPI = {"django": "5.2.19", "djangorestframework": "3.18.3", "wagtail": "8.0.1"}
LONGEST = 150_000  # characters: a few generated pages of megabytes would take all the time
Mutation = Callable[[random.Random, str], str]


def real_pages() -> list[str]:
    """Every different HTML file of the packages, sorted by package and path."""
    pages: dict[str, None] = {}
    for archive in _archives():
        for data in _html_files(archive):
            page = data.decode("utf-8", "replace")
            # htmlhint obeys comments that switch its rules off; see ON_PURPOSE in the test.
            if page.strip() and len(page) <= LONGEST and "htmlhint" not in page:
                pages[page] = None
    return list(pages)


def mutated(rng: random.Random, page: str) -> str:
    """The page with one to four kinds of damage."""
    for mutation in rng.sample(MUTATIONS, rng.randint(1, 4)):
        page = mutation(rng, page)
    return page


def soup(rng: random.Random) -> str:
    """A short page put together from pieces on which readers of HTML disagree, tags above all."""
    return "".join(_tag(rng) if rng.random() < 0.5 else rng.choice(PIECES) for _ in range(rng.randint(1, 24)))


def _tag(rng: random.Random) -> str:
    inside = "".join(rng.choice(INSIDE_TAGS) for _ in range(rng.randint(0, 5)))
    return "<" + rng.choice(NAMES) + inside + rng.choice((">", ">", ">", "/>", " />", "/ >", ""))


def _archives() -> Iterator[Path]:
    folder = CACHE / "packages"
    folder.mkdir(parents=True, exist_ok=True)
    for name, version in NPM.items():
        path = folder / f"{name}-{version}.tgz"
        if not path.is_file():
            run("npm", "pack", "--silent", f"{name}@{version}", cwd=folder)
        yield _present(path)
    for name, version in PYPI.items():
        path = folder / f"{name}-{version}-py3-none-any.whl"
        if not path.is_file():
            pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:")
            run(*pip, f"{name}=={version}", cwd=folder)
        yield _present(path)


def _present(path: Path) -> Path:
    if not path.is_file():
        raise NotInstalled(f"The registry sent no {path.name} into {path.parent}: put that file there.")
    return path


def _html_files(archive: Path) -> Iterator[bytes]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            yield from (wheel.read(name) for name in sorted(wheel.namelist()) if _is_html(name))
    else:
        with tarfile.open(archive) as tar:
            for member in sorted(tar.getmembers(), key=lambda member: member.name):
                if member.isfile() and _is_html(member.name) and (file := tar.extractfile(member)):
                    yield file.read()


def _is_html(name: str) -> bool:
    return name.lower().endswith((".html", ".htm"))


def _at_one(pattern: str, change: Callable[[random.Random, str], str]) -> Mutation:
    """A mutation that changes one match of the pattern, if there is one."""
    compiled = re.compile(pattern, re.IGNORECASE | re.DOTALL)

    def mutation(rng: random.Random, page: str) -> str:
        found = [match.span() for match in compiled.finditer(page)]
        if not found:
            return page
        start, end = rng.choice(found)
        return page[:start] + change(rng, page[start:end]) + page[end:]

    return mutation


def _insert(*pieces: str) -> Mutation:
    """A mutation that puts one of the pieces before a tag, or anywhere."""

    def mutation(rng: random.Random, page: str) -> str:
        tags = [match.start() for match in re.finditer("<", page)]
        at = rng.choice(tags) if tags and rng.random() < 0.7 else rng.randint(0, len(page))
        return page[:at] + rng.choice(pieces) + page[at:]

    return mutation


def _everywhere(old: str, new: str) -> Mutation:
    return lambda rng, page: page.replace(old, new)


def _delete(_: random.Random, __: str) -> str:
    return ""


def _duplicate_id(rng: random.Random, page: str) -> str:
    ids = re.findall(r'\sid="[^"]*"', page)
    return _at_one(r"<(div|p|a|span|li)\b", lambda _, tag: tag + rng.choice(ids))(rng, page) if ids else page


def _truncate(rng: random.Random, page: str) -> str:
    return page[: rng.randint(0, len(page))]


def _random_characters(rng: random.Random, page: str) -> str:
    for _ in range(rng.randint(1, 5)):
        at = rng.randint(0, len(page))
        page = page[:at] + rng.choice("<>\"'/=!- \n\t\x0b\x1c\x85\xa0\ufeff\u2028\x00\x7fİ💥") + page[at:]
    return page


MUTATIONS: list[Mutation] = [
    _at_one('"', _delete),
    _at_one(r'="[^"]*"', lambda _, text: text.replace('"', "'")),
    _at_one(r'="[^"\s]+"', lambda _, text: text.replace('"', "")),
    _at_one(r"<[a-z]+", lambda _, text: text.upper()),
    _at_one(r"</[a-z]+", lambda _, text: text.upper()),
    _at_one(r"\s[a-z-]+(?==)", lambda _, text: text.upper()),
    _at_one(r"\s[a-z-]+=", lambda rng, text: text[:-1] + rng.choice([" = ", "= ", " =", "=\n"])),
    _duplicate_id,
    _at_one(r"</[a-z0-9]+>", _delete),
    _at_one(r"<[a-z0-9]+[^>]*>", _delete),
    _at_one(r"</[a-z0-9]+>", lambda _, text: text * 2),
    _at_one(r"</[a-z0-9]+>", lambda rng, text: text[:-1] + rng.choice([" ", "\n", " x", "/"]) + ">"),
    _at_one(r'\salt="[^"]*"', _delete),
    _at_one(r'\slang="[^"]*"', lambda rng, _: rng.choice(["", ' lang=""', ' lang="x"', ' lang="de-AT"'])),
    _at_one(r"<meta[^>]*charset[^>]*>", _delete),
    _at_one(r"charset=\"[^\"]*\"", lambda rng, _: rng.choice(['charset=""', 'charset=" "', "charset"])),
    _at_one(r"<meta[^>]*viewport[^>]*>", lambda rng, _: rng.choice(["", '<meta name="Viewport">'])),
    _at_one(r"<title>.*?</title>", lambda rng, _: rng.choice(["", "<title></title>", "<title> \n</title>"])),
    _at_one(r"</?head>", _delete),
    _at_one(r"<(br|hr|img|meta|link|input)\b[^<>]*>", lambda _, text: text[:-1].rstrip("/") + "/>"),
    lambda rng, page: re.sub(r"(<(?:br|hr|img|meta|link|input)\b[^<>]*[^/<>])>", r"\1 />", page),
    _insert("<!-- note -->", "<!---->", "<!-->", "<!>", "<!-- a > b", "<!-- <b> -- > -->", "<![endif]>"),
    _at_one(r"<!doctype[^>]*>", lambda rng, _: rng.choice(["", "<!DOCTYPE html >", "<!doctype HTML><p>"])),
    _at_one(r"^", lambda rng, _: rng.choice(["<!-- first -->\n", "\ufeff", "text", "<p>", " \n"])),
    _truncate,
    _everywhere("\n", "\r\n"),
    _everywhere("    ", "\t"),
    _everywhere(" ", "\n"),
    _insert("&amp;", "&copy", "&#60;", "&", "a < b", "<3", "x<y>z"),
    _insert('<svg viewBox="0 0 1 1"><linearGradient id="g"/></svg>', "<SVG>", "<textPath></textPath>"),
    _insert("<script>var a = '<b>' + \"</i>\";</script>", "<script>if (a<b && c>d) {}</script>", "<style>"),
    _insert("<SCRIPT>'<p>'</SCRIPT>", '<script type="text/ng-template"><p></script>', "<script>'</script >'"),
    _insert('<img src=a/>', "<area href>", "<input type=image alt>", "<img alt src='x'>", "<br / >"),
    _insert('<p a= b="c">', '<p a = b = "c">', "<p a= b>", '<p a="b"c>', "<p =a>", "<p a=>"),
    _insert("<p\nA\n=\n'b'>", "<p\n\n  ID='a'\n>", "<html\nlang>", "<img\n>"),
    _random_characters,
]  # fmt: skip

PIECES = (
    "<!DOCTYPE html>", "<!doctype html>", "<!doctype", "<html>", '<html lang="en">',
    "<html lang='x-1'>", "<head>", "</head>", "<HEAD>", "<title>", "</title>", "t", "<title>t</title>",
    '<meta charset="utf-8">', '<meta name="viewport" content="w">', "<meta name=VIEWPORT content=' '>",
    "<meta charset>", "<body>", "</body>", "</html>", "<p>", "</p>", "</P>", "<br>", "<br/>", "<br />",
    "</br>", "<script>", "</script>", "<script/>", "<style>", "</style>", "<script type='x'>",
    "<Script>", "<a", "<a ", " b", " b=", " b = ", "=", '"', "'", "c", "/", ">", "/>", "<", "</",
    "<!--", "-->", "--", "<!", " ", "\n", "\r\n", "\t", " id=a", ' id="a"', ' ID="a"', ' alt=""',
    "<img", "<img>", "<area href=''", "<input type=image", "\ufeff", "\xa0", "\x85", "\x1c", "\x00",
    "é", "İ", "💥", "<x-y>", "</x-y>", "<viewBox>", " viewBox=1", " clipPath", "<bgsound>", "<source>",
    "text", '<p a= b = "<img>">', "<title>t<!----></title>",
    '<head><meta charset="utf-8"><meta charset="">',
)  # fmt: skip
NAMES = (
    "p", "div", "img", "input", "area", "html", "head", "meta", "br", "BR", "bgsound", "script", "x:y",
    "svg",
)  # fmt: skip
INSIDE_TAGS = (
    ' id="a"', ' ID="a"', " id='a'", " id", ' Id=""', " alt", " alt=''", ' alt="t"', " ALT=t", " href",
    " b= c", " b = c", " b=\n\nc", "\n b", "\n\n  B=''", ' b="\n"', " c=/", "d", ' lang=""', " lang",
    " lang=en", " lang='9'", ' lang="x-9"', " lang=9en", " type=image", ' type="text/ng-template"',
    " charset", ' charset="utf-8"', " charset=' \ufeff'", " name=viewport", " content=w",
    ' name="Viewport" content="w"', "\xa0b", "\ufeffb", "\x85b", "\x1cb", "\x0bb", " \x0cb", " b\x0ec",
    " b\x11c", " b\x7fc", " viewBox=1", " 💥=1", ' É="1"', "=", '"',
)  # fmt: skip
