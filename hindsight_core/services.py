"""What a plugin's object is given: the few things it may use."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hindsight_core.providers.base import Completion, CompletionRequest, Embedder, Purpose
    from hindsight_core.stages import Stages

Clock = Callable[[], datetime]
LOGGER = logging.getLogger("hindsight_core")


def utc_now() -> datetime:
    """The real clock."""
    return datetime.now(UTC)


class ModelAccess(Protocol):
    """The configured model chain, as plugins and pipelines see it."""

    def available(self, purpose: Purpose) -> bool:
        """Whether any model is configured for this purpose."""
        ...

    async def complete(self, request: CompletionRequest, *, purpose: Purpose) -> Completion:
        """Ask the chain; raises `ProviderError` when all of it failed."""
        ...

    async def context_window(self, purpose: Purpose) -> int:
        """Tokens that the first model of the chain can read."""
        ...


class BridgeAccess(Protocol):
    """Requests to the host program (protocol.md, Core to host)."""

    capabilities: frozenset[str]

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request; raises `ProviderError` when the host fails or is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """Handed to every registered factory.

    Attributes:
        clock: Aware UTC now; a fake one in tests.
        logger: Writes to the log file.
        models: The model chain; None where no model may be called.
        embedder: The configured embedder, or None.
        bridge: The host program, or None outside of a bridge.
        section: The plugin's own validated settings section; None when it registered none. With
            nothing set by the user it holds that model's defaults.
        stages: Asks a template of the model chain; None where no model may be called.
        env: The session's environment: a daemon serves sessions of many.
    """

    clock: Clock = utc_now
    logger: logging.Logger = LOGGER
    models: ModelAccess | None = None
    embedder: Embedder | None = None
    bridge: BridgeAccess | None = None
    section: BaseModel | None = None
    stages: Stages | None = None
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
