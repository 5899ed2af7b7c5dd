"""Durable first, then the bank: the only way a document reaches a bank."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError, StorageError
from hindsight_core.memory import Receipt
from hindsight_core.services import Clock, utc_now
from hindsight_core.state.delivery import PROBE_S, answers, heart, sent
from hindsight_core.state.jobs import WindowMark
from hindsight_core.state.owner import Owner

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hindsight_core.banks.base import Bank
    from hindsight_core.memory import Document
    from hindsight_core.state.jobs import Job
    from hindsight_core.state.queue import Queue
    from hindsight_core.state.retained import TranscriptMark

_POLL_S = 0.05
_BEHIND = "it is on disk, behind writes that another process delivers"
_LONGEST_REASON = 500
OVERLAP = "another process has memorized part of it meanwhile; the rest is for another try"


@dataclass(frozen=True, slots=True)
class DrainReport:
    """What a drain did.

    Attributes:
        receipts: Of every write that was delivered or given up.
        failed: Tries that did not succeed and will be repeated.
        pending: Writes of the bank that still wait.
        dead: Dead letters of the bank.
        reason: Why something is left: the bank is away, it asked to wait, time was up.
        away: The bank itself did not answer.
    """

    receipts: tuple[Receipt, ...] = ()
    failed: int = 0
    pending: int = 0
    dead: int = 0
    reason: str | None = None
    away: bool = False

    @property
    def sent(self) -> int:
        """How many writes reached the bank."""
        return sum(r.outcome in ("stored", "known") for r in self.receipts)


@dataclass(frozen=True, slots=True)
class _Try:
    receipt: Receipt
    away: bool = False


class Outbox:
    """Stores documents through the queue.

    Args:
        queue: Where a write is durable.
        clock: Aware UTC now.
        timeout_s: Bound on one delivery.
        redact: Cleans the reasons of failures: a bank's error may repeat a token.
        gate: May refuse a write before it is on disk, by raising `HindsightError`.
        gather: Send by ourselves only when so many writes wait; what a person or the agent asked
            for is sent at once.
    """

    def __init__(
        self,
        queue: Queue,
        clock: Clock = utc_now,
        *,
        timeout_s: float = 60.0,
        redact: Callable[[str], str] = str,
        gate: Callable[[str, Document], Awaitable[None]] | None = None,
        gather: int = 1,
    ) -> None:
        self.queue = queue
        self._gate = gate
        self._gather = gather
        self._redact = redact
        self._clock = clock
        self._timeout_s = timeout_s
        self._owner = Owner.here()

    async def store(
        self,
        bank: Bank,
        document: Document,
        *,
        window: WindowMark | TranscriptMark | tuple[str, str] | None = None,
        session_id: str | None = None,
        again: bool = False,
    ) -> Receipt:
        """Make a document durable, then try the bank once.

        Args:
            bank: Where it goes.
            document: What is stored; an explicit one is stored even if it was stored before.
            window: The window it came from, ``(session id, last entry id)`` at least: once
                this call has written to disk, the session's cursor is at that entry.
            session_id: Keeps the order of a session's writes where there is no window.
            again: Store it although a receipt says that it was stored.

        Returns:
            ``stored``, ``known``, ``queued`` (durable, the bank is away) or ``failed``, with the
            reason: a dead letter, or a window that overlaps one which another process stored
            (nothing was done then: cut it anew after the session's cursor).

        Raises:
            StorageError: It could not be made durable: nothing was acknowledged.
            HindsightError: The gate refused it; nothing is on disk.
        """
        if self._gate is not None:
            await self._gate(bank.id, document)
        gathers = not document.explicit and self._gather > 1
        entered = await self.queue.enqueue(
            bank.id,
            document,
            window=WindowMark(*window) if isinstance(window, tuple) else window,
            session_id=session_id,
            again=again or document.explicit,
            owner=None if gathers else self._owner,
        )
        if entered.job is not None:
            return (await self._deliver(bank, entered.job)).receipt
        if entered.outcome == "overlap":
            return Receipt("failed", document.id, reason=OVERLAP)
        if entered.job_id is None:
            return Receipt("known", document.id, fact_ids=entered.fact_ids)
        if gathers and await self.queue.pending(bank.id) < self._gather:
            return Receipt("queued", document.id)
        return await self._behind_others(bank, document, entered.job_id)

    async def drain(
        self, bank: Bank, *, deadline_s: float, max_jobs: int | None = None, force: bool = False
    ) -> DrainReport:
        """Deliver what waits for a bank, oldest first, until done or time is up.

        A write that fails while the bank works otherwise steps aside; when the bank itself is
        away the drain ends at once. Any number of processes may drain one queue.

        Args:
            bank: The bank.
            deadline_s: Seconds; what is left stays durable.
            max_jobs: At most so many tries.
            force: Do not wait for next-try times, except those that the bank asked for.
        """
        until = time.monotonic() + deadline_s
        receipts: list[Receipt] = []
        tried: set[int] = set()
        reason, away = None, False
        while max_jobs is None or len(tried) < max_jobs:
            left = until - time.monotonic()
            if left <= 0:
                reason = f"stopped after {deadline_s:g} s"
                break
            paused = await self.queue.paused_until(bank.id, force=force)
            if paused is not None:
                reason = f"{bank.id} is left alone until {paused:%Y-%m-%d %H:%M:%S} UTC"
                break
            job = await self.queue.claim(bank.id, self._owner, force=force, skip=tried)
            if job is None:
                break
            tried.add(job.id)
            outcome = await self._deliver(bank, job, limit_s=left)
            receipts.append(outcome.receipt)
            if outcome.away:
                reason, away = outcome.receipt.reason, True
                break
        return await self._report(bank, receipts, reason=reason, away=away)

    async def _report(
        self, bank: Bank, receipts: list[Receipt], *, reason: str | None, away: bool
    ) -> DrainReport:
        counts = await self.queue.counts(bank.id)
        settled = tuple(r for r in receipts if r.outcome != "queued")
        waiting = counts.last_error if counts.pending else None
        return DrainReport(
            receipts=settled,
            failed=len(receipts) - len(settled),
            pending=counts.pending,
            dead=counts.dead,
            reason=reason or waiting,
            away=away,
        )

    async def _behind_others(self, bank: Bank, document: Document, job_id: int) -> Receipt:
        """Earlier writes come first: deliver them, as long as that is quick."""
        until = time.monotonic() + PROBE_S
        while True:
            report = await self.drain(bank, deadline_s=max(0.0, until - time.monotonic()))
            for receipt in report.receipts:
                if receipt.document_id == document.id:
                    return receipt
            row = await self.queue.holds(job_id)
            # Somebody is just delivering it, or one of its session before it.
            if row is None or row.state == "dead" or time.monotonic() >= until:
                break
            if report.reason and not row.claimed:
                break
            await asyncio.sleep(_POLL_S)
        if row is None:
            return Receipt("stored", document.id)
        if row.state == "dead":
            return Receipt("failed", document.id, reason=row.reason)
        return Receipt("queued", document.id, reason=row.reason or report.reason or _BEHIND)

    async def _deliver(self, bank: Bank, job: Job, *, limit_s: float | None = None) -> _Try:
        bound = min(self._timeout_s, limit_s) if limit_s is not None else self._timeout_s
        try:
            async with heart(self.queue, job), asyncio.timeout(bound):
                receipt = await sent(bank, job)
        except asyncio.CancelledError:
            with suppress(StorageError):
                await asyncio.shield(self.queue.release(job))
            raise
        except TimeoutError:
            return await self._failed(bank, job, f"no answer within {bound:.0f} s", away=True)
        except BankError as error:
            return await self._refused(bank, job, error)
        except Exception as error:  # a third party's bank may raise anything
            return await self._failed(bank, job, f"{type(error).__name__}: {self._clean(error)}")
        if receipt.outcome == "failed":
            refusal = BankError(receipt.reason or "refused by the bank", retryable=False)
            return await self._refused(bank, job, refusal)
        await self.queue.done(job, receipt.fact_ids)
        return _Try(receipt)

    async def _refused(self, bank: Bank, job: Job, error: BankError) -> _Try:
        reason, wait = self._clean(error), error.retry_after
        # A full or unwritable disk under the bank is no document's fault.
        away = wait is not None or isinstance(error.__cause__, StorageError)
        if error.retryable or away:
            return await self._failed(bank, job, reason, away=away, retry_after=wait)
        if not await answers(bank):
            return await self._failed(bank, job, reason, away=True)
        await self.queue.fail(job, reason, retryable=False)
        return _Try(Receipt("failed", job.document.id, reason=reason))

    async def _failed(
        self,
        bank: Bank,
        job: Job,
        reason: str,
        *,
        away: bool = False,
        retry_after: float | None = None,
    ) -> _Try:
        away = away or not await answers(bank)
        state = await self.queue.fail(job, reason, retry_after=retry_after, bank_is_away=away)
        outcome = Receipt("failed" if state == "dead" else "queued", job.document.id, reason=reason)
        return _Try(outcome, away=away)

    def _clean(self, error: Exception) -> str:
        return self._redact(str(error))[:_LONGEST_REASON]
