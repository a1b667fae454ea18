"""One page of a package as one document that needs no network: styles, scripts, pictures and fonts inside.

What another host serves is taken from the npm package that holds the same file, or left out. Links to other
pages of the package lead to "#", as in a page made alone. The same package gives the same document.
"""

from __future__ import annotations

import base64
import html
import posixpath
import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from tests.wild import packages


class Place(NamedTuple):
    """A file of a package."""

    package: str
    path: str


class _Rule(NamedTuple):
    address: re.Pattern[str]
    place: Place


def _rule(address: str, package: str, path: str) -> _Rule:
    return _Rule(re.compile(address), Place(package, path))


#: Addresses of other hosts (without scheme) -> the same file in a package; for kits, the style that does it.
ELSEWHERE = (
    _rule(r"(stackpath|maxcdn)\.bootstrapcdn\.com/bootstrap/4\.[\d.]+/(.+)", "bootstrap-4", r"dist/\2"),
    _rule(r"maxcdn\.bootstrapcdn\.com/font-awesome/[^/]+/(.+)", "font-awesome", r"\1"),
    _rule(
        r"use\.fontawesome\.com/.*|kit\.fontawesome\.com/.*",
        "@fortawesome/fontawesome-free",
        "css/all.min.css",
    ),
    _rule(r"code\.jquery\.com/jquery-3.*", "jquery", "dist/jquery.min.js"),
    _rule(r"cdnjs\.cloudflare\.com/ajax/libs/popper\.js/.*", "popper.js", "dist/umd/popper.min.js"),
    _rule(r"cdnjs\.cloudflare\.com/ajax/libs/Chart\.js/.*", "chart.js", "dist/Chart.min.js"),
    _rule(
        r"cdnjs\.cloudflare\.com/ajax/libs/SimpleLightbox/[^/]+/(?i:simplelightbox)(.+)",
        "simple-lightbox",
        r"dist/simpleLightbox\1",
    ),
    _rule(
        r"maxcdn\.icons8\.com/fonts/line-awesome/.*",
        "line-awesome",
        "dist/font-awesome-line-awesome/css/all.min.css",
    ),
    _rule(r"cdn\.jsdelivr\.net/npm/simple-datatables.*\.css", "simple-datatables", "dist/style.css"),
    _rule(
        r"cdn\.jsdelivr\.net/npm/simple-datatables.*\.js",
        "simple-datatables",
        "dist/umd/simple-datatables.js",
    ),
    _rule(r"cdn\.jsdelivr\.net/npm/((?:@[^/]+/)?[^@/]+)@[^/]+/(.+)", r"\1", r"\2"),
)
#: Packages that a page expects to be installed -> their name here.
_INSTALLED = {"bootstrap": "bootstrap-4", "nicescroll": "jquery.nicescroll"}
#: Families that have another name in a package: the font was renamed.
_RENAMED = {"Muli": "Mulish"}
#: Style sheets of which no page here shows anything: 500 flags of 20 kB each.
_LEFT_OUT = ("flag-icon.min.css",)
_TYPES = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "svg": "image/svg+xml", "ico": "image/x-icon", "woff2": "font/woff2", "woff": "font/woff",
    "ttf": "font/ttf", "otf": "font/otf",
}  # fmt: skip
_FONTS = ("woff2", "woff", "ttf", "otf")
_NOTHING = "data:,"
_ATTRIBUTE = re.compile(r"""\s([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+))?""")
_TAG = r"""<{}\b((?:"[^"]*"|'[^']*'|[^'">])*)>"""
_SCRIPT = re.compile(_TAG.format("script") + r"\s*</script\s*>", re.IGNORECASE)
_LINK = re.compile(_TAG.format("link"), re.IGNORECASE)
_OTHER = re.compile(
    _TAG.format("(?:img|a|iframe|form|source|video|body|div|section|header|span)"), re.IGNORECASE
)
_STYLE = re.compile(r"(<style[^>]*>)(.*?)(</style>)", re.IGNORECASE | re.DOTALL)
_BASE = re.compile(r"""<base\s+href=["']([^"']+)["'][^>]*>""", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_URL = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"']*))\s*\)""")
_IMPORT = re.compile(r"""@import\s+(?:url\()?\s*["']?([^"')\s;]+)["']?\s*\)?[^;]*;""")
_FACE = re.compile(r"@font-face\s*\{[^}]*\}")


def self_contained(page: Place) -> str:
    """The document. Raises ``LookupError`` where the package has no such page."""
    data = packages.read(*page)
    if data is None:
        raise LookupError(f"{page.package} has no {page.path}.")
    document = _COMMENT.sub("", data.decode("utf-8-sig"))
    if found := _BASE.search(document):
        document = document.replace(found[0], "")
        page = Place(
            page.package, posixpath.normpath(posixpath.join(posixpath.dirname(page.path), found[1], "_"))
        )
    late: list[str] = []

    def script(found: re.Match[str]) -> str:
        attributes = _attributes(found[1])
        if "src" not in attributes:
            return found[0]
        inside = _script(_resolve(attributes["src"], page))
        if "defer" in attributes or "async" in attributes:
            late.append(inside)  # such scripts run after the document; without an address they would not
            return ""
        return inside

    document = _SCRIPT.sub(script, document)
    document = _LINK.sub(lambda found: _link(found, page), document)
    document = _STYLE.sub(
        lambda found: found[1] + _css(found[2], page) + found[3] if "data:" not in found[2] else found[0],
        document,
    )
    document = _outside_scripts(document, lambda text: _OTHER.sub(lambda found: _other(found, page), text))
    end = document.lower().rfind("</body>")
    return document[:end] + "\n".join(late) + document[end:]


def _outside_scripts(document: str, change: Callable[[str], str]) -> str:
    parts = re.split(
        r"(<(?:script|style)\b.*?</(?:script|style)\s*>)", document, flags=re.IGNORECASE | re.DOTALL
    )
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def _attributes(text: str) -> dict[str, str]:
    return {
        found[1].lower(): html.unescape((found[2] or "").strip("\"'")).strip()
        for found in _ATTRIBUTE.finditer(" " + text.rstrip("/"))
    }


def _resolve(reference: str, base: Place) -> Place | None:
    """The file that a reference of ``base`` means; None where no package here has it."""
    parts = urlsplit(reference)
    if parts.netloc:
        address = f"{parts.netloc}{unquote(parts.path)}"
        for rule in ELSEWHERE:
            if found := rule.address.fullmatch(address):
                return _there(Place(found.expand(rule.place.package), found.expand(rule.place.path)))
        return None
    if parts.scheme or not parts.path:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(base.path), unquote(parts.path)))
    if found := re.match(r"(?:.*/)?node_modules/((?:@[^/]+/)?[^/]+)/(.+)", path):
        return _there(Place(_INSTALLED.get(found[1], found[1]), found[2]))
    return _there(Place(base.package, path))


def _there(place: Place) -> Place | None:
    return place if packages.known(place.package) and packages.read(*place) is not None else None


def _text(place: Place) -> str:
    return (packages.read(*place) or b"").decode("utf-8-sig", "replace")


def _script(place: Place | None) -> str:
    if place is None:
        return ""
    if place.path.endswith(".css"):  # a kit that is a script elsewhere is a style here
        return f"<style>{_css(_text(place), place)}</style>"
    text = re.sub(r"^//# sourceMappingURL=.*$", "", _text(place), flags=re.MULTILINE)
    return "<script>" + re.sub(r"</(script)", r"<\\/\1", text, flags=re.IGNORECASE) + "</script>"


def _link(found: re.Match[str], page: Place) -> str:
    attributes = _attributes(found[1])
    if "stylesheet" not in attributes.get("rel", "").lower().split():
        return ""  # icons, manifests, hints
    reference = attributes.get("href", "")
    if urlsplit(reference).netloc == "fonts.googleapis.com":
        return f"<style>{_fonts(reference)}</style>"
    place = _resolve(reference, page)
    if place is None or place.path.endswith(_LEFT_OUT):
        return ""
    return f"<style>{_css(_text(place), place)}</style>"


def _fonts(reference: str) -> str:
    """The faces that an address of Google Fonts asks for, out of packages."""
    faces = []
    for asked in "|".join(parse_qs(urlsplit(reference).query).get("family", [])).split("|"):
        family, _, weights = asked.partition(":")
        if family == "Material Icons":
            faces.append(_css(_text(Place("material-icons", "iconfont/material-icons.css")), _ICONS))
            continue
        slug = _RENAMED.get(family, family).lower().replace(" ", "-")
        wanted = re.findall(r"\b([1-9]00)\b(?!i)", weights) or ["400", "700"]
        for weight in sorted({*wanted} & {"300", "400", "500", "600", "700", "800"}):
            name = f"@fontsource/{slug}"
            file = Place(name, f"files/{slug}-latin-{weight}-normal.woff2")
            if packages.known(name) and packages.read(*file) is not None:
                faces.append(
                    f"@font-face{{font-family:'{family}';font-weight:{weight};src:url({_data(file)})}}"
                )
    return "\n".join(faces)


_ICONS = Place("material-icons", "iconfont/material-icons.css")


def _css(text: str, base: Place) -> str:
    """A style sheet with its imports, pictures and fonts inside."""
    imports = []

    def imported(found: re.Match[str]) -> str:
        reference = found[1]
        if urlsplit(reference).netloc == "fonts.googleapis.com":
            imports.append(_fonts(html.unescape(reference)))
        elif place := _resolve(reference, base):
            imports.append(_css(_text(place), place))
        return ""

    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = _IMPORT.sub(imported, text)
    text = _FACE.sub(lambda found: _face(found[0], base), text)
    text = _URL.sub(lambda found: f'url("{_address(found[1] or found[2] or found[3] or "", base)}")', text)
    return re.sub(r"</(style)", r"<\\/\1", "\n".join([*imports, text]), flags=re.IGNORECASE)


def _face(rule: str, base: Place) -> str:
    """A font-face with its best format only: the other formats are the same font again."""
    references = [found[1] or found[2] or found[3] or "" for found in _URL.finditer(rule)]
    for kind in _FONTS:
        for reference in references:
            if reference.startswith("data:") or urlsplit(reference).path.endswith("." + kind):
                rest = re.sub(r"src\s*:(?:url\((?:\"[^\"]*\"|'[^']*'|[^)]*)\)|[^;}])*;?", "", rule)
                return rest[:-1].rstrip().rstrip(";") + f';src:url("{_address(reference, base)}")}}'
    return rule


def _address(reference: str, base: Place) -> str:
    if reference.startswith(("data:", "#")):
        return reference
    place = _resolve(reference, base)
    return _data(place) if place else _NOTHING


@cache
def _data(place: Place) -> str:
    kind = _TYPES.get(place.path.rpartition(".")[2].lower(), "application/octet-stream")
    return f"data:{kind};base64,{base64.b64encode(packages.read(*place) or b'').decode()}"


def _other(found: re.Match[str], page: Place) -> str:
    """A tag with its pictures inside and without a way out of the page."""
    text = found[0]
    name = re.match(r"<(\w+)", text)
    assert name is not None
    tag, attributes = name[1].lower(), _attributes(found[1])
    if tag in ("img", "source", "video", "iframe"):
        text = re.sub(r"\ssrcset=(\"[^\"]*\"|'[^']*')", "", text)
        for key in ("src", "data-src", "poster"):
            if attributes.get(key):
                there = _address(attributes[key], page)
                text = _set(text, key, _stand_in(attributes) if there == _NOTHING else there)
    elif tag == "a" and (reference := attributes.get("href")):
        place = _resolve(reference, page)
        if place and place.path.rpartition(".")[2].lower() in _TYPES:
            # Light boxes tell a picture by the end of its address.
            text = _set(text, "href", f"{_data(place)}#/{posixpath.basename(place.path)}")
        elif not urlsplit(reference).scheme and not reference.startswith(("#", "//")):
            text = _set(text, "href", "#")
    elif tag == "form" and attributes.get("action"):
        text = _set(text, "action", "#")
    for key in ("style", "data-background", "data-image"):
        if key in attributes and "url(" in attributes[key]:
            inside = _URL.sub(lambda u: f"url({_address(u[1] or u[2] or u[3] or '', page)})", attributes[key])
            text = _set(text, key, inside)
        elif key != "style" and attributes.get(key):
            text = _set(text, key, _address(attributes[key], page))
    return text


def _set(tag: str, key: str, value: str) -> str:
    pattern = re.compile(rf"""(\s{re.escape(key)}\s*=\s*)("[^"]*"|'[^']*'|[^\s"'<>]+)""", re.IGNORECASE)
    return pattern.sub(lambda found: f'{found[1]}"{html.escape(value)}"', tag, count=1)


def _stand_in(attributes: dict[str, str]) -> str:
    """A neutral picture for one that no package has: a photograph of another host."""
    asked = re.search(r"(\d{2,4})x(\d{2,4})", attributes.get("src", ""))
    width, height = (asked[1], asked[2]) if asked else (attributes.get("width", "160"), "120")
    svg = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 4 3' "
        "preserveAspectRatio='xMidYMid slice'><rect width='4' height='3' fill='#9db4c8'/>"
        "<circle cx='3' cy='.8' r='.4' fill='#f4e3b2'/>"
        "<path d='M0 3 1.3 1.4 2.4 2.5 3 2 4 3z' fill='#5f7d8e'/></svg>"
    )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
