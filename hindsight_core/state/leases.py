"""Which sessions live: rows with an owner, a heartbeat and entries in the journal."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from hindsight_core.state.owner import presence


@dataclass(frozen=True, slots=True)
class Session:
    """A session as the leases know it.

    Attributes:
        owner: The process that runs it; None when it ended.
        until: When its lease ends unless it is prolonged, in seconds.
    """

    bank: str
    session_id: str
    host: str
    project: str | None = None
    owner: str | None = None
    until: float | None = None


def take(connection: sqlite3.Connection, session: Session, owner: str, *, until: float) -> None:
    """Make a process the owner of a session."""
    connection.execute(
        "INSERT INTO sessions (bank, session_id, host, project, owner, lease_until)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (bank, session_id) DO UPDATE SET"
        " host = CASE excluded.host WHEN 'unknown' THEN host ELSE excluded.host END,"
        " project = coalesce(excluded.project, project),"
        " owner = excluded.owner, lease_until = excluded.lease_until",
        (session.bank, session.session_id, session.host, session.project, owner, until),
    )


def prolong(connection: sqlite3.Connection, owner: str, *, until: float) -> int:
    """The heartbeat of all sessions of a process."""
    return connection.execute(
        "UPDATE sessions SET lease_until = ? WHERE owner = ?", (until, owner)
    ).rowcount


def drop(connection: sqlite3.Connection, bank: str, session_id: str, owner: str) -> None:
    """End a session; its row stays while the journal has entries of it."""
    connection.execute(
        "UPDATE sessions SET owner = NULL, lease_until = NULL"
        " WHERE bank = ? AND session_id = ? AND owner = ?",
        (bank, session_id, owner),
    )
    connection.execute(
        "DELETE FROM sessions WHERE bank = ?1 AND session_id = ?2 AND owner IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM journal WHERE bank = ?1 AND session_id = ?2)",
        (bank, session_id),
    )


def waiting(connection: sqlite3.Connection, bank: str) -> list[Session]:
    """Sessions of a bank with journaled entries, oldest first."""
    rows = connection.execute(
        "SELECT j.bank, j.session_id, coalesce(s.host, 'unknown'), s.project, s.owner,"
        " s.lease_until FROM journal j LEFT JOIN sessions s"
        " ON s.bank = j.bank AND s.session_id = j.session_id"
        " WHERE j.bank = ? GROUP BY j.session_id ORDER BY min(j.seq)",
        (bank,),
    )
    return [Session(*row) for row in rows]


def is_dead(session: Session, *, now: float, lease: float) -> bool:
    """Whether nobody will memorize a session's entries any more.

    A process that can be seen to run keeps its sessions however long it is silent (a laptop
    asleep); one that cannot be seen keeps them until its lease ends.
    """
    if session.owner is None or session.until is None:
        return True
    seen = presence(session.owner)
    if seen == "unknown":
        return not now < session.until <= now + 2 * lease
    return seen == "dead"


def lives_elsewhere(session: Session, owner: str, *, now: float, lease: float) -> bool:
    """Whether another process will memorize a session's entries."""
    return session.owner != owner and not is_dead(session, now=now, lease=lease)


def marks(connection: sqlite3.Connection, bank: str, session_id: str) -> set[str]:
    """Entries at which something of a session was dealt with."""
    rows = connection.execute(
        "SELECT last_entry_id FROM windows WHERE bank = ? AND session_id = ?", (bank, session_id)
    )
    return {row[0] for row in rows}
