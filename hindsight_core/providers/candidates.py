"""Which provider and which models a purpose may use, in order (pi/L-01)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.providers.base import Purpose

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.services import BridgeAccess

SESSION_MODEL = "session model"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model to ask.

    Attributes:
        provider: Name that the provider is registered under.
        model: The model's id for that provider; None for the provider's own default.
        label: What people see, such as ``anthropic/claude-haiku``.
    """

    provider: str
    model: str | None
    label: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The provider in use and why it is that one."""

    provider: str
    reason: str


@dataclass(frozen=True, slots=True)
class HostModels:
    """What the host answered to ``host/models``."""

    windows: dict[str, int | None]
    current: str | None = None


def choose(settings: Settings, bridge: BridgeAccess | None) -> Choice:
    """The provider that ``models.provider`` means here.

    ``auto`` never takes an API key that merely lies in the environment: a key set for another
    program is no consent to send transcripts to its owner's account.
    """
    models = settings.models
    offered = bridge is not None and "complete" in bridge.capabilities
    if models.provider == "none":
        return Choice("none", "models.provider = none")
    if models.provider == "host" and not offered:
        return Choice("none", "models.provider = host, but the host offers no models here")
    if models.provider != "auto":
        return Choice(models.provider, f"models.provider = {models.provider}")
    # What the user wrote down wins over what merely happens to be there.
    if models.base_url:
        return Choice("openai", "models.provider = auto: models.base_url is set")
    if offered:
        return Choice("host", "models.provider = auto: the host offers its models")
    return Choice(
        "none",
        "models.provider = auto: no host model here and models.base_url is not set (keys in the "
        "environment are used only when models.api_key_env names them)",
    )


def configured(settings: Settings, purpose: Purpose) -> tuple[str, ...]:
    """Ids of a purpose in order: its own, the common one, its chain."""
    models = settings.models
    primary = models.recall if purpose == "recall" else models.retain
    chain = models.recall_chain if purpose == "recall" else models.retain_chain
    return tuple(dict.fromkeys(i.strip() for i in (primary, models.model, *chain) if i))


def candidates(
    ids: Iterable[str],
    *,
    provider: str,
    registered: Collection[str],
    host: HostModels | None,
) -> list[Candidate]:
    """Models to ask, in order, without duplicates and unknown ones.

    An id ``name:model`` asks another registered provider. The host's own models are named
    ``provider/id``, and after them comes the model of the session itself.

    Args:
        ids: As `configured` gives them.
        provider: The chosen provider.
        registered: Names of all providers.
        host: What the host offers; None when it is not known.
    """
    found: dict[str, Candidate] = {}
    for identifier in ids:
        name, _, rest = identifier.partition(":")
        if rest and name in registered:
            candidate = Candidate(name, rest, identifier)
        else:
            candidate = Candidate(provider, identifier, identifier)
        if candidate.provider != "host" or _known(candidate.model, host):
            found.setdefault(candidate.label, candidate)
    if provider == "host":
        own = (host.current if host else None) or SESSION_MODEL
        found.setdefault(own, Candidate("host", None, own))
    elif not found:
        found[provider] = Candidate(provider, None, provider)
    return list(found.values())


def _known(identifier: str | None, host: HostModels | None) -> bool:
    if identifier is None or identifier.find("/") < 1:
        return False
    return host is None or not host.windows or identifier in host.windows
