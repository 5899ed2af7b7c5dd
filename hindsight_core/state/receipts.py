"""What reached a bank, newest first: never a text (s1/S-Q-8)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.state.jobs import moment

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hindsight_core.state.queue import Queue


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """A document that a bank has taken.

    Attributes:
        session_id: The session that it comes from; None for an import.
        facts: How many facts of ours are in it; 0 where the bank finds them itself.
        stored_at: When the bank had it (UTC).
    """

    bank: str
    document_id: str
    session_id: str | None
    facts: int
    stored_at: datetime


async def receipts(
    queue: Queue, *, bank: str | None = None, session_id: str | None = None, limit: int = 50
) -> list[ReceiptRow]:
    """The newest receipts, one a document; of a bank and a session where these are given.

    Raises:
        StorageError: The file cannot be read.
    """

    def work(connection: sqlite3.Connection) -> list[ReceiptRow]:
        rows = connection.execute(
            "SELECT bank, document_id, session_id, fact_ids, stored_at FROM receipts"
            " WHERE (?1 IS NULL OR bank = ?1) AND (?2 IS NULL OR session_id = ?2)"
            " ORDER BY stored_at DESC, document_id LIMIT ?3",
            (bank, session_id, limit),
        ).fetchall()
        return [
            ReceiptRow(name, document, session, len(json.loads(facts)), moment(at))
            for name, document, session, facts, at in rows
        ]

    return await queue.database.read(work)
