"""``/memory-list``: active memories and their ids."""

from __future__ import annotations

from hindsight_core.engine.commands.active.base import ActiveCommand
from hindsight_core.engine.commands.base import CommandResult, UsageError

MOST = 100
SCOPES = ("global", "project")


class MemoryList(ActiveCommand):
    """At most a hundred, newest first."""

    name = "memory-list"
    description = "active memories and their ids"
    argument_hint = "[global|project]"

    async def act(self, arguments: str) -> CommandResult:
        """One a line."""
        if arguments not in ("", *SCOPES):
            raise UsageError("usage: /memory-list, /memory-list global or project")
        active = self.live.runtime.active
        page = await self.live.runtime.bank.list_facts(limit=500)
        memories = [m for m in await active.of_facts(page.facts) if active.is_here(m)]
        found = [m for m in memories if arguments in ("", m.record.scope)]
        lines = [
            f"{m.fact.id}  [{m.record.scope} · {m.fact.kind} · {m.record.told.actor} · "
            f"{m.record.confidence:.2f}]  {m.fact.text}"
            for m in found[:MOST]
        ]
        more = f"… and {len(found) - MOST} more" if len(found) > MOST else ""
        return CommandResult("\n".join([*lines, *filter(None, [more])]) or "no memories")
