"""``/hindsight``: opens the panel at the hub (s1/S-SES-6)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult


class Hub(Command):
    """The same panel as ``/mem`` with one tab more, which it opens on."""

    name = "hindsight"
    description = "memory: the hub, with mode, queue and receipts"
    opens_panel = True

    async def run(self, arguments: str) -> CommandResult:
        """The host opens the panel."""
        self.live.commands.hub = True
        return CommandResult(panel=True)
