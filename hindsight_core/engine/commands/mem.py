"""``/mem``: opens the panel, also where no bank is declared (pi/U-01)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult


class Mem(Command):
    """The panel: status, settings, review, log, facts."""

    name = "mem"
    description = "memory: status, settings, review, log, facts"
    opens_panel = True

    async def run(self, arguments: str) -> CommandResult:
        """The host opens the panel."""
        return CommandResult(panel=True)
