"""The transaction that makes a write durable: document, window end and journal in one step."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from hindsight_core.state import retained, windows
from hindsight_core.state.jobs import Enqueued, WindowMark
from hindsight_core.state.retained import TranscriptMark


@dataclass(frozen=True, slots=True)
class Incoming:
    """A document, encoded before the transaction starts.

    Attributes:
        again: Store it although a receipt says that it was stored (explicit writes, resaves).
        append: It adds to what the document holds: nothing takes its place, and it takes the
            place of nothing.
    """

    bank: str
    document_id: str
    payload: str
    content_hash: str
    session_id: str | None
    window: WindowMark | TranscriptMark | None
    again: bool
    append: bool = False


def enqueue(connection: sqlite3.Connection, item: Incoming, *, now: float) -> Enqueued:
    """Put a write into the queue unless it is there or was delivered already.

    One document has at most one waiting write: the same content is the same write, other content
    replaces what waits (and revives a dead letter). A write that is being delivered right now is
    left alone, and the new content follows it.
    """
    mark = item.window
    if isinstance(mark, TranscriptMark):
        if retained.overlaps(connection, item.bank, mark):
            return Enqueued("overlap")
        retained.record(connection, item.bank, mark, document_id=item.document_id, now=now)
    elif mark is not None:
        if _overlaps(connection, item, mark):
            return Enqueued("overlap")
        _record_window(connection, item, mark, now=now)
    if item.append:
        return Enqueued("queued", job_id=_insert(connection, item, now=now))
    waiting = connection.execute(
        "SELECT id, content_hash, state, owner FROM jobs WHERE bank = ? AND document_id = ?"
        " ORDER BY id DESC LIMIT 1",
        (item.bank, item.document_id),
    ).fetchone()
    if waiting is not None:
        return _beside(connection, item, waiting, now=now)
    if not item.again:
        receipt = connection.execute(
            "SELECT fact_ids FROM receipts WHERE bank = ? AND document_id = ? AND content_hash = ?",
            (item.bank, item.document_id, item.content_hash),
        ).fetchone()
        if receipt is not None:
            return Enqueued("known", fact_ids=tuple(json.loads(receipt[0])))
    return Enqueued("queued", job_id=_insert(connection, item, now=now))


def _beside(
    connection: sqlite3.Connection,
    item: Incoming,
    waiting: tuple[int, str, str, str | None],
    *,
    now: float,
) -> Enqueued:
    job_id, content, state, owner = waiting
    if content == item.content_hash and state == "pending":
        return Enqueued("queued", job_id=job_id)
    if owner is not None:
        return Enqueued("queued", job_id=_insert(connection, item, now=now))
    connection.execute(
        "UPDATE jobs SET payload = ?, content_hash = ?, session_id = ?, state = 'pending',"
        " attempts = 0, strikes = 0, next_at = ?, reason = NULL, died_at = NULL WHERE id = ?",
        (item.payload, item.content_hash, item.session_id, now, job_id),
    )
    return Enqueued("queued", job_id=job_id)


def _insert(connection: sqlite3.Connection, item: Incoming, *, now: float) -> int:
    cursor = connection.execute(
        "INSERT INTO jobs (bank, document_id, content_hash, session_id, payload, next_at,"
        " created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            item.bank,
            item.document_id,
            item.content_hash,
            item.session_id,
            item.payload,
            now,
            now,
        ),
    )
    return int(cursor.lastrowid or 0)


def _overlaps(connection: sqlite3.Connection, item: Incoming, window: WindowMark) -> bool:
    return any(
        document not in (None, item.document_id)
        for entry_id in window.entry_ids
        for document in [windows.holder(connection, item.bank, window.session_id, entry_id)]
    )


def _record_window(
    connection: sqlite3.Connection, item: Incoming, window: WindowMark, *, now: float
) -> None:
    """Remember the window's end and drop what the journal held of it.

    A window recorded before keeps its place in the order, so that sending an old window again
    never moves a cursor back.
    """
    last = window.last_entry_id
    windows.mark(
        connection, item.bank, window.session_id, last, document_id=item.document_id, now=now
    )
    windows.cover(
        connection, item.bank, window.session_id, window.entry_ids, document_id=item.document_id
    )
    windows.forget_journal(connection, item.bank, window.session_id, window.last_entry_id)
