"""``/hindsight:queue``: what waits for the bank, and sending it now (s1/S-SES-6, S-Q-7)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult, UsageError
from hindsight_core.engine.outgoing import Outgoing

_FLUSH_S = 20.0


class SessionQueue(Command):
    """Counts, never content; ``flush`` sends, ``retry`` gives dead letters their tries again."""

    name = "hindsight:queue"
    description = "writes that wait for the bank"
    argument_hint = "[flush|retry]"

    async def run(self, arguments: str) -> CommandResult:
        """How the queue stands, after what was asked."""
        outgoing = Outgoing(self.live.runtime)
        if arguments not in ("", "flush", "retry"):
            raise UsageError("usage: /hindsight:queue, /hindsight:queue flush or retry")
        if arguments == "retry":
            await outgoing.retry()
        sent = (await outgoing.flush(deadline_s=_FLUSH_S)).sent if arguments else None
        counts = await outgoing.counts()
        said = [] if sent is None else [f"{sent} sent"]
        said += [f"{counts.pending} pending", f"{counts.dead} dead"]
        said += [f"{counts.set_aside} unreadable"] if counts.set_aside else []
        if counts.last_error and (counts.pending or counts.dead):
            said.append(f"last error: {counts.last_error}")
        if counts.dead:
            said.append("try dead letters again with /hindsight:queue retry")
        return CommandResult(" · ".join(said), "warning" if counts.dead else "info")
