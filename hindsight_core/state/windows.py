"""Windows of a session: where they end, what is in them, what the journal need not keep."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence


def cursor(
    connection: sqlite3.Connection,
    bank: str,
    session_id: str,
    *,
    path: Sequence[str] | None = None,
) -> str | None:
    """The last entry that is dealt with: the newest, or the last one on a path.

    A path may leave a window in its middle, or end there: then the cursor is inside of it.
    """
    rows = connection.execute(
        "SELECT last_entry_id FROM windows WHERE bank = ? AND session_id = ? ORDER BY seq DESC",
        (bank, session_id),
    )
    if path is None:
        newest = rows.fetchone()
        return None if newest is None else str(newest[0])
    inside = connection.execute(
        "SELECT entry_id FROM covered WHERE bank = ? AND session_id = ?", (bank, session_id)
    )
    known = {row[0] for row in rows} | {row[0] for row in inside}
    return next((entry_id for entry_id in reversed(path) if entry_id in known), None)


def holder(connection: sqlite3.Connection, bank: str, session_id: str, entry_id: str) -> str | None:
    """The document that an entry is in."""
    row = connection.execute(
        "SELECT document_id FROM covered WHERE bank = ? AND session_id = ? AND entry_id = ?",
        (bank, session_id, entry_id),
    ).fetchone()
    return None if row is None else str(row[0])


def cover(
    connection: sqlite3.Connection,
    bank: str,
    session_id: str,
    entry_ids: Sequence[str],
    *,
    document_id: str,
) -> None:
    """Record which document these entries are in; the journal need not keep them."""
    connection.executemany(
        "INSERT OR IGNORE INTO covered (bank, session_id, entry_id, document_id)"
        " VALUES (?, ?, ?, ?)",
        [(bank, session_id, entry_id, document_id) for entry_id in entry_ids],
    )
    connection.executemany(
        "DELETE FROM journal WHERE bank = ? AND session_id = ? AND entry_id = ?",
        [(bank, session_id, entry_id) for entry_id in entry_ids],
    )


def documents(connection: sqlite3.Connection, bank: str, session_id: str) -> list[str]:
    """Ids of the documents of a session's windows, each once, in order (pi/M-21)."""
    rows = connection.execute(
        "SELECT document_id FROM windows WHERE bank = ? AND session_id = ? AND document_id <> ''"
        " GROUP BY document_id ORDER BY min(seq)",
        (bank, session_id),
    )
    return [row[0] for row in rows]


def mark(
    connection: sqlite3.Connection,
    bank: str,
    session_id: str,
    entry_id: str,
    *,
    document_id: str,
    now: float,
) -> None:
    """Record that a session is dealt with up to an entry; ``document_id`` empty: nothing stored.

    An entry recorded before keeps its place in the order: whoever comes late with it, or sends an
    old window again, does not move the cursor back.
    """
    connection.execute(
        "INSERT OR IGNORE INTO windows (bank, session_id, last_entry_id, document_id, recorded_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (bank, session_id, entry_id, document_id, now),
    )


def rename(
    connection: sqlite3.Connection,
    bank: str,
    session_id: str,
    entry_ids: Sequence[str],
    *,
    last_entry_id: str,
    document_id: str,
) -> None:
    """Record that a window's entries are in another document than before."""
    connection.execute(
        "UPDATE windows SET document_id = ? WHERE bank = ? AND session_id = ?"
        " AND last_entry_id = ?",
        (document_id, bank, session_id, last_entry_id),
    )
    connection.executemany(
        "INSERT OR REPLACE INTO covered (bank, session_id, entry_id, document_id)"
        " VALUES (?, ?, ?, ?)",
        [(bank, session_id, entry_id, document_id) for entry_id in entry_ids],
    )


def forget_journal(connection: sqlite3.Connection, bank: str, session_id: str, through: str) -> int:
    """Delete a session's journaled entries up to and with one; nothing when it is unknown."""
    return connection.execute(
        "DELETE FROM journal WHERE bank = ?1 AND session_id = ?2 AND seq <="
        " (SELECT seq FROM journal WHERE bank = ?1 AND session_id = ?2 AND entry_id = ?3)",
        (bank, session_id, through),
    ).rowcount
