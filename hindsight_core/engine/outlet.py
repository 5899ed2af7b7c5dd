"""The way back from the engine to the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hindsight_core.services import BridgeAccess


class Outlet(Protocol):
    """What the engine needs of a connection."""

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send one notification."""
        ...

    def bridge(self, capabilities: frozenset[str]) -> BridgeAccess:
        """Requests to the host, for what it declared."""
        ...
