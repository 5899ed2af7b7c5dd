"""Looking at the write queue, and the corrections that a person makes by command."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hindsight_core.state.claims import lease_is_live, paused_until
from hindsight_core.state.jobs import JobRow, JobState, QueueCounts, moment
from hindsight_core.state.policy import QueuePolicy

_COLUMNS = (
    "id, bank, document_id, session_id, state, owner, lease_until, attempts, created_at,"
    " next_at, reason"
)
_UNCLAIMED = "(owner IS NULL OR lease_until <= ?)"


def rows(
    connection: sqlite3.Connection,
    *,
    bank: str | None,
    state: JobState | None,
    limit: int,
    now: float,
    lease: float,
) -> list[JobRow]:
    """Writes, oldest first."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM jobs WHERE (?1 IS NULL OR bank = ?1)"
        " AND (?2 IS NULL OR state = ?2) ORDER BY id LIMIT ?3",
        (bank, state, limit),
    ).fetchall()
    return [_row(record, now=now, lease=lease) for record in found]


def row(connection: sqlite3.Connection, job_id: int, *, now: float, lease: float) -> JobRow | None:
    """One write."""
    record = connection.execute(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (job_id,)).fetchone()
    return None if record is None else _row(record, now=now, lease=lease)


def payload(connection: sqlite3.Connection, job_id: int) -> str | None:
    """What a write would store, encoded; None when it is not in the queue."""
    found = connection.execute("SELECT payload FROM jobs WHERE id = ?", (job_id,)).fetchone()
    return None if found is None else str(found[0])


def _row(record: tuple[Any, ...], *, now: float, lease: float) -> JobRow:
    (job_id, bank, document, session, state, owner, until, attempts, created, next_at, reason) = (
        record
    )
    return JobRow(
        id=job_id,
        bank=bank,
        document_id=document,
        session_id=session,
        state=state,
        claimed=lease_is_live(owner, until, now=now, lease=lease),
        attempts=attempts,
        created_at=moment(created),
        next_at=moment(next_at),
        reason=reason,
    )


def counts(
    connection: sqlite3.Connection, bank: str | None, *, policy: QueuePolicy, now: float
) -> QueueCounts:
    """How many writes wait, are dead or could not be read."""
    states = dict(
        connection.execute(
            "SELECT state, count(*) FROM jobs WHERE (?1 IS NULL OR bank = ?1) GROUP BY state",
            (bank,),
        ).fetchall()
    )
    aside = connection.execute(
        "SELECT count(*) FROM set_aside WHERE (?1 IS NULL OR bank = ?1)", (bank,)
    ).fetchone()[0]
    last = connection.execute(
        "SELECT reason FROM jobs WHERE (?1 IS NULL OR bank = ?1) AND reason IS NOT NULL"
        " ORDER BY coalesce(died_at, next_at) DESC LIMIT 1",
        (bank,),
    ).fetchone()
    return QueueCounts(
        pending=states.get("pending", 0),
        dead=states.get("dead", 0),
        set_aside=aside,
        paused_until=paused(connection, bank, policy=policy, now=now) if bank else None,
        last_error=last[0] if last else None,
    )


def last_stored(connection: sqlite3.Connection, bank: str) -> datetime | None:
    """When a document with facts last reached a bank; None when none has."""
    found = connection.execute(
        "SELECT max(stored_at) FROM receipts WHERE bank = ? AND fact_ids != '[]'", (bank,)
    ).fetchone()[0]
    return None if found is None else moment(found)


def paused(
    connection: sqlite3.Connection,
    bank: str,
    *,
    policy: QueuePolicy,
    now: float,
    force: bool = False,
) -> datetime | None:
    """Until when a bank is left alone."""
    until = paused_until(connection, bank, policy=policy, now=now, force=force)
    return None if until is None else moment(until)


def retry(
    connection: sqlite3.Connection, *, bank: str | None, ids: Sequence[int], now: float
) -> int:
    """Make writes due now; dead ones get all their tries again.

    A claimed write is left alone: it is being tried. A dead one whose document was stored with
    newer content meanwhile is dropped.
    """
    where, values = _chosen(bank, ids)
    connection.execute(
        "DELETE FROM jobs WHERE state = 'dead' AND EXISTS (SELECT 1 FROM receipts r"
        " WHERE r.bank = jobs.bank AND r.document_id = jobs.document_id"
        f" AND r.stored_at >= jobs.created_at) AND {where}",
        values,
    )
    changed = connection.execute(
        "UPDATE jobs SET state = 'pending', strikes = 0, next_at = ?, died_at = NULL"
        f" WHERE {_UNCLAIMED} AND {where}",
        (now, now, *values),
    ).rowcount
    connection.execute("DELETE FROM pauses WHERE asked = 0 AND (?1 IS NULL OR bank = ?1)", (bank,))
    return changed


def purge(
    connection: sqlite3.Connection,
    *,
    bank: str | None,
    ids: Sequence[int],
    pending: bool,
    now: float,
) -> int:
    """Delete dead letters, unless ``pending`` says all; never what is being delivered."""
    where, values = _chosen(bank, ids)
    state = "" if pending else " AND state = 'dead'"
    removed = connection.execute(
        f"DELETE FROM jobs WHERE {_UNCLAIMED} AND {where}{state}", (now, *values)
    ).rowcount
    if not ids:
        removed += connection.execute(
            "DELETE FROM set_aside WHERE (?1 IS NULL OR bank = ?1)", (bank,)
        ).rowcount
    return removed


def _chosen(bank: str | None, ids: Sequence[int]) -> tuple[str, list[str | int]]:
    parts, values = ["1"], list[str | int]()
    if bank is not None:
        parts.append("bank = ?")
        values.append(bank)
    if ids:
        parts.append(f"id IN ({', '.join('?' * len(ids))})")
        values.extend(ids)
    return " AND ".join(parts), values
