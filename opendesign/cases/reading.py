"""Files that people write, read strictly: one sentence names the file, the line and what is wrong there."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from opendesign.errors import UsageError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
Keys = tuple[str | int, ...]


def read_text(file: Path) -> str:
    """The file's text in UTF-8, with or without a byte order mark."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{shown(file)} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown(file)} is not text in UTF-8; save it as UTF-8.") from error


def read_toml(file: Path, shape: type[T]) -> T:
    """A TOML file as the given type: a dataclass, or a mapping."""
    import tomllib

    text = read_text(file)
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers and nesting without end
        raise UsageError(f"{shown(file)} is not valid TOML: {str(error).rstrip('.')}.") from error
    return decode(shape, data, lambda keys: f"{shown(file)}, line {toml_line(text, keys)}")


def read_jsonl(file: Path, shape: type[T]) -> list[tuple[int, T]]:
    """Line numbers (from 1) and values of a file with one JSON object a line; empty lines are skipped."""
    values = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        values.append((number, _decode_line(shape, line, f"{shown(file)}, line {number}")))
    return values


def _decode_line(shape: type[T], line: str, where: str) -> T:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not valid JSON: {error}.") from error
    return decode(shape, data, lambda _: where)


def inside(folder: Path, name: str, where: str) -> Path:
    """The file ``name`` in ``folder``; a name that leads out of the folder, or to nothing, is refused."""
    file = (folder / name).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise UsageError(f"{where}: '{name}' lies outside of its folder; name a file inside {shown(folder)}.")
    if not file.is_file():
        raise UsageError(f"{where}: the file '{name}' does not exist in {shown(folder)}.")
    return file


def shown(path: Path) -> str:
    """The path as a person would type it: relative to where they stand, when it is below."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return path.as_posix()


def decode(shape: type[T], data: Any, where: Callable[[Keys], str]) -> T:
    """``data`` (JSON values) as ``shape``, strictly; ``where`` says the place of a field for the message."""
    from pydantic import ValidationError

    _refuse_unknown(shape, data, (), where)
    try:
        text = json.dumps(data, default=str, allow_nan=False)
    except ValueError as error:
        raise UsageError(
            f"{where(())}: a number is infinite or none at all (inf, nan); write a finite one."
        ) from error
    try:
        # By way of JSON, where a list may become a tuple although nothing else is converted.
        value: T = _adapter(typing.cast(Any, shape)).validate_json(text, strict=True)
        return value
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        keys = first["loc"]
        if first["type"].startswith("missing"):
            raise UsageError(f"{where(keys)}: the field '{_dotted(keys)}' is missing.") from error
        given = json.dumps(first["input"], ensure_ascii=False, default=str)
        given = given if len(given) <= 60 else given[:57] + "…"
        name = f"'{_dotted(keys)}'" if keys else "the whole"
        advice = first["msg"][0].lower() + first["msg"][1:]
        raise UsageError(f"{where(keys)}: {name} is {given}, but {advice}.") from error


@functools.cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(shape)


def _refuse_unknown(shape: Any, data: Any, keys: Keys, where: Callable[[Keys], str]) -> None:
    """Raise for the first key that no field of ``shape`` has, anywhere in ``data``."""
    arguments = typing.get_args(shape)
    origin = typing.get_origin(shape)
    if dataclasses.is_dataclass(shape) and isinstance(data, dict):
        hints = _hints(typing.cast(Any, shape))
        for key, value in data.items():
            if key not in hints:
                raise UsageError(f"{where((*keys, key))}: {_unknown(key, keys, hints)}")
            _refuse_unknown(hints[key], value, (*keys, key), where)
    elif origin is tuple and isinstance(data, list):
        for index, value in enumerate(data):
            _refuse_unknown(arguments[0], value, (*keys, index), where)
    elif origin is Mapping and isinstance(data, dict):
        for key, value in data.items():
            _refuse_unknown(arguments[1], value, (*keys, key), where)
    elif origin is types.UnionType:
        for argument in arguments:
            _refuse_unknown(argument, data, keys, where)


@functools.cache
def _hints(shape: Any) -> dict[str, Any]:
    return typing.get_type_hints(shape)


def _unknown(key: str, keys: Keys, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'?" if near else f"the fields are {', '.join(known)}."
    return f"there is no field '{_dotted((*keys, key))}': {hint}"


def _dotted(keys: Keys) -> str:
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


_HEADER = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+")
_KEY = re.compile(r"""^\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=""")


def toml_line(text: str, keys: Keys) -> int:
    """Line (from 1) of the field at ``keys``, or of the nearest table or field around it."""
    wanted = [str(key) for key in keys if isinstance(key, str)]
    table: list[str] = []
    best, depth = 1, 0
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            table = here = _parts(header[1])
        elif key := _KEY.match(line):
            here = table + _parts(key[1])
        else:
            continue
        if len(here) > depth and here == wanted[: len(here)]:
            best, depth = number, len(here)
    return best


def _parts(name: str) -> list[str]:
    if name[:1] in "\"'":
        return [name[1:-1]]
    return [part.strip().strip("\"'") for part in name.split(".")]
