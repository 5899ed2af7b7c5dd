"""The panel of one bridge: ``panel/open``, ``panel/key``, ``panel/close`` (protocol.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import MemoryOff
from hindsight_core.panel.keys import key
from hindsight_core.panel.view import PanelView

if TYPE_CHECKING:
    from hindsight_core.engine.core import MemoryEngine
    from hindsight_core.panel.panel import Panel

Params = dict[str, Any]


class PanelSession:
    """Answers the panel's requests, one after another.

    Args:
        engine: Whose session it shows.
        notify: Sends ``panel/changed {lines}`` when lines change without a key.
    """

    def __init__(self, engine: MemoryEngine, notify: Callable[[str, Params], None]) -> None:
        self._engine = engine
        self._notify = notify
        self._panel: Panel | None = None
        self._size = (80, 24)
        self._colour = False
        self._turn = asyncio.Lock()

    async def open(self, params: Params) -> Params:
        """Open it anew, on Status, or on the hub where that was asked for.

        Raises:
            MemoryOff: There is nothing to show here, with the reason.
        """
        from hindsight_core.panel.book import make_tabs
        from hindsight_core.panel.panel import Panel

        async with self._turn:
            self._shut()
            self._colour = params.get("colour") is True
            self._measure(params)
            view = view_of(self._engine)
            self._panel = Panel(
                partial(make_tabs, view),
                changed=self._changed,
                first=view.first,
                inside=view.place is not None,
            )
            await self._panel.open()
            return self._reply(self._panel)

    async def key(self, params: Params) -> Params:
        """One key, by name, character or raw sequence; ``edited`` brings a text back."""
        async with self._turn:
            self._measure(params)
            panel = self._panel
            if panel is None:
                return {"lines": [], "closed": True}
            name, text = params.get("key"), params.get("text")
            if name == "edited":
                await panel.edited(text if isinstance(text, str) else None)
            elif isinstance(name, str):
                typed = text if name == "text" and isinstance(text, str) else None
                await panel.key(key(name, text=typed))
            return self._reply(panel)

    async def close(self, params: Params) -> Params:
        """Close it; closing twice is no harm."""
        self._shut()
        return {"lines": [], "closed": True}

    def _shut(self) -> None:
        if self._panel is not None:
            self._panel.close()
            self._panel = None

    def _measure(self, params: Mapping[str, Any]) -> None:
        given = (params.get("width"), params.get("height"))
        width, height = (
            size if isinstance(size, int) and size > 0 else known
            for size, known in zip(given, self._size, strict=True)
        )
        self._size = min(width, 1000), min(height, 1000)

    def _reply(self, panel: Panel) -> Params:
        if panel.closed:
            self._panel = None
            return {"lines": [], "closed": True}
        reply: Params = {"lines": self._lines(panel), "closed": False}
        if panel.edit is not None:
            reply["edit"] = {"title": panel.edit.title, "text": panel.edit.text}
        return reply

    def _lines(self, panel: Panel) -> list[str]:
        from hindsight_core.panel.lines import drawn

        width, height = self._size
        return drawn(panel.lines(width, height), width=width, colour=self._colour)

    def _changed(self) -> None:
        # During a key the answer to it carries the lines.
        if self._panel is not None and not self._turn.locked():
            self._notify("panel/changed", {"lines": self._lines(self._panel), "closed": False})


def view_of(engine: MemoryEngine) -> PanelView:
    """What the panel shows of an engine's session.

    Raises:
        MemoryOff: No session, an ephemeral one, or no readable configuration.
    """
    opening, live = engine.session
    if opening is None:
        raise MemoryOff("no session is open")
    if opening.loaded is None or opening.reload is None or opening.state == "tools-only":
        raise MemoryOff(opening.reason or f"memory is {opening.state} here")
    return PanelView(
        loaded=opening.loaded,
        state=opening.state,
        reason=opening.reason,
        runtime=live.runtime if live is not None else None,
        live=live,
        hub=live is not None and live.commands.take_hub(),
        place=live.take_panel_place() if live is not None else None,
        reload=opening.reload,
    )
