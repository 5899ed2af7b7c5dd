"""Engines of one bridge: one for a host with one session, more where it runs several."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsight_core.engine.core import MemoryEngine
    from hindsight_core.engine.outlet import Outlet
    from hindsight_core.services import BridgeAccess


class Engines:
    """Makes engines and closes those that are left; a session that has ended is forgotten.

    Args:
        make: Gives a new engine over an outlet.
        outlet: The way back to the host, which all of them share.
    """

    def __init__(self, make: Callable[[Outlet], MemoryEngine], outlet: Outlet) -> None:
        self._make = make
        self._outlet = _Once(outlet)
        self._open: weakref.WeakSet[MemoryEngine] = weakref.WeakSet()

    def another(self) -> MemoryEngine:
        """An engine for one more session of this process."""
        engine = self._make(self._outlet)
        self._open.add(engine)
        return engine

    async def close(self) -> None:
        """The host is gone: every open session is made durable."""
        await asyncio.gather(*(engine.close() for engine in list(self._open)))


class _Once:
    """Sessions side by side meet the same trouble: the person is told of it once."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._told: set[str] = set()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        if method == "notify":
            text = str(params.get("text"))
            if params.get("level") == "info":
                # It is over: from now on the same trouble is news again.
                is_news = bool(self._told)
                self._told.clear()
            else:
                is_news = text not in self._told
                self._told.add(text)
            if not is_news:
                return
        self._outlet.notify(method, params)

    def bridge(self, capabilities: frozenset[str]) -> BridgeAccess:
        return self._outlet.bridge(capabilities)
