"""``/mem-retain``: have the agent study something and store what it finds (pi/M-23)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult, UsageError
from hindsight_core.errors import MemoryOff
from hindsight_core.prompt_contexts import RetainTask


class MemRetain(Command):
    """A study task for the agent."""

    name = "mem-retain"
    description = "study something and store what was learned in memory"
    argument_hint = "<what to study>"

    async def run(self, arguments: str) -> CommandResult:
        """The task, as the user's next message; what is said during it is marked as saved."""
        if not arguments:
            raise UsageError("usage: /mem-retain <what to study>")
        runtime = self.live.runtime
        if runtime.read_only:
            raise MemoryOff("bank.read_only is set: nothing is stored")
        if (why := await self.live.modes.refuses("hindsight_retain")) is not None:
            return CommandResult(why, "error")
        task = RetainTask(
            task=arguments, bank=runtime.bank_id, language=runtime.settings.memorize.language
        )
        prompt = runtime.prompts.render("commands/retain", task).text.strip()
        self.live.study.begin()
        return CommandResult(prompt=prompt)
