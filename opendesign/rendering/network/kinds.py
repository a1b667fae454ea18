"""What a request is for, read off the headers that Chromium sends with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from opendesign.rendering.network.records import Kind

# Fetch Metadata (W3C): only sent to addresses that Chromium trusts, which https and localhost are.
_BY_DESTINATION: dict[str, Kind] = {
    **dict.fromkeys(("document", "iframe", "frame", "fencedframe", "embed", "object"), "document"),
    **dict.fromkeys(
        ("script", "worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet", "json"),
        "script",
    ),
    **dict.fromkeys(("style", "xslt"), "style"),
    **dict.fromkeys(("audio", "video", "track"), "media"),
    "font": "font",
    "image": "image",
    "empty": "fetch",
}
_BY_SUFFIX: dict[str, Kind] = {
    **dict.fromkeys(
        (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico", ".bmp", ".apng"), "image"
    ),
    **dict.fromkeys((".woff2", ".woff", ".ttf", ".otf", ".eot"), "font"),
    **dict.fromkeys((".mp4", ".webm", ".ogg", ".mp3", ".wav", ".m4a", ".mov", ".m3u8"), "media"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), "script"),
    ".css": "style",
}


def kind_of(headers: Mapping[str, str], path: str) -> Kind:
    """Kind of a request from its headers (lower-case names) and path."""
    accept = headers.get("accept", "")
    destination = headers.get("sec-fetch-dest")
    kind = _BY_DESTINATION.get(destination, "other") if destination else None
    if kind == "fetch" and accept.startswith("image/"):
        return "image"
    if kind is not None:
        return kind
    if accept.startswith("image/"):
        return "image"
    if accept.startswith("text/css"):
        return "style"
    if accept.startswith("text/html"):
        return "document"
    suffix = PurePosixPath(path.split("?", 1)[0]).suffix.lower()
    return _BY_SUFFIX.get(suffix) or ("fetch" if "origin" in headers else "other")


def is_navigation(headers: Mapping[str, str], kind: Kind) -> bool:
    """Whether the request would put another document in the place of the page.

    Without Fetch Metadata a frame cannot be told from the page, so that both count.
    """
    return kind == "document" and headers.get("sec-fetch-dest", "document") == "document"
