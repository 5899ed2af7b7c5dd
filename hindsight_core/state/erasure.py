"""Takes a session, or one sentence, out of queue.db and state.db, and out of their logs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hindsight_core.identity import normalise

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.state.queue import Queue
    from hindsight_core.state.sessions import SessionState

# A pending write goes on: the bank leaves out what was deleted from it for good.
_TEXTS = (
    ("jobs", "payload", " AND state = 'dead'"),
    ("review", "payload", " AND state <> 'pending'"),
    ("review_actions", "before", ""),
    ("set_aside", "payload", ""),
)
_OF_SESSION = ("jobs", "receipts", "windows", "covered", "retained", "journal")
_IN_STATE = ("saved_ranges", "shown", "summaries")


async def documents_of(queue: Queue, bank: str, session_id: str) -> list[str]:
    """Documents that this session has written into a bank, each once."""

    def work(connection: sqlite3.Connection) -> list[str]:
        found: dict[str, None] = {}
        for table in ("windows", "covered", "retained", "receipts"):
            rows = connection.execute(
                f"SELECT DISTINCT document_id FROM {table} WHERE bank = ? AND session_id = ?",
                (bank, session_id),
            )
            found.update((row[0], None) for row in rows if row[0])
        return list(found)

    return await queue.database.read(work)


async def erase_session(queue: Queue, sessions: SessionState, bank: str, session_id: str) -> None:
    """Nothing of a session is left in our own files, what waited to be written included."""
    documents = await documents_of(queue, bank, session_id)

    def in_queue(connection: sqlite3.Connection) -> None:
        for table in _OF_SESSION:
            connection.execute(
                f"DELETE FROM {table} WHERE bank = ? AND session_id = ?", (bank, session_id)
            )
        connection.execute(
            "DELETE FROM set_aside WHERE bank = ? AND key LIKE ? || '/%'", (bank, session_id)
        )
        for document in documents:
            connection.execute(
                "DELETE FROM review_actions WHERE review_id IN"
                " (SELECT id FROM review WHERE bank = ? AND document_id = ?)",
                (bank, document),
            )
            connection.execute(
                "DELETE FROM review WHERE bank = ? AND document_id = ?", (bank, document)
            )

    def in_state(connection: sqlite3.Connection) -> None:
        for table in _IN_STATE:
            connection.execute(
                f"DELETE FROM {table} WHERE bank = ? AND session_id = ?", (bank, session_id)
            )
        connection.execute("DELETE FROM hook_sessions WHERE session_id = ?", (session_id,))

    await queue.database.write(in_queue)
    await sessions.database.write(in_state)
    await queue.database.scrub()
    await sessions.database.scrub()


async def erase_text(queue: Queue, sessions: SessionState, bank: str, text: str) -> None:
    """After a fact was deleted for good: its sentence is in none of our own files."""
    # As it stands inside of JSON, in both of the ways in which it is written.
    forms = {json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}

    def in_queue(connection: sqlite3.Connection) -> None:
        for table, column, more in _TEXTS:
            for form in forms:
                connection.execute(f"DELETE FROM {table} WHERE instr({column}, ?){more}", (form,))

    def in_state(connection: sqlite3.Connection) -> None:
        key = normalise(text).strip(" .\"'")
        connection.execute("DELETE FROM shown WHERE bank = ? AND instr(text, ?)", (bank, key))
        connection.execute("DELETE FROM summaries WHERE bank = ? AND instr(text, ?)", (bank, text))

    await queue.database.write(in_queue)
    await sessions.database.write(in_state)
    await queue.database.scrub()
    await sessions.database.scrub()
