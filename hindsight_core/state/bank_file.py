"""Whether a bank is still the file it was: what a lost one held does not count as stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.state.queue import Queue
    from hindsight_core.state.sessions import SessionState

_STORED = ("receipts", "covered", "windows", "retained")
_OF_SESSIONS = ("saved_ranges", "shown", "summaries")


async def recognise(queue: Queue, sessions: SessionState, bank: str, identity: str) -> bool:
    """Compare a bank's file with the one known so far, and start anew when it is another.

    A file that was corrupt, emptied or removed is replaced by an empty one; sessions that were
    memorized into the lost one can then be memorized again. Waiting writes, dead letters and
    the journal stay: they are not in any bank yet.

    Args:
        queue: Receipts, windows, and the identity known so far.
        sessions: Ranges, shown facts and summaries.
        bank: Id of the bank.
        identity: Made with the bank's file.

    Returns:
        Whether it is the same file, or the first one seen.

    Raises:
        StorageError: A file cannot be read or written.
    """
    known = await queue.database.read(lambda connection: _known(connection, bank))
    if known == identity:
        return True
    if known is not None:
        # First this one: a crash in between finds the difference again.
        await sessions.database.write(lambda connection: _drop(connection, _OF_SESSIONS, bank))

    def work(connection: sqlite3.Connection) -> bool:
        before = _known(connection, bank)
        if before not in (None, identity):
            _drop(connection, _STORED, bank)
        connection.execute(
            "INSERT INTO bank_files VALUES (?, ?)"
            " ON CONFLICT (bank) DO UPDATE SET identity = excluded.identity",
            (bank, identity),
        )
        return before in (None, identity)

    return await queue.database.write(work)


def _known(connection: sqlite3.Connection, bank: str) -> str | None:
    found = connection.execute("SELECT identity FROM bank_files WHERE bank = ?", (bank,)).fetchone()
    return str(found[0]) if found else None


def _drop(connection: sqlite3.Connection, tables: tuple[str, ...], bank: str) -> None:
    for table in tables:
        connection.execute(f"DELETE FROM {table} WHERE bank = ?", (bank,))
