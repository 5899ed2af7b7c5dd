"""What is pruned, and when: nothing that keeps a repeated write from being stored twice.

The rule. Waiting writes, dead letters, the journal and the newest window of every session are
never pruned: they end by delivery or by command. Receipts and older windows go after ``keep_days``
unless their session is open or has journaled entries; what was in a window goes with it. So do
entries of a transcript, but for the newest 200 of a session, by which it is known where it stood,
one in sixteen of the others, those of its newest document, which may be written once more, and
those of which nothing was stored on purpose. So do entries of the review queue that were decided
so long ago; what waits there is never pruned. In state.db the shown facts, summaries and ranges of
a session untouched for ``keep_days`` go, and marks of what active memory has looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.services import Clock
    from hindsight_core.state.queue import Queue
    from hindsight_core.state.sessions import SessionState
    from hindsight_core.storage import Database

_DAY_S = 86400.0
TAIL = 200
_IDLE = (
    " AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.bank = {table}.bank"
    " AND s.session_id = {table}.session_id)"
    " AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.bank = {table}.bank"
    " AND j.session_id = {table}.session_id)"
)


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows went."""

    receipts: int
    windows: int
    session_rows: int
    reviewed: int = 0
    retained: int = 0


async def prune(queue: Queue, sessions: SessionState, *, clock: Clock) -> Pruned:
    """Drop what is old and needed by nobody; see the module's rule."""
    before = clock().timestamp() - queue.policy.keep_days * _DAY_S

    def in_queue(connection: sqlite3.Connection) -> tuple[int, int, int, int]:
        receipts = connection.execute(
            f"DELETE FROM receipts WHERE stored_at < ?{_IDLE.format(table='receipts')}", (before,)
        ).rowcount
        windows = connection.execute(
            f"DELETE FROM windows WHERE recorded_at < ?{_IDLE.format(table='windows')}"
            " AND seq < (SELECT max(w.seq) FROM windows w WHERE w.bank = windows.bank"
            " AND w.session_id = windows.session_id)",
            (before,),
        ).rowcount
        connection.execute(
            "DELETE FROM covered WHERE NOT EXISTS (SELECT 1 FROM windows w WHERE w.bank ="
            " covered.bank AND w.session_id = covered.session_id"
            " AND w.document_id = covered.document_id)"
        )
        reviewed = connection.execute(
            "DELETE FROM review WHERE state <> 'pending' AND done_at < ?", (before,)
        ).rowcount
        connection.execute(
            "DELETE FROM review_actions WHERE review_id NOT IN (SELECT id FROM review)"
        )
        return receipts, windows, reviewed, _retained(connection, before)

    def in_state(connection: sqlite3.Connection) -> int:
        removed = 0
        for table, column in (
            ("shown", "shown_at"),
            ("summaries", "updated_at"),
            ("saved_ranges", "updated_at"),
            ("captured", "at"),
        ):
            statement = f"DELETE FROM {table} WHERE {column} < ?"
            removed += connection.execute(statement, (before,)).rowcount
        return removed

    receipts, windows, reviewed, retained = await queue.database.write(in_queue)
    rows = await sessions.database.write(in_state)
    return Pruned(receipts, windows, rows, reviewed, retained)


def _retained(connection: sqlite3.Connection, before: float) -> int:
    old = connection.execute(
        "SELECT bank, session_id, max(recorded_at) FROM retained GROUP BY bank, session_id"
        " HAVING max(recorded_at) < ?",
        (before,),
    ).fetchall()
    gone = 0
    for bank, session_id, newest in old:
        # A chain stands for the whole path before it: one in sixteen tells where a branch began.
        gone += connection.execute(
            "DELETE FROM retained WHERE bank = ?1 AND session_id = ?2 AND document_id <> ''"
            f" AND substr(chain, 1, 1) <> '0'{_IDLE.format(table='retained')}"
            " AND recorded_at < (SELECT recorded_at FROM retained WHERE bank = ?1"
            f" AND session_id = ?2 ORDER BY recorded_at DESC LIMIT 1 OFFSET {TAIL - 1})"
            " AND document_id NOT IN (SELECT document_id FROM retained WHERE bank = ?1"
            " AND session_id = ?2 AND recorded_at = ?3)",
            (bank, session_id, newest),
        ).rowcount
    return gone


async def forget_bank(queue: Queue, sessions: SessionState, bank: str) -> None:
    """After a bank was deleted: nothing of it counts as stored or dealt with any more."""

    def work(connection: sqlite3.Connection, tables: tuple[str, ...]) -> None:
        for table in tables:
            connection.execute(f"DELETE FROM {table} WHERE bank = ?", (bank,))

    await queue.database.write(
        lambda connection: work(
            connection,
            (
                "jobs",
                "receipts",
                "windows",
                "covered",
                "retained",
                "pauses",
                "journal",
                "set_aside",
                "review",
                "bank_files",
            ),
        )
    )
    await sessions.database.write(
        lambda connection: work(
            connection,
            (
                "saved_ranges",
                "shown",
                "summaries",
                "lives",
                "lives_aside",
                "bank_sessions",
                "steers",
                "captured",
            ),
        )
    )


async def forget_session(queue: Queue, bank: str, session_id: str) -> None:
    """After a session's documents were deleted, to be stored again from its start (pi/M-22)."""

    def work(connection: sqlite3.Connection) -> None:
        for table in ("receipts", "covered", "windows", "retained"):
            connection.execute(
                f"DELETE FROM {table} WHERE bank = ? AND session_id = ?", (bank, session_id)
            )

    await queue.database.write(work)


async def vacuum(database: Database) -> None:
    """Give the space of deleted rows back to the disk.

    Raises:
        StorageError: Another process uses the file, or the disk is full.
    """
    await database.outside(lambda connection: connection.execute("VACUUM").fetchall())
