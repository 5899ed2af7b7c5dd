"""``/memory-pause`` and ``/memory-resume``: what runs by itself, for this session only."""

from __future__ import annotations

from hindsight_core.engine.auto import Auto
from hindsight_core.engine.commands.active.base import ActiveCommand
from hindsight_core.engine.commands.base import CommandResult


class MemoryPause(ActiveCommand):
    """Nothing is captured and nothing is sent; tools and commands go on."""

    name = "memory-pause"
    description = "no capture and no recall for the rest of this session"
    waits = False

    async def act(self, arguments: str) -> CommandResult:
        """Nothing of it is kept for another session."""
        live = self.live
        live.auto.recall = live.auto.memorize = False
        live.watch.changed()
        live.runtime.log.write("automation.paused", session=live.opening.session.id)
        return CommandResult("memory is paused for this session; /memory-resume goes on")


class MemoryResume(ActiveCommand):
    """As the configuration has it."""

    name = "memory-resume"
    description = "capture and recall as configured"
    waits = False

    async def act(self, arguments: str) -> CommandResult:
        """What was said while it was paused is not captured later."""
        live = self.live
        live.auto = Auto.of(live.runtime.settings)
        live.watch.changed()
        live.runtime.log.write("automation.resumed", session=live.opening.session.id)
        return CommandResult("memory goes on as configured")
