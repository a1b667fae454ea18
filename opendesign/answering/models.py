"""Models: whatever answers a case, and how a name becomes one.

A name is looked up in this order:

1. ``builtin/<control>``: a model of known quality that needs no key and no network;
2. a name described in ``models.toml`` of the working folder, or in the file given;
3. ``answers:PATH``, or a path: answers already on disk, see ``disk``;
4. ``<provider>/<model>``: any provider LiteLLM knows, see ``litellm_model``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from opendesign.errors import UnknownName, UsageError
from opendesign.types import Answer, Case, GenerationSettings, Kind, Usage

if TYPE_CHECKING:
    from opendesign.answering.budget import Budget
    from opendesign.answering.described import Description
    from opendesign.answering.retry import RetryPolicy

__all__ = ["Listed", "Model", "Reply", "check_kind", "close_models", "listed", "resolve"]

BUILTIN = "builtin/"
ON_DISK = "answers:"
USUAL_PROVIDERS = ("openai", "anthropic", "gemini", "openrouter", "hosted_vllm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back from one chat. ``refusal`` is the provider's own field, apart from the text."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    refusal: str | None = None
    model_returned: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    varies: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Model(Protocol):
    """Whatever answers a case."""

    @property
    def name(self) -> str:
        """As the person wrote it: ``openai/gpt-5``, ``builtin/template``."""

    async def answer(self, case: Case, sample: int, settings: GenerationSettings) -> Answer:
        """The answer to a case. Never raises for a provider's or a model's fault: see ``Answer.failure``."""

    async def chat(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Reply:
        """One reply to any messages in OpenAI's form. Raises ``Failed``; LiteLLM models only."""

    def config(self, settings: GenerationSettings) -> dict[str, Any]:
        """All that decides an answer beside the case, as JSON and without a key: for hashes and records."""


class BuiltinModel:
    """A control: an answer of known quality, the same for a case every time. ``kind`` is what it can make."""

    def __init__(self, name: str) -> None:
        from opendesign.answering import controls, plot_controls

        self._control = name.removeprefix(BUILTIN)
        if not name.startswith(BUILTIN) or name not in builtin_names():
            raise UnknownName("model", name, builtin_names())
        self.kind: Kind = "plots" if self._control in plot_controls.CONTROLS else "pages"
        self._reply = plot_controls.reply if self.kind == "plots" else controls.reply
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    async def answer(self, case: Case, sample: int, settings: GenerationSettings) -> Answer:
        from opendesign.answering.outcome import answer_of

        check_kind(self, (case,))
        return answer_of(case, sample, Reply(text=self._reply(self._control, case), finish_reason="stop"))

    async def chat(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Reply:
        raise UsageError(f"'{self.name}' answers cases only: name a LiteLLM model where a judge needs one.")

    def config(self, settings: GenerationSettings) -> dict[str, Any]:
        return {"model": self.name, "controls": _digest_of_controls(self.kind)}


def builtin_names() -> list[str]:
    """Names of the controls, as models."""
    from opendesign.answering import controls, plot_controls

    return sorted(BUILTIN + control for control in (*controls.CONTROLS, *plot_controls.CONTROLS))


def check_kind(model: Model, cases: Iterable[Case]) -> None:
    """Refuse a control of pages for plots, and the reverse. Raises ``UsageError``; other models take both."""
    if not isinstance(model, BuiltinModel):
        return
    for case in cases:
        if (case.task is not None) != (model.kind == "plots"):
            made, asked = ("plots", "a page") if model.kind == "plots" else ("pages", "a plot")
            raise UsageError(f"'{model.name}' makes {made}, but the case '{case.id}' is about {asked}.")


def _digest_of_controls(kind: Kind) -> str:
    """Changes when a control does, so that a stored answer of an older control is not taken for a new one."""
    from opendesign.answering import controls, plot_controls
    from opendesign.canonical import hash_of

    if kind == "plots":
        return hash_of(Path(plot_controls.__file__).read_text(encoding="utf-8"))
    folder = Path(controls.__file__).parent
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return hash_of([[path.relative_to(folder), path.read_text(encoding="utf-8")] for path in files])


def resolve(
    name: str,
    *,
    base_url: str | None = None,
    models_file: Path | None = None,
    budget: Budget | None = None,
    retry: RetryPolicy | None = None,
    concurrency: int | None = None,
    need_key: bool = True,
) -> Model:
    """The model of that name.

    ``base_url`` is the address of a server, in place of the provider's or the described one; ``budget`` is
    shared by all models of a run; ``concurrency`` is for models whose description names none. Without
    ``need_key`` a model whose key is not set is no error, and nothing can be sent. Raises ``UnknownName``
    with the nearest names, or ``UsageError`` in one sentence.
    """
    from opendesign.answering.described import Description, load_described, refuse_key_in_url

    if base_url is not None:
        refuse_key_in_url(base_url)
    if name.startswith(BUILTIN):
        return BuiltinModel(name)
    described = load_described(models_file)
    if name in described:
        return _litellm(described[name], base_url, budget, retry, concurrency, need_key)
    if name.startswith(ON_DISK) or _is_path(name):
        from opendesign.answering.disk import DiskModel

        return DiskModel(Path(name.removeprefix(ON_DISK)).expanduser(), name)
    _refuse_unknown(name, described)
    return _litellm(Description(name=name, model=name), base_url, budget, retry, concurrency, need_key)


def _litellm(
    description: Description,
    base_url: str | None,
    budget: Budget | None,
    retry: RetryPolicy | None,
    concurrency: int | None,
    need_key: bool,
) -> Model:
    from dataclasses import replace

    from opendesign.answering.litellm_model import LiteLLMModel

    if base_url is not None:
        description = replace(description, base_url=base_url)
    if description.concurrency is None:
        description = replace(description, concurrency=concurrency)
    return LiteLLMModel(description, budget=budget, retry=retry, need_key=need_key)


def _is_path(name: str) -> bool:
    if name.startswith((".", "/", "~")) or name.endswith((".jsonl", ".html", ".htm")):
        return True
    from opendesign.answering.catalogue import providers

    # A folder that happens to be named as a provider's model stays the provider's.
    return bool(name) and name.partition("/")[0] not in providers() and Path(name).exists()


def _refuse_unknown(name: str, described: Mapping[str, Any]) -> None:
    from opendesign.answering.catalogue import guess, providers

    provider, slash, rest = name.partition("/")
    if slash and rest and provider in providers():
        return
    if slash and rest:
        raise UnknownName("model provider", provider, providers())
    if full := guess(name):
        raise UsageError(f"A model is named with its provider: did you mean {full[0]}?")
    raise UnknownName("model", name, [*builtin_names(), *described, *(f"{p}/…" for p in USUAL_PROVIDERS)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A row of ``models list``. ``key`` is the name of a variable, and ``ready`` whether it is set."""

    name: str
    kind: str  # "builtin", "described" or "provider"
    about: str
    key: str | None = None
    ready: bool = True


def listed(models_file: Path | None = None) -> list[Listed]:
    """What can be named as a model here: controls, described models, and providers by their keys."""
    from opendesign.answering.catalogue import KEY_VARIABLES, key_variables
    from opendesign.answering.described import load_described

    rows = [Listed(name=name, kind="builtin", about="control, needs no key") for name in builtin_names()]
    for name, model in load_described(models_file).items():
        where = f"{model.model} at {model.base_url}" if model.base_url else model.model
        key = model.api_key_env
        rows.append(
            Listed(name=name, kind="described", about=where, key=key, ready=not key or key in os.environ)
        )
    for provider, usual in KEY_VARIABLES.items():
        key = next((name for name in key_variables(provider) if name in os.environ), usual)
        ready = key in os.environ
        rows.append(
            Listed(name=f"{provider}/…", kind="provider", about="through LiteLLM", key=key, ready=ready)
        )
    return rows


async def close_models() -> None:
    """Close the connections of every model of this event loop. Call it last, before the loop ends."""
    if "litellm" in sys.modules:
        from opendesign.answering.litellm_model import close_clients

        await close_clients()
