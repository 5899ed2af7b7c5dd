"""``/hindsight:next-opt-out``: the next turn is not written (s1/S-SES-2)."""

from __future__ import annotations

from dataclasses import replace

from hindsight_core.engine.commands.base import Command, CommandResult


class NextOptOut(Command):
    """Recall goes on; nothing of the next completed turn gets to disk, a bank or a journal."""

    name = "hindsight:next-opt-out"
    description = "leave the next turn out of memory"

    async def run(self, arguments: str) -> CommandResult:
        """Holds until a turn has ended."""
        await self.live.modes.change(lambda now: replace(now, next_opt_out=True))
        return CommandResult("the next turn is left out of memory")
