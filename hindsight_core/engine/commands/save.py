"""``/mem-save [all]``: memorize this session now (pi/M-01, pi/M-22)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult, UsageError
from hindsight_core.errors import MemoryOff


class MemSave(Command):
    """Memorizes what is new, or all of the session anew."""

    name = "mem-save"
    description = "memorize this session now; all: from its start, in place of what it stored"
    argument_hint = "[all]"

    async def run(self, arguments: str) -> CommandResult:
        """Starts it in the background; what came of it is told as a notice."""
        if arguments not in ("", "all"):
            raise UsageError("usage: /mem-save [all]")
        live = self.live
        if live.runtime.read_only:
            raise MemoryOff("bank.read_only is set: nothing is stored")
        await live.modes.refresh()
        if (why := live.modes.why_no_session) is not None:
            return CommandResult(f"nothing is saved here: {why}", "error")
        entries = live.modes.writable(live.path.entries)
        if not entries:
            return CommandResult("nothing to save: nothing was said in this session yet")
        live.work.memorize(entries, reason="resave" if arguments else "manual")
        what = "all of this session, from its start" if arguments else "what is new in this session"
        return CommandResult(f"memorizing {what}, in the background")
