"""The panel's methods on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hindsight_core.bridge.records import UNAVAILABLE, RpcError
from hindsight_core.errors import MemoryOff

if TYPE_CHECKING:
    from hindsight_core.bridge.peer import Handler
    from hindsight_core.engine.core import MemoryEngine


def panel_methods(
    engine: MemoryEngine, notify: Callable[[str, dict[str, Any]], None]
) -> dict[str, Handler]:
    """Handlers of ``panel/*``; where there is nothing to show the error says why."""
    from hindsight_core.panel.session import PanelSession

    panel = PanelSession(engine, notify)

    async def open_(params: dict[str, Any]) -> dict[str, Any]:
        try:
            return await panel.open(params)
        except MemoryOff as error:
            data = {"reason": str(error), "retryable": False}
            raise RpcError(UNAVAILABLE, str(error), data=data) from error

    return {"panel/open": open_, "panel/key": panel.key, "panel/close": panel.close}
