"""``/memory-settings`` and ``/memory-compact``: what is done in the panel."""

from __future__ import annotations

from hindsight_core.engine.commands.active.base import ActiveCommand
from hindsight_core.engine.commands.base import CommandResult
from hindsight_core.engine.panel_place import PanelPlace


class MemorySettings(ActiveCommand):
    """The panel's settings, those of active memory."""

    name = "memory-settings"
    description = "settings of active memory"
    opens_panel = True

    async def act(self, arguments: str) -> CommandResult:
        """The panel opens there; what is changed is written to the user's own file."""
        self.live.panel_place = PanelPlace("Settings", mode="active-memory")
        return CommandResult(panel=True)


class MemoryCompact(ActiveCommand):
    """Related pairs, one at a time; nothing is combined that the user has not seen."""

    name = "memory-compact"
    description = "review related memories and combine them"

    async def act(self, arguments: str) -> CommandResult:
        """The panel opens at the review of pairs."""
        self.live.panel_place = PanelPlace("Combine")
        return CommandResult(panel=True)
