"""``/mem-recall <query>``: search the bank and show what is there (pi/U-02, pi/D-28)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult, UsageError


class MemRecall(Command):
    """Shows facts to the user; the agent sees nothing of it."""

    name = "mem-recall"
    description = "search memory and show what is there"
    argument_hint = "<query>"

    async def run(self, arguments: str) -> CommandResult:
        """The facts, best first, one a line with date and id."""
        if not arguments:
            raise UsageError("usage: /mem-recall <query>")
        live = self.live
        if (why := await live.modes.refuses("hindsight_recall")) is not None:
            return CommandResult(why, "error")
        shown = live.runtime.sanitiser.label(arguments)
        answer = await live.tools.call("hindsight_recall", {"query": arguments})
        details = answer.details
        found = details.get("hits") or []
        live.runtime.log.write(
            "recall",
            session=live.opening.session.id,
            bank=live.runtime.bank_id,
            mode="command",
            outcome=details.get("outcome", "failed" if answer.is_error else "ok"),
            query=shown,
            found=len(found),
        )
        if answer.is_error:
            return CommandResult(answer.content, "error")
        if not found:
            return CommandResult(f"nothing about {shown!r} in bank {live.runtime.bank_id}")
        facts = "fact" if len(found) == 1 else "facts"
        return CommandResult(f"{len(found)} {facts} about {shown!r}\n{answer.content}")
