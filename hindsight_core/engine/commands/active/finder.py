"""``/memory``, ``/memory-edit`` and ``/memory-forget``: the fuzzy finder, and what comes after."""

from __future__ import annotations

from hindsight_core.engine.commands.active.base import ActiveCommand, by_prefix
from hindsight_core.engine.commands.base import CommandResult, UsageError
from hindsight_core.engine.panel_place import PanelPlace

FINDER = "Memories"


class Memory(ActiveCommand):
    """Finds a memory, then edits or deletes it."""

    name = "memory"
    description = "find a memory, then edit, delete or restore it"

    async def act(self, arguments: str) -> CommandResult:
        """The panel opens at the finder; words given along are its first query."""
        return open_finder(self, query=arguments)


class MemoryEdit(ActiveCommand):
    """The same, and Enter edits."""

    name = "memory-edit"
    description = "find a memory and edit it"

    async def act(self, arguments: str) -> CommandResult:
        """The panel opens at the finder."""
        return open_finder(self, mode="edit", query=arguments)


class MemoryForget(ActiveCommand):
    """The same, and Enter deletes; with an id it deletes at once."""

    name = "memory-forget"
    description = "delete a memory, restorable"
    argument_hint = "[id or its beginning]"

    async def act(self, arguments: str) -> CommandResult:
        """Says what was deleted and how it is brought back."""
        if not arguments:
            return open_finder(self, mode="forget")
        live, runtime = self.live, self.live.runtime
        if runtime.read_only:
            raise UsageError("bank.read_only is set: nothing is deleted")
        fact = await by_prefix(runtime.bank, arguments)
        memory = await runtime.active.delete(
            fact.id, reason="forgotten by the user", session_id=live.opening.session.id
        )
        live.watch.look()
        back = f"hindsight-mem facts restore {runtime.bank_id}:{fact.id}"
        return CommandResult(f"forgotten: {memory.fact.text}\nback with `{back}`, or in /memory")


def open_finder(command: ActiveCommand, *, mode: str = "", query: str = "") -> CommandResult:
    """The host opens the panel, which opens at the finder."""
    command.live.panel_place = PanelPlace(FINDER, mode=mode, query=query.strip())
    return CommandResult(panel=True)
