"""``/hindsight:retain`` and ``/hindsight:recall``: one side of this session off (s1/S-SES-2)."""

from __future__ import annotations

from dataclasses import replace

from hindsight_core.engine.commands.base import Command, CommandResult, UsageError
from hindsight_core.engine.commands.mode import stands

_SWITCH = {"on": True, "off": False}


class SessionRetain(Command):
    """Nothing of the session is written while it is off, whatever its mode."""

    name = "hindsight:retain"
    description = "whether anything of this session is written"
    argument_hint = "on|off"

    async def run(self, arguments: str) -> CommandResult:
        """Switches it; it stays so in later processes."""
        on = _read(self, arguments)
        await self.live.modes.change(lambda now: replace(now, retain=on))
        self.live.watch.changed()
        return CommandResult(stands(self))


class SessionRecall(Command):
    """Nothing is recalled in the session while it is off, whatever its mode."""

    name = "hindsight:recall"
    description = "whether anything is recalled in this session"
    argument_hint = "on|off"

    async def run(self, arguments: str) -> CommandResult:
        """Switches it; it stays so in later processes."""
        on = _read(self, arguments)
        await self.live.modes.change(lambda now: replace(now, recall=on))
        self.live.watch.changed()
        return CommandResult(stands(self))


def _read(command: Command, arguments: str) -> bool:
    switch = _SWITCH.get(arguments.lower())
    if switch is None:
        raise UsageError(f"usage: /{command.name} on|off")
    return switch
