"""``/mem-mark``: pass over what was said so far (pi/M-24)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult, UsageError


class MemMark(Command):
    """Moves the cursor to the end without storing anything."""

    name = "mem-mark"
    description = "memorize only what is said from here on"

    async def run(self, arguments: str) -> CommandResult:
        """Nothing is written to the bank; what waited in the journal is let go."""
        if arguments:
            raise UsageError("usage: /mem-mark")
        live, runtime = self.live, self.live.runtime
        if not live.path.entries:
            return CommandResult("nothing to mark: nothing was said in this session yet")
        session = live.opening.session.id
        last = runtime.sanitiser.entry_id(live.path.entries[-1].id)
        await runtime.sessions.set_cursor(runtime.bank_id, session, last)
        if clean := runtime.sanitiser.entries(live.path.entries):
            # What the journal did not hold yet must not be found in it after a crash either.
            await live.durable.write(live.path.entries)
            await runtime.journal.forget(runtime.bank_id, session, through=clean[-1].id)
        return CommandResult("marked: only what is said from here on is memorized")
