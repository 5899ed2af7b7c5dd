"""What the commands of active memory share: where they are offered, and finding a memory."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from hindsight_core.engine.commands.base import Command, CommandResult, UsageError

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Fact

_PAGE, _MOST = 500, 10_000
_SHOWN = 5
_SETTLE_S = 15.0


class ActiveCommand(Command):
    """Offered with ``tools.memory``, as the tools are.

    Attributes:
        waits: What is being captured is finished first, so that the answer holds it.
    """

    waits: ClassVar[bool] = True

    async def run(self, arguments: str) -> CommandResult:
        """Let the capture queue run empty, but not for ever (am/A-SCHED-6)."""
        if self.waits:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SETTLE_S):
                    await self.live.work.settled()
        return await self.act(arguments)

    async def act(self, arguments: str) -> CommandResult:
        """Do it; raises as `Command.run`."""
        raise NotImplementedError

    @classmethod
    def offered(cls, settings: Settings) -> bool:
        """Whether these settings offer it."""
        return settings.tools.memory


async def by_prefix(bank: Bank, given: str) -> Fact:
    """The one active memory with this id, or whose id begins so.

    Raises:
        UsageError: There is none, or more than one.
        BankError: The bank failed.
    """
    wanted = given.removeprefix(f"{bank.id}:")
    whole = await bank.get_fact(wanted)
    if whole is not None and whole.state == "valid":
        return whole
    found: list[Fact] = []
    for offset in range(0, _MOST, _PAGE):
        page = await bank.list_facts(limit=_PAGE, offset=offset)
        found += [fact for fact in page.facts if fact.id.startswith(wanted)]
        if offset + _PAGE >= page.total:
            break
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"No active memory has an id that begins with {given!r}: /memory-list.")
    named = ", ".join(fact.id for fact in found[:_SHOWN])
    raise UsageError(f"{given!r} begins {len(found)} ids; give more of it: {named}")
