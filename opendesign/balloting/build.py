"""``ballot build``: one HTML file with blind pairs of pages, and beside it the key that names them."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opendesign.balloting.key import Key, Page, Question, key_path, read_key
from opendesign.balloting.pages import Field, read_field
from opendesign.balloting.pictures import Picture, fitted, has_contents, opened, spoilt
from opendesign.balloting.sampling import Slot, draw_pairs, left_first, most_repeats, ordered
from opendesign.canonical import plain
from opendesign.content import leaderboard
from opendesign.errors import StoreError, UsageError
from opendesign.running.blobs import cannot_write

__all__ = ["MOST_PAIRS", "Built", "build_ballot"]

MOST_PAIRS = 500
_LARGE = 25_000_000  # bytes from which a file is hard to send


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What was written."""

    ballot: str
    file: Path
    key: Path
    pairs: int
    repeats: int
    checks: int
    pictures: int
    bytes: int
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return dict(plain(self))


def build_ballot(
    runs: Sequence[str], out: Path, *, pairs: int = 30, seed: int = 0, repeats: int = 3, checks: int = 3
) -> Built:
    """A ballot over stored runs of different models on the same cases. Equal arguments make equal files.

    Raises ``UsageError`` for runs that cannot be set against each other, for numbers that do not fit, and
    where ``out`` would lose the key of another ballot.
    """
    if not 1 <= pairs <= MOST_PAIRS:
        raise UsageError(f"--pairs is {pairs}: ask for 1 to {MOST_PAIRS}; more make more than one ballot.")
    if not 0 <= checks <= pairs:
        raise UsageError(f"--checks is {checks}: ask for none up to one a pair.")
    made = _Maker(read_field(runs), seed)
    made.draw(pairs, repeats, checks)
    key = made.key()
    text = _filled(key, made)
    _write(out, text, key)
    if len(text) > _LARGE:
        made.notes.append(f"The ballot has {len(text) / 1e6:.0f} MB: fewer --pairs make it smaller.")
    return Built(
        ballot=key.ballot,
        file=out,
        key=key_path(out),
        pairs=key.count("pair"),
        repeats=key.count("repeat"),
        checks=key.count("check"),
        pictures=len(made.pictures),
        bytes=len(text),
        notes=tuple(made.notes),
    )


@dataclass
class _Maker:
    """Draws a ballot's questions and gives every page a name that says nothing."""

    of: Field
    seed: int
    pages: dict[str, Page] = field(default_factory=dict)
    pictures: dict[str, Picture] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(f"ballot {self.seed}")
        self.notes = list(self.of.notes)
        self._models = {run.name: run.model for run in sorted(self.of.runs, key=lambda run: run.name)}
        self._ids: dict[tuple[str, str, int], str] = {}

    def draw(self, pairs: int, repeats: int, checks: int) -> None:
        """All questions in their order, with their pages."""
        drawn = draw_pairs(self.of.shown(), pairs, self.rng)
        if not drawn:
            raise UsageError("No case has a picture in two of the runs: finish them with `opendesign run`.")
        if len(drawn) < pairs:
            self.notes.append(f"There are {len(drawn)} pairs to show, fewer than the {pairs} asked for.")
        if not 0 <= repeats <= most_repeats(len(drawn)):
            raise UsageError(
                f"--repeats is {repeats}: of {len(drawn)} pairs at most {most_repeats(len(drawn))} can come "
                "again with enough between."
            )
        sides = left_first(drawn, self.rng)
        asked = []
        for ((first, second), case), as_is in zip(drawn, sides, strict=True):
            ids = [self._page(run, case, self.of.sample(run, case, self.rng)) for run in (first, second)]
            asked.append((ids[0], ids[1]) if as_is else (ids[1], ids[0]))
        tests = self._checks(checks)
        for slot in ordered(len(asked), repeats, checks, self.rng):
            self.questions.append(self._question(slot, asked, tests))

    def _question(
        self, slot: Slot, asked: Sequence[tuple[str, str]], tests: Sequence[tuple[str, str]]
    ) -> Question:
        id = f"q{len(self.questions) + 1}"
        if slot.kind == "check":
            good, bad = tests[slot.at]
            left, right = (good, bad) if self.rng.random() < 0.5 else (bad, good)
            return Question(id=id, kind="check", left=left, right=right, good=good)
        left, right = asked[slot.at]
        if slot.kind == "pair":
            return Question(id=id, kind="pair", left=left, right=right)
        # The other way round, so that one who always says left is found out.
        first = next(q.id for q in self.questions if q.kind == "pair" and q.left == left and q.right == right)
        return Question(id=id, kind="repeat", left=right, right=left, of=first)

    def _page(self, run: str, case: str, sample: int) -> str:
        place = (run, case, sample)
        if place not in self._ids:
            self._ids[place] = self._named(place, fitted(self._image(place)))
        return self._ids[place]

    def _image(self, place: tuple[str, str, int]) -> Any:
        run, case, sample = place
        return opened(self.of.pictures[run][case][sample].read_bytes(), f"case {case[:60]} in {run}")

    def _named(self, place: tuple[str, str, int], picture: Picture, *, bad: bool = False) -> str:
        run, case, sample = place
        id = f"p{self.rng.getrandbits(48):012x}"
        blob = self.of.pictures[run][case][sample]
        self.pages[id] = Page(
            model=self._models[run], case=case, sample=sample, picture=blob.name, spoilt=bad
        )
        self.pictures[id] = picture
        return id

    def _checks(self, count: int) -> list[tuple[str, str]]:
        """A good page and the same one spoilt, as often as asked for: of the best quarter where it can be."""
        best = max(count, len(self.of.best) // 4)
        places = [*self.rng.sample(self.of.best[:best], min(best, len(self.of.best))), *self.of.best[best:]]
        found: list[tuple[str, str]] = []
        for place in places:
            if len(found) == count:
                break
            image = self._image(place)
            if has_contents(image):
                bad = self._named(place, fitted(spoilt(image, self.rng)), bad=True)
                found.append((self._page(*place), bad))
        if len(found) < count:
            raise UsageError(
                f"--checks is {count}, but only {len(found)} pages show enough for a check: ask for fewer."
            )
        return found

    def key(self) -> Key:
        manifest = self.of.runs[0].manifest
        used = {page.case for page in self.pages.values()}
        return Key(
            seed=self.seed,
            runs=self._models,
            benchmark={name: manifest["benchmark"][name] for name in ("name", "version", "hash")},
            categories={case["id"]: case["category"] for case in manifest["cases"] if case["id"] in used},
            pages=self.pages,
            questions=tuple(self.questions),
        ).named()

    def asks(self, question: Question) -> dict[str, Any]:
        """A question as the ballot has it: nothing says what kind it is, or whose pages they are."""
        case = self._cases[self.pages[question.left].case]
        return {
            "id": question.id,
            "left": question.left,
            "right": question.right,
            "prompt": case["prompt"],
            "language": case.get("language") or "",
        }

    @property
    def _cases(self) -> dict[str, Any]:
        return {case["id"]: case for case in self.of.runs[0].manifest["cases"]}


def _filled(key: Key, made: _Maker) -> bytes:
    """The ballot. Its policy allows this one script and style, and pictures that are inside it."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError
    from markupsafe import Markup

    folder = leaderboard() / "ballot"
    try:
        style, script = ((folder / name).read_text("utf-8") for name in ("ballot.css", "ballot.js"))
        environment = Environment(
            loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        template = environment.get_template("ballot.html")
    except (OSError, UnicodeDecodeError, TemplateError) as error:
        raise UsageError(f"{folder}: ballot.html, .css or .js cannot be used ({error}).") from None
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    pictures = sorted(made.pictures.items())
    data = {
        "ballot": key.ballot,
        "questions": [made.asks(question) for question in key.questions],
        "pages": {id: {"width": p.width, "height": p.height, "cut": p.cut} for id, p in pictures},
    }
    # Nothing of it can end the element that holds it: JSON without <, and ASCII only.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return template.render(
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        data=Markup(text),
        pictures=[(id, picture.base64) for id, picture in pictures],
        count=len(key.questions),
    ).encode("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _write(out: Path, text: bytes, key: Key) -> None:
    """Both files, the key first: a ballot without one would be worth nothing."""
    beside = key_path(out)
    if out.is_dir():
        raise UsageError(f"{out} is a folder: name a file, such as {out / 'ballot.html'}.")
    if beside.exists() and read_key(beside).ballot != key.ballot:
        raise UsageError(
            f"{beside} is the key of another ballot, whose votes could not be counted without it: name "
            "another file with --out."
        )
    for path, data in ((beside, key.to_json().encode()), (out, text)):
        unfinished = path.with_name(f".{path.name}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(data)
            unfinished.replace(path)
        except OSError as error:
            raise StoreError(cannot_write(path, error)) from error
