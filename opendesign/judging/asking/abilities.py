"""What a judge's model can do, as its description says, else as LiteLLM's list knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opendesign.errors import UsageError

if TYPE_CHECKING:
    from opendesign.answering.described import Description
    from opendesign.answering.models import Model
    from opendesign.types import Card

__all__ = ["asked_name", "check", "most_tokens", "takes_schema"]


def asked_name(model: Model) -> str:
    """The name a provider knows the model by: its LiteLLM name where it has one."""
    described = _description(model)
    return described.model if described else model.name


def check(model: Model, card: Card) -> None:
    """Raise ``UsageError`` where the model cannot sit in that judge. Call it before anything is sent."""
    from opendesign.answering.disk import DiskModel
    from opendesign.answering.models import BuiltinModel

    if isinstance(model, (BuiltinModel, DiskModel)):
        raise UsageError(
            f"'{model.name}' answers cases only: name a LiteLLM model for the judge '{card.name}', as "
            f"--judge-model {card.name}=PROVIDER/MODEL."
        )
    looks = "pictures" in card.settings or card.live
    if looks and _ability(model, "vision", "supports_vision") is False:
        raise UsageError(
            f"The judge '{card.name}' looks at pictures and '{model.name}' sees none: name a model that does."
        )


def takes_schema(model: Model) -> bool:
    """Whether a reply can be held to a JSON schema."""
    return _ability(model, "json_schema", "supports_response_schema") is True


def most_tokens(model: Model, wanted: int) -> int:
    """Tokens to ask for: those wanted, or fewer where the model is known to give fewer."""
    from opendesign.answering import catalogue

    described = _description(model)
    most = catalogue.most_tokens(described.model) if described and not described.base_url else None
    return min(wanted, most) if most else wanted


def _ability(model: Model, described_as: str, listed_as: str) -> bool | None:
    """True, False, or None where nobody says. At another address LiteLLM's list says nothing."""
    from opendesign.answering import catalogue

    described = _description(model)
    if described is None:
        return None
    told: Any = getattr(described, described_as)
    if told is None and not described.base_url:
        told = catalogue.known(described.model).get(listed_as)
    return told if isinstance(told, bool) else None


def _description(model: Model) -> Description | None:
    """A backend of somebody else's may have none."""
    from opendesign.answering.described import Description

    found = getattr(model, "description", None)
    return found if isinstance(found, Description) else None
