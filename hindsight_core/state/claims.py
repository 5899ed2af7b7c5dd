"""Transactions over claimed writes: claim, keep, finish, give back, give up."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hindsight_core.state.jobs import JobState
from hindsight_core.state.owner import presence
from hindsight_core.state.policy import QueuePolicy


@dataclass(frozen=True, slots=True)
class Claimed:
    """A row that now belongs to the caller, still encoded."""

    id: int
    bank: str
    payload: str
    content_hash: str
    session_id: str | None
    attempts: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a try did not succeed, and whose fault it is."""

    reason: str
    retryable: bool = True
    retry_after: float | None = None
    bank_is_away: bool = False


def lease_is_live(owner: str | None, until: float | None, *, now: float, lease: float) -> bool:
    """Whether a claim still binds others.

    A dead process loses its claim at once, a silent one when its lease ends. A lease that ends
    later than any lease can was given before the clock jumped back: it does not count.
    """
    if owner is None or until is None or not now < until <= now + 2 * lease:
        return False
    return presence(owner) != "dead"


def claim(
    connection: sqlite3.Connection,
    bank: str,
    owner: str,
    *,
    policy: QueuePolicy,
    now: float,
    job_id: int | None = None,
    force: bool = False,
    skip: Collection[int] = (),
) -> Claimed | None:
    """Take the oldest write of a bank that may be tried now.

    The try is counted before it starts, so that a write which kills its process stops after
    ``max_attempts`` too (br/BR-29). A session's writes keep their order while one of them is
    being delivered; one that failed steps aside and blocks nobody, except other content of the
    same document.

    Args:
        connection: Inside a write transaction.
        bank: The bank.
        owner: The new holder.
        policy: Bounds.
        now: Seconds.
        job_id: Only this write, if it is its turn.
        force: Do not wait for the next-try time of a write.
        skip: Writes that step aside: they failed a moment ago.
    """
    found, exhausted = _choose(
        connection, bank, policy=policy, now=now, job_id=job_id, force=force, skip=skip
    )
    for row_id in exhausted:
        reason = f"given up after {policy.max_attempts} tries; the last one never ended"
        bury(connection, row_id, reason, now=now)
    if found is None:
        return None
    return _take(connection, found, owner, until=now + policy.lease)


def _choose(
    connection: sqlite3.Connection,
    bank: str,
    *,
    policy: QueuePolicy,
    now: float,
    job_id: int | None,
    force: bool,
    skip: Collection[int],
) -> tuple[int | None, list[int]]:
    """The write to take, and those whose tries are used up."""
    busy: set[str] = set()
    documents: set[str] = set()
    exhausted: list[int] = []
    rows = connection.execute(
        "SELECT id, document_id, session_id, owner, lease_until, next_at, strikes"
        " FROM jobs WHERE bank = ? AND state = 'pending' ORDER BY id",
        (bank,),
    )
    for row_id, document, session, holder, until, next_at, strikes in rows:
        live = lease_is_live(holder, until, now=now, lease=policy.lease)
        if not live and strikes >= policy.max_attempts:
            exhausted.append(row_id)
            continue
        due = force or next_at <= now or next_at > now + policy.horizon
        ready = due and not live and row_id not in skip
        free = document not in documents and session not in busy
        if ready and free and job_id in (None, row_id):
            rows.close()
            return row_id, exhausted
        documents.add(document)
        if session is not None and (live or ready):
            busy.add(session)
    return None, exhausted


def _take(connection: sqlite3.Connection, row_id: int, owner: str, *, until: float) -> Claimed:
    row = connection.execute(
        "UPDATE jobs SET owner = ?, lease_until = ?, attempts = attempts + 1,"
        " strikes = strikes + 1 WHERE id = ?"
        " RETURNING id, bank, payload, content_hash, session_id, attempts",
        (owner, until, row_id),
    ).fetchone()
    return Claimed(*row)


def heartbeat(connection: sqlite3.Connection, job_id: int, owner: str, *, until: float) -> bool:
    """Prolong a claim; False when it was lost."""
    return bool(
        connection.execute(
            "UPDATE jobs SET lease_until = ? WHERE id = ? AND owner = ?", (until, job_id, owner)
        ).rowcount
    )


def finish(
    connection: sqlite3.Connection,
    job_id: int,
    owner: str,
    *,
    fact_ids: Sequence[str],
    now: float,
) -> bool:
    """Replace a delivered write by its receipt; False when the claim was lost.

    Whoever took the claim over delivers the same document again, which a bank answers by
    replacing it with itself.
    """
    row = connection.execute(
        "DELETE FROM jobs WHERE id = ? AND owner = ?"
        " RETURNING bank, document_id, content_hash, session_id",
        (job_id, owner),
    ).fetchone()
    if row is None:
        return False
    connection.execute(
        "INSERT OR REPLACE INTO receipts (bank, document_id, content_hash, session_id, fact_ids,"
        " stored_at) VALUES (?, ?, ?, ?, ?, ?)",
        (*row, json.dumps(list(fact_ids)), now),
    )
    connection.execute("DELETE FROM pauses WHERE bank = ?", (row[0],))
    return True


def fail(
    connection: sqlite3.Connection,
    job_id: int,
    owner: str,
    failure: Failure,
    *,
    bank: str,
    policy: QueuePolicy,
    now: float,
) -> JobState:
    """End a claim after a failed try: later, or never again."""
    row = connection.execute(
        "SELECT strikes FROM jobs WHERE id = ? AND owner = ?", (job_id, owner)
    ).fetchone()
    if row is None:
        return "pending"
    strikes, reason = int(row[0]), failure.reason
    if not failure.retryable:
        bury(connection, job_id, reason, now=now)
        return "dead"
    if failure.bank_is_away or failure.retry_after is not None:
        wait = failure.retry_after
        until = pause(connection, bank, policy=policy, retry_after=wait, reason=reason, now=now)
        give_back(connection, job_id, owner, next_at=until, reason=reason, strike=False)
        return "pending"
    if strikes >= policy.max_attempts:
        bury(connection, job_id, f"{strikes} tries: {reason}", now=now)
        return "dead"
    next_at = now + policy.wait(strikes)
    give_back(connection, job_id, owner, next_at=next_at, reason=reason, strike=True)
    return "pending"


def give_back(
    connection: sqlite3.Connection,
    job_id: int,
    owner: str,
    *,
    next_at: float,
    reason: str | None,
    strike: bool,
) -> bool:
    """End a claim without delivery; ``strike`` says whether the try counts against the write."""
    return bool(
        connection.execute(
            "UPDATE jobs SET owner = NULL, lease_until = NULL, next_at = ?,"
            " reason = coalesce(?, reason), strikes = strikes - ? WHERE id = ? AND owner = ?",
            (next_at, reason, 0 if strike else 1, job_id, owner),
        ).rowcount
    )


def bury(connection: sqlite3.Connection, job_id: int, reason: str, *, now: float) -> None:
    """Make a write a dead letter; it keeps its document."""
    connection.execute(
        "UPDATE jobs SET state = 'dead', owner = NULL, lease_until = NULL, reason = ?, died_at = ?"
        " WHERE id = ?",
        (reason, now, job_id),
    )


def pause(
    connection: sqlite3.Connection,
    bank: str,
    *,
    policy: QueuePolicy,
    retry_after: float | None,
    reason: str,
    now: float,
) -> float:
    """Leave a bank alone for a while, in every process; the wait grows with each failure."""
    row = connection.execute("SELECT failures FROM pauses WHERE bank = ?", (bank,)).fetchone()
    failures = 1 if row is None else int(row[0]) + 1
    until = now + policy.wait(failures, retry_after=retry_after)
    connection.execute(
        "INSERT OR REPLACE INTO pauses (bank, failures, until, asked, reason)"
        " VALUES (?, ?, ?, ?, ?)",
        (bank, failures, until, int(retry_after is not None), reason),
    )
    return until


def paused_until(
    connection: sqlite3.Connection, bank: str, *, policy: QueuePolicy, now: float, force: bool
) -> float | None:
    """Until when the bank is left alone; ``force`` heeds only a wait that the bank asked for."""
    row = connection.execute("SELECT until, asked FROM pauses WHERE bank = ?", (bank,)).fetchone()
    if row is None or not now < row[0] <= now + policy.horizon or (force and not row[1]):
        return None
    return float(row[0])
