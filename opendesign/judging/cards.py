"""Judge cards: a judge as data. One folder a card: ``judge.toml`` and the text files its engine reads.

A card's hash covers every value and every text of the folder, so that an edited prompt is another judge.
Not part of a card: hidden files, editor backups (``*~``) and ``README.md``.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import re
import shutil
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from opendesign import canonical, content
from opendesign.errors import UnknownName, UsageError
from opendesign.types import Artifact, Card, Case, Failure, Kind, Measure, Verdict

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_SLUG = r"[a-z0-9][a-z0-9_-]*"
GROUP = "opendesign.judges"  # entry points of judge engines

#: ``async (case, artifact, card, page, model) -> Verdict``; page and model: None unless the card needs them.
Engine = Callable[[Case, Artifact, Card, Any, Any], Awaitable[Verdict]]


def cards() -> tuple[list[Card], list[UsageError]]:
    """Every judge card that can be found, sorted by name, and what is wrong with those that are unsound."""
    sound, unsound = [], []
    for folder in content.listing("judges").values():
        try:
            sound.append(read_card(folder))
        except UsageError as error:
            unsound.append(error)
    return sound, unsound


def load_card(name: str) -> Card:
    """The named card. Raises ``UnknownName`` with the nearest names, ``UsageError`` for an unsound card."""
    return read_card(content.find("judges", name))


def read_card(folder: Path) -> Card:
    """The card in ``folder``. Raises ``UsageError`` with one sentence that names the file and the field."""
    toml = folder / "judge.toml"
    values = _read_toml(toml)
    _check_shape(toml, values)
    measures = {name: Measure(**measure) for name, measure in values["measures"].items()}
    _check_meaning(toml, values, measures)
    files = {path.relative_to(folder).as_posix(): _read_text(path) for path in _texts(folder) if path != toml}
    try:
        card_hash = canonical.hash_of({"card": values, "files": files})
    except (TypeError, ValueError):
        raise UsageError(
            f"{toml}: settings may hold only finite numbers, text, true, false, lists and tables."
        ) from None
    rest = {"settings": {}, **values, "measures": measures}
    return Card(**rest, files=files, path=folder, hash=card_hash)


def engine(card: Card) -> Engine:
    """The code that runs ``card``, by entry point. Raises ``UnknownName`` with the nearest engines."""
    point = _point(card)
    try:
        loaded: Engine = point.load()
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"The judge engine '{point.name}' ({point.value}) cannot be imported: {error}."
        ) from error
    return loaded


def trait(card: Card, name: str, default: Any = None) -> Any:
    """What the module of the card's engine says of it under ``name``, where it says anything.

    ``EXPECTED(card, case) -> dict``: calls, prompt_tokens, completion_tokens and pictures to expect for one
    case. ``COMPARES_RUNS``: it judges pages of two runs. ``CHECK(card)`` raises ``UsageError`` for a card
    that the engine cannot use, before anything is asked. ``KIND``: what it judges, see ``kind_of``.
    """
    return getattr(importlib.import_module(_point(card).module), name, default)


def kind_of(card: Card) -> Kind:
    """What the card's engine judges: "pages", or "plots" where its module says ``KIND = "plots"``."""
    kind: Kind = trait(card, "KIND", "pages")
    return kind


def _point(card: Card) -> EntryPoint:
    known: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        other = known.setdefault(point.name, point)
        if other.value != point.value:
            raise UsageError(
                f"Two installed packages have a judge engine named '{point.name}' ({other.value} and "
                f"{point.value}): uninstall one of them."
            )
    if card.engine not in known:
        raise UnknownName("judge engine", card.engine, known)
    return known[card.engine]


def verdict_of_model_failure(card: Card, case: Case, sample: int, failure: Failure) -> Verdict:
    """The lowest score of every measure, with the failure kept. For a model's failure only."""
    if failure.status != "model_failure":
        raise ValueError(f"'{failure.reason}' is not the model's failure and has no score")
    lowest = {name: measure.low for name, measure in card.measures.items()}
    return Verdict(
        case=case.id,
        sample=sample,
        judge=card.name,
        scores=lowest,
        reasons=(failure.detail,),
        failure=failure,
    )


def copy_card(name: str, destination: Path | None = None) -> Path:
    """Copy a card so that it can be edited; returns the new folder.

    ``destination`` is the new card's folder, and its last part the new card's name; a folder that exists
    and is no card itself receives the card under its old name. Default: ``./judges``. Never overwrites.
    """
    source = content.find("judges", name)
    read_card(source)
    target = destination or Path("judges") / name
    if target.is_dir() and not (target / "judge.toml").exists():
        target = target / name
    if not re.fullmatch(_SLUG, target.absolute().name):
        raise UsageError(f"'{target.name}' is no name of a judge: use small letters, digits, '-' and '_'.")
    if target.exists() or target.is_symlink():
        raise UsageError(f"'{target}' is there already and is not overwritten: name another destination.")
    try:
        for path in _texts(source):
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        _rename(target / "judge.toml", target.absolute().name)
    except OSError as error:
        raise UsageError(f"The card cannot be written to '{target}': {error.strerror or error}.") from error
    return target


def _rename(toml: Path, name: str) -> None:
    """Give a copied card the name of its folder, leaving the rest of the file as its author wrote it."""
    lines = toml.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.partition("=")[0].strip().strip("\"'") == "name")
    if tomllib.loads(lines[at])["name"] != name:
        lines[at] = f"name = {canonical.to_json(name)}\n"
        toml.write_text("".join(lines), encoding="utf-8")


def _texts(folder: Path) -> Iterator[Path]:
    """Files of a card's folder that are part of the card, sorted by name."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        aside = path.name == "README.md" or path.name.endswith("~")
        if path.is_file() and not aside and not any(p.startswith(".") or p == "__pycache__" for p in inside):
            yield path


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text: a card's folder holds text files only.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_read_text(path))
    except (ValueError, RecursionError) as error:  # also numbers and nesting without end
        raise UsageError(f"{path} is not TOML: {str(error).rstrip('.')}.") from None


@functools.cache
def _shape() -> TypeAdapter[Any]:
    """What ``judge.toml`` may hold, for pydantic (imported here: it is slow to import)."""
    from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model

    base = create_model("base", __base__=BaseModel, __config__=None)
    base.model_config = ConfigDict(extra="forbid", strict=True)
    text: Any = (str, Field(min_length=1))
    slug: Any = (str, Field(pattern=f"^{_SLUG}$"))
    number: Any = (float, Field(allow_inf_nan=False))
    fields: Any = {"low": number, "high": number, "kind": (Literal["mean", "rate"], "mean")}
    measure = create_model("measure", __base__=base, **fields, headline=(bool, False), about=(str, ""))
    card = create_model(
        "card",
        __base__=base,
        name=slug,
        version=text,
        engine=slug,
        about=text,
        live=(bool, False),
        needs_model=(bool, False),
        stands_in_for=(str | None, None),
        measures=(dict[str, measure], ...),  # type: ignore[valid-type]
        settings=(dict[str, Any], {}),
    )
    return TypeAdapter(card)


def _check_shape(path: Path, values: Mapping[str, Any]) -> None:
    """Raise ``UsageError`` for the first field of the wrong shape."""
    from pydantic import ValidationError

    try:
        _shape().validate_python(values)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        first = problems[0]
        where = ".".join(str(part) for part in first["loc"])
        more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
        if first["type"] == "extra_forbidden":
            in_measure = first["loc"][0] == "measures"
            known = Measure.__dataclass_fields__ if in_measure else _shape()._type.model_fields
            near = difflib.get_close_matches(str(first["loc"][-1]), known, n=3, cutoff=0.5) or sorted(known)
            raise UsageError(
                f"{path}: unknown key '{where}': did you mean {' or '.join(near)}?{more}"
            ) from None
        if first["type"] == "missing":
            raise UsageError(f"{path}: the key '{where}' is missing.{more}") from None
        raise UsageError(
            f"{path}: '{where}' is not right: {first['msg'][:1].lower()}{first['msg'][1:]}.{more}"
        ) from None


def _check_meaning(path: Path, values: Mapping[str, Any], measures: Mapping[str, Measure]) -> None:
    """Raise ``UsageError`` for a card that has the right shape and makes no sense."""
    if values["name"] != path.parent.absolute().name:
        raise UsageError(
            f"{path}: the name is '{values['name']}' but the folder is '{path.parent.absolute().name}': "
            "make them equal."
        )
    if not any(measure.headline for measure in measures.values()):
        raise UsageError(f"{path}: no measure is the headline: set headline = true in one of [measures.…].")
    for name, measure in measures.items():
        if not name.replace("_", "a").isalnum() or not name.isascii():
            raise UsageError(f"{path}: the measure '{name}' may hold only letters, digits and '_'.")
        if measure.low >= measure.high:
            raise UsageError(
                f"{path}: 'measures.{name}': low ({measure.low}) must be below high ({measure.high})."
            )
        if measure.kind == "rate" and (measure.low, measure.high) != (0, 1):
            raise UsageError(f"{path}: 'measures.{name}': a measure of kind rate has low = 0 and high = 1.")
