"""Where a session's windows end: the cursor, and what the journal need not keep any longer."""

from __future__ import annotations

import sqlite3


def cursor(connection: sqlite3.Connection, bank: str, session_id: str) -> str | None:
    """The last entry of a session that is dealt with."""
    row = connection.execute(
        "SELECT last_entry_id FROM windows WHERE bank = ? AND session_id = ?"
        " ORDER BY seq DESC LIMIT 1",
        (bank, session_id),
    ).fetchone()
    return None if row is None else str(row[0])


def move_cursor(
    connection: sqlite3.Connection, bank: str, session_id: str, entry_id: str, *, now: float
) -> None:
    """Put the cursor on an entry, back too, where it was before included."""
    if cursor(connection, bank, session_id) == entry_id:
        return
    row = connection.execute(
        "DELETE FROM windows WHERE bank = ? AND session_id = ? AND last_entry_id = ?"
        " RETURNING document_id",
        (bank, session_id, entry_id),
    ).fetchone()
    mark(connection, bank, session_id, entry_id, document_id=row[0] if row else "", now=now)


def mark(
    connection: sqlite3.Connection,
    bank: str,
    session_id: str,
    entry_id: str,
    *,
    document_id: str,
    now: float,
) -> None:
    """Record that a session is dealt with up to an entry; ``document_id`` empty: nothing stored."""
    connection.execute(
        "INSERT OR IGNORE INTO windows (bank, session_id, last_entry_id, document_id, recorded_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (bank, session_id, entry_id, document_id, now),
    )


def forget_journal(connection: sqlite3.Connection, bank: str, session_id: str, through: str) -> int:
    """Delete a session's journaled entries up to and with one; nothing when it is unknown."""
    return connection.execute(
        "DELETE FROM journal WHERE bank = ?1 AND session_id = ?2 AND seq <="
        " (SELECT seq FROM journal WHERE bank = ?1 AND session_id = ?2 AND entry_id = ?3)",
        (bank, session_id, through),
    ).rowcount
