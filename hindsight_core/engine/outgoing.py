"""The writes of a session's banks on their way: counted, sent, tried again (s1/S-Q-4, S-Q-7)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hindsight_core.config.bank_entries import bank_entries
from hindsight_core.state.jobs import QueueCounts

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime
    from hindsight_core.state.jobs import JobRow, JobState


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush did.

    Attributes:
        sent: Writes that reached their bank.
        failed: Tries that did not succeed and will be repeated.
        refused: Writes that their bank gave up.
        reason: Why something is left, of the first bank that has a reason.
    """

    sent: int = 0
    failed: int = 0
    refused: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Outgoing:
    """The queue, as far as the banks of one configuration are concerned.

    Attributes:
        runtime: The opened configuration.
        only: The one bank that counts; None for all of them.
    """

    runtime: Runtime
    only: str | None = None

    @property
    def banks(self) -> tuple[str, ...]:
        """Banks that may be written, the project's first, also where it may not."""
        own = self.runtime.bank_id
        if self.only is not None:
            return (self.only,)
        entries = bank_entries(self.runtime.settings, own)
        return tuple(dict.fromkeys([own, *(e.id for e in entries if e.writable)]))

    async def counts(self) -> QueueCounts:
        """How all of them stand together."""
        found = [await self.runtime.queue.counts(bank) for bank in self.banks]
        paused = [one.paused_until for one in found if one.paused_until is not None]
        return QueueCounts(
            pending=sum(one.pending for one in found),
            dead=sum(one.dead for one in found),
            set_aside=sum(one.set_aside for one in found),
            paused_until=min(paused, default=None),
            last_error=next((one.last_error for one in found if one.last_error), None),
        )

    async def rows(self, state: JobState, *, limit: int) -> list[JobRow]:
        """Writes in one state, oldest first."""
        queue = self.runtime.queue
        found = [await queue.rows(bank=bank, state=state, limit=limit) for bank in self.banks]
        return sorted((row for rows in found for row in rows), key=lambda row: row.id)[:limit]

    async def flush(self, *, deadline_s: float) -> Flushed:
        """Send what waits, bank by bank, within the deadline."""
        loop = asyncio.get_running_loop()
        until, done = loop.time() + deadline_s, Flushed()
        for bank in self.banks:
            if not await self.runtime.queue.pending(bank):
                continue
            left = max(0.0, until - loop.time())
            opened = self.runtime.open_bank(bank)
            report = await self.runtime.outbox.drain(opened, deadline_s=left, force=True)
            refused = sum(receipt.outcome == "failed" for receipt in report.receipts)
            done = replace(
                done,
                sent=done.sent + report.sent,
                failed=done.failed + report.failed,
                refused=done.refused + refused,
                reason=done.reason or report.reason,
            )
        return done

    async def retry(self) -> int:
        """Give dead letters all their tries again; how many writes are due now."""
        queue = self.runtime.queue
        return sum([await queue.retry(bank=bank) for bank in self.banks])
