"""Measures of the page's soundness: accessibility, integrity; and the gates, flags that are no scores."""

from __future__ import annotations

import re
from collections.abc import Callable

from opendesign.judging.computed.reading import Reading, Settings, mean, per_fault, quote, seen
from opendesign.rendering.facts import LIMITS, Facts
from opendesign.types import Case

#: Why a request failed, where that is the page's own fault: nothing is there.
_GONE = ("not_found", "upstream_400", "upstream_404", "upstream_410")
_ADDRESS = LIMITS["address"]  # characters kept of a picture's address


def accessibility(facts: Facts, settings: Settings) -> Reading | None:
    """Alternatives for pictures (WCAG 1.1.1), names of controls (4.1.2, 3.3.2), language (3.1.1), title
    (2.4.2), order of headings (1.3.1, technique G141), size of targets (2.5.8)."""
    parts: list[tuple[float, float]] = [
        (float(bool(facts.lang)), 1.0),
        (float(bool(facts.title)), 1.0),
        (float(facts.meta_viewport), 0.5),
    ]
    reasons: list[str] = []
    if not facts.lang:
        reasons.append("The page does not say its language (lang on html).")
    if not facts.title:
        reasons.append("The page has no title.")
    images = [i for i in facts.images if i.box.area > 64]
    if images:
        without = [i for i in images if i.alt is None and not i.decorative]
        parts.append((1 - len(without) / len(images), 1.5))
        if without:
            reasons.append(f"{len(without)} of {len(images)} pictures have no alternative text.")
    controls = [i for i in facts.interactive if i.visible and i.kind != "pointer"]
    if controls:
        nameless = [i for i in controls if not i.labelled]
        parts.append((mean((float(i.labelled), 1.0) for i in controls), 2.0))
        if nameless:
            reasons.append(
                f"{len(nameless)} controls have no name, the first is {nameless[0].selector[-60:]}."
            )
        targets = [i for i in controls if not i.inline]
        small = [i for i in targets if min(i.box.width, i.box.height) < settings["target_px"]]
        if targets:
            sizes = ((min(1.0, min(i.box.width, i.box.height) / settings["target_px"]), 1.0) for i in targets)
            parts.append((mean(sizes), 1.0))
        if small:
            reasons.append(f"{quote(small[0].name)} is a target under {settings['target_px']:g} pixels.")
    steps, skipped = _heading_steps(facts)
    parts.append((steps, 1.0))
    if skipped:
        reasons.append(skipped)
    if facts.landmarks:
        parts.append((1.0, 0.5))
    else:
        parts.append((0.0, 0.5))
    return Reading(100 * mean(parts), tuple(reasons), {"controls": len(controls), "images": len(images)})


def _heading_steps(facts: Facts) -> tuple[float, str]:
    """Credit for headings that begin at the first level and skip none; a sentence about the first skip."""
    if not facts.headings:
        return 0.0, "The page has no heading." if len(facts.text) > 200 else ""
    skips, said, before = 0, "", 0
    for heading in facts.headings:
        if heading.level > before + 1 and before:
            skips += 1
            said = (
                said or f"{quote(heading.text)} is a heading of level {heading.level} after level {before}."
            )
        before = heading.level
    first = 1.0 if any(h.level == 1 for h in facts.headings) else 0.7
    return first * (1 - skips / len(facts.headings)), said


def integrity(facts: Facts, settings: Settings) -> Reading | None:
    """Broken pictures, errors of scripts, links into the page that lead nowhere, empty canvases, resources
    that are not there. What our network policy refused is not counted."""
    gone = [r for r in facts.requests if r.outcome == "failed" and r.reason in _GONE]
    ours = {r.url[:_ADDRESS] for r in facts.requests if r.outcome != "served"} - {
        r.url[:_ADDRESS] for r in gone
    }
    broken = [i for i in facts.images if i.broken and i.source[:_ADDRESS] not in ours]
    dangling = [i for i in facts.interactive if i.dangling]
    blank = [c for c in facts.canvases if c.blank and c.box.area > settings["canvas_area"]]
    missing = [r for r in gone if r.kind in ("script", "style", "font")]
    pictures = per_fault(len(broken), len(facts.images), settings["share"])
    scripts = per_fault(settings["error"] * len(set(facts.script_errors)), 0, 0)
    links = per_fault(settings["dangling"] * len(dangling), len(facts.interactive), settings["share"])
    canvases = per_fault(len(blank), 0, 0)
    rest = per_fault(settings["missing"] * len(missing), 0, 0)
    score = 100 * (pictures / 100) * (scripts / 100) * (links / 100) * (canvases / 100) * (rest / 100)
    reasons = [f"The picture {quote(i.source[-50:], 50)} does not load." for i in broken[:2]]
    reasons += [f"A script fails: {quote(error, 90)}." for error in facts.script_errors[:1]]
    reasons += [
        f"The link {quote(i.name)} leads to {i.href}, which is not in the page." for i in dangling[:1]
    ]
    if blank:
        reasons.append("A canvas is empty.")
    reasons += [f"The {r.kind} {quote(r.url[-50:], 50)} is not there." for r in missing[:1]]
    evidence = {
        "broken": len(broken),
        "errors": len(facts.script_errors),
        "dangling": len(dangling),
        "blank_canvases": len(blank),
        "missing": len(missing),
    }
    return Reading(score, tuple(reasons), evidence)


def gates(facts: Facts, case: Case, settings: Settings) -> dict[str, str]:
    """Gate -> what was found, for those that were tripped. A gate is a flag for smoke tests and training
    guards: it changes no score, apart from a blank page, which has none."""
    checks: dict[str, Callable[[], str]] = {
        "blank": lambda: "Nothing is on the page." if blank(facts) else "",
        "hidden_text": lambda: _hidden(facts, settings),
        "addresses_judge": lambda: _addressed(facts, settings),
        "giant": lambda: _giant(facts, settings),
        "prompt_copied": lambda: _copied(facts, case, settings),
    }
    found = {name: check() for name, check in checks.items()}
    return {name: text for name, text in found.items() if text}


def blank(facts: Facts) -> bool:
    """Whether nothing can be seen: by the picture, or without one by the absence of anything to show."""
    if facts.picture is not None:
        return facts.picture.blank
    drawn = [c for c in facts.canvases if not c.blank]
    return not (seen(facts) or facts.images or drawn or facts.svgs or any(b.painted for b in facts.blocks))


def _hidden(facts: Facts, settings: Settings) -> str:
    unseen = [
        t
        for t in facts.texts
        if t.hidden in ("transparent", "tiny", "same_colour", "offscreen") and t.length > 2
    ]
    letters = sum(t.length for t in unseen)
    if letters < settings["hidden_letters"] or letters < settings["hidden_share"] * facts.text_length:
        return ""
    first = unseen[0]
    return f"{letters} characters cannot be seen ({first.hidden}), such as {quote(first.text)}."


def _addressed(facts: Facts, settings: Settings) -> str:
    attributes = " ".join([*(i.alt or "" for i in facts.images), *(i.name for i in facts.interactive)])
    for text in (facts.text, facts.hidden_text, facts.title, attributes):
        for pattern in settings["judge_patterns"]:
            if match := re.search(pattern, text, re.IGNORECASE):
                start = max(0, match.start() - 20)
                return f"The page speaks to a judge: {quote(text[start : match.end() + 40], 100)}."
    return ""


def _giant(facts: Facts, settings: Settings) -> str:
    window: tuple[float, float] = facts.viewport
    if facts.height > settings["giant_screens"] * max(1.0, window[1]):
        return f"The page is {facts.height:.0f} pixels tall."
    if facts.width > settings["giant_widths"] * max(1.0, window[0]):
        return f"The page is {facts.width:.0f} pixels wide."
    huge = [t for t in facts.texts if t.size > settings["giant_text_px"]]
    return f"{quote(huge[0].text)} is set in {huge[0].size:.0f} pixels." if huge else ""


def _copied(facts: Facts, case: Case, settings: Settings) -> str:
    words = re.findall(r"\w+", case.prompt.lower())
    n = int(settings["copied_words"])
    page = " " + " ".join(re.findall(r"\w+", (facts.text + " " + facts.hidden_text).lower())) + " "
    for i in range(len(words) - n + 1):
        run = " ".join(words[i : i + n])
        if f" {run} " in page:
            return f"The request stands on the page: {quote(run, 80)}."
    return ""
