"""What a judge can tell apart without a single human label: good pages, each changed in one known way.

``KINDS`` are the ways. A damage lowers the quality of a page and has to show as it was meant; a harmless edit
changes the document and nothing that is seen. ``kinds.toml`` says which judge is meant to see which.
"""

from __future__ import annotations

from collections.abc import Mapping

from opendesign.judging.sensitivity import contents, harmless, looks, markup, seen
from opendesign.judging.sensitivity.page import Change, Good, Kind, Seen, Shown, table
from opendesign.judging.sensitivity.roles import Role, role_of
from opendesign.judging.sensitivity.seen import same_picture

__all__ = ["KINDS", "Good", "Kind", "Role", "Shown", "role_of", "same_picture"]

_DAMAGE: Mapping[str, tuple[Change, Seen]] = {
    "contrast": (looks.contrast, seen.fainter),
    "overlap": (looks.overlap, seen.crossing_texts),
    "picture": (contents.picture, seen.broken_pictures),
    "section": (contents.section, seen.less_text),
    "columns": (looks.columns, seen.out_of_line),
    "controls": (contents.controls, seen.quieter),
    "topic": (contents.topic, seen.other_words),
    "sideways": (looks.sideways, seen.too_wide),
    "tiny": (looks.tiny, seen.smaller),
    "element": (contents.element, seen.fewer_things),
    "fonts": (looks.fonts, seen.more_families),
    "injection": (contents.injection, seen.more_said),
    "unpaired": (markup.unpaired, seen.unpaired),
    "same_id": (markup.same_id, seen.repeated_id),
    "no_alt": (markup.no_alt, seen.unnamed_picture),
    "no_title": (markup.no_title, seen.lost(lambda facts: bool(facts.title))),
    "no_language": (markup.no_language, seen.lost(lambda facts: bool(facts.lang))),
    "no_viewport": (markup.no_viewport, seen.lost(lambda facts: facts.meta_viewport)),
    "no_doctype": (markup.no_doctype, seen.lost(lambda facts: not facts.quirks)),
}
_EDITS: Mapping[str, Change] = {
    "class_renamed": harmless.class_renamed,
    "rules_reordered": harmless.rules_reordered,
    "comment_added": harmless.comment_added,
    "whitespace": harmless.whitespace,
    "attribute_order": harmless.attribute_order,
    "id_renamed": harmless.id_renamed,
}

#: Name -> kind, damages first, in the order of ``kinds.toml``.
KINDS: Mapping[str, Kind] = {
    **{
        name: Kind(name=name, about=about, harmless=False, change=_DAMAGE[name][0], seen=_DAMAGE[name][1])
        for name, about in table()["kinds"].items()
    },
    **{
        name: Kind(name=name, about=about, harmless=True, change=_EDITS[name], seen=seen.as_before)
        for name, about in table()["harmless"].items()
    },
}
