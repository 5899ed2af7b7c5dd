"""Which sessions memory knows, and how each stands (s1/S-SES-1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hindsight_core.state.choices import Choices, SessionChoices
from hindsight_core.state.jobs import moment

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hindsight_core.state.queue import Queue
    from hindsight_core.state.sessions import SessionState


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session.

    Attributes:
        banks: Where something of it is, or waits for.
        host: The agent program, while it runs or something of it waits.
        documents: How many documents of it reached a bank and have a receipt.
        waiting: Entries that are not memorized yet, and writes that wait for a bank.
        at: When something of it was stored or chosen last (UTC); None when nothing was.
        choices: Mode, what is switched off, tags.
    """

    session_id: str
    banks: tuple[str, ...] = ()
    host: str | None = None
    project: str | None = None
    documents: int = 0
    waiting: int = 0
    at: datetime | None = None
    choices: Choices = field(default_factory=Choices)


async def known_sessions(
    queue: Queue, sessions: SessionState, *, bank: str | None = None
) -> list[SessionRow]:
    """Every session with a receipt, a write, an entry in the journal or a choice, newest first.

    Args:
        queue: Receipts, writes, journal.
        sessions: Choices.
        bank: Only sessions of this bank, and those that are in none.

    Raises:
        StorageError: A file cannot be read.
    """
    found = await queue.database.read(lambda connection: _written(connection))
    chosen = await sessions.database.read(
        lambda c: dict(c.execute("SELECT session_id, updated_at FROM modes").fetchall())
    )
    store = SessionChoices(sessions)
    for session_id, at in chosen.items():
        row = found.get(session_id) or SessionRow(session_id)
        when = moment(at)
        found[session_id] = replace(
            row, at=max(row.at or when, when), choices=await store.get(session_id)
        )
    rows = [row for row in found.values() if bank is None or not row.banks or bank in row.banks]
    return sorted(rows, key=lambda row: row.at.timestamp() if row.at else 0.0, reverse=True)


def _written(connection: sqlite3.Connection) -> dict[str, SessionRow]:
    found: dict[str, SessionRow] = {}

    def of(session_id: str, bank: str) -> SessionRow:
        row = found.get(session_id) or SessionRow(session_id)
        return replace(row, banks=_with(row.banks, bank))

    select = "SELECT session_id, bank, count(*), max({at}) FROM {table}"
    for table, column, state in (
        ("receipts", "stored_at", ""),
        ("jobs", "created_at", " AND state = 'pending'"),
        ("journal", "recorded_at", ""),
    ):
        query = select.format(at=column, table=table)
        group = f" WHERE session_id IS NOT NULL{state} GROUP BY session_id, bank"
        for session_id, bank, count, at in connection.execute(query + group):
            row, when = of(session_id, bank), moment(at)
            stored = count if table == "receipts" else 0
            found[session_id] = replace(
                row,
                documents=row.documents + stored,
                waiting=row.waiting + count - stored,
                at=max(row.at or when, when),
            )
    leases = connection.execute("SELECT session_id, bank, host, project FROM sessions")
    for session_id, bank, host, project in leases:
        found[session_id] = replace(of(session_id, bank), host=host, project=project)
    return found


def _with(names: Iterable[str], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, name)))
