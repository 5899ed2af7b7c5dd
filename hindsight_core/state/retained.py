"""What the transcript source has behind it: which entries are in which document, and how told.

In the queue's file, so that a document and the entries in it become durable in one transaction:
a crash between the two repeats nothing and loses nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.services import Clock, utc_now

if TYPE_CHECKING:
    from hindsight_core.state.queue import Queue

_BATCH = 400


@dataclass(frozen=True, slots=True)
class Row:
    """One entry that is dealt with.

    Attributes:
        fingerprint: Of its content: other content under the same id is an edited entry.
        chain: Of the whole path up to it.
        document_id: Where it went; empty when nothing of it was stored.
    """

    entry_id: str
    fingerprint: str
    chain: str
    document_id: str = ""


@dataclass(frozen=True, slots=True)
class TranscriptMark:
    """The entries of a document, recorded together with it.

    Attributes:
        session_id: The session.
        new: Entries that become dealt with. If one of them was dealt with meanwhile, by whatever
            process, nothing is done and the caller looks again.
        known: Entries that stay where they are and whose chain has changed.
        keep_journal: Another source has yet to look at them.
    """

    session_id: str
    new: tuple[Row, ...]
    known: tuple[Row, ...] = ()
    keep_journal: bool = False


def overlaps(connection: sqlite3.Connection, bank: str, mark: TranscriptMark) -> bool:
    """Whether one of the new entries is dealt with already, in this very wording."""
    held = _rows(connection, bank, mark.session_id, [row.entry_id for row in mark.new])
    return any(
        (found := held.get(row.entry_id)) is not None and found.fingerprint == row.fingerprint
        for row in mark.new
    )


def record(
    connection: sqlite3.Connection, bank: str, mark: TranscriptMark, *, document_id: str, now: float
) -> None:
    """Note the entries, and drop from the journal what it need not keep."""
    connection.executemany(
        "INSERT OR REPLACE INTO retained VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (bank, mark.session_id, row.entry_id, row.fingerprint, row.chain, document_id, now)
            for row in mark.new
        ],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO retained VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (bank, mark.session_id, row.entry_id, row.fingerprint, row.chain, row.document_id, now)
            for row in mark.known
        ],
    )
    if not mark.keep_journal:
        connection.executemany(
            "DELETE FROM journal WHERE bank = ? AND session_id = ? AND entry_id = ?",
            [(bank, mark.session_id, row.entry_id) for row in (*mark.new, *mark.known)],
        )


class Retained:
    """The transcript source's cursor of each session and bank.

    Args:
        queue: Whose file it shares.
        clock: Aware UTC now.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(self, queue: Queue, clock: Clock = utc_now) -> None:
        self._database = queue.database
        self._clock = clock

    async def rows(
        self, bank: str, session_id: str, *, ids: Sequence[str] | None = None
    ) -> dict[str, Row]:
        """Entries of a session that are dealt with, by id; all of them without ``ids``."""
        return await self._database.read(lambda c: _rows(c, bank, session_id, ids))

    async def carried(self, bank: str, chains: Sequence[str]) -> int:
        """How many entries of a path, from its start, another session of the bank dealt with.

        A fork repeats the path of the session that it comes from, entry by entry. ``chains`` are
        those of the path; each stands for everything before it, so the longest one known counts.
        """

        def work(connection: sqlite3.Connection) -> int:
            for end in range(len(chains), 0, -_BATCH):
                part = chains[max(0, end - _BATCH) : end]
                marks = ", ".join("?" * len(part))
                rows = connection.execute(
                    f"SELECT chain FROM retained WHERE bank = ? AND chain IN ({marks})",
                    (bank, *part),
                )
                known = {row[0] for row in rows}
                last = max((at for at, chain in enumerate(part) if chain in known), default=None)
                if last is not None:
                    return max(0, end - _BATCH) + last + 1
            return 0

        return await self._database.read(work)

    async def settle(self, bank: str, mark: TranscriptMark, *, scrub: bool = False) -> bool:
        """Note entries of which nothing is stored; False when one was dealt with meanwhile.

        ``scrub``: what the journal held of them is not left in a file either.
        """
        now = self._clock().timestamp()

        def work(connection: sqlite3.Connection) -> bool:
            if overlaps(connection, bank, mark):
                return False
            record(connection, bank, mark, document_id="", now=now)
            return True

        done = await self._database.write(work)
        if scrub:
            await self._database.scrub()
        return done

    async def leave_out(self, session_id: str, entry_ids: Sequence[str], *, reason: str) -> None:
        """These entries are never stored, by whatever source or bank."""
        now = self._clock().timestamp()

        def work(connection: sqlite3.Connection) -> bool:
            connection.executemany(
                "INSERT OR IGNORE INTO left_out VALUES (?, ?, ?, ?)",
                [(session_id, entry_id, reason, now) for entry_id in entry_ids],
            )
            gone = connection.executemany(
                "DELETE FROM journal WHERE session_id = ? AND entry_id = ?",
                [(session_id, entry_id) for entry_id in entry_ids],
            )
            return gone.rowcount > 0

        if await self._database.write(work):
            await self._database.scrub()

    async def durable(self, session_id: str) -> frozenset[str]:
        """Entries of a session that are in the journal, in a document, or left out."""

        def work(connection: sqlite3.Connection) -> frozenset[str]:
            rows = connection.execute(
                "SELECT entry_id FROM journal WHERE session_id = ?1"
                " UNION SELECT entry_id FROM retained WHERE session_id = ?1"
                " UNION SELECT entry_id FROM covered WHERE session_id = ?1"
                " UNION SELECT entry_id FROM left_out WHERE session_id = ?1"
                " UNION SELECT last_entry_id FROM windows WHERE session_id = ?1",
                (session_id,),
            )
            return frozenset(row[0] for row in rows)

        return await self._database.read(work)

    async def left_out(self, session_id: str) -> Mapping[str, str]:
        """Entries of a session that are never stored, and why."""

        def work(connection: sqlite3.Connection) -> dict[str, str]:
            return dict(
                connection.execute(
                    "SELECT entry_id, reason FROM left_out WHERE session_id = ?", (session_id,)
                ).fetchall()
            )

        return await self._database.read(work)


def _rows(
    connection: sqlite3.Connection, bank: str, session_id: str, ids: Sequence[str] | None
) -> dict[str, Row]:
    select = (
        "SELECT entry_id, fingerprint, chain, document_id FROM retained"
        " WHERE bank = ? AND session_id = ?"
    )
    if ids is None:
        return {row[0]: Row(*row) for row in connection.execute(select, (bank, session_id))}
    found: dict[str, Row] = {}
    for start in range(0, len(ids), _BATCH):
        part = ids[start : start + _BATCH]
        marks = ", ".join("?" * len(part))
        rows = connection.execute(f"{select} AND entry_id IN ({marks})", (bank, session_id, *part))
        found.update({row[0]: Row(*row) for row in rows})
    return found
