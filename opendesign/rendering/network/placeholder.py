"""A neutral picture in the place of one that may not be fetched, of the size that its address asks for."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

DEFAULT = (600, 400)
_LEAST, _MOST = 16, 4_000
_PAIR = re.compile(r"(?<![0-9])([0-9]{1,4})x([0-9]{1,4})(?![0-9])", re.IGNORECASE | re.ASCII)
_NAMED = re.compile(r"(?:^|[,/&])([wh])_([0-9]{1,4})(?=$|[,/&])", re.ASCII)
_WIDTH, _HEIGHT, _SQUARE = ("w", "width"), ("h", "height"), ("s", "size", "sz")


def size_of(path: str) -> tuple[int, int]:
    """Width and height in CSS pixels that a path and query ask for, else 600 × 400.

    Read in this order: ``?w=&h=`` and its like (a width alone is taken as 3:2), ``800x600``, ``w_800,h_600``,
    the last two neighbouring numbers ``/800/600``, one number ``/200`` (a square).
    """
    path, _, query = path.partition("?")
    values = {name.lower(): value for name, value in parse_qsl(query, max_num_fields=64) if value.isdigit()}
    found = _named(values) or _pair(path) or _pair(query)
    if found is None:
        found = _named(dict(_NAMED.findall(path))) or _segments(path)
    return found or DEFAULT


def _named(values: dict[str, str]) -> tuple[int, int] | None:
    width, height, square = (
        next((size for name in names if (size := _pixels(values.get(name)))), None)
        for names in (_WIDTH, _HEIGHT, _SQUARE)
    )
    if width and height:
        return width, height
    if width:
        return width, max(1, round(width * 2 / 3))
    if height:
        return min(_MOST, round(height * 3 / 2)), height
    return (square, square) if square else None


def _pair(text: str) -> tuple[int, int] | None:
    for match in _PAIR.finditer(text):
        width, height = _pixels(match[1]), _pixels(match[2])
        if width and height:
            return width, height
    return None


def _segments(path: str) -> tuple[int, int] | None:
    parts = [part.split(".", 1)[0] if at else part for at, part in enumerate(path.split("/"))]
    sizes = [_pixels(part) for part in parts]
    for at in range(len(sizes) - 1, 0, -1):
        width, height = sizes[at - 1], sizes[at]
        # "/id/237/200": 237 is a number of a picture, and 200 a square.
        if width and height and not (at > 1 and parts[at - 2] == "id"):
            return width, height
    # Years are common in paths: "/2024/11/team.jpg".
    single = next((size for size in reversed(sizes) if size and not 1970 <= size < 2100), None)
    return (single, single) if single else None


def _pixels(text: str | None) -> int | None:
    # A leading zero is a month, a colour or an id, not a length.
    if not text or not (text.isascii() and text.isdigit()) or len(text) > 4 or text.startswith("0"):
        return None
    return int(text) if _LEAST <= int(text) <= _MOST else None


def picture(width: int, height: int) -> bytes:
    """An SVG of that size: light grey, a thin border, the outline of a picture in the middle."""
    side = max(8, min(width, height, 240) // 3)
    x, y = width / 2, height / 2
    left, right, top, bottom = x - side * 0.6, x + side * 0.6, y - side * 0.45, y + side * 0.45
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">'
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" fill="#e4e6e9" stroke="#c3c7cc"/>'
        f'<g fill="none" stroke="#a3a9b1" stroke-width="{max(1, side // 24)}" stroke-linejoin="round">'
        f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" '
        f'rx="{side * 0.06:g}"/>'
        f'<circle cx="{x - side * 0.3:g}" cy="{y - side * 0.18:g}" r="{side * 0.1:g}"/>'
        f'<path d="M{left:g} {bottom - side * 0.12:g}L{x - side * 0.15:g} {y:g}L{x + side * 0.1:g} '
        f"{y + side * 0.22:g}L{x + side * 0.28:g} {y + side * 0.05:g}L{right:g} {bottom - side * 0.15:g}"
        '"/></g></svg>'
    ).encode()
