"""The way back to a host that has none: a spawned hook is asked, it cannot be asked."""

from __future__ import annotations

import logging
from typing import Any

from hindsight_core.errors import ProviderError

logger = logging.getLogger("hindsight_core.daemon")


class NoHost:
    """Implements `hindsight_core.services.BridgeAccess` for nobody."""

    capabilities: frozenset[str] = frozenset()

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Never answers: raises `ProviderError`."""
        raise ProviderError(f"{method}: a hook has no way back to its agent", retryable=False)


class NoOutlet:
    """Implements `hindsight_core.engine.outlet.Outlet`: notices go to the log."""

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """To the log."""
        if method == "notify":
            logger.info("%s: %s", params.get("level"), params.get("text"))

    def bridge(self, capabilities: frozenset[str]) -> NoHost:
        """There is no way back."""
        return NoHost()
