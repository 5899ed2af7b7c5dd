"""Statements of the review table, each inside a transaction of `review.ReviewQueue`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hindsight_core.state.jobs import moment as as_moment

if TYPE_CHECKING:
    from datetime import datetime

    from hindsight_core.state.review import ReviewAction, ReviewBy, ReviewState

_COLUMNS = "id, bank, document_id, payload, state, created_at, done_by"


@dataclass(frozen=True, slots=True)
class Row:
    """A row, its payload not read yet."""

    id: int
    bank: str
    document_id: str
    payload: str
    state: ReviewState
    moment: datetime
    by: ReviewBy | None


Query = Callable[[sqlite3.Connection], "list[Row]"]


def put(
    connection: sqlite3.Connection,
    bank: str,
    document_id: str,
    payload: str,
    *,
    held: bool,
    now: float,
) -> int:
    """Insert a row, or make the document's row pending again: the last add wins (pi/Q-04)."""
    connection.execute(
        "INSERT INTO review (bank, document_id, state, payload, created_at, held)"
        " VALUES (?, ?, 'pending', ?, ?, ?) ON CONFLICT (bank, document_id) DO UPDATE SET"
        " state = 'pending', payload = excluded.payload, created_at = excluded.created_at,"
        " held = excluded.held, done_at = NULL, done_by = NULL",
        (bank, document_id, payload, now, int(held)),
    )
    number: int = connection.execute(
        "SELECT id FROM review WHERE bank = ? AND document_id = ?", (bank, document_id)
    ).fetchone()[0]
    # What was decided on its older content cannot be taken back any more.
    connection.execute("DELETE FROM review_actions WHERE review_id = ?", (number,))
    return number


def reword(connection: sqlite3.Connection, number: int, payload: str, *, held: bool) -> None:
    """Replace a row's payload."""
    connection.execute(
        "UPDATE review SET payload = ?, held = ? WHERE id = ?", (payload, int(held), number)
    )


def listed(
    connection: sqlite3.Connection, *, bank: str | None, limit: int, offset: int
) -> list[Row]:
    """Pending rows, newest first."""
    return _rows(
        connection,
        "state = 'pending' AND (?1 IS NULL OR bank = ?1) ORDER BY created_at DESC, id DESC"
        " LIMIT ?2 OFFSET ?3",
        (bank, limit, offset),
    )


def by_id(connection: sqlite3.Connection, ids: Sequence[int]) -> list[Row]:
    """Rows by number."""
    return _rows(connection, f"id IN ({', '.join('?' * len(ids))})", tuple(ids))


def by_document(connection: sqlite3.Connection, bank: str, document_id: str) -> list[Row]:
    """The row of a document."""
    return _rows(connection, "bank = ? AND document_id = ?", (bank, document_id))


def expired(connection: sqlite3.Connection, before: float, *, limit: int) -> list[Row]:
    """Held rows older than a moment."""
    where = "state = 'pending' AND held = 1 AND created_at < ? ORDER BY created_at LIMIT ?"
    return _rows(connection, where, (before, limit))


def count(connection: sqlite3.Connection, bank: str | None) -> int:
    """How many rows are pending."""
    found: int = connection.execute(
        "SELECT count(*) FROM review WHERE state = 'pending' AND (?1 IS NULL OR bank = ?1)", (bank,)
    ).fetchone()[0]
    return found


def decide(
    connection: sqlite3.Connection,
    before: Mapping[int, str],
    action: ReviewAction,
    *,
    by: ReviewBy,
    now: float,
) -> None:
    """Record a decision on rows, as one batch when a person took it."""
    batch = connection.execute("SELECT coalesce(max(batch), 0) + 1 FROM review_actions").fetchone()
    for number, document in before.items():
        if action != "edited":
            connection.execute(
                "UPDATE review SET state = ?, done_at = ?, done_by = ? WHERE id = ?",
                (action, now, by, number),
            )
        if by == "person":
            connection.execute(
                "INSERT INTO review_actions (batch, review_id, action, before, at)"
                " VALUES (?, ?, ?, ?, ?)",
                (batch[0], number, action, document, now),
            )


def expire(connection: sqlite3.Connection, before: float, *, now: float) -> int:
    """Approve old rows that hold nothing back."""
    return connection.execute(
        "UPDATE review SET state = 'approved', done_at = ?, done_by = 'expiry'"
        " WHERE state = 'pending' AND held = 0 AND created_at < ?",
        (now, before),
    ).rowcount


def last_batch(connection: sqlite3.Connection) -> list[tuple[int, ReviewAction, str]]:
    """Row, action and earlier document of the newest batch."""
    found: list[Any] = connection.execute(
        "SELECT review_id, action, before FROM review_actions"
        " WHERE batch = (SELECT max(batch) FROM review_actions) ORDER BY id"
    ).fetchall()
    return found


def undo(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Make rows of the newest batch pending again, and forget those decisions."""
    newest = connection.execute("SELECT max(batch) FROM review_actions").fetchone()[0]
    for number in ids:
        connection.execute(
            "UPDATE review SET state = 'pending', done_at = NULL, done_by = NULL WHERE id = ?",
            (number,),
        )
        connection.execute(
            "DELETE FROM review_actions WHERE batch = ? AND review_id = ?", (newest, number)
        )


def waiting(connection: sqlite3.Connection, bank: str, document_id: str) -> str | None:
    """Payload of the newest waiting write of a document."""
    found = connection.execute(
        "SELECT payload FROM jobs WHERE bank = ? AND document_id = ? AND state = 'pending'"
        " ORDER BY id DESC LIMIT 1",
        (bank, document_id),
    ).fetchone()
    return None if found is None else str(found[0])


def withdraw(connection: sqlite3.Connection, bank: str, document_id: str, *, now: float) -> bool:
    """Drop a document's waiting writes that nobody is delivering; whether none is left."""
    connection.execute(
        "DELETE FROM jobs WHERE bank = ? AND document_id = ?"
        " AND (owner IS NULL OR lease_until <= ?)",
        (bank, document_id, now),
    )
    return waiting(connection, bank, document_id) is None


def set_aside(
    connection: sqlite3.Connection, broken: Sequence[tuple[Row, str]], *, now: float
) -> None:
    """Move rows that cannot be read out of the way; they are counted with the queue's."""
    for row, reason in broken:
        connection.execute(
            "INSERT INTO set_aside (source, bank, key, payload, reason, at)"
            " VALUES ('review', ?, ?, ?, ?, ?)",
            (row.bank, row.document_id, row.payload, reason, now),
        )
        connection.execute("DELETE FROM review WHERE id = ?", (row.id,))


def _rows(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[Row]:
    found = connection.execute(f"SELECT {_COLUMNS} FROM review WHERE {where}", tuple(values))
    return [
        Row(number, bank, document, payload, state, as_moment(created), by)
        for number, bank, document, payload, state, created, by in found
    ]
