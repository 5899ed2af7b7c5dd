"""The durable write queue: a write is on disk before anyone is told that it is saved."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from hindsight_core.services import Clock, utc_now
from hindsight_core.state import claims, overview, windows
from hindsight_core.state.codec import content_hash, decode_document, encode_document
from hindsight_core.state.enqueue import Incoming, enqueue
from hindsight_core.state.jobs import Enqueued, Job, JobRow, JobState, QueueCounts, WindowMark
from hindsight_core.state.owner import Owner
from hindsight_core.state.policy import QueuePolicy
from hindsight_core.state.queue_schema import QUEUE_SCHEMA
from hindsight_core.state.salvage import salvage
from hindsight_core.storage import Database

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime
    from pathlib import Path

    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Document
    from hindsight_core.state.retained import TranscriptMark


class Queue:
    """Writes on their way to a bank, shared by every process of the user.

    Args:
        path: The file, ``$HINDSIGHT_MEM_HOME/queue.db``.
        clock: Aware UTC now.
        settings: For the bounds; None for the defaults.
        policy: The bounds themselves, instead of settings.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(
        self,
        path: Path,
        clock: Clock = utc_now,
        settings: Settings | None = None,
        *,
        policy: QueuePolicy | None = None,
    ) -> None:
        self.policy = policy or QueuePolicy.of(settings)
        self.database = Database(path, QUEUE_SCHEMA, synchronous="FULL", salvage=salvage)
        self._clock = clock

    async def enqueue(
        self,
        bank: str,
        document: Document,
        *,
        window: WindowMark | TranscriptMark | None = None,
        session_id: str | None = None,
        again: bool = False,
        owner: Owner | None = None,
    ) -> Enqueued:
        """Make a write durable, once for each content of a document.

        Args:
            bank: Id of the bank.
            document: What to store; frozen from here on.
            window: End of the window it came from, recorded in the same transaction.
            session_id: Keeps the order of one session's writes; the window's by default.
            again: Store it although it was stored before.
            owner: Claim it at once for this holder, if its turn has come.
        """
        item = Incoming(
            bank=bank,
            document_id=document.id,
            payload=encode_document(document),
            content_hash=content_hash(document),
            session_id=session_id or (window.session_id if window else None),
            window=window,
            again=again,
            append=document.append,
        )
        now = self._now()

        def work(connection: sqlite3.Connection) -> tuple[Enqueued, claims.Claimed | None]:
            result = enqueue(connection, item, now=now)
            if owner is None or result.job_id is None:
                return result, None
            paused = claims.paused_until(connection, bank, policy=self.policy, now=now, force=False)
            if paused is not None:
                return result, None
            claimed = claims.claim(
                connection,
                bank,
                str(owner),
                policy=self.policy,
                now=now,
                job_id=result.job_id,
            )
            return result, claimed

        result, claimed = await self.database.write(work)
        if claimed is None or owner is None:
            return result
        return Enqueued("queued", job_id=result.job_id, job=_job(claimed, document, owner))

    async def claim(
        self, bank: str, owner: Owner, *, force: bool = False, skip: Collection[int] = ()
    ) -> Job | None:
        """The next write of a bank, now leased to ``owner``; None when there is nothing to do.

        A row that cannot be decoded becomes a dead letter with the reason and the next one is
        taken (br/BR-46).
        """
        while True:
            now = self._now()

            def work(connection: sqlite3.Connection, now: float = now) -> claims.Claimed | None:
                return claims.claim(
                    connection,
                    bank,
                    str(owner),
                    policy=self.policy,
                    now=now,
                    force=force,
                    skip=skip,
                )

            claimed = await self.database.write(work)
            if claimed is None:
                return None
            try:
                return _job(claimed, decode_document(claimed.payload), owner)
            except ValueError as error:
                await self._bury(claimed.id, f"cannot be decoded: {error}")

    async def heartbeat(self, job: Job) -> bool:
        """Prolong a claim; False when another process has it."""
        until = self._now() + self.policy.lease
        return await self.database.write(
            lambda connection: claims.heartbeat(connection, job.id, job.owner, until=until)
        )

    async def done(self, job: Job, fact_ids: Collection[str] = ()) -> bool:
        """Replace a delivered write by its receipt; False when the claim was lost."""
        now, ids = self._now(), tuple(fact_ids)
        return await self.database.write(
            lambda connection: claims.finish(connection, job.id, job.owner, fact_ids=ids, now=now)
        )

    async def fail(
        self,
        job: Job,
        reason: str,
        *,
        retryable: bool = True,
        retry_after: float | None = None,
        bank_is_away: bool = False,
    ) -> JobState:
        """Record a failed try.

        A failure counts against the write only if the bank works otherwise: an outage or a rate
        limit pauses the bank instead, for every process, and never makes a dead letter.

        Returns:
            ``pending`` when it will be tried again, ``dead`` when a person has to decide.
        """
        now = self._now()

        failure = claims.Failure(
            reason, retryable=retryable, retry_after=retry_after, bank_is_away=bank_is_away
        )
        return await self.database.write(
            lambda connection: claims.fail(
                connection, job.id, job.owner, failure, bank=job.bank, policy=self.policy, now=now
            )
        )

    async def release(self, job: Job) -> None:
        """Give a claim back untried: the caller was cancelled."""
        now = self._now()
        await self.database.write(
            lambda connection: claims.give_back(
                connection, job.id, job.owner, next_at=now, reason=None, strike=False
            )
        )

    async def paused_until(self, bank: str, *, force: bool = False) -> datetime | None:
        """Until when the bank is left alone; None when it may be called."""
        return await self.database.read(
            lambda connection: overview.paused(
                connection, bank, policy=self.policy, now=self._now(), force=force
            )
        )

    async def holds(self, job_id: int) -> JobRow | None:
        """The write with this id while it is in the queue."""
        now, lease = self._now(), self.policy.lease
        return await self.database.read(
            lambda connection: overview.row(connection, job_id, now=now, lease=lease)
        )

    async def cursor(
        self, bank: str, session_id: str, *, path: Sequence[str] | None = None
    ) -> str | None:
        """The last entry of a session that is dealt with: enqueued, or nothing to store.

        ``path``, the ids of the active path in order, finds the one on this branch.
        """
        return await self.database.read(lambda c: windows.cursor(c, bank, session_id, path=path))

    async def move_cursor(self, bank: str, session_id: str, entry_id: str) -> None:
        """Everything of a session up to and with this entry is dealt with."""
        if await self.cursor(bank, session_id) == entry_id:
            return
        now = self._now()
        await self.database.write(
            lambda c: windows.mark(c, bank, session_id, entry_id, document_id="", now=now)
        )

    async def documents(self, bank: str, session_id: str) -> list[str]:
        """Ids of the documents that a session's windows became, each once, in order."""
        return await self.database.read(lambda c: windows.documents(c, bank, session_id))

    async def pending(self, bank: str | None = None) -> int:
        """Writes that are durable here and not yet in their bank."""
        return (await self.counts(bank)).pending

    async def counts(self, bank: str | None = None) -> QueueCounts:
        """How the queue stands, for one bank or for all."""
        now = self._now()
        return await self.database.read(
            lambda connection: overview.counts(connection, bank, policy=self.policy, now=now)
        )

    async def rows(
        self, *, bank: str | None = None, state: JobState | None = None, limit: int = 100
    ) -> list[JobRow]:
        """Writes in the queue, oldest first."""
        now, lease = self._now(), self.policy.lease
        return await self.database.read(
            lambda connection: overview.rows(
                connection, bank=bank, state=state, limit=limit, now=now, lease=lease
            )
        )

    async def retry(self, *, bank: str | None = None, ids: Collection[int] = ()) -> int:
        """Let dead letters and waiting writes be tried again now; how many."""
        now, chosen = self._now(), tuple(ids)
        return await self.database.write(
            lambda connection: overview.retry(connection, bank=bank, ids=chosen, now=now)
        )

    async def purge(
        self, *, bank: str | None = None, ids: Collection[int] = (), pending: bool = False
    ) -> int:
        """Drop dead letters and set-aside records (``pending``: waiting writes too); how many."""
        now, chosen = self._now(), tuple(ids)
        return await self.database.write(
            lambda connection: overview.purge(
                connection, bank=bank, ids=chosen, pending=pending, now=now
            )
        )

    def close(self) -> None:
        """Finish what is being written and close the file."""
        self.database.close()

    async def _bury(self, job_id: int, reason: str) -> None:
        now = self._now()
        await self.database.write(
            lambda connection: claims.bury(connection, job_id, reason, now=now)
        )

    def _now(self) -> float:
        return self._clock().timestamp()


def _job(claimed: claims.Claimed, document: Document, owner: Owner) -> Job:
    return Job(
        id=claimed.id,
        bank=claimed.bank,
        document=document,
        content_hash=claimed.content_hash,
        session_id=claimed.session_id,
        attempts=claimed.attempts,
        owner=str(owner),
    )
