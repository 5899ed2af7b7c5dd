"""Keys that the host program has stored: asked for once, kept in memory, sent to one owner only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from hindsight_core.services import BridgeAccess

# A stored key goes to the service that issued it and to no address of a configuration file.
OWNERS = {"anthropic": "api.anthropic.com", "openai": "api.openai.com"}
StoredKey = Callable[[], Awaitable[str | None]]


def stored_key(bridge: BridgeAccess | None, provider: str, base_url: str) -> StoredKey | None:
    """How to get the host's key for a provider; None where it must not or cannot be used."""
    parts = urlsplit(base_url)
    if bridge is None or "credentials" not in bridge.capabilities:
        return None
    if parts.scheme != "https" or parts.hostname != OWNERS.get(provider):
        return None
    kept: list[str] = []

    async def ask() -> str | None:
        if not kept:
            answer = await bridge.request("host/credentials", {"provider": provider})
            key = answer.get("apiKey")
            if not isinstance(key, str) or not key:
                return None
            kept.append(key)
        return kept[0]

    return ask
