"""Each turn's entries on disk until they are memorized: what a dead session leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.errors import StorageError
from hindsight_core.services import Clock, utc_now
from hindsight_core.state import leases
from hindsight_core.state.entries import decode_entry, encode_entry
from hindsight_core.state.owner import Owner
from hindsight_core.state.windows import forget_journal, mark
from hindsight_core.transcript.path import active_path

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.state.queue import Queue
    from hindsight_core.transcript.entry import Entry


@dataclass(frozen=True, slots=True)
class LeftOver:
    """What a dead session had not memorized.

    Attributes:
        session_id: The session.
        host: The agent program it ran in.
        entries: Its journaled entries on the active path, oldest first, never empty.
        project: Name of the project, when known.
    """

    session_id: str
    host: str
    entries: tuple[Entry, ...]
    project: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The session and where this path of it ends."""
        return self.session_id, self.entries[-1].id


class Journal:
    """The turn journal and the leases that say which sessions live, in the queue's file.

    Args:
        queue: Whose file it shares, so that a window becomes durable and leaves the journal in
            one transaction.
        clock: Aware UTC now.
        lease_s: Where a process cannot see another (other machine, other container), a session
            silent for this long is dead.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(self, queue: Queue, clock: Clock = utc_now, *, lease_s: float = 120.0) -> None:
        self._database = queue.database
        self._clock = clock
        self._lease_s = lease_s
        self._owner = str(Owner.here())
        self._sessions: set[tuple[str, str]] = set()
        self._heart: asyncio.Task[None] | None = None

    async def lease(
        self, bank: str, session_id: str, *, host: str = "unknown", project: str | None = None
    ) -> None:
        """This process runs the session now; kept until `release` or its death."""
        session = leases.Session(bank, session_id, host, project)
        now = self._now()
        await self._database.write(
            lambda connection: leases.take(
                connection, session, self._owner, until=now + self._lease_s
            )
        )
        self._sessions.add((bank, session_id))
        if self._heart is None:
            self._heart = asyncio.get_running_loop().create_task(self._beat())

    async def release(self, bank: str, session_id: str) -> None:
        """The session ended here; what it has in the journal is free to be recovered."""
        self._sessions.discard((bank, session_id))
        if not self._sessions:
            self._stop()
        await self._database.write(
            lambda connection: leases.drop(connection, bank, session_id, self._owner)
        )

    async def append(
        self,
        bank: str,
        session_id: str,
        entries: Sequence[Entry],
        *,
        host: str = "unknown",
        project: str | None = None,
    ) -> int:
        """Make entries durable, each once, but those that are dealt with; how many were new.

        Args:
            bank: The session's bank.
            session_id: The session.
            entries: Sanitised, the active path or its end, oldest first.
            host: The agent program.
            project: Name of the project, when known.
        """
        session = leases.Session(bank, session_id, host, project)
        records = [(entry.id, encode_entry(entry)) for entry in entries]
        now = self._now()

        def work(connection: sqlite3.Connection) -> int:
            leases.take(connection, session, self._owner, until=now + self._lease_s)
            done = leases.marks(connection, bank, session_id)
            last = max((i for i, (key, _) in enumerate(records) if key in done), default=-1)
            before = connection.total_changes
            connection.executemany(
                "INSERT OR IGNORE INTO journal (bank, session_id, entry_id, payload, recorded_at)"
                " SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM covered"
                " WHERE bank = ?1 AND session_id = ?2 AND entry_id = ?3)"
                " AND NOT EXISTS (SELECT 1 FROM retained"
                " WHERE bank = ?1 AND session_id = ?2 AND entry_id = ?3)",
                [(bank, session_id, key, text, now) for key, text in records[last + 1 :]],
            )
            return connection.total_changes - before

        return await self._database.write(work)

    async def forget(self, bank: str, session_id: str, *, through: str) -> int:
        """Everything up to and with this entry is dealt with; how many entries were dropped.

        Enqueueing a window does this by itself; a window with nothing to store needs it.
        """
        now = self._now()

        def work(connection: sqlite3.Connection) -> int:
            mark(connection, bank, session_id, through, document_id="", now=now)
            return forget_journal(connection, bank, session_id, through)

        return await self._database.write(work)

    async def pending(self, bank: str, *, besides: str | None = None) -> int:
        """Sessions with entries that wait to be memorized, this process's own included.

        Sessions that live in another process do not count; neither does ``besides``.
        """
        now = self._now()

        def work(connection: sqlite3.Connection) -> int:
            return sum(
                session.session_id != besides
                for session in leases.waiting(connection, bank)
                if not leases.lives_elsewhere(session, self._owner, now=now, lease=self._lease_s)
            )

        return await self._database.read(work)

    async def recoverable(self, bank: str, *, limit: int = 20) -> list[LeftOver]:
        """What dead sessions of a bank left, each given to one caller only.

        The caller holds their leases from here on: it memorizes the entries and forgets them, or
        dies in its turn, and the next one gets them. Entries that cannot be decoded are set
        aside with the reason.
        """
        now = self._now()

        def work(connection: sqlite3.Connection) -> list[LeftOver]:
            found: list[LeftOver] = []
            for session in leases.waiting(connection, bank):
                if len(found) >= limit:
                    break
                if not leases.is_dead(session, now=now, lease=self._lease_s):
                    continue
                entries = _entries(connection, session, now=now)
                if entries:
                    leases.take(connection, session, self._owner, until=now + self._lease_s)
                    found.append(
                        LeftOver(session.session_id, session.host, entries, session.project)
                    )
            return found

        taken = await self._database.write(work)
        self._sessions.update((bank, left.session_id) for left in taken)
        if taken and self._heart is None:
            self._heart = asyncio.get_running_loop().create_task(self._beat())
        return taken

    def close(self) -> None:
        """Stop the heartbeat; leases end with the process."""
        self._stop()

    def _stop(self) -> None:
        if self._heart is not None:
            with suppress(RuntimeError):  # its loop is closed already
                self._heart.cancel()
            self._heart = None

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._lease_s / 3)
            until = self._now() + self._lease_s

            def work(connection: sqlite3.Connection, until: float = until) -> None:
                leases.prolong(connection, self._owner, until=until)

            with suppress(StorageError):  # a busy file: the next beat comes in time
                await self._database.write(work)

    def _now(self) -> float:
        return self._clock().timestamp()


def _entries(
    connection: sqlite3.Connection, session: leases.Session, *, now: float
) -> tuple[Entry, ...]:
    """A session's readable entries; the others are set aside."""
    rows = connection.execute(
        "SELECT seq, entry_id, payload FROM journal WHERE bank = ? AND session_id = ? ORDER BY seq",
        (session.bank, session.session_id),
    ).fetchall()
    entries = []
    for seq, entry_id, payload in rows:
        try:
            entries.append(decode_entry(payload))
        except ValueError as error:
            connection.execute(
                "INSERT INTO set_aside (source, bank, key, payload, reason, at)"
                " VALUES ('journal', ?, ?, ?, ?, ?)",
                (session.bank, f"{session.session_id}/{entry_id}", payload, str(error), now),
            )
            connection.execute("DELETE FROM journal WHERE seq = ?", (seq,))
    return active_path(entries)
